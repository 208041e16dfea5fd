//! A tree as text: an outline with a board at each node.

use std::io::{self, Write};

use spelrum_engine::{Piece, Side, Sketch};

use super::picture::{BranchKind, Level, Picture, PictureBranch, State};
use super::win_notation::role;
use crate::text::{Column, TextTable, count};

/// Writes the tree, then its counts.
pub fn write_text(out: &mut dyn Write, picture: &Picture) -> io::Result<()> {
    writeln!(out, "{}\n{}\n", picture.heading.title, picture.heading.sides)?;
    Outline { out, picture }.write(0, "", "", "")?;
    writeln!(out)?;
    writeln!(
        out,
        "Each node: its place in the order of visits, who chooses there, its value for MAX."
    )?;
    writeln!(
        out,
        "═ the best line, ╌ cut off, → drawn at that place already, ×4 four moves to the same.\n"
    )?;
    write_sums(out, picture)
}

/// Writes only the counts.
pub fn write_counts(out: &mut dyn Write, picture: &Picture) -> io::Result<()> {
    writeln!(out, "{}\n{}\n", picture.heading.title, picture.heading.sides)?;
    write_sums(out, picture)
}

fn write_sums(out: &mut dyn Write, picture: &Picture) -> io::Result<()> {
    let columns =
        ["ply", "tree", "positions", "up to symmetry", "visited", "evaluated", "over", "cut off"];
    let mut headings: Vec<Column> = columns.iter().map(|name| Column::numbers(*name)).collect();
    headings.insert(1, Column::words("chooses"));
    let mut table = TextTable::new(&headings);
    let levels = &picture.levels;
    for (ply, level) in levels.iter().enumerate() {
        table.row(row(&ply.to_string(), &level.to_move, std::slice::from_ref(level)));
    }
    table.row(row("all", "", levels));
    table.write(out)?;
    match picture.best_line.as_str() {
        "" => writeln!(out, "\nvalue {}", picture.value),
        line => writeln!(out, "\nbest line {line}, value {}", picture.value),
    }
}

/// Formats the sums of some plies.
fn row(ply: &str, to_move: &str, levels: &[Level]) -> Vec<String> {
    let full_sum = |figure: fn(&Level) -> Option<u64>| {
        let sum = levels.iter().map(figure).try_fold(0_u64, |sum, number| sum.checked_add(number?));
        sum.map_or_else(|| "–".to_owned(), count)
    };
    let searched = |figure: fn(&Level) -> u64| count(levels.iter().map(figure).sum());
    vec![
        ply.to_owned(),
        to_move.to_owned(),
        full_sum(|level| Some(level.full_counts?.nodes)),
        full_sum(|level| Some(level.full_counts?.positions)),
        full_sum(|level| Some(level.full_counts?.up_to_symmetry)),
        searched(|level| level.sums.visits),
        searched(|level| level.sums.evaluated),
        searched(|level| level.sums.over),
        searched(|level| level.sums.cut),
    ]
}

struct Outline<'a> {
    out: &'a mut dyn Write,
    picture: &'a Picture,
}

