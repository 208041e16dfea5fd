//! Layout of a LaTeX table that fits its page: font size, broken columns, and parts.

use super::{LatexStyle, TitledTable};

/// Text width of the class article at 10 pt on A4, the narrowest of the standard classes.
pub(super) const TEXT_WIDTH_PT: f64 = 345.0;

/// Width of a rotated page's text there.
const LANDSCAPE_WIDTH_PT: f64 = 595.0;

/// Font sizes in points, by preference. The widest glyphs come from the smallest fonts, in em: Computer Modern has
/// optical sizes.
const SIZES_PT: [u8; 3] = [9, 8, 7];

/// Space on either side of a column, as `\tabcolsep`.
const COLUMN_SPACE_PT: f64 = 4.0;

/// Columns of words are broken into lines only where they are wider than this, in em.
const BROKEN_FROM_EM: f64 = 6.0;

/// Room for a difference between estimated and real widths.
const SLACK: f64 = 1.02;

/// Layout of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    size_pt: u8,
    /// Columns of each part, from the top to the bottom.
    parts: Vec<Vec<usize>>,
    /// Width of each broken column, in points; `None` for columns of one line.
    widths_pt: Vec<Option<f64>>,
}

impl Layout {
    /// Chooses the largest font in which the table fits in one piece, then breaks columns of words into lines, and
    /// then splits the table into parts, each with the columns that name its rows.
    pub(super) fn new(table: &TitledTable, style: LatexStyle) -> Self {
        let room_pt = if style.is_landscape { LANDSCAPE_WIDTH_PT } else { TEXT_WIDTH_PT };
        let sizes = style.size_pt.map_or_else(|| SIZES_PT.to_vec(), |size| vec![size]);
        let natural: Vec<f64> = (0..table.columns.len())
            .map(|column| texts(table, column).map(width_em).fold(0.0, f64::max))
            .collect();
        let least: Vec<f64> = (0..table.columns.len())
            .map(|column| match table.columns[column].is_of_numbers() {
                false if natural[column] > BROKEN_FROM_EM => {
                    texts(table, column).map(widest_piece_em).fold(0.0, f64::max)
                }
                _ => natural[column],
            })
            .collect();
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let fits = |columns: &[usize], widths: &[f64], size: u8| {
            total_pt(columns, widths, size) <= room_pt
        };
        if let Some(&size_pt) = sizes.iter().find(|&&size| fits(&all, &natural, size)) {
            return Self { size_pt, parts: vec![all], widths_pt: vec![None; natural.len()] };
        }
        let (size_pt, parts) = match sizes.iter().find(|&&size| fits(&all, &least, size)) {
            Some(&size) => (size, vec![all]),
            None => {
                let size = sizes.get(1).or(sizes.first()).copied().unwrap_or(SIZES_PT[1]);
                (size, split(table, |columns| fits(columns, &least, size)))
            }
        };
        let mut widths_pt = vec![None; natural.len()];
        for part in &parts {
            let room = room_pt - total_pt(part, &least, size_pt);
            let missing: Vec<f64> =
                part.iter().map(|&column| natural[column] - least[column]).collect();
            let all_missing: f64 = missing.iter().sum::<f64>() * em_pt(size_pt);
            let share =
                if all_missing > 0.0 { (room.max(0.0) / all_missing).min(1.0) } else { 1.0 };
            for (&column, missing) in part.iter().zip(missing) {
                if missing > 0.0 {
                    let width = (least[column] + missing * share) * em_pt(size_pt);
                    // With several parts, the narrowest width applies.
                    let before: f64 = widths_pt[column].unwrap_or(f64::INFINITY);
                    widths_pt[column] = Some(before.min(width));
                }
            }
        }
        Self { size_pt, parts, widths_pt }
    }

    /// Returns the commands that set its font and its space between columns.
    pub(super) fn setup(&self) -> String {
        let size = self.size_pt;
        format!(
            "\\fontsize{{{size}}}{{{:.1}}}\\selectfont\n\\setlength{{\\tabcolsep}}{{{COLUMN_SPACE_PT}pt}}",
            f64::from(size) * 1.2
        )
    }

    /// Columns of each part.
    pub(super) fn parts(&self) -> &[Vec<usize>] {
        &self.parts
    }

    /// Whether a column's texts may be broken into lines.
    pub(super) fn is_broken(&self, column: usize) -> bool {
        self.widths_pt[column].is_some()
    }

