//! An engine's options, checked against what it declared.

use crate::breach::Breaches;
use crate::failure::FailureKind;
use crate::spec::{OptionValue, Options};
use crate::text::shown;
use crate::uci::{Declared, Kind};

/// The option for the number of threads.
const THREADS: &str = "Threads";

/// A declared option and its value; `None` presses a button.
#[derive(Debug)]
pub(super) struct Setting<'d> {
    pub(super) option: &'d Declared,
    pub(super) value: Option<String>,
}

/// The settings of an engine at its start: those of the machine and of the sweep, and a single thread, the number of a
/// slot, if it takes more by default.
///
/// # Errors
/// As [`settings`].
pub(super) fn at_start<'d>(
    declared: &'d [Declared],
    set: &Options,
    options: &Options,
) -> Result<Vec<Setting<'d>>, FailureKind> {
    let is_set = set.keys().chain(options.keys()).any(|key| key.eq_ignore_ascii_case(THREADS));
    let threads = unbounded_threads(declared).filter(|_| !is_set);
    let single_thread = threads.iter().map(|name| (name, &OptionValue::Number(1)));
    settings(declared, set.iter().chain(options).chain(single_thread))
}

/// The option for threads, if the engine's default is not one.
fn unbounded_threads(declared: &[Declared]) -> Option<String> {
    let threads = declared.iter().find(|option| option.name.eq_ignore_ascii_case(THREADS))?;
    let Kind::Spin { default, min, max } = threads.kind else { return None };
    (default != 1 && (min..=max).contains(&1)).then(|| threads.name.clone())
}

/// The options in order: threads first, since tables are divided among them, then the table's size, then the others as
/// declared by the engine.
///
/// # Errors
/// If the engine lacks one of them, or does not take its value.
pub(super) fn settings<'d, 'o>(
    declared: &'d [Declared],
    options: impl Iterator<Item = (&'o String, &'o OptionValue)>,
) -> Result<Vec<Setting<'d>>, FailureKind> {
    let mut settings = Vec::new();
    for (name, value) in options {
        let problem = |problem: String| {
            // The engine took part in it.
            let problem = shown(&problem, 2 * Breaches::SAID_BYTES_MAX);
            FailureKind::Option { name: name.clone(), problem }
        };
        let (place, option) = declared
            .iter()
            .enumerate()
            .find(|(_, option)| option.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| problem("the engine has none of this name".to_owned()))?;
        let value = match (&option.kind, value) {
            (Kind::Button, OptionValue::Flag(true)) => None,
            (_, value) => Some(value.to_string()),
        };
        if let Some(wrong) = option.problem_with(value.as_deref()) {
            return Err(problem(format!("the engine takes it otherwise: {wrong}")));
        }
        let rank = match option.name.to_ascii_lowercase().as_str() {
            "threads" => 0,
            "hash" => 1,
            _ => 2 + place,
        };
        settings.push((rank, Setting { option, value }));
    }
    settings.sort_by_key(|(rank, _)| *rank);
    Ok(settings.into_iter().map(|(_, setting)| setting).collect())
}
