//! What a changed sweep changes in its experiment, in words.

use spelrum_model::builds::short;
use spelrum_model::change::{BuildChange, CellChange, CellExample, Change, GAME_TIMEOUT};

use crate::text::{count, counted};

/// A change for people, one fact a line, with the number of games the sweep asks for.
#[must_use]
pub fn change_lines(games_asked: u64, change: &Change) -> Vec<String> {
    use CellChange as Kind;
    let mut lines = Vec::new();
    let mut add_line = |label: &str, text: String| lines.push(format!("  {label:<9} {text}"));
    let examples = |kind: Kind, cells: u64, add_line: &mut dyn FnMut(&str, String)| {
        let shown: Vec<_> = change.examples.iter().filter(|row| row.change == kind).collect();
        for row in &shown {
            add_line("", example(kind, row));
        }
        if !shown.is_empty() && cells > shown.len() as u64 {
            add_line("", "  …".to_owned());
        }
    };
    let kept = match change.cells_continued {
        0 => String::new(),
        1 => "; 1 of them gets more games".to_owned(),
        more => format!("; {} of them get more games", count(more)),
    };
    add_line("kept", format!("{}{kept}", cells(change.cells_kept)));
    examples(Kind::Continued, change.cells_continued, &mut add_line);
    if change.cells_returned > 0 {
        add_line("returned", format!("{}, dropped before", cells(change.cells_returned)));
        examples(Kind::Returned, change.cells_returned, &mut add_line);
    }
    if change.cells_added > 0 {
        add_line("added", cells(change.cells_added));
        examples(Kind::Added, change.cells_added, &mut add_line);
    }
    if change.cells_superseded > 0 {
        let kept = "with the builds before, which stay in the reports";
        add_line("beside", format!("{} {kept}", cells(change.cells_superseded)));
    }
    if change.cells_dropped > 0 {
        let games = games(change.games_dropped);
        let dropped = cells(change.cells_dropped);
        add_line("dropped", format!("{dropped} with {games}, which stay but leave the reports"));
        examples(Kind::Dropped, change.cells_dropped, &mut add_line);
    }
    let axes = change.axes_changed.then_some("axes");
    let rules = change.rules_changed.then_some("rules, openings or sides");
    let settings = change.settings_changed.iter().map(|setting| &**setting);
    let also: Vec<_> = axes.into_iter().chain(rules).chain(settings).collect();
    if !also.is_empty() {
        add_line("changed", also.join(", "));
    }
    if change.has_changed(GAME_TIMEOUT) {
        add_line("again", "games that failed".to_owned());
    }
    add_line("reused", games(change.games_kept));
    let beyond = (change.games_kept + change.games_to_play).saturating_sub(games_asked);
    if beyond > 0 {
        let beyond = games(beyond);
        add_line(
            "beyond",
            format!("{beyond} more than the sweep asks for: what was played stays, and counts"),
        );
    }
    add_line("to play", games(change.games_to_play));
    lines
}

fn example(kind: CellChange, row: &CellExample) -> String {
    let place = if row.axes.is_empty() { String::new() } else { format!("{}, ", row.axes) };
    let games = match kind {
        CellChange::Added => games(row.games_planned),
        CellChange::Dropped => games(row.games_settled),
        CellChange::Continued | CellChange::Returned => {
            format!("{} of {}", count(row.games_settled), games(row.games_planned))
        }
    };
    format!("  {place}{} against {}: {games}", row.player, row.opponent)
}

/// Remarks about engines whose builds have changed.
#[must_use]
pub fn build_remarks(change: &Change) -> Vec<String> {
    let remark = |build: &BuildChange| {
        let engine = &build.engine;
        let games = match build.games {
            1 => "the game".to_owned(),
            games => format!("the {} games", count(games)),
        };
        let cells = "new cells, beside the old ones";
        match (
            build.before.as_deref().unwrap_or_default(),
            build.now.as_deref().unwrap_or_default(),
        ) {
            ("", now) => format!(
                "{engine} is build {}, and which it was in {games} before is not known: {cells}",
                short(now)
            ),
            (before, "") => format!(
                "{engine} may be any program from here on, and was build {} in {games} before: {cells}",
                short(before)
            ),
            (before, now) => format!(
                "{engine} is another program than in {games} before ({} instead of {}): {cells}",
                short(now),
                short(before)
            ),
        }
    };
    change.builds_changed.iter().map(remark).collect()
}

fn cells(number: u64) -> String {
    counted(number, "cell")
}

fn games(number: u64) -> String {
    counted(number, "game")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_example(kind: CellChange, axes: &str) -> CellExample {
        CellExample {
            change: kind,
            axes: axes.to_owned(),
            player: "ab".to_owned(),
            opponent: "gm".to_owned(),
            games_settled: 1_200,
            games_planned: 2_000,
        }
    }

    #[test]
    fn a_change_is_said_in_counts_and_examples() {
        use CellChange::{Added, Continued, Dropped, Returned};
        let large = Change {
            cells_kept: 1_000,
            cells_continued: 4,
            cells_added: 1,
            cells_dropped: 3,
            cells_returned: 1,
            games_kept: 12_000,
            games_to_play: 1,
            games_dropped: 3_600,
            axes_changed: true,
            rules_changed: true,
            settings_changed: vec!["description".into(), "priority".into()],
            cells_superseded: 2,
            builds_changed: Vec::new(),
            examples: vec![
                some_example(Continued, "depth=1, rules=old"),
                some_example(Continued, "depth=2"),
                some_example(Added, ""),
                some_example(Returned, "depth=3"),
                some_example(Dropped, "depth=4"),
            ],
        };
        let small = Change { cells_kept: 1, games_kept: 20, ..Default::default() };
        let texts = [(12_001, &large), (12, &small)]
            .map(|(asked, change)| change_lines(asked, change).join("\n"));
        insta::assert_snapshot!(texts.join("\n\n"));
    }

    #[test]
    fn another_build_is_told_with_the_games_of_the_one_before() {
        let change = |before: &str, now: &str, games| BuildChange {
            engine: "dev".to_owned(),
            before: Some(before.to_owned()),
            now: Some(now.to_owned()),
            games,
        };
        let (old, new) = ("0123456789ab", "cdef01234567");
        let builds_changed = vec![change(old, new, 20), change("", new, 1), change(old, "", 2_000)];
        let text = build_remarks(&Change { builds_changed, ..Default::default() }).join("\n");
        insta::assert_snapshot!(text, @"
        dev is another program than in the 20 games before (cdef0123 instead of 01234567): new cells, beside the old ones
        dev is build cdef0123, and which it was in the game before is not known: new cells, beside the old ones
        dev may be any program from here on, and was build 01234567 in the 2,000 games before: new cells, beside the old ones
        ");
    }
}
