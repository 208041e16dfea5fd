//! Files that a sweep names: lists of openings, and books.
//!
//! The caller reads them (invariant 10); here they are texts with names. A place in one of them is a span
//! behind the sweep's own text, as if all files followed it one after the other: so a wrong position is
//! reported where it is written, and the code between here and the message is independent of files.

use std::sync::{Mutex, PoisonError};

use spelrum_engine::{BookFormat, Random, Rules, book_entries};
use spelrum_model::{OpeningsRule, SkippedEntries, seeds};
use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Table, Tree, did_you_mean, line_and_column};

use crate::books::{self, BookHead, BookReader, BookSample};
use crate::template::reference;
use crate::{SweepText, key, keys, resolve};

/// Most bytes of all files of a sweep together (invariant 9).
pub(super) const FILES_BYTES_MAX: usize = 5 << 19;

/// The files that came with a sweep.
#[derive(Debug)]
pub(super) struct Files {
    files: Vec<File>,
    /// The sample that the sweep needs and a large book lacks.
    missing: Mutex<Option<(String, BookSample)>>,
}

#[derive(Debug)]
struct File {
    name: String,
    text: String,
    /// Its start, as if it followed the sweep's text.
    start: usize,
}

impl Files {
    /// The files of a sweep.
    pub(super) fn new(sweep: &SweepText) -> Result<Self, Fault> {
        let bytes: usize = sweep.files.values().map(String::len).sum();
        if bytes > FILES_BYTES_MAX {
            return Err(Fault::without_place(
                format!("files of {bytes} bytes are too long for a sweep"),
                format!(
                    "list at most {FILES_BYTES_MAX} bytes of openings, take fewer of a book (count = 1000), or \
                     draw them at random"
                ),
            ));
        }
        // The end of one text is distinct from the start of the next.
        let mut start = sweep.text.len() + 1;
        let file = |(name, text): (&String, &String)| {
            let file = File { name: name.clone(), text: text.clone(), start };
            start += text.len() + 1;
            file
        };
        Ok(Self { files: sweep.files.iter().map(file).collect(), missing: Mutex::new(None) })
    }

    /// The sample that a large book lacks, by the book's name.
    pub(super) fn missing(&self) -> Option<(String, BookSample)> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Fills in the positions of the file that openings name, if any. The seeds are the sweep's and that of
    /// its first point. Skipped book entries are added to `skipped`.
    pub(super) fn fill(
        &self,
        openings: Node,
        rules: &Rules,
        seeds: [u64; 2],
        skipped: &mut Vec<SkippedEntries>,
    ) -> Result<Node, Fault> {
        let Some((table, kind, entry)) = in_file(&openings) else { return Ok(openings) };
        let (kind_name, name) = (kind.value.text("", "").unwrap_or_default(), &entry.value);
        let nodes = if kind_name == BOOK {
            key::check(table, "\"book\" openings", keys::OPENINGS_BOOK)?;
            let book = self.book(table, name, rules, seeds)?;
            skipped.extend(book.skipped.filter(|book| !skipped.contains(book)));
            book.nodes
        } else {
            key::check(table, "\"listed\" openings", keys::OPENINGS_LISTED)?;
            if let Some(positions) = table.get("positions") {
                return Err(Fault::at(
                    &positions.key_place,
                    "these openings are listed here and in a file",
                    "keep either `positions` or `file`",
                ));
            }
            self.positions(name)?
        };
        let positions = Node { place: name.place.clone(), tree: Tree::Array(nodes) };
        let entries = [
            ("kind", &kind.key_place, listed_kind(kind)),
            ("positions", &entry.key_place, positions),
        ]
        .map(|(key, key_place, value)| Entry {
            key: key.to_owned(),
            key_place: key_place.clone(),
            value,
        });
        let tree = Tree::Table(Table { place: None, entries: entries.into() });
        Ok(Node { place: openings.place.clone(), tree })
    }

