//! Pages for browsers: what they show, to whom, and what they let through.

use std::net::SocketAddr;
use std::time::Duration;

use spelrum_answers::MakeBrowserLink;
use spelrum_proto::api::Api;
use spelrum_proto::{Bearer, Token};
use spelrum_test_support::{HandWorker, Served, Site, eventually, quick_sweep};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tonic::transport::Endpoint;

/// An answer: its head and its body.
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head[9..12].parse().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut values = pairs.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        Some(values.next()?.1)
    }
}

async fn send(address: SocketAddr, method: &str, path: &str, more: &str) -> Answer {
    send_body(address, method, path, more, "").await
}

/// Posts JSON.
pub(crate) async fn send_json(address: SocketAddr, path: &str, json: &str) -> Answer {
    send_body(address, "POST", path, "Content-Type: application/json\r\n", json).await
}

/// Calls with further headers and a body; by HTTP/1.0, whose answers come in one piece.
pub(super) async fn send_body(
    address: SocketAddr,
    method: &str,
    path: &str,
    more: &str,
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nAccept: text/html\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Answer { head: head.to_owned(), body: body.to_owned() }
}

pub(crate) async fn get(served: &Served, path: &str, more: &str) -> Answer {
    send(served.address, "GET", path, more).await
}

#[tokio::test]
async fn pages_show_what_the_api_tells() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("paged", 4)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let experiment = served.wait_for_state("paged", "finished").await;

    let page = get(&served, "/", "").await;
    assert_eq!(page.status(), 200, "{}", page.head);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let link = format!("/experiments/{}", experiment.uuid);
    assert!(page.body.contains(&format!("<a href=\"{link}\">paged</a>")), "{}", page.body);

    // By its UUID and by its name, with its report and its games.
    for path in [&*link, "/experiments/paged"] {
        let page = get(&served, path, "").await;
        assert_eq!(page.status(), 200, "{}", page.body);
        assert!(
            page.body.contains("Who is stronger") && page.body.contains("Last games"),
            "{}",
            page.body
        );
        assert!(page.body.len() < 60_000, "{}", page.body.len());
    }
    let games = get(&served, &link, "").await.body;
    let game = games.split("href=\"/games/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    for ply in ["", "?ply=0", "?ply=1", "?ply=999999", "?ply=4294967296", "?ply=x"] {
        let page = get(&served, &format!("/games/{game}{ply}"), "").await;
        assert_eq!(page.status(), 200, "{ply}: {}", page.body);
        assert!(
            page.body.contains("<svg") && page.body.len() < 60_000,
            "{ply}: {}",
            page.body.len()
        );
    }
    // All its games, those of a cell, by pages and filters; each opens from the experiment's page.
    let opened = games.split(&format!("href=\"{link}/games?cell=")).nth(1).unwrap();
    let cell = opened.split('"').next().unwrap();
    let listed = get(&served, &format!("{link}/games?cell={cell}"), "").await;
    assert_eq!(listed.status(), 200, "{}", listed.body);
    assert!(listed.body.contains("href=\"/games/") && listed.body.contains(" against "));
    let failed = get(&served, "/experiments/paged/games?filter=failed&order=number", "").await;
    assert!(failed.body.contains("There are no such games."), "{}", failed.body);
    for wrong in
        ["filter=x", "order=", "after=1", "cell=x", "cell=999999", "limit=9", "cell=1&cell=2"]
    {
        let status = get(&served, &format!("{link}/games?{wrong}"), "").await.status();
        assert!(matches!(status, 400 | 404), "{wrong}: {status}");
    }
    for missing in ["/games/999999", "/games/x", "/games/-1"] {
        assert!(matches!(get(&served, missing, "").await.status(), 400 | 404), "{missing}");
    }
    assert!(get(&served, "/workers", "").await.body.contains("<h1>Workers</h1>"));
    for (path, kind) in [("/static/pages.css", "text/css"), ("/static/pages.js", "text/javascript")]
    {
        let file = get(&served, path, "").await;
        assert_eq!((file.status(), file.header("content-type")), (200, Some(kind)));
        // Under an address of its build, so that no browser shows a page with an older one.
        assert!(games.contains(&format!("\"{path}?")), "{games}");
    }
    let missing = get(&served, "/experiments/nothing", "").await;
    assert_eq!(missing.status(), 404);
    assert!(missing.body.contains("there is no experiment"), "{}", missing.body);
    // Nothing is inline, whatever the page.
    for path in ["/", &link, "/workers", "/experiments/nothing"] {
        let body = get(&served, path, "").await.body;
        for inline in ["<style", " style=", "<script>", " onclick=", "javascript:"] {
            assert!(!body.contains(inline), "{path}: {inline}");
        }
    }
}

