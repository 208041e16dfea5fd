//! What answers at a coordinator's address and is none: each is told as what it is, with what to do.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::sandbox::{Sandbox, Watched};

/// Something that listens, until the test's process ends; returns its address.
fn server(serve: fn(TcpStream) -> std::io::Result<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            // One that goes away does no harm.
            std::thread::spawn(move || serve(stream).is_ok());
        }
    });
    address
}

/// An HTTP/1 server, which takes the beginning of HTTP/2 for a request that it does not know.
fn old_web(mut stream: TcpStream) -> std::io::Result<()> {
    let mut begun = [0; 24];
    stream.read_exact(&mut begun)?;
    stream.write_all(
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>400</html>",
    )?;
    stream.shutdown(std::net::Shutdown::Write)?;
    std::io::copy(&mut stream, &mut std::io::sink()).map(drop)
}

/// One of HTTP/2, which answers each request with a page (RFC 9113, RFC 7541).
fn new_web(mut stream: TcpStream) -> std::io::Result<()> {
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    let frame = |kind: u8, flags: u8, id: [u8; 4], payload: &[u8]| {
        let length = u8::try_from(payload.len()).unwrap();
        [&[0, 0, length, kind, flags], &id[..], payload].concat()
    };
    stream.read_exact(&mut [0; 24])?;
    stream.write_all(&frame(SETTINGS, 0, [0; 4], &[]))?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [high, middle, low, kind, flags, id @ ..] = head;
        let length = u64::from(u32::from_be_bytes([0, high, middle, low]));
        std::io::copy(&mut (&stream).take(length), &mut std::io::sink())?;
        if kind == SETTINGS && flags == 0 {
            stream.write_all(&frame(SETTINGS, 1, [0; 4], &[]))?;
        }
        if kind == HEADERS {
            // `:status: 404` and `content-type: text/html`.
            let fields = [&[0x8d, 0x0f, 0x10, 9][..], b"text/html"].concat();
            stream.write_all(&frame(HEADERS, 4, id, &fields))?;
            stream.write_all(&frame(0, 1, id, b"<html>404</html>"))?;
        }
    }
}

/// It closes what it is given.
fn closes(stream: TcpStream) -> std::io::Result<()> {
    stream.shutdown(std::net::Shutdown::Both)
}

#[test]
fn what_is_no_coordinator_is_told_as_what_it_is() {
    let sandbox = Sandbox::new();
    let [old, new, closing] = [old_web, new_web, closes].map(server);
    let web = "the server at that address is a web server";
    for (address, problem, remedy) in [
        (&old, web, "help: check the address and its port; a proxy in between must pass HTTP/2 on"),
        (&new, web, "help: check the address and its port; a proxy in between must pass gRPC on"),
        (&closing, "the connection ended without an answer", "check that a spelrum coordinator"),
    ] {
        for command in ["list", "status", "report"] {
            let url = format!("http://{address}");
            let ran = sandbox.run(&[command, "--coordinator", &url]);
            let said = ran.expect_exit(5).stderr();
            let begun = format!("error: failed to reach the coordinator at {url}: {problem}");
            assert!(said.starts_with(&begun) && said.contains(remedy), "{command}: {said}");
        }
    }
    // By TLS, to who does not speak it.
    let ran = sandbox.run(&["list", "--coordinator", &format!("https://{old}")]);
    let said = ran.expect_exit(5).stderr();
    assert!(said.contains("the server at that address does not speak TLS"), "{said}");
    // Nothing at all.
    let nobody = "http://127.0.0.1:1";
    let ran = sandbox.run(&["list", "--coordinator", nobody]);
    assert!(ran.expect_exit(5).stderr().contains("Connection refused"), "{}", ran.stderr());
    // A worker goes on looking, and says for what.
    let url = format!("http://{old}");
    let mut worker = Watched::start(&sandbox, &["worker", "--coordinator", &url, "--slots", "1"]);
    worker.read_until(web);
}
