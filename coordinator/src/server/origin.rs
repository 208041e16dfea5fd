//! Whether a call may have come from a web page (docs/protocol.md, "Authentication").
//!
//! A browser lets any page send requests to any address that its machine reaches. Without a preflight request, it
//! cannot send gRPC's content type, or HTTP/2 without TLS, to another site; and `Origin` names the page's site. A page
//! can make its own name resolve to this machine and then counts as the same site (DNS rebinding), so the host name
//! must be one of ours.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, Version, header};

use crate::transport::Transport;

/// The host names of this coordinator.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The configured names.
    configured: Vec<String>,
    /// This machine's own name. A page's site cannot have it.
    machine: String,
}

/// Why a call is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Foreign {
    /// Not gRPC.
    NotGrpc,
    /// A body of another content type than JSON.
    NotJson,
    /// gRPC over an old HTTP.
    OldHttp,
    /// Sent to another host.
    Host(String),
    /// Sent by a web page.
    Origin(String),
}

impl Names {
    /// The configured names, and those that always mean this machine.
    pub(super) fn new(configured: Vec<String>) -> Self {
        let machine = gethostname::gethostname().to_string_lossy().into_owned();
        Self { configured, machine }
    }

    /// Whether an authority means this coordinator, on a connection to our address `local`.
    fn include(&self, authority: &Authority, local: IpAddr) -> bool {
        let host = authority.host();
        let is_configured = self.configured.iter().any(|name| is_name(host, name));
        // An IP address cannot be rebound by DNS.
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let address = address.unwrap_or(host).parse::<IpAddr>().ok();
        if local.to_canonical().is_loopback() {
            is_configured
                || is_name(host, "localhost")
                || (!self.machine.is_empty() && is_name(host, &self.machine))
                || address.is_some_and(|address| address.to_canonical().is_loopback())
        } else {
            is_configured || address.is_some() || self.configured.is_empty()
        }
    }

    /// Whether the authority suffices to recognise our own pages.
    fn include_certainly(&self, authority: &Authority, local: IpAddr) -> bool {
        let certain = Self {
            // Not empty: an unknown name is not ours.
            configured: self
                .configured
                .iter()
                .cloned()
                .chain([String::from("localhost")])
                .collect(),
            machine: self.machine.clone(),
        };
        certain.include(authority, local)
    }
}

/// Compares names regardless of case (RFC 9110, section 4.2.3) and of the root's dot.
fn is_name(host: &str, name: &str) -> bool {
    host.strip_suffix('.').unwrap_or(host).eq_ignore_ascii_case(name)
}

/// Whether a content type is gRPC's. Others with the same start, such as gRPC-Web's, do not count.
pub(super) fn is_grpc(kind: Option<&HeaderValue>) -> bool {
    let kind = kind.map_or(&b""[..], HeaderValue::as_bytes);
    let kind = kind.to_ascii_lowercase();
    kind.strip_prefix(b"application/grpc")
        .is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';' | b' ')))
}

/// Refuses a call that is not gRPC.
pub(super) fn check_grpc(
    method: &Method,
    version: Version,
    headers: &HeaderMap,
) -> Result<(), Foreign> {
    if method != Method::POST || !is_grpc(headers.get(header::CONTENT_TYPE)) {
        Err(Foreign::NotGrpc)
    } else if version < Version::HTTP_2 {
        Err(Foreign::OldHttp)
    } else {
        Ok(())
    }
}

/// Refuses a body that is not declared as JSON: without a preflight request, a page cannot declare that.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Foreign> {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let kind = kind.to_ascii_lowercase();
    let rest = kind.strip_prefix(b"application/json");
    if rest.is_some_and(|rest| matches!(rest.first(), None | Some(b';' | b' '))) {
        Ok(())
    } else {
        Err(Foreign::NotJson)
    }
}