    /// The file with this name.
    fn named<'a>(&'a self, name: &'a Node) -> Result<(&'a str, &'a File), Fault> {
        let wanted = name.text("`file`", "file = \"openings.txt\"")?;
        let file = self.files.iter().find(|file| file.name == wanted).ok_or_else(|| {
            let remedy = match self.files.as_slice() {
                [] => "put it beside the sweep, or give its path from there".to_owned(),
                files => did_you_mean(wanted, "files", files.iter().map(|file| &*file.name)),
            };
            let problem = format!("no file `{wanted}` came with this sweep");
            Fault::at(&name.place, problem, remedy)
        })?;
        Ok((wanted, file))
    }

    /// The positions of a book, each with its place.
    fn book(
        &self,
        table: &Table,
        name: &Node,
        rules: &Rules,
        [seed, first_seed]: [u64; 2],
    ) -> Result<Book, Fault> {
        let (wanted, file) = self.named(name)?;
        let head = BookHead::from_text(&file.text);
        let format = match &head {
            Some(head) => head.book_format(),
            None => BookFormat::from_file_name(wanted),
        };
        let format = format.ok_or_else(|| {
            let problem = format!("`{wanted}` does not say which kind of book it is");
            Fault::at(&name.place, problem, "let its name end in .epd or .pgn")
        })?;
        let plies = match table.get("plies") {
            None => None,
            Some(plies) if format == BookFormat::Pgn => Some(resolve::plies(&plies.value)?),
            Some(plies) => {
                let problem = "a book in EPD has positions, and no moves to count";
                return Err(Fault::at(&plies.key_place, problem, "leave `plies` out"));
            }
        };
        let is_drawn = keys::IS_DRAWN.read(table)?;
        let skip_bad = keys::SKIPS_BAD.read(table)?;
        let count = keys::BOOK_COUNT.optional(table)?;
        let start = keys::BOOK_START.read(table)?;
        let before = start - 1;
        let sample = |count| {
            let seed = is_drawn.then_some(first_seed);
            BookSample { rules: rules.clone(), plies, seed, before, count, skip_bad }
        };
        let (mut entries, skipped) = match (head, count) {
            (Some(_), count) => {
                let sample = sample(count.unwrap_or(books::COUNT_DEFAULT));
                self.sampled(file, name, sample)?
            }
            (None, Some(count)) => {
                let mut reader = BookReader::new(sample(count), format);
                reader.read(&file.text).map_err(|fault| file.fault_at(&fault))?;
                let (positions, skipped) = reader.finish();
                let at_name = |position| (position, name.place.clone());
                (positions.into_iter().map(at_name).collect(), skipped)
            }
            (None, None) => {
                let (mut entries, skipped) = file.entries(rules, format, plies, name, skip_bad)?;
                entries.drain(..entries.len().min(before as usize));
                (entries, skipped)
            }
        };
        if entries.is_empty() {
            let problem = match skipped.count {
                _ if start > 1 => format!("the book `{wanted}` has no position {start}"),
                0 => format!("the book `{wanted}` has no position"),
                count => format!(
                    "all {count} entries of the book `{wanted}` are bad; the first: {}",
                    skipped.first_problem
                ),
            };
            return Err(Fault::at(&name.place, problem, "name one that has some"));
        }
        if is_drawn {
            // Keyed by the seed and the positions drawn from, like other openings.
            let positions = entries.iter().map(|(position, _)| position.clone()).collect();
            let listed = OpeningsRule::Listed { positions };
            let key = seeds::openings_key(&seeds::openings_identity(seed, rules, &listed));
            Random::from_key(key).shuffle(&mut entries);
        }
        let nodes =
            entries.into_iter().map(|(position, place)| text_node(position, place)).collect();
        let skipped = SkippedEntries { file: wanted.to_owned(), ..skipped };
        Ok(Book { nodes, skipped: (skipped.count > 0).then_some(skipped) })
    }

    /// A sample of a large book.
    fn sampled(&self, file: &File, name: &Node, sample: BookSample) -> Result<Entries, Fault> {
        if let Some(taken) = sample.find(&file.text) {
            let place = |(start, text): (usize, &str)| file.place(&(start..start + text.len()));
            let entries = taken.positions().map(|entry| (entry.1.to_owned(), place(entry)));
            return Ok((entries.collect(), taken.skipped));
        }
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((file.name.clone(), sample));
        let problem = format!(
            "the positions received for the book `{}` are not those that the sweep takes",
            file.name
        );
        Err(Fault::at(&name.place, problem, "submit the sweep again from where the book is"))
    }

    /// The lines of a file, each with its place.
    fn positions(&self, name: &Node) -> Result<Vec<Node>, Fault> {
        let (wanted, file) = self.named(name)?;
        if BookHead::from_text(&file.text).is_some() {
            let problem =
                format!("`{wanted}` is too large, or compressed, for a list of positions");
            let remedy = "list at most 1 MiB of them as plain text, or take a book of chess: kind = \"book\"";
            return Err(Fault::at(&name.place, problem, remedy));
        }
        let positions: Vec<Node> = lines(&file.text)
            .map(|(offset, text)| {
                text_node(text.to_owned(), file.place(&(offset..offset + text.len())))
            })
            .collect();
        if positions.is_empty() {
            let problem = format!("the file `{wanted}` lists no position");
            return Err(Fault::at(&name.place, problem, "write one position on each line"));
        }
        Ok(positions)
    }

    /// The file that contains a place, with the place inside it; `None` for the sweep itself.
    pub(super) fn locate(&self, place: &Span) -> Option<(&str, &str, Span)> {
        let file = self.files.iter().rev().find(|file| file.start <= place.start)?;
        Some((&file.name, &file.text, place.start - file.start..place.end - file.start))
    }
}