#[tokio::test]
async fn a_browser_is_let_in_once_for_what_its_token_may() {
    let site = Site::new();
    let token: Token = "a-token-that-nobody-else-has".parse().unwrap();
    let served = site.serve_with_token(&token).await;
    for path in ["/", "/workers", "/live", "/experiments/x", "/games/1", "/play"] {
        let refused = get(&served, path, "").await;
        assert_eq!(refused.status(), 401, "{path}: {}", refused.body);
        assert!(refused.body.contains("spelrum open"), "{}", refused.body);
        assert_eq!(get(&served, path, "Cookie: spelrum-=forged\r\n").await.status(), 401);
    }
    let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
    let api = Api::new(channel, Bearer::new(Some(&token)));
    let link = api.call(&MakeBrowserLink {}).await.unwrap().url;
    let path = link.strip_prefix(&format!("http://{}", served.address)).unwrap().to_owned();
    // Looking at the link does not use it up.
    let asked = get(&served, &path, "").await;
    assert!(asked.body.contains("method=\"post\""), "{}", asked.body);
    // A form of another site does not.
    let elsewhere = "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
    assert_eq!(send(served.address, "POST", &path, elsewhere).await.status(), 403);
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", served.address);
    let entered = send(served.address, "POST", &path, &own).await;
    assert_eq!(asked.header("referrer-policy"), Some("same-origin"), "a form tells its origin");
    assert_eq!((entered.status(), entered.header("location")), (303, Some("/")));
    let set = entered.header("set-cookie").unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    assert_eq!(send(served.address, "POST", &path, "").await.status(), 403, "a link works once");

    let cookie = format!("Cookie: {}\r\n", set.split(';').next().unwrap());
    assert_eq!(get(&served, "/", &cookie).await.status(), 200);
    assert_eq!(get(&served, "/api/v1/status", &cookie).await.status(), 200);
    // Another site's page cannot use the cookie, even if its browser sent it; a link there only opens the page.
    let foreign = format!("{cookie}{elsewhere}");
    assert_eq!(
        send(served.address, "POST", "/api/v1/experiments/x/steer", &foreign).await.status(),
        403
    );
    assert_eq!(get(&served, "/", &foreign).await.status(), 403);
    let followed = format!(
        "{cookie}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    );
    assert_eq!(get(&served, "/", &followed).await.status(), 200);
    let framed = followed.replace("document", "iframe");
    assert_eq!(get(&served, "/", &framed).await.status(), 403);
}

#[tokio::test]
async fn texts_of_strangers_are_shown_and_not_obeyed() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = quick_sweep("named", 2).replacen(
        "name = \"named\"",
        "name = \"named\"\ndescription = \"<script>alert(1)</script><b onclick=x>\"",
        1,
    );
    served.submit(&sweep).await;
    for path in ["/", "/experiments/named", "/experiments/%3Cscript%3Ealert(1)%3C%2Fscript%3E"] {
        let body = get(&served, path, "").await.body;
        assert!(!body.contains("<script>") && !body.contains("<b onclick"), "{path}: {body}");
    }
}

