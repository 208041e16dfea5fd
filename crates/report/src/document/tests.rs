//! Output in every format, including texts that would break it.

use super::*;

/// Texts that a format could take for markup.
const HOSTILE: [&str; 8] = [
    "a|b||c",
    r"back\slash\\",
    "$x^2$ 100% #1 & ~",
    "two\nlines\r\nand\ttabs",
    "{unbalanced}} {",
    "[optional] *starred* _under_ `code` <b>&amp;</b>",
    "=HYPERLINK(\"http://example.com\")",
    r"\end{tabular}\input{/etc/passwd}",
];

fn document(names: &[&str]) -> Document {
    let columns = vec![Column::words("player"), Column::numbers("games"), Column::numbers("Elo")];
    let mut table = TitledTable::new("cells", "Who is stronger", columns);
    for name in names {
        table.row([(*name).to_owned(), "1,234".to_owned(), "-17".to_owned()]);
    }
    table.row(["last".to_owned(), "-".to_owned(), "±0.5".to_owned()]);
    let notes = vec!["Score: points per game,\nover pairs.".to_owned(), names.concat()];
    let again = TitledTable::new("cells", "Again", vec![Column::words("player")]);
    Document {
        title: names.concat(),
        about: "pentago, running".to_owned(),
        parts: vec![
            Part::Table(table.with_notes(notes)),
            Part::Table(again),
            Part::Heading(format!("After {}", names[0])),
            Part::Words("no players".to_owned()),
        ],
    }
}

fn latex(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    document.write_latex(LatexStyle::default(), out)
}

fn written(document: &Document, write: fn(&Document, &mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_form_is_as_it_should_be() {
    let document = document(&["alpha_beta", "mcts"]);
    insta::assert_snapshot!("markdown", written(&document, Document::write_markdown));
    insta::assert_snapshot!("latex", written(&document, latex));
}

#[test]
fn hostile_names_are_read_as_they_are() {
    let document = document(&HOSTILE);
    insta::assert_snapshot!("hostile_markdown", written(&document, Document::write_markdown));
    insta::assert_snapshot!("hostile_latex", written(&document, latex));
}

/// Cells of a row of Markdown, read as GitHub reads them: a bar ends a cell unless it is escaped.
fn markdown_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => cells.last_mut().unwrap().extend(characters.next()),
            '|' => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(character),
        }
    }
    // The texts before the first bar and after the last.
    assert_eq!((cells.remove(0), cells.pop()), (String::new(), Some(String::new())), "{line}");
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn every_row_of_markdown_has_its_cells() {
    let text = written(&document(&HOSTILE), Document::write_markdown);
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 2 + HOSTILE.len() + 1 + 2);
    for (line, name) in rows[2..].iter().zip(HOSTILE) {
        let cells = markdown_cells(line);
        let name: String = name
            .chars()
            .map(|character| if character.is_control() { ' ' } else { character })
            .collect();
        assert_eq!(cells, [&*name, "1,234", "-17"]);
    }
}

/// Braces and environments must be balanced, and special characters must come from the writer.
fn assert_balanced(latex: &str) {
    let (mut environments, mut depth, mut is_math) = (Vec::new(), 0_u32, false);
    for line in latex.lines() {
        if line.starts_with('%') {
            continue;
        }
        if let Some(rest) = line.strip_prefix(r"\begin{") {
            environments.push(rest[..rest.find('}').unwrap()].to_owned());
        } else if let Some(rest) = line.strip_prefix(r"\end{") {
            assert_eq!(environments.pop().as_deref(), rest.strip_suffix('}'), "{line}");
        } else {
            assert!(!line.contains(r"\begin") && !line.contains(r"\end"), "{line}");
        }
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                // A command, or a character that is escaped.
                '\\' => {
                    let next = characters.next().unwrap();
                    assert!(next.is_ascii_alphabetic() || r"\{}$&#%_".contains(next), "{line}");
                }
                '{' => depth += 1,
                '}' => depth = depth.checked_sub(1).unwrap_or_else(|| panic!("{line}")),
                '$' => is_math = !is_math,
                '~' | '^' | '_' | '#' | '%' | '"' | '`' => panic!("{character} in {line}"),
                _ => assert!(!character.is_control(), "{line}"),
            }
        }
        assert_eq!((depth, is_math), (0, false), "{line}");
    }
    assert_eq!(environments, [""; 0]);
}

