//! Positions and books of chess beside python-chess, over random and mutilated ones: what that reads without complaint
//! is read alike, and what it complains of is refused. Where the two differ, [`LISTED`] says why. And books of any
//! encoding as the program reads them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

use spelrum_engine::games::Chess;
use spelrum_engine::{BookFormat, Game as _, Position, Random, Rules, book_entries};
use spelrum_test_support::{Tools, skip};

use crate::sandbox::Sandbox;

/// Cases of each kind.
const CASES: usize = 1_500;
/// Most plies of a game.
const PLIES_MAX: u32 = 90;

/// A text that both read.
struct Case {
    kind: &'static str,
    rules: Rules,
    text: String,
    plies: Option<u32>,
    /// What was done to it.
    change: &'static str,
}

/// Why the two may differ: by what was done to the text, by what is said here, and by how many entries both have.
struct Listed {
    reason: &'static str,
    allows: fn(&Case, &[Entry], &[Entry]) -> bool,
}

/// A position, or the word for its lack and the problem.
#[derive(Clone, Debug)]
struct Entry {
    text: String,
    problem: String,
}

fn is_refused(ours: &[Entry], problems: &[&str]) -> bool {
    ours.iter().any(|entry| problems.iter().any(|problem| entry.problem.contains(problem)))
}

const LISTED: &[Listed] = &[
    Listed {
        reason: "no game has so many plies without a capture or a pawn's move, or so many moves",
        allows: |_, ours, _| is_refused(ours, &["the fifth field is", "the sixth field is"]),
    },
    Listed {
        reason: "no game has so many pieces beside its pawns",
        allows: |_, ours, _| is_refused(ours, &["pieces more than at the start"]),
    },
    Listed {
        reason: "rights to castle are read in any order",
        allows: |case, _, theirs| case.change == "order of castling" && theirs[0].text == "bad",
    },
    Listed {
        reason: "python-chess drops a right to castle where there is neither king nor rook for it",
        allows: |_, ours, theirs| {
            is_refused(ours, &["the third field, castling, has"]) && theirs[0].text.contains(" - ")
        },
    },
    Listed {
        reason: "the fields of EPD end at a semicolon, and numbers behind them are clocks",
        allows: |case, _, _| case.change == "ends of fields",
    },
    Listed {
        reason: "what is neither a move nor an annotation is refused and not passed over",
        allows: |_, ours, _| is_refused(ours, &["cannot stand here", "not a move in algebraic"]),
    },
    Listed {
        reason: "chess has no null moves",
        allows: |_, ours, _| is_refused(ours, &["is a null move"]),
    },
    Listed {
        reason: "a comment or a variation does not swallow what follows it",
        allows: |_, ours, _| is_refused(ours, &["comment does not end", "variation does not end"]),
    },
    Listed {
        reason: "a tag that decides where a game starts is not passed over",
        allows: |_, ours, _| is_refused(ours, &["this tag does not end"]),
    },
    Listed {
        reason: "a game ends with its result, or where numbers of moves begin again",
        allows: |case, ours, theirs| match case.change {
            "run together" => ours.iter().all(|entry| entry.text != "bad"),
            "word" | "mutilated" => ours.len() > theirs.len(),
            _ => false,
        },
    },
    Listed {
        reason: "a result without tags and moves is not a game",
        allows: |case, ours, theirs| {
            let start = Chess::initial().to_string();
            let has_start = |entries: &[Entry]| entries.iter().any(|entry| entry.text == start);
            case.change == "none"
                && ours.len() + 1 == theirs.len()
                && has_start(theirs)
                && !has_start(ours)
        },
    },
    Listed {
        reason: "a game goes on after blank lines between tags and moves, and before the number that comes next",
        allows: |case, ours, theirs| {
            ["blank line", "mutilated"].contains(&case.change) && ours.len() < theirs.len()
        },
    },
];

/// The games that cases come from.
struct Source {
    random: Random,
    /// Whether games have variations, whose moves the engine does not read.
    has_variations: bool,
}

impl Source {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(u32::try_from(bound).unwrap()) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn rules(&mut self) -> Rules {
        match self.below(3) {
            0 => Chess::chess960_rules(self.random.below(960)).unwrap(),
            _ => Chess::rules(),
        }
    }

