//! Diagnoses failed engines: the problem in one sentence, and the remedy.

use std::path::Path;

use crate::breach::Breaches;
use crate::diagnosis::Diagnosis;
use crate::failure::{EngineFailure, Exit, FailureKind, Phase};
use crate::program::unusable_file;
use crate::protocol::Protocol;
use crate::spec::EngineSpec;
use crate::text::shown;

/// Words by which an engine refers to its network file …
const NETWORK: [&str; 6] = ["network", "nnue", "evalfile", "eval file", "weights", "no net"];
/// … and to its absence.
const ABSENT: [&str; 12] = [
    "not found",
    "not available",
    "not loaded",
    "not load",
    "not open",
    "cannot",
    "can't",
    "failed",
    "missing",
    "no such",
    "unable",
    "no net",
];

/// The usual mistake of a program whose standard output is a pipe.
const FLUSHES: &str =
    "see that it flushes each line that it prints, as by `print(…, flush=True)` in Python";

/// What a player over the protocol of lines answers first.
const GREETS: &str =
    r#"see that it answers the start line with a JSON object in one line, such as {"name":"mine"}"#;

/// The meaning of an `error` in that answer.
const REFUSES: &str = "leave it out of this game, or change its `options` or its `set` in the engines file; a program that plays any \
     game answers the start line without `error`";

impl EngineFailure {
    /// The diagnosis of an engine's failure, unless [it speaks another protocol](crate::diagnose_protocol).
    #[must_use]
    pub fn diagnose(&self, spec: &EngineSpec) -> Diagnosis {
        let spec = &spec.in_place(0);
        let by_hand = || {
            let words =
                std::iter::once(spec.command.display().to_string()).chain(spec.args.clone());
            format!(
                "run it by hand in {} and type `{}`: {}",
                spec.directory.display(),
                spec.greeting(),
                words.collect::<Vec<_>>().join(" ")
            )
        };
        match &self.kind {
            FailureKind::Missing(path) => Diagnosis::new(
                format!("there is no program {}", path.display()),
                "install it, or write its path as `command` in the engines file",
            ),
            FailureKind::NotExecutable { path, problem } => not_executable(path, problem),
            FailureKind::NoFile { .. } => Diagnosis::new(
                self.kind.to_string(),
                "restore the file, or correct `files` in the engines file",
            ),
            FailureKind::NoProcess(problem) if problem.starts_with("there is no directory") => {
                Diagnosis::new(problem, "create it, or change `directory` in the engines file")
            }
            FailureKind::Exhausted(_) => Diagnosis::new(
                self.kind.to_string(),
                "use fewer --slots, or raise the limits on open files and processes: ulimit -n and -u, LimitNOFILE= \
                 and TasksMax= in a systemd unit",
            ),
            FailureKind::NoProcess(_) => Diagnosis::new(
                self.kind.to_string(),
                "end other programs, or raise the limit on processes",
            ),
            FailureKind::Crash(exit) => self.crash(*exit, spec, by_hand),
            FailureKind::NoAnswer { asked, awaited, within: _ } => {
                let first_line = self.printed_lines().next();
                let problem = match first_line {
                    None => format!("it printed nothing: {}", self.kind),
                    Some(line) => format!("{}; it printed `{}`", self.kind, shown_line(line)),
                };
                let remedy = match (asked.as_str(), self.during) {
                    _ if spec.protocol == Protocol::Lines && first_line.is_some() => {
                        format!("{GREETS}, and {FLUSHES}; {}", by_hand())
                    }
                    _ if spec.protocol == Protocol::Lines => format!("{FLUSHES}; {}", by_hand()),
                    ("protover 2", Phase::Start) => format!(
                        "if it is of before 1999 and knows no `protover`, write xboard = {{ features = false }}; if it \
                         needs arguments, write them as `args`; {}",
                        by_hand()
                    ),
                    (asked, Phase::Start)
                        if spec.protocol == Protocol::Ugi && asked == spec.ugi.hello =>
                    {
                        format!(
                            "if it is greeted by another word, write such as ugi = {{ hello = \"tei\" }}; if it needs \
                             arguments, write them as `args`; {}",
                            by_hand()
                        )
                    }
                    ("uci" | "list_commands" | "protocol_version", Phase::Start) => {
                        format!("if it needs arguments, write them as `args`; {}", by_hand())
                    }
                    ("isready", Phase::Start) => format!(
                        "if it only is slow, raise `startup_timeout` in the engines file; else {}",
                        by_hand()
                    ),
                    _ => format!("it must answer `{asked}` with {awaited}: {}", by_hand()),
                };
                Diagnosis { problem, remedy }
            }
            FailureKind::Option { .. } => Diagnosis::new(
                self.kind.to_string(),
                "change it under the engine's `set` in the engines file, or in the sweep's `options`",
            ),
            FailureKind::NotAllowed(refused) => {
                Diagnosis::new(&refused.problem, refused.remedy.as_str())
            }
            FailureKind::Refused { command, .. } => {
                let of_setup = spec
                    .xboard
                    .setup
                    .iter()
                    .any(|line| line.split(' ').next() == Some(command.as_str()));
                let remedy = if spec.protocol == Protocol::Lines {
                    REFUSES.to_owned()
                } else if spec.gtp.setup.contains(command) || of_setup {
                    format!("change `{}.setup` in the engines file", spec.protocol.name())
                } else {
                    format!("an engine for Spelrum must obey it; {}", by_hand())
                };
                Diagnosis { problem: self.kind.to_string(), remedy }
            }
            FailureKind::Hang { .. } if spec.protocol == Protocol::Lines => {
                Diagnosis::new(self.kind.to_string(), FLUSHES)
            }
            FailureKind::Hang { .. } | FailureKind::OutOfTime { .. } => {
                Diagnosis::new(self.kind.to_string(), "give its players another limit")
            }
            FailureKind::Unreadable { .. } if self.during == Phase::Start => Diagnosis {
                problem: self.kind.to_string(),
                remedy: format!("{GREETS}; {}", by_hand()),
            },
            FailureKind::NoMove(_)
            | FailureKind::IllegalMove(_)
            | FailureKind::Unreadable { .. }
            | FailureKind::Raised(_) => {
                Diagnosis::new(self.kind.to_string(), "report it to the engine's author")
            }
            FailureKind::Unsupported(_) | FailureKind::Aborted | FailureKind::Gone => {
                Diagnosis { problem: self.kind.to_string(), remedy: by_hand() }
            }
        }
    }