    /// Column specification of a part.
    pub(super) fn columns(&self, table: &TitledTable, part: &[usize]) -> String {
        let specified = part.iter().map(|&column| match self.widths_pt[column] {
            // Down to a tenth of a point, so that the sum fits.
            Some(width) => {
                format!(
                    ">{{\\raggedright\\arraybackslash}}p{{{:.1}pt}}",
                    (width * 10.0).floor() / 10.0
                )
            }
            None if table.columns[column].is_of_numbers() => "r".to_owned(),
            None => "l".to_owned(),
        });
        format!("@{{}}{}@{{}}", specified.collect::<String>())
    }
}

/// Columns in parts that fit, each headed by the columns that name its rows: those before the first number that
/// follows a column of words.
fn split(table: &TitledTable, fits: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let columns = &table.columns;
    let words = columns.iter().position(|column| !column.is_of_numbers()).unwrap_or(0);
    let keys = columns.iter().skip(words).position(|column| column.is_of_numbers());
    let keys = keys.map_or(1, |after| (words + after).max(1)).min(columns.len());
    let mut parts = Vec::new();
    let mut part: Vec<usize> = (0..keys).collect();
    for column in keys..columns.len() {
        part.push(column);
        if !fits(&part) && part.len() > keys + 1 {
            part.pop();
            parts.push(std::mem::replace(&mut part, (0..keys).chain([column]).collect()));
        }
    }
    parts.push(part);
    parts
}

fn texts(table: &TitledTable, column: usize) -> impl Iterator<Item = &str> {
    let heading = table.columns[column].heading();
    std::iter::once(heading)
        .chain(table.rows.iter().filter_map(move |row| row.get(column).map(String::as_str)))
}

/// Width of columns side by side.
fn total_pt(columns: &[usize], widths_em: &[f64], size_pt: u8) -> f64 {
    let text: f64 = columns.iter().map(|&column| widths_em[column]).sum();
    let gaps = columns.len().saturating_sub(1) as f64;
    text * em_pt(size_pt) + gaps * 2.0 * COLUMN_SPACE_PT
}

/// Returns the width in points, at this font size, of a text that is one em wide at 10 pt: small fonts of Computer
/// Modern are wider for their size.
fn em_pt(size_pt: u8) -> f64 {
    let wider = match size_pt {
        0..=5 => 1.362,
        6 => 1.222,
        7 => 1.139,
        8 => 1.0625,
        9 => 1.028,
        _ => 1.0,
    };
    f64::from(size_pt) * wider * SLACK
}

/// Whether a line may end after a character of a broken text.
pub(super) fn may_break_after(character: char) -> bool {
    matches!(character, ' ' | '(' | ')' | ',' | '=' | '-' | '_' | '/' | ':' | ';' | '+' | '@')
}

/// Whether a hyphen between these characters is the sign of a negative number: in `-2.94`, `(-2.94` and `bias=-3`, but
/// not in `sha-256` or `2026-11-27`.
pub(super) fn is_minus(before: Option<char>, after: Option<char>) -> bool {
    let is_of_word = |character: char| {
        character.is_alphanumeric() || matches!(character, '-' | '_' | ')' | ']' | '.')
    };
    after.is_some_and(|character| character.is_ascii_digit()) && !before.is_some_and(is_of_word)
}

/// Splits a text where a line may end.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut before) = (0, None);
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let is_sign = character == '-' && is_minus(before, text[end..].chars().next());
        if may_break_after(character) && !is_sign {
            pieces.push(&text[start..end]);
            start = end;
        }
        before = Some(character);
    }
    pieces.extend((start < text.len()).then(|| &text[start..]));
    pieces
}

/// Width of the widest piece between two places where a line may end.
fn widest_piece_em(text: &str) -> f64 {
    pieces(text).into_iter().map(width_em).fold(0.0, f64::max)
}

/// Width of a text in Computer Modern Roman at 10 pt, in em.
pub(super) fn width_em(text: &str) -> f64 {
    let mut characters = text.chars().peekable();
    let (mut width, mut before) = (0.0, None);
    while let Some(character) = characters.next() {
        let is_sign = character == '-' && is_minus(before, characters.peek().copied());
        width += if is_sign { MINUS_EM } else { character_width_em(character) };
        before = Some(character);
    }
    width
}

const MINUS_EM: f64 = 0.785;