    /// A random game: its start, its moves, and where it ends.
    fn game(&mut self, start: Chess) -> (Vec<(Chess, <Chess as Position>::Move)>, Chess) {
        let mut position = start;
        let mut moves = Vec::new();
        for _ in 0..self.random.below(PLIES_MAX) {
            let mut legal = Vec::new();
            position.legal_moves(&mut legal);
            if legal.is_empty() {
                break;
            }
            let mv = self.pick(&legal);
            moves.push((position.clone(), mv));
            position.play_unchecked(mv);
        }
        (moves, position)
    }

    /// A character more, less or another.
    fn mutilated(&mut self, text: &str, alphabet: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(2) {
            let alphabet: Vec<char> = alphabet.chars().collect();
            let (at, new) = (self.below(characters.len()), self.pick(&alphabet));
            match self.below(3) {
                0 => characters.insert(at, new),
                1 => characters[at] = new,
                _ => drop(characters.remove(at)),
            }
        }
        characters.into_iter().collect()
    }

    fn shuffled(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        self.random.shuffle(&mut characters);
        characters.into_iter().collect()
    }

    /// A few pieces anywhere.
    fn thrown(&mut self) -> Case {
        let mut squares = [None; 64];
        let men: Vec<char> = "qrbnpQRBNP".chars().collect();
        for number in 0..3 + self.below(8) {
            let man = ['k', 'K'].get(number).copied().unwrap_or_else(|| self.pick(&men));
            let square = self.below(64);
            squares[square].get_or_insert(man);
        }
        let row = |row: &[Option<char>]| -> String {
            row.iter().map(|man| man.map_or("1".to_owned(), String::from)).collect()
        };
        let mut rows = squares.chunks(8).map(row).collect::<Vec<_>>().join("/");
        for empty in (2..=8).rev() {
            rows = rows.replace(&"1".repeat(empty), &empty.to_string());
        }
        let side = self.pick(&["w", "b"]);
        let en_passant = self.pick(&["-", "-", "c3", "e6"]);
        let text = format!("{rows} {side} - {en_passant} 0 1");
        Case { kind: "fen", rules: Chess::rules(), text, plies: None, change: "thrown" }
    }

    fn fen(&mut self) -> Case {
        let rules = self.rules();
        let start = Chess::start(&rules).unwrap();
        let text = self.game(start).1.to_string();
        let mut fields: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let change = match self.below(10) {
            0 => "none",
            1 => {
                fields.truncate(1 + self.below(5));
                "missing fields"
            }
            2 => {
                fields[2] = self.shuffled(&fields[2].clone());
                "order of castling"
            }
            3 => {
                let letters: Vec<char> = "KQkqAHahBGbg-".chars().collect();
                fields[2] = (0..=self.below(3)).map(|_| self.pick(&letters)).collect();
                "order of castling"
            }
            4 => {
                fields[3] =
                    format!("{}{}", self.pick(&['a', 'c', 'd', 'e', 'h']), self.pick(&[3, 6]));
                "en passant"
            }
            5 => {
                fields[4] =
                    self.pick(&["00", "07", "99", "100", "101", "160", "-1", "x"]).to_owned();
                "clock"
            }
            6 => {
                fields[5] = self.pick(&["0", "00", "012", "65535", "65536", "-1", "y"]).to_owned();
                "number"
            }
            7 => {
                fields[1] = if fields[1] == "w" { "b" } else { "w" }.to_owned();
                "other side"
            }
            8 => {
                fields[0] = self.mutilated(&fields[0].clone(), "pnbrqkPNBRQK12345678/");
                "pieces"
            }
            _ => {
                let text = self.mutilated(&text, "pnbrqkPNBRQKw0123456789/ -+abcdefgh");
                return Case { kind: "fen", rules, text, plies: None, change: "any" };
            }
        };
        let space = self.pick(&[" ", " ", "  ", "\t"]);
        Case { kind: "fen", rules, text: fields.join(space), plies: None, change }
    }

    fn epd(&mut self) -> Case {
        let rules = self.rules();
        let start = Chess::start(&rules).unwrap();
        let text = self.game(start).1.to_string();
        let fields: Vec<&str> = text.split(' ').collect();
        let (clock, number) = (fields[4], fields[5]);
        let (rest, change) = match self.below(8) {
            0 => (String::new(), "none"),
            1 => (format!(" hmvc {clock}; fmvn {number};"), "none"),
            2 => (format!(" ce 12; id \"a; hmvc 9; b\"; fmvn {number};"), "none"),
            3 => (";".to_owned(), "ends of fields"),
            4 => (format!(" c0 \"hmvc 7\"; hmvc \"{clock}\"; acd 9"), "none"),
            5 => (format!(" {clock} {number};"), "ends of fields"),
            6 => (format!(" {clock} {number} ce 4;"), "ends of fields"),
            _ => (format!(" {clock}, {number}, c0 \"x\""), "ends of fields"),
        };
        let text = format!("{}{rest}", fields[..4].join(" "));
        Case { kind: "epd", rules, text, plies: None, change }
    }

