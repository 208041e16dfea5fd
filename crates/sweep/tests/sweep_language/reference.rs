//! `docs/sweeps.md`: every example is planned, every algorithm is there.

use std::collections::BTreeMap;

use spelrum_engine::{ALGORITHMS, EXTERNAL_ALGORITHMS, presets_of};
use spelrum_sweep::{SweepError, SweepText, plan_sweep};

use crate::project_file;

/// An example, whole.
pub(crate) struct Example {
    /// Where its block begins in the page.
    pub(crate) line: usize,
    pub(crate) sweep: SweepText,
}

/// The page's TOML blocks. One that is not a whole sweep is completed by what the comment
/// `<!-- with … -->` above it says, and then by what a sweep needs.
pub(crate) fn examples() -> Vec<Example> {
    let page = project_file("docs/sweeps.md");
    let mut examples = Vec::new();
    let mut offset = 0;
    while let Some(start) = page[offset..].find("\n```toml\n") {
        let fence = offset + start;
        let text_start = fence + "\n```toml\n".len();
        let end = text_start + page[text_start..].find("```").unwrap();
        let before = &page[..fence + 1];
        let with = match before.strip_suffix("-->\n") {
            Some(before) => before.rsplit_once("<!-- with\n").unwrap().1,
            None => "",
        };
        let files = [("openings.txt", "....x...."), ("book.pgn", "1. e4")];
        let files = files.map(|(name, part)| (name.to_owned(), file(&page, part)));
        let sweep = SweepText {
            files: BTreeMap::from(files),
            ..SweepText::new("sweeps.md", complete(&page[text_start..end], with))
        };
        examples.push(Example { line: page[..text_start].matches('\n').count() + 1, sweep });
        offset = end;
    }
    assert!(examples.len() >= 20, "{} examples", examples.len());
    examples
}

/// The page's example of a file that has this in it.
fn file(page: &str, part: &str) -> String {
    let blocks = page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.into_iter().find(|block| block.contains(part)).unwrap().to_owned()
}

/// Keys without a header must stand above all tables.
fn complete(block: &str, with: &str) -> String {
    let tables = |text: &str| {
        text.find("\n[").map_or_else(
            || if text.starts_with('[') { 0 } else { text.len() },
            |at| if text.starts_with('[') { 0 } else { at + 1 },
        )
    };
    let (block_keys, block_tables) = block.split_at(tables(block));
    let (with_keys, with_tables) = with.split_at(tables(with));
    let mut text = format!("{block_keys}{with_keys}");
    let is_accuracy = block.contains("kind = \"accuracy\"");
    let games = (!is_accuracy).then_some(("games", "games = 10"));
    let needed = [("name", "name = \"example\""), ("game", "game = \"pentago\"")];
    for (key, line) in needed.into_iter().chain(games) {
        let has_it = |line: &str| line.split('=').next().is_some_and(|start| start.trim() == key);
        if !text.lines().any(has_it) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push_str(block_tables);
    text.push_str(with_tables);
    if !text.contains("[players") {
        text.push_str("[players.a]\nalgorithm = \"alpha-beta\"\ndepth = 2\n");
        text.push_str("[players.b]\nalgorithm = \"random\"\n");
    }
    text
}

#[test]
fn every_example_is_planned() {
    for Example { line, sweep } in examples() {
        if let Err(SweepError { problem, remedy, line: at, .. }) = plan_sweep(&sweep) {
            let text = &sweep.text;
            panic!("the example in line {line}: {problem} ({remedy}) in line {at:?} of\n{text}");
        }
    }
}

/// The pairings that a table lists are planned as well.
#[test]
fn every_pairing_is_planned() {
    let page = project_file("docs/sweeps.md");
    let section = page.split("\n## Pairing\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let players = "[players.ab]\nalgorithm = \"alpha-beta\"\ndepth = 2\n\
                   [players.gm]\nalgorithm = \"genetic-minimax\"\ndepth = 2\n\
                   [players.mm]\nalgorithm = \"minimax\"\ndepth = 2\n\
                   [players.copy]\nlike = \"mm\"\n";
    let mut forms = 0;
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cell = row.split('|').nth(1).unwrap();
        for form in cell.split('`').skip(1).step_by(2) {
            // Who is left out is a model of the others.
            let all =
                ["ab", "gm", "mm"].map(|name| format!("[players.{name}x]\nlike = \"{name}\"\n"));
            let text =
                complete(&format!("pairing = {form}\n"), &format!("{players}{}", all.concat()));
            let planned = plan_sweep(&SweepText::new("sweeps.md", text));
            let problem = planned.err().map(|error| error.problem).unwrap_or_default();
            assert!(problem.is_empty() || problem.contains("no opponent"), "{form}: {problem}");
            forms += 1;
        }
    }
    assert_eq!(forms, 7);
}

/// Ranges as the page says they go on.
#[test]
fn every_range_has_these_values() {
    let page = project_file("docs/sweeps.md");
    let mut ranges = 0;
    for row in page.lines().filter(|line| line.starts_with("| `{ from")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (range, values) = (cells[1].trim_matches('`'), cells[2]);
        let parameter = if values.contains("ms") { "move_time" } else { "weight_run3" };
        let parameter = if values.contains('.') { "crossover_rate" } else { parameter };
        let text = format!(
            "name = \"x\"\ngame = \"pentago\"\ngames = 2\n[axes]\nx = {range}\n[players.a]\n\
             algorithm = \"genetic-minimax\"\nevaluation = \"runs\"\ndepth = 2\n{parameter} = \"$x\"\n\
             [players.b]\nalgorithm = \"random\"\n"
        );
        let plan = plan_sweep(&SweepText::new("sweeps.md", text)).unwrap();
        let planned: Vec<&str> =
            plan.axes[0].values.iter().map(|value| value.text.as_str()).collect();
        assert_eq!(planned.join(", "), values, "{range}");
        ranges += 1;
    }
    assert_eq!(ranges, 5);
}

/// Tables of keys and parameters are generated (`tests::page` of the crate); sections and presets are not.
#[test]
fn every_algorithm_and_preset_is_described() {
    let page = project_file("docs/sweeps.md");
    for algorithm in [ALGORITHMS, EXTERNAL_ALGORITHMS].concat() {
        assert!(page.contains(&format!("### `algorithm = \"{algorithm}\"`")), "{algorithm}");
        for preset in presets_of(algorithm) {
            assert!(page.contains(&format!("\"{preset}\"`")), "{preset}");
        }
    }
}