    fn crash(&self, exit: Exit, spec: &EngineSpec, by_hand: impl Fn() -> String) -> Diagnosis {
        let lines = || self.printed_lines();
        if let Some(library) = lines().find_map(missing_library) {
            return Diagnosis::new(
                format!("it needs the shared library {library}, which is not on this machine"),
                "install the package that has it, or name its folder: environment = { LD_LIBRARY_PATH = \"…\" }",
            );
        }
        let newer = |line: &&str| line.contains("version `") && line.contains("not found");
        if let Some(line) = lines().find(newer) {
            return Diagnosis::new(
                format!("it was built for a newer system than this: `{}`", shown_line(line)),
                "build it on this machine, or take a static build",
            );
        }
        // A file that the system does not recognise as a program goes to a shell, whose error differs.
        if self.during == Phase::Start
            && let Some(diagnosis) = unusable_file(&spec.command, self.guard_message().is_some())
        {
            return diagnosis;
        }
        if let Some(problem) = self.guard_message() {
            return Diagnosis {
                problem: format!("the system cannot run it: {}", shown_line(problem)),
                remedy: by_hand(),
            };
        }
        if exit == Exit::Signal(4) {
            return Diagnosis::new(
                format!("it uses instructions that this CPU lacks: it ended ({exit})"),
                "take a build for this CPU, such as one without AVX2 or BMI2",
            );
        }
        let is_of_network = |line: &&str| {
            let line = line.to_ascii_lowercase();
            NETWORK.iter().any(|text| line.contains(text))
                && ABSENT.iter().any(|text| line.contains(text))
        };
        if let Some(line) = lines().find(is_of_network) {
            return Diagnosis::new(
                format!("its network file is missing: `{}`", shown_line(line)),
                format!(
                    "put the file into {}, or name it in the engines file: set = {{ EvalFile = \"…\" }}",
                    spec.directory.display()
                ),
            );
        }
        let at = match self.asked() {
            Some(asked) => format!(" after `{}`", shown_line(asked)),
            None => " at once".to_owned(),
        };
        let last = match lines().last() {
            Some(line) => format!("; its last output: `{}`", shown_line(line)),
            None => ", without output".to_owned(),
        };
        Diagnosis { problem: format!("it ended ({exit}){at}{last}"), remedy: by_hand() }
    }

    /// The engine's last own words on standard output and error: neither empty, nor its guard's.
    fn printed_lines(&self) -> impl DoubleEndedIterator<Item = &str> {
        let lines = self.transcript.lines().filter_map(|line| {
            let error_line = line.strip_prefix("! ").filter(|line| !line.starts_with("guard: "));
            error_line.or_else(|| line.strip_prefix("< "))
        });
        lines
            .map(|line| line.strip_prefix("info string ").unwrap_or(line).trim())
            .filter(|line| !line.is_empty())
    }

    /// The last line sent to it.
    fn asked(&self) -> Option<&str> {
        self.transcript.lines().filter_map(|line| line.strip_prefix("> ")).next_back()
    }

    /// The guard's reason for not starting it.
    fn guard_message(&self) -> Option<&str> {
        let message = self.transcript.lines().find_map(|line| line.strip_prefix("! guard: "));
        message.filter(|_| self.during == Phase::Start)
    }
}

fn not_executable(path: &Path, problem: &str) -> Diagnosis {
    let path = path.display();
    if problem.contains("Permission denied") {
        Diagnosis::new(
            format!("{path} is not executable by this user"),
            format!("make it so: chmod +x {path}"),
        )
    } else {
        Diagnosis::new(
            format!("{path} cannot be run: {problem}"),
            "write the path of a program as `command` in the engines file",
        )
    }
}

/// The library that a dynamic loader reports as missing.
fn missing_library(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("error while loading shared libraries: ")?;
    behind.contains("cannot open").then(|| behind.split_once(':').map(|(name, _)| name)).flatten()
}

fn shown_line(line: &str) -> String {
    shown(line, Breaches::SAID_BYTES_MAX)
}