    /// The text of a game.
    fn pgn_game(&mut self, start: &Chess, tags: &str, result: &str) -> (String, u32) {
        let (moves, _) = self.game(start.clone());
        let mut text = tags.to_owned();
        let has_numbers = self.below(6) > 0;
        let plies = u32::try_from(moves.len()).unwrap();
        for (ply, (position, mv)) in moves.into_iter().enumerate() {
            let is_white = position.to_string().contains(" w ");
            let number = position.fullmove_number();
            // A blank line would end the game.
            text += if self.below(12) == 0 && !text.ends_with('\n') { "\n" } else { " " };
            if has_numbers && (is_white || ply == 0 || self.below(10) == 0) {
                text += &format!("{number}{}", if is_white { "." } else { "..." });
                text += self.pick(&["", " "]);
            }
            text += &self.written(&position, mv);
            text += self.pick(&[
                "",
                "",
                "",
                "",
                "!",
                "?!",
                " $14",
                " {a (comment} ",
                " !",
                " ; e4 e5\n",
            ]);
            if self.has_variations && self.below(20) == 0 {
                let san = position.san(mv);
                text += &format!(" ({san} {{b) c}} ({san}))");
            }
        }
        (format!("{text} {result}\n\n"), plies)
    }

    /// A move as programs and people write it.
    fn written(&mut self, position: &Chess, mv: <Chess as Position>::Move) -> String {
        let (san, squares) = (position.san(mv), mv.to_string());
        let bare = san.trim_end_matches(['+', '#']);
        match self.below(10) {
            0 => bare.to_owned(),
            1 => san.replace('O', "0"),
            2 => bare.replace(['x', '='], ""),
            3 => squares,
            4 => format!("{}-{}", &squares[..2], &squares[2..]),
            5 if san.starts_with(['N', 'B', 'R', 'Q', 'K']) => {
                format!("{}{}{}", &san[..1], self.long(&san, &squares[..2]), &squares[2..])
            }
            6 if !san.starts_with(['N', 'B', 'R', 'Q', 'K', 'O']) => format!("P{san}"),
            _ => san,
        }
    }

    fn long(&mut self, san: &str, from: &str) -> String {
        format!("{from}{}", if san.contains('x') { "x" } else { self.pick(&["-", ""]) })
    }

    fn pgn(&mut self) -> Case {
        let is_960 = self.below(4) == 0;
        let form = self.below(9);
        self.has_variations = [0, 1, 2, 4, 5].contains(&form);
        let rules = if is_960 {
            Chess::chess960_rules(self.random.below(960)).unwrap()
        } else {
            Chess::rules()
        };
        let usual = Chess::start(&rules).unwrap();
        let elsewhere = self.game(usual.clone()).1;
        let mut tags = "[Event \"a \"quoted\" game\"]\n[Site \"?\"]\n".to_owned();
        let mut start = usual.clone();
        if is_960 {
            start = if elsewhere.is_over() { usual } else { elsewhere };
            tags += "[Variant \"Chess960\"]\n";
            tags += &format!("[SetUp \"1\"]\n[FEN \"{start}\"]\n");
        } else if self.below(3) == 0 && !elsewhere.is_over() {
            start = elsewhere;
            tags += &format!("[FEN \"{start}\"]\n");
        } else if self.below(3) == 0 {
            tags.clear();
        }
        if !tags.is_empty() {
            tags += "\n";
        }
        let (game, plies) = self.pgn_game(&start, &tags, "*");
        let wanted = (self.below(2) == 0).then(|| self.random.below(plies + 2));
        let case = |text: String, change| Case {
            kind: "pgn",
            rules: rules.clone(),
            text,
            plies: None,
            change,
        };
        match form {
            0 | 1 => Case { plies: wanted, ..case(game, "none") },
            2 => {
                let second = self.pgn_game(&start, &tags, "1-0").0;
                case(game + &second, "none")
            }
            3 if tags.is_empty() => {
                let second = self.pgn_game(&start, "", "").0;
                case(game.trim_end().trim_end_matches('*').to_owned() + "\n\n" + &second, "none")
            }
            4 => {
                let second = self.pgn_game(&start, &tags, "0-1").0;
                case(game.trim_end().to_owned() + " " + &second, "run together")
            }
            5 => case(game.replace('\n', "\r\n"), "none"),
            6 => {
                let from = tags.len() + self.below(game.len() - tags.len());
                let at = (from..game.len())
                    .find(|&at| game.is_char_boundary(at) && game[at..].starts_with(' '));
                let at = at.unwrap_or(game.len() - 2);
                let word =
                    self.pick(&["\n\n", " -- ", " Z0 ", " \u{b1} ", " e.p. ", " 1-0 ", " N "]);
                let change = if word == "\n\n" { "blank line" } else { "word" };
                case(format!("{}{word}{}", &game[..at], &game[at..]), change)
            }
            _ => {
                let movetext = game[tags.len()..].to_owned();
                let alphabet = "abcdefghNBRQKOx12345678.=+#-!?*(){}[];%$ \n";
                let movetext = self.mutilated(&movetext, alphabet);
                case(tags + &movetext, "mutilated")
            }
        }
    }
}