#[test]
fn latex_is_balanced_whatever_names_are() {
    assert_balanced(&written(&document(&HOSTILE), latex));
    for character in (0_u8..=0x7f).map(char::from) {
        for name in [character.to_string(), format!("a{character}{character}b")] {
            let latex = written(&document(&[&name]), latex);
            assert_balanced(&latex);
            // Names add no cells and no rows.
            let rows = latex.lines().filter(|line| line.ends_with(r" \\"));
            let cells = |row: &str| row.replace(r"\&", "").matches('&').count();
            assert_eq!(rows.map(cells).collect::<Vec<_>>(), [2, 2, 2, 0], "{latex}");
        }
    }
}

/// A hyphen before a number's digits is a minus in every part of a document, and in no other place.
#[test]
fn negative_numbers_have_a_minus_in_latex_alone() {
    let columns = ["LLR", "a quite long heading of words"].map(Column::words);
    let columns = columns.into_iter().chain((0..9).map(|_| Column::numbers("figure of -1")));
    let mut table = TitledTable::new("cells", "From -5 to 5", columns.collect());
    let words = ["-0.71 elo0", "ab-3 (bias=-3, from -2.94 to 2.94), sha-256 of 2026-11-27, a--1"];
    table.row(words.into_iter().chain(["-17"; 9]).map(str::to_owned));
    let notes = vec!["LLR: 2.94 is elo1, -2.94 is elo0.".to_owned()];
    let document = Document {
        title: "x".to_owned(),
        about: "pentago".to_owned(),
        parts: vec![Part::Table(table.with_notes(notes)), Part::Words("It lost -3 Elo".to_owned())],
    };
    let latex = written(&document, latex).replace(r"\allowbreak{}", "");
    assert_balanced(&latex);
    for expected in [
        "From $-$5 to 5",
        "figure of $-$1",
        "$-$0.71 elo0 &",
        "ab-3 (bias=$-$3, from $-$2.94 to 2.94), sha-256 of 2026-11-27, a-{-}1",
        "& $-$17",
        "2.94 is elo1, $-$2.94 is elo0.",
        "It lost $-$3 Elo",
    ] {
        assert!(latex.contains(expected), "{expected}: {latex}");
    }
    let markdown = written(&document, Document::write_markdown);
    assert!(markdown.contains("-2.94") && !markdown.contains('−'), "{markdown}");
}

#[test]
fn labels_differ_and_rows_begin_with_no_option() {
    let latex = written(&document(&["[1pt]", "*"]), latex);
    assert_balanced(&latex);
    assert!(latex.contains(r"\label{tab:-1pt---cells}"), "{latex}");
    assert!(latex.contains(r"\label{tab:-1pt---cells-2}"), "{latex}");
    assert!(latex.lines().all(|line| !line.starts_with(['[', '*'])), "{latex}");
}

#[test]
fn columns_are_chosen_by_their_headings() {
    let mut document = document(&["alpha_beta"]);
    let names = ["elo", "player"].map(str::to_owned);
    document.choose_columns(&names).unwrap();
    let markdown = written(&document, Document::write_markdown);
    assert!(
        markdown.contains("| Elo | player |\n| ---: | :--- |\n| -17 | alpha\\_beta |"),
        "{markdown}"
    );
    let headings = document.choose_columns(&["games".to_owned()]).unwrap_err();
    assert_eq!(headings, ["Elo", "player", "player"]);
}

/// A table of long names is wider than a page unless names are broken where nothing is lost.
#[test]
fn broken_names_are_the_same_names() {
    let name = "alphabeta(depth=3, eval_x=1)/".repeat(4);
    let latex = written(&document(&[&name]), latex);
    assert_balanced(&latex);
    assert!(latex.contains(r"p{"), "{latex}");
    assert!(latex.contains(r"depth=\allowbreak{}3,\allowbreak{} "), "{latex}");
}
