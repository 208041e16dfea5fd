//! Slots on which timed games were played, for people and for programs.

use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::Report;

use crate::text::count;

/// Counted timed games by the kind of slot that played them.
#[derive(Debug, Serialize)]
pub(crate) struct PlayedOn {
    games_on_quiet_slots: u64,
    games_elsewhere: u64,
    /// Games of workers that do not report their slots.
    games_unknown: u64,
}

impl From<results::PlayedOn> for PlayedOn {
    fn from(results::PlayedOn { quiet, others, unknown }: results::PlayedOn) -> Self {
        Self { games_on_quiet_slots: quiet, games_elsewhere: others, games_unknown: unknown }
    }
}

/// Note below the times of an experiment with timed games.
pub(crate) fn note(report: &Report) -> Option<String> {
    let results::PlayedOn { quiet, others, unknown } = report.played_on?;
    let games = quiet + others + unknown;
    if games == 0 {
        return None;
    }
    let lacking = others + unknown;
    if lacking == 0 {
        return Some("Timed games were played on quiet slots (docs/timing.md).".to_owned());
    }
    let workers = match unknown {
        0 => "by workers without quiet slots",
        _ => "by workers without quiet slots, or that do not say",
    };
    Some(format!(
        "Warning: {} of {} timed games were played {workers}: other games, or\n\
         other programs, may have had their cores (docs/timing.md).",
        count(lacking),
        count(games),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::text::tests::{report, shown};

    #[test]
    fn a_note_states_whether_players_had_exclusive_cores() {
        let note_text = |quiet, others, unknown| {
            let played_on = Some(results::PlayedOn { quiet, others, unknown });
            note(&Report { played_on, ..report() }).unwrap_or_default()
        };
        assert_eq!(note(&report()), None);
        assert_eq!(note_text(0, 0, 0), "");
        assert!(note_text(7, 0, 0).starts_with("Timed games were played on quiet slots"));
        let warned = note_text(7, 1_000, 0);
        assert!(warned.starts_with(
            "Warning: 1,000 of 1,007 timed games were played by workers without quiet slots: "
        ));
        assert!(note_text(7, 2, 1).starts_with(
            "Warning: 3 of 10 timed games were played by workers without quiet slots, or"
        ));
        let played_on = Some(results::PlayedOn { quiet: 0, others: 5, unknown: 0 });
        assert!(shown(&Report { played_on, ..report() }).contains("Warning: 5 of 5 timed games"));
    }
}
