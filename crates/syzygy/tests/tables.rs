//! Real tables against python-chess and against the engine's own exact tables, and damaged files.

#![expect(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use cozy_chess::Board;
use spelrum_engine::tables::{EndgameTable, TableValue};
use spelrum_syzygy::{Outcome, ProbeError, Tables, Wdl};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

fn tables() -> Tables {
    Tables::open(&[folder()]).unwrap()
}

fn board(text: &str) -> Board {
    let clocks = if text.split(' ').count() == 4 { " 0 1" } else { "" };
    Board::from_fen(&format!("{text}{clocks}"), false)
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

const fn number(wdl: Wdl) -> i32 {
    match wdl {
        Wdl::Loss => -2,
        Wdl::BlessedLoss => -1,
        Wdl::Draw => 0,
        Wdl::CursedWin => 1,
        Wdl::Win => 2,
    }
}

/// Compares lines of a position, its result and its distance; returns how many of each there were.
fn compare(tables: &Tables, vectors: &str) -> [usize; 2] {
    let mut counts = [0; 2];
    for line in vectors.lines() {
        let mut fields = line.rsplitn(3, ' ');
        let [dtz, wdl, fen] = [(); 3].map(|()| fields.next().unwrap());
        let board = board(fen);
        let values = [tables.wdl(&board).map(number), tables.dtz(&board)];
        for ((value, expected), count) in values.into_iter().zip([wdl, dtz]).zip(&mut counts) {
            match value {
                // What is looked up, and so what is missing, depends on the order of moves.
                Ok(_) if expected == "-" => {}
                Err(ProbeError::Missing(_)) => {}
                Ok(value) => {
                    assert_eq!(value.to_string(), expected, "{line}");
                    *count += 1;
                }
                Err(error) => panic!("{line}: {error}"),
            }
        }
    }
    counts
}

#[test]
fn positions_have_the_values_of_python_chess() {
    let vectors = fs::read_to_string(folder().join("vectors.txt")).unwrap();
    assert_eq!(compare(&tables(), &vectors), [3_750, 3_026]);
}

/// Distances of a win by a rook or queen are those to mate, or one less where they are stored in moves. Of the bishop and
/// knight it is each sixteenth position.
#[test]
fn all_positions_agree_with_exact_tables() {
    let tables = tables();
    let mut counts = Vec::new();
    for (name, has_distances) in [("KRK", true), ("KQK", true), ("KPK", false), ("KBNK", false)] {
        let exact = EndgameTable::make(&name.parse().unwrap(), |_| {});
        let mut count = 0;
        let step = if name == "KBNK" { 16 } else { 1 };
        for position in exact.positions().step_by(step) {
            let board = board(&exact.fen(&position));
            let wdl = tables.wdl(&board).unwrap();
            assert_eq!(number(wdl), 2 * position.value.value(), "{board}");
            count += 1;
            let plies = position.value.plies().unwrap_or(0) as i32;
            if has_distances {
                let dtz = tables.dtz(&board).unwrap().abs();
                let is_mated = position.value == (TableValue::Loss { plies: 0 });
                assert!(
                    is_mated || dtz == plies || dtz + 1 == plies,
                    "{board}: {dtz}, not {plies}"
                );
            }
        }
        counts.push((name, count));
    }
    assert_eq!(counts, [("KRK", 51_044), ("KQK", 47_136), ("KPK", 165_676), ("KBNK", 196_186)]);
}

#[test]
fn a_running_clock_decides_by_distance() {
    let tables = tables();
    let outcome = |clock: u32, is_ruled| {
        let fen = format!("8/8/8/8/8/2k5/1R6/K7 w - - {clock} 60");
        tables.outcome(&board(&fen), is_ruled).unwrap()
    };
    // Mate in 31 plies, which is stored in moves: 32 would be stored as the same number.
    let (win, draw) = (Some(Outcome::Win), Some(Outcome::Draw));
    for (clock, expected) in [(0, win), (68, win), (69, None), (70, draw)] {
        assert_eq!(outcome(clock, true), expected, "{clock}");
        assert_eq!(outcome(clock, false), Some(Outcome::Win));
    }
    let black = board("8/8/8/8/8/2k5/1R6/K7 b - - 99 60");
    // Takes the rook.
    assert_eq!(tables.outcome(&black, true).unwrap(), Some(Outcome::Draw));
}

#[test]
fn positions_without_tables_are_errors_that_say_so() {
    let tables = tables();
    let error = |fen| tables.wdl(&board(fen)).unwrap_err().to_string();
    assert_eq!(
        error("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        "Syzygy tables have no positions with castling rights"
    );
    assert_eq!(error("4k3/8/8/8/8/8/8/RRR1K3 w - - 0 1"), "there is no Syzygy table KRRRvK.rtbw");
    assert_eq!(
        error("rnb1k3/8/8/8/8/8/8/RRR1K3 w - - 0 1"),
        "Syzygy tables have at most 7 pieces, not 8"
    );
}

#[test]
fn a_folder_is_listed_by_names_and_is_complete_if_it_has_all() {
    let tables = tables();
    assert_eq!([3, 4, 5].map(|pieces| tables.counts(pieces)), [[5, 5], [10, 5], [0, 0]]);
    assert_eq!([3, 4, 5, 6, 7].map(Tables::materials), [5, 30, 110, 365, 1_001]);
    assert_eq!(tables.complete_pieces(), 3);
    assert_eq!(tables.first_missing(3), None);
    assert_eq!(tables.first_missing(4).as_deref(), Some("KQQvK.rtbw"));
    let other = tempfile::tempdir().unwrap();
    for name in ["KvK.rtbw", "KQvK.rtbw.part", "notes.txt", "QKvK.rtbz", "KRvK"] {
        fs::write(other.path().join(name), "").unwrap();
    }
    let tables = Tables::open(&[other.path().to_owned()]).unwrap();
    assert_eq!((3..=7).map(|pieces| tables.counts(pieces)).max(), Some([0, 0]));
    assert_eq!(tables.complete_pieces(), 0);
    let (path, _) = Tables::open(&[folder(), other.path().join("absent")]).unwrap_err();
    assert!(path.ends_with("absent"));
}

#[test]
fn a_file_that_vanishes_or_is_none_is_an_error_with_its_name() {
    let copies = tempfile::tempdir().unwrap();
    let path = copies.path().join("KRvK.rtbw");
    fs::copy(folder().join("KRvK.rtbw"), &path).unwrap();
    fs::create_dir(copies.path().join("KQvK.rtbw")).unwrap();
    let tables = Tables::open(&[copies.path().to_owned()]).unwrap();
    let rook = board("8/8/8/8/8/2k5/8/KR6 w - - 0 1");
    assert_eq!(tables.wdl(&rook).unwrap(), Wdl::Win);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(100).unwrap();
    let error = tables.wdl(&rook).unwrap_err();
    assert!(error.to_string().contains("has changed"), "{error}");
    fs::remove_file(&path).unwrap();
    let error = tables.wdl(&rook).unwrap_err();
    assert_eq!(error.file(), Some(&*path));
    assert!(error.to_string().starts_with("failed to read the Syzygy table "), "{error}");
    let error = tables.wdl(&board("8/8/8/8/8/2k5/8/KQ6 w - - 0 1")).unwrap_err();
    assert!(error.to_string().contains("it is not a file"), "{error}");
}

/// A fixed sequence of numbers.
fn dice(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 16) as usize
}

/// Files that are cut off or have other bytes give some answer or an error, and take no long time.
#[test]
fn damaged_files_are_answers_or_errors() {
    let copies = tempfile::tempdir().unwrap();
    for entry in folder().read_dir().unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copies.path().join(path.file_name().unwrap())).unwrap();
    }
    let vectors = fs::read_to_string(folder().join("vectors.txt")).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut counts = [0_usize; 2];
    for name in ["KRvK", "KPvK", "KPvKP", "KRvKR", "KQvKQ", "KBvK", "KNNvK", "KPPvK"] {
        let mut wanted: Vec<char> = name.replace('v', "").chars().collect();
        wanted.sort_unstable();
        let has_pieces = |fen: &&str| {
            let places = fen.split(' ').next().unwrap().to_ascii_uppercase();
            let mut pieces: Vec<char> = places.chars().filter(char::is_ascii_alphabetic).collect();
            pieces.sort_unstable();
            pieces == wanted
        };
        let of_table: Vec<Board> = vectors
            .lines()
            .map(|line| line.rsplitn(3, ' ').last().unwrap())
            .filter(has_pieces)
            .map(board)
            .take(20)
            .collect();
        assert_eq!(of_table.len(), 20, "{name}");
        for extension in ["rtbw", "rtbz"] {
            let path = copies.path().join(format!("{name}.{extension}"));
            let Ok(bytes) = fs::read(&path) else { continue };
            let mut probe = |bytes: &[u8]| {
                fs::write(&path, bytes).unwrap();
                let tables = Tables::open(&[copies.path().to_owned()]).unwrap();
                let board = &of_table[dice(&mut state) % of_table.len()];
                match tables.dtz(board).map(|_| ()).and(tables.wdl(board).map(|_| ())) {
                    Ok(()) => counts[0] += 1,
                    Err(error) => {
                        counts[1] += 1;
                        assert!(
                            matches!(error, ProbeError::Missing(_)) || error.file().is_some(),
                            "{error}"
                        );
                    }
                }
                dice(&mut state)
            };
            let header = bytes.len().min(250);
            for len in (0..header).chain((header..bytes.len()).step_by(bytes.len() / 60 + 1)) {
                probe(&bytes[..len]);
            }
            let mut at = 1;
            for round in 0..500 {
                let mut broken = bytes.clone();
                for _ in 0..=round % 3 {
                    // Half of them in the header, where they do most.
                    let end = if round % 2 == 0 { bytes.len().min(400) } else { bytes.len() };
                    broken[at % end] ^= (at >> 24) as u8 | 1;
                    at = at
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                }
                at ^= probe(&broken);
            }
            fs::write(&path, &bytes).unwrap();
        }
    }
    assert!(counts.iter().all(|&count| count > 1_000), "{counts:?}");
}
