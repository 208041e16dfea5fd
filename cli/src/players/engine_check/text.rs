//! Check results of engines, for people.

use std::io::{self, Write};

use spelrum_external::Protocol;
use spelrum_model::capabilities::{EngineOption, OptionKind};
use spelrum_report::text::{count, duration_us};

use super::{Checked, Kept, Limit, TriedLimit};

/// Options and commands listed individually; JSON has all.
const OPTIONS_MAX: usize = 60;
/// Choices of an option, or files, listed by name.
const NAMED_MAX: usize = 6;

/// Writes the check results of engines, with the verdicts at the end.
pub(crate) fn write_all(checked: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    for engine in checked {
        write(engine, out)?;
        writeln!(out)?;
    }
    for engine in checked {
        writeln!(out, "{}", verdict(engine))?;
    }
    out.flush()
}

/// Writes the check result of an engine.
fn write(checked: &Checked, out: &mut dyn Write) -> io::Result<()> {
    let Checked { engine, protocol, command, identity, .. } = checked;
    write!(out, "{engine} ({})", protocol.name())?;
    if let Some(identity) = identity {
        let name = if identity.name.is_empty() { "unnamed" } else { &identity.name };
        write!(out, ": {name}")?;
        if !identity.author.is_empty() {
            write!(out, ", by {}", identity.author)?;
        }
    }
    writeln!(out)?;
    let mut line = |label: &str, text: String| writeln!(out, "  {label:<9} {text}");
    line("program", command.join(" "))?;
    if let Some(identity) = identity {
        line("SHA-256", identity.sha256_hex())?;
    }
    if let Some(time) = checked.started_in {
        line("start", duration_us(time.as_secs_f64() * 1e6))?;
    }
    if identity.is_some() {
        let games = if checked.games.is_empty() { "nothing" } else { &checked.games.join(", ") };
        line("plays", games.to_owned())?;
    }
    for limit in &checked.limits {
        line(limit.limit.name(), limit_text(limit, *protocol))?;
    }
    if let Some(repeats) = checked.repeats {
        let games = "in fresh games";
        let text = match repeats.same {
            same if same == repeats.positions => {
                format!("its moves in {same} of {same} positions {games}")
            }
            same => format!(
                "its moves in {same} of {} positions {games}: not always",
                repeats.positions
            ),
        };
        line("repeats", text)?;
    }
    if let Some(bytes) = checked.memory_bytes {
        line("memory", format!("up to {} MiB", count(bytes.div_ceil(1 << 20))))?;
    }
    if checked.parallel > 1 {
        let tried = checked.batch.map_or_else(String::new, |batch| format!("; {batch} answered"));
        line("parallel", format!("{} requests at the same time{tried}", checked.parallel))?;
    }
    if let Some(left) = &checked.parting {
        let took = duration_us(left.took.as_secs_f64() * 1e6);
        line("quit", format!("within {took}; {}", files_text(&left.files)))?;
    }
    for breach in &checked.breaches {
        line("departs", breach.clone())?;
    }
    if let Some(options) = &checked.capabilities.declared {
        write_options("options", options, out)?;
    }
    if let Some(gtp) = &checked.capabilities.gtp {
        write_options("options", &checked.capabilities.settable, out)?;
        let sizes: Vec<String> = gtp
            .board_sizes
            .iter()
            .map(|(size, taken)| format!("{size}{}", if *taken { "" } else { " (refused)" }))
            .collect();
        if !sizes.is_empty() {
            writeln!(out, "  {:<9} {}", "boards", sizes.join(", "))?;
        }
    }
    Ok(())
}

/// The verdict on an engine.
fn verdict(checked: &Checked) -> String {
    match &checked.problem {
        None => format!("{}: ok", checked.engine),
        Some(problem) => format!("{}: {}; {}", checked.engine, problem.problem, problem.remedy),
    }
}

fn limit_text(TriedLimit { limit, reported, kept }: &TriedLimit, protocol: Protocol) -> String {
    let unit = if matches!(limit, Limit::MoveTimeMs(_)) { " ms" } else { "" };
    let asked = format!("{}{unit} asked", count(limit.asked()));
    let reported = match (reported, protocol) {
        (None, Protocol::Gtp) => "which GTP does not report".to_owned(),
        (None, Protocol::Uci | Protocol::Ugi | Protocol::Lines | Protocol::Xboard)
            if *kept == Kept::No =>
        {
            "not answered in time".to_owned()
        }
        (None, Protocol::Uci | Protocol::Ugi | Protocol::Lines | Protocol::Xboard) => {
            "not reported".to_owned()
        }
        (Some(took), _) if !unit.is_empty() => format!("{} ms taken", count(*took)),
        (Some(reported), _) => format!("{} reported", count(*reported)),
    };
    let kept = match kept {
        Kept::No => ": not kept",
        Kept::Yes | Kept::Unknown => "",
    };
    format!("{asked}, {reported}{kept}")
}

fn files_text(files: &[String]) -> String {
    if files.is_empty() {
        return "nothing left in its folder".to_owned();
    }
    let named = files.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = files.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("written in its folder: {named}{more}")
}

fn write_options(title: &str, options: &[EngineOption], out: &mut dyn Write) -> io::Result<()> {
    let width = options.iter().map(|option| option.name.chars().count()).max().unwrap_or(0).min(30);
    for (place, option) in options.iter().take(OPTIONS_MAX).enumerate() {
        let heading = if place == 0 { title } else { "" };
        let EngineOption { name, kind } = option;
        writeln!(out, "  {heading:<9} {name:<width$}  {}", kind_text(kind))?;
    }
    if options.len() > OPTIONS_MAX {
        writeln!(out, "  {:<9} and {} more; --json has all", "", options.len() - OPTIONS_MAX)?;
    }
    Ok(())
}

fn kind_text(kind: &OptionKind) -> String {
    let with_default = |kind: String, default: &str| {
        if default.is_empty() { kind } else { format!("{kind}, default {default}") }
    };
    match kind {
        OptionKind::Check { default } => with_default("true or false".to_owned(), default),
        OptionKind::Spin { default, min, max } => with_default(format!("{min} to {max}"), default),
        OptionKind::Combo { default, choices } => {
            let mut named: Vec<&str> = choices.iter().take(NAMED_MAX).map(String::as_str).collect();
            if choices.len() > NAMED_MAX {
                named.push("…");
            }
            with_default(named.join(" | "), default)
        }
        OptionKind::Button => "a button".to_owned(),
        OptionKind::Text { default } => with_default("text".to_owned(), default),
    }
}