/// Differences that random cases hardly come to.
fn rare() -> [Case; 2] {
    let case = |kind, text: &str| Case {
        kind,
        rules: Chess::rules(),
        text: text.to_owned(),
        plies: None,
        change: "rare",
    };
    [
        case("fen", "rnbqkbnr/pppppppp/8/8/3Q4/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1"),
        case("pgn", "1. e4 {unended\n\n[Event \"b\"]\n\n1. d4 *\n"),
    ]
}

/// What the engine reads.
fn ours(case: &Case) -> Vec<Entry> {
    let entry = |text: &str, problem: &str| Entry { text: text.into(), problem: problem.into() };
    let format = match case.kind {
        "epd" => BookFormat::Epd,
        "pgn" => BookFormat::Pgn,
        _ => {
            return vec![match Chess::parse(&case.rules, &case.text) {
                Ok(position) => entry(&position.to_string(), ""),
                Err(error) => entry("bad", &error.what),
            }];
        }
    };
    let entries = book_entries(&case.rules, format, &case.text, case.plies);
    let entries = entries.into_iter().map(|found| match found {
        Ok(found) => entry(&found.position, ""),
        Err(error) if error.what.starts_with("here the game is over") => entry("over", ""),
        Err(error) => entry("bad", &error.what),
    });
    entries.collect()
}

/// A book has each position once.
fn distinct(entries: Vec<String>) -> Vec<Entry> {
    let mut seen = BTreeSet::new();
    let is_new = |text: &String| {
        let key: Vec<&str> = text.split(' ').take(4).collect();
        !text.contains(' ') || seen.insert(key.join(" "))
    };
    let entry = |text| Entry { text, problem: String::new() };
    entries.into_iter().filter(is_new).map(entry).collect()
}

/// A `python3` with the package chess; `None`, and the test is skipped, without.
pub(crate) fn python_chess() -> Option<Tools> {
    let tools = Tools::find(&["python3"])?;
    let version = "import chess.pgn; print(chess.__version__)";
    let version =
        tools.command("python3").args(["-c", version]).stdin(Stdio::null()).output().unwrap();
    if String::from_utf8_lossy(&version.stdout).starts_with("1.11.") {
        return Some(tools);
    }
    skip("it needs a python3 with the package chess 1.11");
    None
}