/// A thousand streams of changes are bounded, and those that have a place hear of a change.
#[tokio::test]
async fn changes_are_told_to_as_many_browsers_as_there_is_room_for() {
    let site = Site::new();
    let served = site.serve().await;
    let follow = async || {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let request = format!("GET /live HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = vec![0; 512];
        let length = stream.read(&mut head).await.unwrap();
        (stream, String::from_utf8_lossy(&head[..length]).into_owned())
    };
    let mut streams = Vec::new();
    let mut refused = 0;
    for _ in 0..600 {
        let (stream, head) = follow().await;
        if head.starts_with("HTTP/1.1 200") { streams.push(stream) } else { refused += 1 }
    }
    assert_eq!((streams.len(), refused), (512, 88));
    served.submit(&quick_sweep("changed", 2)).await;
    for stream in [0, 511] {
        let mut heard = String::new();
        while !heard.contains("event: changed") {
            let mut bytes = [0; 256];
            let length = streams[stream].read(&mut bytes).await.unwrap();
            assert!(length > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }
    // One address cannot keep all others out.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(served.address).await.unwrap();
    let request = format!("GET /live HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    other.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    other.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    assert!(follow().await.1.starts_with("HTTP/1.1 503"));
    // Whoever goes away makes room.
    drop(streams);
    eventually("a place", async || follow().await.1.starts_with("HTTP/1.1 200").then_some(()))
        .await;
}

#[tokio::test]
async fn two_experiments_are_shown_side_by_side() {
    let site = Site::new();
    let served = site.serve().await;
    for name in ["first", "second"] {
        served.submit(&quick_sweep(name, 4)).await;
        HandWorker::new(&served).await.work_until_done().await;
        served.wait_for_state(name, "finished").await;
    }
    let page = get(&served, "/experiments/second", "").await.body;
    assert!(page.contains("action=\"/compare\"") && page.contains(">first</option>"), "{page}");
    let page = get(&served, "/compare?a=first&b=second", "").await;
    assert_eq!(page.status(), 200, "{}", page.body);
    assert!(page.body.contains("first") && page.body.contains("<table"), "{}", page.body);
    for (wrong, status) in [("a=first&b=first", 409), ("a=first&b=x", 404), ("a=first", 400)] {
        assert_eq!(
            get(&served, &format!("/compare?{wrong}"), "").await.status(),
            status,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn queries_are_asked_in_a_page() {
    let site = Site::new();
    let served = site.serve().await;
    let page = get(&served, "/sql", "").await;
    assert_eq!(page.status(), 200, "{}", page.body);
    let question = page.body.split("/sql?question=").nth(1).unwrap().split('"').next().unwrap();
    let asked = get(&served, &format!("/sql?question={question}"), "").await;
    assert!(asked.body.contains("FROM results"), "{}", asked.body);

    let hostile = "SELECT+'%3Cscript%3Ealert(1)%3C/script%3E'+AS+%22%3Cb%3E%22,+2+AS+n";
    let page = get(&served, &format!("/sql?q={hostile}"), "").await;
    assert_eq!((page.status(), page.header("cache-control")), (200, Some("no-store")));
    assert!(page.body.contains("1 row") && page.body.contains("&lt;script&gt;"), "{}", page.body);
    assert!(!page.body.contains("<script>") && !page.body.contains("<b>"), "{}", page.body);
    // A plot of two columns, sorted, both in the address.
    let numbers = "WITH+RECURSIVE+n(x)+AS+(SELECT+1+UNION+ALL+SELECT+x%2B1+FROM+n+LIMIT+5000)+SELECT+x,+x*x+AS+y+FROM+n";
    let page = get(&served, &format!("/sql?q={numbers}&sort=-1&x=1&y=2&plot=1"), "").await.body;
    assert!(
        page.contains("<svg") && page.contains("The first 200 of more than 1,000 rows"),
        "{page}"
    );
    assert!(page.contains(">1000</td>") && page.len() < 200_000, "{}", page.len());
    // All rows, to take away.
    let csv = get(&served, &format!("/sql?q={numbers}&format=csv"), "").await;
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(csv.header("content-disposition").unwrap().contains("rows.csv"), "{}", csv.head);
    assert!(csv.body.contains("5000,25000000"), "{}", csv.body.len());
    let json = get(&served, &format!("/sql?q={numbers}&format=json"), "").await;
    assert!(json.body.contains("\"x\": 5000"), "{}", json.body.len());

    // What is wrong is said beside the box, which keeps the text.
    for (wrong, format) in [("SELECT+kept+FROM+nowhere", ""), ("DELETE+FROM+games", "&format=csv")]
    {
        let page = get(&served, &format!("/sql?q={wrong}{format}"), "").await;
        assert_eq!(page.status(), 422, "{}", page.body);
        let text = wrong.replace('+', " ");
        assert!(page.body.contains("role=\"alert\"") && page.body.contains(&text), "{}", page.body);
    }
    // Rows without an end are cut off, and what never comes to a row holds a place until its caller goes away: there are
    // four. What is fetched ahead, or by a script, is not run.
    let endless = "WITH+RECURSIVE+n(x)+AS+(SELECT+1+UNION+ALL+SELECT+x%2B1+FROM+n)+SELECT";
    let page = get(&served, &format!("/sql?q={endless}+x+FROM+n"), "").await;
    assert!(page.body.contains("of more than 1,000 rows"), "{}", page.body);
    let endless = format!("/sql?q={endless}+max(x)+FROM+n");
    let address = served.address;
    let running: Vec<_> = (0..4)
        .map(|_| {
            let path = endless.clone();
            // Again, if the query that looks had the place.
            tokio::spawn(
                async move { while send(address, "GET", &path, "").await.status() == 503 {} },
            )
        })
        .collect();
    let asked = async || get(&served, "/sql?q=SELECT+'beside'", "").await;
    let refused = async || Some(asked().await).filter(|page| page.status() != 200);
    let page = eventually("four queries", refused).await;
    assert!(page.status() == 503 && page.body.contains("beside"), "{}", page.body);
    running.iter().for_each(tokio::task::JoinHandle::abort);
    eventually("a place", async || (asked().await.status() == 200).then_some(())).await;
    for ahead in
        ["Sec-Purpose: prefetch\r\n", "Sec-Fetch-Mode: cors\r\nSec-Fetch-Site: same-origin\r\n"]
    {
        let page = get(&served, &endless, ahead).await;
        assert!(page.status() == 200 && page.body.contains("max(x)"), "{}", page.body);
    }
}

/// Also with all that the page of a sweep of three players and six depths has.
#[tokio::test]
async fn pages_of_a_sweep_are_small() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = include_str!("../../../sweeps/tic-tac-toe.toml");
    served.submit(sweep).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("tic-tac-toe", "finished").await;
    for path in ["/", "/experiments/tic-tac-toe", "/games/1"] {
        let page = get(&served, path, "").await;
        assert_eq!(page.status(), 200, "{path}: {}", page.body);
        assert!(page.body.len() < 60_000, "{path}: {}", page.body.len());
    }
}

/// What takes too long ends with a sentence, before a row and after.
#[tokio::test]
async fn a_query_that_does_not_end_is_cut_off() {
    let site = Site::new();
    let served = site.serve_with_query_time(Duration::from_millis(300)).await;
    let endless = "WITH+RECURSIVE+n(x)+AS+(SELECT+1+UNION+ALL+SELECT+x%2B1+FROM+n)+SELECT";
    for format in ["", "&format=csv"] {
        let page = get(&served, &format!("/sql?q={endless}+max(x)+FROM+n{format}"), "").await;
        assert_eq!(page.status(), 422, "{}", page.body);
        let sentence = "failed to finish the query within";
        assert!(page.body.contains(sentence) && page.body.contains("max(x)"), "{}", page.body);
    }
    // A file that has begun breaks off.
    let begun = get(&served, &format!("/sql?q={endless}+x+FROM+n&format=csv"), "").await;
    assert!(begun.status() == 200 && begun.body.starts_with("x\r\n1\r\n"), "{}", begun.head);
}

/// Follows changes as an open page does until the experiment is finished, and returns how often it was fetched.
async fn follow_to_the_end(address: SocketAddr, number: u64) -> u32 {
    let path = ["/", "/experiments/followed"][number as usize % 2];
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /live HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut pages = 0;
    loop {
        // Each a little later than the one before, as the pages' script does by chance.
        tokio::time::sleep(Duration::from_micros(1_500 * number)).await;
        let mut page = send(address, "GET", path, "").await;
        while page.status() == 503 {
            let seconds: u64 = page.header("retry-after").unwrap().parse().unwrap();
            tokio::time::sleep(Duration::from_millis(seconds * (1_000 + number * 5))).await;
            page = send(address, "GET", path, "").await;
        }
        assert_eq!(page.status(), 200, "{path}: {}", page.body);
        pages += 1;
        if page.body.contains("finished") {
            return pages;
        }
        let mut heard = String::new();
        while !heard.contains("event: changed") {
            let mut bytes = [0; 256];
            let length = stream.read(&mut bytes).await.unwrap();
            assert!(length > 0 && !heard.contains("HTTP/1.1 5"), "{heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }
}

/// Two hundred pages that follow a sweep while it is played: a busy answer says when to come again, and each sees the end.
#[tokio::test]
async fn many_open_pages_hold_nothing_up() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("followed", 2_000)).await;
    let open: Vec<_> =
        (0..200).map(|number| tokio::spawn(follow_to_the_end(served.address, number))).collect();
    HandWorker::new(&served).await.work_until_done().await;
    let experiment = served.wait_for_state("followed", "finished").await;
    assert_eq!((experiment.games_settled, experiment.games_failed), (2_000, 0));
    for follower in open {
        assert!(follower.await.unwrap() >= 1);
    }
}