/// Whether a browser goes to a page, wherever the link is: what it shows stays in its own window.
pub(super) fn is_navigation(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name, value: &[u8]| headers.get(name).is_some_and(|given| given.as_bytes() == value);
    method == Method::GET && is("sec-fetch-mode", b"navigate") && is("sec-fetch-dest", b"document")
}

/// Refuses a form that does not say which page sent it: browsers say it of every form.
pub(super) fn check_form(method: &Method, headers: &HeaderMap) -> Result<(), Foreign> {
    match method == Method::GET || headers.contains_key(header::ORIGIN) {
        true => Ok(()),
        false => Err(Foreign::Origin(String::new())),
    }
}

/// Refuses a call to another host, and one from another site's page.
pub(super) fn check_sender(
    names: &Names,
    local: IpAddr,
    transport: Transport,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Foreign> {
    let read = |value: &HeaderValue| Authority::try_from(value.as_bytes()).ok();
    // HTTP/2 has the host in `:authority`, which is the URI's. Every host given must be ours.
    let mut ours = None;
    for host in headers.get_all(header::HOST) {
        match read(host).filter(|authority| names.include(authority, local)) {
            Some(authority) => ours = Some(authority),
            None => return Err(Foreign::Host(text(host))),
        }
    }
    if let Some(authority) = uri.authority() {
        if !names.include(authority, local) {
            return Err(Foreign::Host(authority.to_string()));
        }
        ours = Some(authority.clone());
    }
    let Some(ours) = ours else { return Err(Foreign::Host(String::new())) };
    // What a page asks for without being able to read it, such as an image, has no origin.
    for site in headers.get_all("sec-fetch-site") {
        if !matches!(site.as_bytes(), b"same-origin" | b"none") {
            return Err(Foreign::Origin(text(site)));
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        // The origin of a page that we served ourselves.
        let page = origin.to_str().ok().and_then(|origin| {
            let authority = match transport {
                Transport::Tls => origin.strip_prefix("https://"),
                Transport::Plain => {
                    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
                }
            };
            authority?.parse::<Authority>().ok()
        });
        if page.is_none_or(|page| page != ours || !names.include_certainly(&page, local)) {
            return Err(Foreign::Origin(text(origin)));
        }
    }
    Ok(())
}

/// A header's value, in printable form.
fn text(value: &HeaderValue) -> String {
    value.as_bytes().escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &str = "127.0.0.1";
    const ELSEWHERE: &str = "10.0.0.5";

    fn names(configured: &[&str]) -> Names {
        let configured = configured.iter().map(|&name| name.to_owned()).collect();
        Names { configured, machine: "tower".to_owned() }
    }

    fn check(names: &Names, local: &str, host: &str, origin: Option<&str>) -> Result<(), Foreign> {
        check_by(Transport::Plain, names, local, host, origin)
    }

    fn check_by(
        transport: Transport,
        names: &Names,
        local: &str,
        host: &str,
        origin: Option<&str>,
    ) -> Result<(), Foreign> {
        let mut headers = HeaderMap::new();
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let local = local.parse().unwrap();
        let by_uri = format!("http://{host}/x").parse::<Uri>();
        let by_uri = by_uri.map(|uri| check_sender(names, local, transport, &uri, &headers));
        headers.insert(header::HOST, host.parse().unwrap());
        let by_header = check_sender(names, local, transport, &Uri::from_static("/x"), &headers);
        if let Ok(by_uri) = by_uri {
            assert_eq!(by_uri, by_header, "{host}");
        }
        by_header
    }

    #[test]
    fn on_loopback_only_names_of_this_machine_are_ours() {
        let names = names(&["results.example.org"]);
        let ours = [
            "127.0.0.1:7878",
            "localhost",
            "localhost:7878",
            "LOCALHOST:1",
            "localhost.:7878",
            "[::1]:7878",
            "127.0.1.1",
            "tower:7878",
            "results.example.org",
        ];
        for host in ours {
            for local in [LOOPBACK, "::1", "::ffff:127.0.0.1"] {
                assert_eq!(check(&names, local, host, None), Ok(()), "{host}");
            }
        }
        for host in ["evil.example:7878", "localhost.evil.example", "10.0.0.5", "127.0.0.1.nip.io"]
        {
            let refused = Err(Foreign::Host(host.to_owned()));
            assert_eq!(check(&names, LOOPBACK, host, None), refused, "{host}");
        }
        let nobody = check_sender(
            &names,
            LOOPBACK.parse().unwrap(),
            Transport::Plain,
            &Uri::from_static("/x"),
            &HeaderMap::new(),
        );
        assert_eq!(nobody, Err(Foreign::Host(String::new())));
    }

    #[test]
    fn elsewhere_configured_names_and_addresses_are_ours() {
        let any = names(&[]);
        assert_eq!(check(&any, ELSEWHERE, "whatever.example", None), Ok(()));
        let names = names(&["results.example.org"]);
        for host in
            ["results.example.org:7878", "Results.Example.Org", "10.0.0.5:7878", "[fe80::1]"]
        {
            assert_eq!(check(&names, ELSEWHERE, host, None), Ok(()), "{host}");
        }
        for host in ["evil.example", "localhost:7878", "results.example.org.evil.example"] {
            assert!(check(&names, ELSEWHERE, host, None).is_err(), "{host}");
        }
    }

    #[test]
    fn only_a_page_of_our_own_may_call() {
        let none = names(&[]);
        let some = names(&["results.example.org"]);
        let own = |names, local, host, origin| check(names, local, host, Some(origin));
        let foreign = |origin: &str| Err(Foreign::Origin(origin.to_owned()));
        assert_eq!(own(&none, LOOPBACK, "localhost:7878", "http://localhost:7878"), Ok(()));
        assert_eq!(own(&none, ELSEWHERE, "10.0.0.5:7878", "http://10.0.0.5:7878"), Ok(()));
        let configured = "https://results.example.org";
        assert_eq!(own(&some, ELSEWHERE, "results.example.org", configured), Ok(()));
        for origin in ["http://localhost:3000", "null", "http://evil.example", "file://"] {
            assert_eq!(own(&none, LOOPBACK, "localhost:7878", origin), foreign(origin));
        }
        // A name that was made to point here.
        let rebound = "http://evil.example:7878";
        assert_eq!(own(&none, ELSEWHERE, "evil.example:7878", rebound), foreign(rebound));
    }

    #[test]
    fn by_tls_only_a_page_that_came_by_tls_may_call() {
        let names = names(&["results.example.org"]);
        let host = "results.example.org";
        let by_tls = |origin| check_by(Transport::Tls, &names, ELSEWHERE, host, Some(origin));
        assert_eq!(by_tls("https://results.example.org"), Ok(()));
        let plain = "http://results.example.org";
        assert_eq!(by_tls(plain), Err(Foreign::Origin(plain.to_owned())));
    }

    #[test]
    fn grpc_is_told_by_its_content_type() {
        let check = |kind: &str, version| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
            check_grpc(&Method::POST, version, &headers)
        };
        for kind in ["application/grpc", "application/grpc+proto", "Application/gRPC; x=y"] {
            assert_eq!(check(kind, Version::HTTP_2), Ok(()), "{kind}");
            assert_eq!(check(kind, Version::HTTP_11), Err(Foreign::OldHttp), "{kind}");
        }
        for kind in ["text/plain", "text/plain; application/grpc", "application/grpc-web", ""] {
            assert_eq!(check(kind, Version::HTTP_2), Err(Foreign::NotGrpc), "{kind}");
        }
        let get = check_grpc(&Method::GET, Version::HTTP_2, &HeaderMap::new());
        assert_eq!(get, Err(Foreign::NotGrpc));
    }
}
