//! Cores and exclusive slots in words.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::list;
use super::plan::{ExclusiveSlots, Why, fastest};
use super::topology::Core;

/// The cores by their kinds, the fastest first.
pub(super) fn kinds(cores: &[Core]) -> String {
    let all: Vec<&Core> = cores.iter().collect();
    let fast = fastest(&all);
    let mut kinds = BTreeMap::<(bool, usize), usize>::new();
    for core in &all {
        let is_slower = !fast.contains(core);
        *kinds.entry((is_slower, core.cpus.len())).or_default() += 1;
    }
    let is_of_one_kind = fast.len() == all.len();
    let texts = kinds.iter().map(|(&(is_slower, threads), &count)| {
        let kind = match (is_of_one_kind, is_slower) {
            (true, _) => "",
            (false, true) => "slower ",
            (false, false) => "fast ",
        };
        let cores = if count == 1 { "core" } else { "cores" };
        match threads {
            1 => format!("{count} {kind}{cores}"),
            _ => format!("{count} {kind}{cores} of {threads} threads"),
        }
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// An invalid plan of exclusive slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it like `1-3 of 0-7, rest 0,4`, or `none`")]
pub struct InvalidExclusiveSlots;

const NONE: &str = "none";

/// The hardware threads of exclusive slots, of all, and of everything else; the playing process
/// parses it.
impl fmt::Display for ExclusiveSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cpus.is_empty() {
            return f.write_str(NONE);
        }
        let cpus = list::text(&self.cpus.iter().copied().collect());
        write!(f, "{cpus} of {}, rest {}", list::text(&self.all), list::text(&self.rest))
    }
}

impl FromStr for ExclusiveSlots {
    type Err = InvalidExclusiveSlots;

    fn from_str(text: &str) -> Result<Self, InvalidExclusiveSlots> {
        if text == NONE {
            return Ok(Self::default());
        }
        let (cpus, tail) = text.split_once(" of ").ok_or(InvalidExclusiveSlots)?;
        let (all, rest) = tail.split_once(", rest ").ok_or(InvalidExclusiveSlots)?;
        let read = |list| list::parse(list).ok_or(InvalidExclusiveSlots);
        let cpus = read(cpus)?.into_iter().collect();
        Ok(Self { cpus, rest: read(rest)?, all: read(all)?, why: Why::NotPlanned })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["none", "1-3 of 0-7, rest 0,4", "1 of 0-1, rest 0"] {
            assert_eq!(text.parse::<ExclusiveSlots>().unwrap().to_string(), text);
        }
        for text in ["", "1", "1 of 0-1", "x of 0-1, rest 0", "1 of 0-1, rest -"] {
            assert_eq!(text.parse::<ExclusiveSlots>(), Err(InvalidExclusiveSlots), "{text:?}");
        }
    }
}