impl File {
    /// The file's positions, read as a book.
    fn entries(
        &self,
        rules: &Rules,
        format: BookFormat,
        plies: Option<u32>,
        name: &Node,
        skip_bad: bool,
    ) -> Result<Entries, Fault> {
        let (mut entries, mut skipped) = (Vec::new(), SkippedEntries::default());
        for entry in book_entries(rules, format, &self.text, plies) {
            match entry {
                Ok(entry) => entries.push((entry.position, self.place(&entry.place))),
                Err(error) if skip_bad && !error.place.is_empty() => {
                    skipped.add(line_and_column(&self.text, error.place.start).0, &error.what);
                }
                Err(error) => {
                    let is_nowhere = error.place.is_empty();
                    let place =
                        if is_nowhere { name.place.clone() } else { self.place(&error.place) };
                    return Err(Fault::at(&place, error.what, error.remedy));
                }
            }
        }
        Ok((entries, skipped))
    }

    /// A fault in a line.
    fn fault_at(&self, fault: &books::BookFault) -> Fault {
        let start = line_start(&self.text, fault.line);
        let end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        Fault::at(&self.place(&(start..end)), fault.problem.clone(), fault.remedy.clone())
    }

    /// A place in the file, as if it followed the sweep's text.
    fn place(&self, inside: &Span) -> Span {
        self.start + inside.start..self.start + inside.end
    }
}

/// Positions of a book, each with its place, and the skipped entries.
type Entries = (Vec<(String, Span)>, SkippedEntries);

/// The positions of a book.
struct Book {
    nodes: Vec<Node>,
    skipped: Option<SkippedEntries>,
}

/// Offset of a line in a text; lines count from 1.
fn line_start(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line - 1).map(str::len).sum()
}

/// The kind of openings taken from a book.
const BOOK: &str = "book";
/// The kind of openings listed one by one.
const LISTED: &str = "listed";

fn listed_kind(kind: &Entry) -> Node {
    text_node(LISTED.to_owned(), kind.value.place.clone())
}

