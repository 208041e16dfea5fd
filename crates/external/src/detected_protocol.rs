//! Identifies the protocol of a program that does not answer as its engines file states.

use std::time::{Duration, Instant};

use crate::diagnosis::Diagnosis;
use crate::guard::Guard;
use crate::process::{Aborted, Process};
use crate::protocol::Protocol;
use crate::spec::EngineSpec;

/// The greetings of all protocols: foreign commands do an engine no harm.
const GREETINGS: [&str; 6] = [
    "uci\n",
    "protocol_version\n",
    "xboard\n",
    "protover 2\n",
    "{\"spelrum\":1}\n",
    "ugi\ntei\nuai\nusi\n",
];

/// The answers to the greetings of programs that speak UCI, UGI, or the same in other words.
const OKS: [&str; 5] = ["uciok", "ugiok", "teiok", "uaiok", "usiok"];

/// Restarts a program, and tries which protocol it answers: the diagnosis if that is another than its engines file
/// states; `None` if it is the same, or the program answers none.
#[must_use]
pub fn diagnose_protocol(
    spec: &EngineSpec,
    guard: &Guard,
    within: Duration,
    aborted: Aborted<'_>,
) -> Option<Diagnosis> {
    // A program that ends at a foreign greeting is restarted with the next.
    let deadline = Instant::now() + within;
    let detected = GREETINGS.iter().enumerate().find_map(|(place, _)| {
        if place == 1 || Instant::now() >= deadline {
            // The first try has sent all greetings.
            return None;
        }
        let greetings: String = GREETINGS[place..].concat();
        let mut process = Process::start(&spec.in_place(0), guard).ok()?;
        process.send(&greetings, deadline, aborted).ok()?;
        loop {
            let line = process.next_line(deadline, aborted).ok()?.line;
            if let Some(detected) = Detected::from_line(&line.text) {
                return Some(detected);
            }
        }
    })?;
    detected.mismatch(spec)
}

/// A protocol that a program answers.
struct Detected {
    protocol: Protocol,
    /// The greeting that it answers, in the frame of UCI.
    hello: Option<&'static str>,
}

impl Detected {
    /// The protocol of a program that prints this line.
    fn from_line(line: &str) -> Option<Self> {
        let line = line.trim();
        let hello = OKS.into_iter().find(|ok| *ok == line).and_then(|ok| ok.strip_suffix("ok"));
        let is_version =
            line.strip_prefix('=').is_some_and(|version| matches!(version.trim(), "1" | "2"));
        let is_refusal = line.starts_with('?') && line.contains("unknown command");
        let protocol = if hello == Some("uci") {
            Protocol::Uci
        } else if hello.is_some() {
            Protocol::Ugi
        } else if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).is_ok() {
            Protocol::Lines
        } else if line.starts_with("feature ") || line.starts_with("tellics ") {
            Protocol::Xboard
        } else if is_version || is_refusal {
            Protocol::Gtp
        } else {
            return None;
        };
        Some(Self { protocol, hello })
    }

    /// The diagnosis of a program with this protocol that is used with another.
    fn mismatch(&self, spec: &EngineSpec) -> Option<Diagnosis> {
        let (protocol, expected) = (self.protocol, spec.protocol);
        let write = |protocol: Protocol| format!("write protocol = \"{}\" there", protocol.name());
        let dialect = self.hello.filter(|hello| !matches!(*hello, "uci" | "ugi"));
        let dialect = dialect.map(|hello| format!("ugi = {{ hello = \"{hello}\" }}"));
        let is_as_stated =
            self.hello.map_or(protocol == expected, |hello| hello == spec.greeting());
        if is_as_stated {
            return None;
        }
        if let Some(hello) = self.hello.filter(|_| protocol == expected) {
            let problem =
                format!("it answers `{hello}`, and Spelrum greets it by `{}`", spec.ugi.hello);
            let remedy = dialect.map_or_else(
                || "leave `hello` out of its `ugi`".to_owned(),
                |dialect| format!("write {dialect} in the engines file"),
            );
            return Some(Diagnosis { problem, remedy });
        }
        let problem = format!(
            "it speaks {}, and the engines file says {}",
            protocol.title(),
            expected.title()
        );
        let remedy = match (protocol, expected, dialect) {
            (Protocol::Uci, Protocol::Gtp, _) => {
                format!("{}; over GTP, Spelrum plays Pentago and Othello alone", write(protocol))
            }
            (Protocol::Uci, Protocol::Ugi, _) => format!(
                "{} if it plays chess; if it plays another game, write ugi = {{ hello = \"uci\" }}",
                write(protocol)
            ),
            (_, _, Some(dialect)) => format!("{}, and {dialect}", write(protocol)),
            (_, _, None) => write(protocol),
        };
        Some(Diagnosis { problem, remedy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::tests::plain;
    use crate::uci::Words;

    #[test]
    fn an_answer_in_another_protocol_is_recognised_with_its_remedy() {
        let spec = |protocol| plain("mine", protocol, "/mine".into());
        let tei = EngineSpec {
            ugi: Words { hello: "tei".to_owned(), ..Words::ugi() },
            ..spec(Protocol::Ugi)
        };
        for (line, spec, expected) in [
            ("uciok", spec(Protocol::Uci), None),
            ("ugiok", spec(Protocol::Ugi), None),
            ("teiok", tei.clone(), None),
            ("bestmove", spec(Protocol::Ugi), None),
            (
                "uciok",
                spec(Protocol::Xboard),
                Some(
                    "it speaks UCI, and the engines file says XBoard; write protocol = \"uci\" there",
                ),
            ),
            (
                " ugiok\r",
                spec(Protocol::Uci),
                Some(
                    "it speaks UGI, and the engines file says UCI; write protocol = \"ugi\" there",
                ),
            ),
            (
                "usiok",
                spec(Protocol::Gtp),
                Some(
                    "it speaks UGI, and the engines file says GTP; write protocol = \"ugi\" there, and \
                     ugi = { hello = \"usi\" }",
                ),
            ),
            (
                "uciok",
                spec(Protocol::Ugi),
                Some(
                    "it speaks UCI, and the engines file says UGI; write protocol = \"uci\" there if it plays chess; \
                     if it plays another game, write ugi = { hello = \"uci\" }",
                ),
            ),
            (
                "teiok",
                spec(Protocol::Ugi),
                Some(
                    "it answers `tei`, and Spelrum greets it by `ugi`; write ugi = { hello = \"tei\" } in the engines \
                     file",
                ),
            ),
            (
                "ugiok",
                tei,
                Some(
                    "it answers `ugi`, and Spelrum greets it by `tei`; leave `hello` out of its `ugi`",
                ),
            ),
            (
                "= 2",
                spec(Protocol::Ugi),
                Some(
                    "it speaks GTP, and the engines file says UGI; write protocol = \"gtp\" there",
                ),
            ),
        ] {
            let diagnosis = Detected::from_line(line).and_then(|detected| detected.mismatch(&spec));
            let diagnosis =
                diagnosis.map(|Diagnosis { problem, remedy }| format!("{problem}; {remedy}"));
            assert_eq!(diagnosis.as_deref(), expected, "{line}");
        }
    }
}