impl Outline<'_> {
    /// Writes a node and its descendants. `rail` precedes its first line, `indent` the others; the move follows.
    fn write(&mut self, node: usize, rail: &str, indent: &str, label: &str) -> io::Result<()> {
        let node = &self.picture.nodes[node];
        let words = node_words(&node.state);
        let board = rows(&node.sketch);
        let below = if node.branches.is_empty() { " " } else { "│" };
        let width = board.iter().map(|row| row.chars().count()).max().unwrap_or(0);
        for line in 0..board.len().max(words.len()) {
            let before = if line == 0 {
                format!("{rail}{label}")
            } else {
                let blank = " ".repeat(label.chars().count().saturating_sub(1));
                let rail = if label.is_empty() { "" } else { below };
                format!("{indent}{rail}{blank}")
            };
            let row = board.get(line).map_or("", String::as_str);
            let word = words.get(line).map_or("", String::as_str);
            let text = format!("{before}{row:width$}   {word}");
            writeln!(self.out, "{}", text.trim_end())?;
        }
        let (cut, shown): (Vec<_>, Vec<_>) =
            node.branches.iter().partition(|branch| branch.kind == BranchKind::Cut);
        for (index, branch) in shown.iter().enumerate() {
            let is_last = cut.is_empty() && index + 1 == shown.len();
            self.write_branch(branch, indent, is_last)?;
        }
        if !cut.is_empty() {
            let moves: Vec<&str> = cut.iter().map(|branch| branch.label.as_str()).collect();
            writeln!(self.out, "{indent}└╌ {}: cut off", moves.join(", "))?;
        }
        Ok(())
    }

    fn write_branch(
        &mut self,
        branch: &PictureBranch,
        indent: &str,
        is_last: bool,
    ) -> io::Result<()> {
        let corner = match (branch.is_best, is_last) {
            (false, false) => "├─ ",
            (false, true) => "└─ ",
            (true, false) => "╞═ ",
            (true, true) => "╘═ ",
        };
        let rail = format!("{indent}{corner}");
        let indent = format!("{indent}{}  ", if is_last { " " } else { "│" });
        if branch.kind == BranchKind::Joined {
            let place = match &self.picture.nodes[branch.child].state {
                State::Visited { visit, value, .. } => format!("{visit}  {value}"),
                State::Cut => String::new(),
            };
            return writeln!(self.out, "{rail}{}  → {place}", branch.label);
        }
        self.write(branch.child, &rail, &indent, &format!("{}  ", branch.label))
    }
}

/// Describes a node in one or two lines.
fn node_words(state: &State) -> Vec<String> {
    let State::Visited { visit, visits, value, is_max, end, cutoff } = state else {
        return Vec::new();
    };
    let mut first = visit.to_string();
    if let Some(is_max) = is_max {
        first = format!("{first}  {}", role(*is_max));
    }
    first = format!("{first}  {value}");
    if let Some(end) = end {
        first = format!("{first}  {end}");
    }
    if let Some(cutoff) = cutoff {
        first = format!("{first}  cut off by {cutoff}");
    }
    if *visits > 1 {
        first = format!("{first}  searched {visits} times");
    }
    vec![first]
}

/// Draws a board in characters.
pub(super) fn rows(sketch: &Sketch) -> Vec<String> {
    match sketch {
        Sketch::Board { columns, block, pieces, cells } => {
            let letters = |row: &[Option<Side>]| -> String {
                let cells: Vec<String> = row
                    .chunks(*block)
                    .map(|part| {
                        part.iter().map(|cell| letter(*cell, *pieces)).collect::<Vec<_>>().join(" ")
                    })
                    .collect();
                cells.join("  ")
            };
            cells.chunks(*columns).map(letters).collect()
        }
        Sketch::Pieces { columns, cells } => {
            let letters = |row: &[Option<char>]| {
                let letter = |cell: &Option<char>| cell.unwrap_or('·').to_string();
                row.iter().map(letter).collect::<Vec<_>>().join(" ")
            };
            cells.chunks(*columns).map(letters).collect()
        }
        Sketch::Heaps(heaps) => {
            let heap = |&objects: &u32| match objects {
                0 => "-".to_owned(),
                objects => "|".repeat(objects as usize),
            };
            vec![heaps.iter().map(heap).collect::<Vec<_>>().join(" ")]
        }
        Sketch::Notation(text) => vec![text.clone()],
    }
}

fn letter(cell: Option<Side>, pieces: [Piece; 2]) -> &'static str {
    match cell.map(|side| pieces[side.index()]) {
        None => "·",
        Some(Piece::Cross) => "x",
        Some(Piece::Ring) => "o",
        Some(Piece::Disc) => "●",
    }
}