fn text_node(text: String, place: Span) -> Node {
    Node { place, tree: Tree::Scalar(Scalar::Text(text)) }
}

/// Positions with their offsets: one on each line, without comments and empty lines.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let position = line.split('#').next().unwrap_or_default();
        // Marks of an encoding and of the end of a file do not belong to a position.
        let is_space = |character: char| {
            character.is_whitespace() || matches!(character, '\u{feff}' | '\u{1a}')
        };
        let indent = position.len() - position.trim_start_matches(is_space).len();
        let position = position.trim_matches(is_space);
        (!position.is_empty()).then_some((at + indent, position))
    })
}

/// The table, its `kind` and its `file`.
fn in_file(openings: &Node) -> Option<(&Table, &Entry, &Entry)> {
    let Tree::Table(table) = &openings.tree else { return None };
    let kind =
        table.get("kind").filter(|kind| matches!(kind.value.text("", ""), Ok(LISTED | BOOK)))?;
    Some((table, kind, table.get("file")?))
}

/// The names of the files that a sweep may need, with the places that name them: each once.
pub(super) fn named(root: &Table) -> Vec<(String, Span)> {
    let mut files = Vec::<(String, Span)>::new();
    let openings = ["openings", "positions"].into_iter().filter_map(|key| root.get(key));
    for openings in openings.flat_map(|entry| values_of(&entry.value, root)) {
        let file = in_file(openings).map(|(.., file)| values_of(&file.value, root));
        for name in file.into_iter().flatten() {
            if let Ok(text) = name.text("", "")
                && files.iter().all(|(listed, _)| listed != text)
            {
                files.push((text.to_owned(), name.place.clone()));
            }
        }
    }
    files
}

