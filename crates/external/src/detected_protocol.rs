//! Identifies the protocol of a program that does not answer as its engines file states.

use std::time::{Duration, Instant};

use crate::diagnosis::Diagnosis;
use crate::guard::Guard;
use crate::process::{Aborted, Process};
use crate::protocol::Protocol;
use crate::spec::EngineSpec;

/// The greetings of all protocols: foreign commands do an engine no harm.
const GREETINGS: [&str; 5] =
    ["uci\n", "protocol_version\n", "xboard\n", "protover 2\n", "{\"spelrum\":1}\n"];

impl Protocol {
    /// Restarts a program, and tries which protocol it answers; `None` for none of these.
    #[must_use]
    pub fn detect(
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

    /// The diagnosis of a program with this protocol, used with another.
    pub(crate) fn mismatch(self, expected: Self) -> Option<Diagnosis> {
        let problem =
            format!("it speaks {}, and the engines file says {}", self.title(), expected.title());
        let remedy = match (self, expected) {
            (Self::Uci, Self::Gtp) => {
                "write protocol = \"uci\" there; over GTP, Spelrum plays Pentago and Othello alone"
                    .to_owned()
            }
            _ => format!("write protocol = \"{}\" there", self.name()),
        };
        (self != expected).then_some(Diagnosis { problem, remedy })
    }
}
