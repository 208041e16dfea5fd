//! Identifies the protocol of a program that does not answer as its engines file states.

use std::time::{Duration, Instant};

use crate::diagnosis::Diagnosis;
use crate::guard::Guard;
use crate::process::{Aborted, Process};
use crate::protocol::Protocol;
use crate::spec::EngineSpec;

/// A protocol of engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectedProtocol {
    /// The universal chess interface.
    Uci,
    /// The Go text protocol.
    Gtp,
    /// JSON objects in lines.
    Lines,
    /// The chess engine communication protocol, which Spelrum does not support.
    Xboard,
}

/// The greetings of all protocols: foreign commands do an engine no harm.
const GREETINGS: [&str; 5] =
    ["uci\n", "protocol_version\n", "xboard\n", "protover 2\n", "{\"spelrum\":1}\n"];

impl DetectedProtocol {
    /// Restarts the program, and tries which protocol it answers; `None` for none of these.
    #[must_use]
    pub fn find(
        spec: &EngineSpec,
        guard: &Guard,
        within: Duration,
        aborted: Aborted<'_>,
    ) -> Option<Self> {
        // A program that ends at a foreign greeting is restarted with the next.
        let deadline = Instant::now() + within;
        GREETINGS.iter().enumerate().find_map(|(place, _)| {
            if place == 1 || Instant::now() >= deadline {
                // The first try has sent all greetings.
                return None;
            }
            let greetings: String = GREETINGS[place..].concat();
            let mut process = Process::start(&spec.in_place(0), guard).ok()?;
            process.send(&greetings, deadline, aborted).ok()?;
            loop {
                let line = process.next_line(deadline, aborted).ok()?.line;
                if let Some(detected) = Self::from_line(&line.text) {
                    return Some(detected);
                }
            }
        })
    }

    /// The protocol of a program that prints this line.
    fn from_line(line: &str) -> Option<Self> {
        let line = line.trim();
        if line == "uciok" {
            return Some(Self::Uci);
        }
        if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).is_ok() {
            return Some(Self::Lines);
        }
        if line.starts_with("feature ") || line.starts_with("tellics ") {
            return Some(Self::Xboard);
        }
        let is_version =
            line.strip_prefix('=').is_some_and(|version| matches!(version.trim(), "1" | "2"));
        let is_refusal = line.starts_with('?') && line.contains("unknown command");
        (is_version || is_refusal).then_some(Self::Gtp)
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Uci => "UCI",
            Self::Gtp => "GTP",
            Self::Lines => "lines",
            Self::Xboard => "XBoard",
        }
    }

    /// The diagnosis of a program with this protocol, used with another.
    pub(crate) fn diagnosis(self, expected: Protocol) -> Option<Diagnosis> {
        Some(match (self, expected) {
            (Self::Uci, Protocol::Gtp) => Diagnosis::new(
                "it speaks UCI, and the engines file says GTP",
                "write protocol = \"uci\" there; over GTP, Spelrum plays Pentago and Othello alone",
            ),
            (Self::Gtp, Protocol::Uci) => Diagnosis::new(
                "it speaks GTP, and the engines file says UCI",
                "write protocol = \"gtp\" there",
            ),
            (Self::Uci | Self::Gtp, Protocol::Lines) => Diagnosis::new(
                format!("it speaks {}, and the engines file says lines", self.title()),
                format!("write protocol = \"{}\" there", self.title().to_lowercase()),
            ),
            (Self::Lines, Protocol::Uci | Protocol::Gtp) => Diagnosis::new(
                format!(
                    "it speaks the protocol of lines, and the engines file says {}",
                    expected.title()
                ),
                "write protocol = \"lines\" there",
            ),
            (Self::Xboard, _) => Diagnosis::new(
                "it speaks the XBoard protocol, and Spelrum speaks UCI, GTP and lines",
                "start it in another mode by `args` if it has one, or through an adapter such as `wb2uci`",
            ),
            (Self::Uci, Protocol::Uci)
            | (Self::Gtp, Protocol::Gtp)
            | (Self::Lines, Protocol::Lines) => return None,
        })
    }
}