/// A value, or all values of the axis that it references. Errors there are found later.
fn values_of<'a>(node: &'a Node, root: &'a Table) -> Vec<&'a Node> {
    let Some((axis, key)) = node.text("", "").ok().and_then(reference) else { return vec![node] };
    let axes = root.get("axes").and_then(|axes| axes.value.table("", "").ok());
    let Some(Tree::Array(values)) =
        axes.and_then(|axes| axes.get(axis)).map(|entry| &entry.value.tree)
    else {
        return Vec::new();
    };
    let value = |value: &'a Node| match (key, &value.tree) {
        (None, _) => Some(value),
        (Some(key), Tree::Table(table)) => table.get(key).map(|entry| &entry.value),
        (Some(_), Tree::Scalar(_) | Tree::Array(_)) => None,
    };
    values.iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spelrum_model::OpeningsRule;

    use super::super::{SweepText, plan_sweep};

    const PGN: &str =
        "1. e4 e5 2. Nf3 *\n1. d4 d5 *\n1. c4 *\n1. e4 e5 2. Nc3 *\n1. e4 e5 2. d4 *\n";

    /// The openings of a sweep with this book, or the error.
    fn openings(file: &str, text: &str, rest: &str, seed: u64) -> Result<Arc<[String]>, String> {
        let sweep = format!(
            "name = \"t\"\ngame = \"chess\"\nseed = {seed}\ngames = 2\n\
             openings = {{ kind = \"book\", file = \"{file}\"{rest} }}\n\
             [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"random\""
        );
        let mut sweep = SweepText::new("t", sweep);
        sweep.files.insert(file.to_owned(), text.to_owned());
        let plan = plan_sweep(&sweep).map_err(|error| error.to_string())?;
        let openings = plan.definition(&plan.cells[0]).openings;
        let OpeningsRule::Listed { positions } = openings else { panic!("{openings:?}") };
        Ok(positions)
    }

    #[test]
    fn a_books_positions_come_in_its_order_each_once() {
        let after = |plies: &str| openings("b.pgn", PGN, plies, 1).unwrap();
        assert_eq!(after("").len(), 5);
        let two = after(", plies = 2");
        assert_eq!(two.len(), 3);
        assert!(two[0].starts_with("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/"), "{two:?}");
        assert!(two[2].starts_with("rnbqkbnr/pppppppp/8/8/2P5/8/"), "{two:?}");
        assert_eq!(after(", plies = 2, order = \"book\""), two);
        assert_eq!(after(", plies = 0").len(), 1);
        // The same positions as EPD are the same openings.
        let epd = two.join(" ; c0 \"x\";\n");
        assert_eq!(openings("b.epd", &epd, "", 1).unwrap(), two);
    }

    #[test]
    fn the_seed_draws_the_order() {
        let drawn = |seed| openings("b.pgn", PGN, ", order = \"drawn\"", seed).unwrap();
        let sorted = |positions: &[String]| {
            let mut positions = positions.to_vec();
            positions.sort_unstable();
            positions
        };
        let orders: Vec<_> = (0..8).map(drawn).collect();
        assert_eq!(orders[3], drawn(3));
        assert!(orders.iter().any(|order| *order != orders[0]));
        let all = sorted(&openings("b.pgn", PGN, "", 1).unwrap());
        assert!(orders.iter().all(|order| sorted(order) == all));
    }

    #[test]
    fn bad_entries_are_skipped_and_reported() {
        let text = "1. e4 *\n1. e5 *\n\n1. d4 {unended\n\n1. f3 e5 2. g4 Qh4# 0-1\n1. d4 *\n";
        let mut sweep = SweepText::new(
            "t",
            "name = \"t\"\ngame = \"chess\"\ngames = 2\nopenings = { kind = \"book\", file = \"b.pgn\", \
             bad = \"skip\" }\n[players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"random\"",
        );
        sweep.files.insert("b.pgn".to_owned(), text.to_owned());
        let plan = plan_sweep(&sweep).unwrap();
        let OpeningsRule::Listed { positions } = &plan.conditions[0].openings else { panic!() };
        assert_eq!(positions.len(), 2);
        let [skipped] = &plan.skipped[..] else { panic!("{:?}", plan.skipped) };
        assert_eq!(
            (&*skipped.file, skipped.count, &skipped.lines[..]),
            ("b.pgn", 3, &[2, 4, 6][..])
        );
        assert!(skipped.first_problem.contains("`e5` is not legal"), "{}", skipped.first_problem);
        sweep.text = sweep.text.replace("skip", "error");
        assert!(plan_sweep(&sweep).unwrap_err().problem.contains("`e5` is not legal"));
    }

    #[test]
    fn what_is_wrong_with_a_book_is_told() {
        for (file, text, rest, problem) in [
            ("b.pgn", "1. e4 e5 2. Ke3 *", "", "`Ke3` is not legal"),
            ("b.pgn", "1. e4 {and", "", "this comment does not end"),
            (
                "b.pgn",
                "1. f3 e5 2. g4 Qh4# 0-1",
                "",
                "here the game is over (black wins: checkmate)",
            ),
            ("b.pgn", "", "", "the book `b.pgn` has no position"),
            ("b.epd", "4k3/8 w - -", "", "2 ranks"),
            ("b.epd", "4k3/8/8/8/8/8/4P3/4K3 w - -", ", plies = 2", "no moves to count"),
            ("b.bin", "", "", "does not say which kind of book it is"),
            ("b.pgn", PGN, ", order = \"draw\"", "`order` cannot be \"draw\""),
            ("b.pgn", PGN, ", plies = 201", "cannot be 201 plies"),
            ("b.pgn", PGN, ", positions = []", "`positions`"),
            ("b.pgn", PGN, ", bad = \"skipped\"", "`bad` cannot be \"skipped\""),
            ("b.pgn", "1. e5 *\n1. d5 *", ", bad = \"skip\"", "`e5` is not legal"),
        ] {
            let error = openings(file, text, rest, 1).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