#[test]
fn chess_files_are_read_as_python_chess_reads_them() {
    let Some(tools) = python_chess() else { return };
    let mut source = Source { random: Random::from_key([13; 32]), has_variations: true };
    let kinds = [Source::thrown, Source::fen, Source::epd, Source::pgn];
    let mut cases: Vec<Case> = kinds
        .into_iter()
        .flat_map(|kind| (0..CASES).map(move |_| kind))
        .map(|make| make(&mut source))
        .collect();
    cases.extend(rare());
    let lines: String = cases
        .iter()
        .map(|Case { kind, rules, text, plies, .. }| {
            format!("{}\n", serde_json::json!([kind, rules.switch("chess960"), text, plies]))
        })
        .collect();
    let mut python = tools
        .command("python3")
        .args(["-c", include_str!("chess_files/judge.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    let writing = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let read = python.wait_with_output().unwrap();
    writing.join().unwrap();
    assert!(read.status.success());
    let answers: Vec<Vec<String>> = String::from_utf8(read.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), cases.len());
    let mut used = BTreeSet::new();
    let mut alike = 0;
    let mut different = Vec::new();
    for (case, theirs) in cases.iter().zip(answers) {
        let (ours, theirs) = (ours(case), distinct(theirs));
        let texts =
            |entries: &[Entry]| entries.iter().map(|entry| entry.text.clone()).collect::<Vec<_>>();
        if texts(&ours) == texts(&theirs) {
            alike += 1;
        } else if let Some(listed) =
            LISTED.iter().find(|listed| (listed.allows)(case, &ours, &theirs))
        {
            used.insert(listed.reason);
        } else {
            different.push(format!(
                "{} ({}): {:?}\nours: {ours:?}\ntheirs: {:?}",
                case.kind,
                case.change,
                case.text,
                texts(&theirs)
            ));
        }
    }
    assert!(
        different.is_empty(),
        "{} differ, {alike} do not:\n{}",
        different.len(),
        different[..different.len().min(20)].join("\n\n")
    );
    let stale: Vec<&str> =
        LISTED.iter().map(|listed| listed.reason).filter(|reason| !used.contains(reason)).collect();
    assert_eq!(stale, [""; 0], "no case needs these any more");
    assert!(alike > cases.len() / 2, "{alike} of {} are read alike", cases.len());
}

/// A sweep with this book, and what a dry run of it prints.
fn planned(file: &str, bytes: &[u8], rest: &str) -> (String, String) {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path(file), bytes).unwrap();
    let sweep = format!(
        "name = \"book\"\ngame = \"chess\"\ngames = 20\nopenings = {{ kind = \"book\", file = \"{file}\"{rest} }}\n\
         players.a = {{ algorithm = \"random\" }}\nplayers.b = {{ algorithm = \"random\" }}\n"
    );
    sandbox.write("book.toml", &sweep);
    let ran = sandbox.run(&["submit", "book.toml", "--dry-run"]);
    (ran.expect_exit(0).stdout().to_owned(), ran.stderr().to_owned())
}

#[test]
fn books_of_other_programs_are_read() {
    let utf16: Vec<u8> =
        "\u{feff}1. c4 *\r\n\r\n1. d4 *\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (file, bytes, count) in [
        ("a.epd", &b"\xef\xbb\xbf8/8/4k3/8/8/4K3/4P3/7R w - - 0 1\n"[..], 1),
        ("a.epd", b"8/8/4k3/8/8/4K3/4P3/7R w - - 45 90;\n", 1),
        ("a.epd", b"8/8/4k3/8/8/4K3/4P3/7R w - - 0 0\r8/8/4k3/8/8/4K3/4P3/7R b\r", 2),
        ("a.pgn", b"[White \"J\xf6rg\"]\n\n1. c4 e5 {gr\xfc\xdfe} *\n", 1),
        ("a.pgn", b"1. c4 e5 *\r\n\x1a", 1),
        ("a.pgn", b"1. c4 e5\n\n1. d4 d5\n", 2),
        ("a.pgn", b"1. c2c4 e7e5 2. g1f3 *\n\n1. c2-c4 e7-e5 2. Ng1-h3 *\n", 2),
        ("a.pgn", b"[FEN \"8/8/4k3/8/8/4K3/4P3/7R w - -\"]\n\n1. Kd3 *\n", 1),
        ("a.pgn", &utf16, 2),
    ] {
        let (stdout, stderr) = planned(file, bytes, "");
        let said = String::from_utf8_lossy(bytes);
        assert!(stdout.contains(&format!("openings  {count} distinct")), "{said}: {stdout}");
        assert!(!stderr.contains("skipped"), "{said}: {stderr}");
    }
}

#[test]
fn skipped_entries_are_reported_with_their_lines() {
    let book = b"1. c4 e5 *\n\n1. d4 e4 *\n\n1. e4 e5 2. -- d5 *\n\n1. e4 *\n";
    let (stdout, stderr) = planned("a.pgn", book, ", bad = \"skip\"");
    assert!(stdout.contains("openings  2 distinct"), "{stdout}");
    let note =
        "note: skipped 2 bad entries of a.pgn, at lines 3, 5; the first: `e4` is not legal in";
    assert!(stderr.contains(note) || stdout.contains(note), "{stdout}{stderr}");
    let (_, stderr) = planned("a.epd", b"8/8/4k3/8/8/4K3/4P3/7R w\nx\n", ", bad = \"skip\"");
    assert!(
        stderr.contains("note: skipped 1 bad entry of a.epd, at line 2; the first: `x`"),
        "{stderr}"
    );
}