fn character_width_em(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '!' => 0.306,
        'f' | 't' | 'r' | 's' | ' ' | '(' | ')' | '[' | ']' | '-' | 'I' => 0.394,
        'c' | 'e' | 'z' => 0.445,
        '0'..='9' | 'a' | 'g' | 'o' | '_' | '/' | '–' | '*' | '"' | '?' | 'J' => 0.515,
        'b' | 'd' | 'h' | 'k' | 'n' | 'p' | 'q' | 'u' | 'v' | 'x' | 'y' | 'S' => 0.557,
        'L' | 'Z' | 'F' | 'E' => 0.685,
        'm' | 'M' | '%' | '#' => 0.917,
        'W' => 1.028,
        'w' | 'A'..='Z' | '+' | '=' | '±' | '×' | '<' | '>' | '~' | '&' | '$' | 'µ' | 'μ' | '^' => {
            0.785
        }
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Column;

    fn table(players: &[&str], numbers: usize) -> TitledTable {
        let words = ["player", "opponent"].map(Column::words);
        let columns = words.into_iter().chain((0..numbers).map(|_| Column::numbers("12.3 ms")));
        let mut table = TitledTable::new("cells", "Cells", columns.collect());
        for player in players {
            let names = [player, player].map(|name| (*name).to_owned());
            table.row(names.into_iter().chain((0..numbers).map(|_| "12.3 ms".to_owned())));
        }
        table
    }

    fn style(is_landscape: bool, size_pt: Option<u8>) -> LatexStyle {
        LatexStyle { is_landscape, size_pt }
    }

    /// Widths in points that pdfTeX 1.40.24 measured in Computer Modern at 10, 9, 8 and 7 pt.
    const MEASURED_PT: [(&str, u8, f64); 10] = [
        ("alphabeta", 10, 43.06),
        ("alphabeta", 9, 39.83),
        ("alphabeta", 8, 36.60),
        ("alphabeta", 7, 34.37),
        ("alphabeta(depth=3,nodes=1000)", 8, 122.36),
        ("0.551–0.700", 9, 46.77),
        ("1,234,567", 7, 32.44),
        ("12.3 ms", 8, 28.39),
        ("Stockfish_16.1-dev", 9, 73.28),
        ("95% interval", 8, 46.29),
    ];

    #[test]
    fn no_text_is_wider_than_estimated() {
        for (text, size, width) in MEASURED_PT {
            let estimated = width_em(text) * em_pt(size);
            assert!((width..width * 1.25).contains(&estimated), "{text}: {estimated} for {width}");
        }
    }

    #[test]
    fn a_small_table_is_set_in_one_piece() {
        let table = table(&["alphabeta", "mcts"], 3);
        let layout = Layout::new(&table, style(false, None));
        assert_eq!((layout.size_pt, layout.parts.len()), (9, 1));
        assert_eq!(layout.columns(&table, &layout.parts[0]), "@{}llrrr@{}");
    }

    #[test]
    fn a_wider_table_has_a_smaller_font_and_then_broken_names() {
        let layout = Layout::new(&table(&["alphabeta"], 7), style(false, None));
        assert!(layout.size_pt < 9 && !layout.is_broken(0), "{layout:?}");
        let long = table(&["alphabeta(depth=3,nodes=1000)"], 5);
        let layout = Layout::new(&long, style(false, None));
        assert!(
            layout.is_broken(0) && layout.is_broken(1) && layout.parts.len() == 1,
            "{layout:?}"
        );
        let layout = Layout::new(&long, style(true, None));
        assert_eq!((layout.size_pt, layout.is_broken(0)), (9, false));
    }

    #[test]
    fn the_widest_table_is_set_in_parts_that_fit() {
        for numbers in [12, 20, 40] {
            let table = table(&["alphabeta(depth=3,nodes=1000)", "mcts"], numbers);
            for size in [None, Some(10)] {
                let layout = Layout::new(&table, style(false, size));
                assert!(layout.parts.len() > 1, "{layout:?}");
                let mut seen: Vec<usize> = layout.parts.concat();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen, (0..numbers + 2).collect::<Vec<_>>());
                for part in &layout.parts {
                    assert!(part.starts_with(&[0, 1]), "{layout:?}");
                    let widths = part.iter().map(|&column| {
                        let natural = width_em("12.3 ms") * em_pt(layout.size_pt);
                        layout.widths_pt[column].unwrap_or(natural)
                    });
                    let width =
                        widths.sum::<f64>() + (part.len() - 1) as f64 * 2.0 * COLUMN_SPACE_PT;
                    assert!(width <= TEXT_WIDTH_PT, "{width}: {layout:?}");
                }
            }
        }
    }
}
