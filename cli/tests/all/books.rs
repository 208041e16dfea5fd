//! Books of any size: what a sweep takes of them, plain and compressed, and what is kept of the file.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use sha2::{Digest as _, Sha256};

use crate::sandbox::Sandbox;

/// More than 1 MiB of EPD: kings, a knight of each side, a bishop, and pawns by the bits of a number.
fn book() -> String {
    let rank = |is_there: &dyn Fn(u32) -> bool, piece: char| -> String {
        let (mut rank, mut empty) = (String::new(), 0);
        for file in 0..8 {
            if is_there(file) {
                if empty > 0 {
                    rank += &empty.to_string();
                }
                rank.push(piece);
                empty = 0;
            } else {
                empty += 1;
            }
        }
        if empty > 0 { rank + &empty.to_string() } else { rank }
    };
    let line = |number: u32| {
        let single = |shift: u32, piece| rank(&|file| number >> shift & 7 == file, piece);
        let [knight, bishop, other] =
            [(7, 'N'), (10, 'b'), (13, 'n')].map(|(shift, piece)| single(shift, piece));
        let pawns = rank(&|file| file < 7 && number >> file & 1 == 1, 'P');
        format!("4k3/8/{other}/8/{bishop}/{knight}/{pawns}/4K3 w - - id \"position {number}\";\n")
    };
    (1..24_000).map(line).collect()
}

fn sweep(file: &str, openings: &str) -> String {
    format!(
        "name = \"books\"\ngame = \"chess\"\ngames = 4\nmax_plies = 4\nseed = 7\n\
         openings = {{ kind = \"book\", file = \"{file}\"{openings} }}\n\
         [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"random\"\n"
    )
}

/// What is in the database: the cell's definition, and the positions that its games begin from.
fn played(sandbox: &Sandbox, file: &str, openings: &str) -> (String, String) {
    sandbox.write("sweep.toml", &sweep(file, openings));
    let db = format!("{file}{openings}.db").replace(['"', ' ', ',', '='], "");
    sandbox.run(&["run", "sweep.toml", "--db", &db]).expect_exit(0);
    let definition = sandbox.sql(&db, "SELECT definition_hash FROM cells");
    let begun =
        "SELECT group_concat(DISTINCT position) FROM games JOIN openings USING (opening_id)";
    (definition, sandbox.sql(&db, begun))
}

#[test]
fn a_book_of_any_size_is_played_plain_and_compressed() {
    let sandbox = Sandbox::new();
    let book = book();
    assert!(book.len() > 1 << 20);
    sandbox.write("book.epd", &book);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(book.as_bytes()).unwrap();
    std::fs::write(sandbox.path("book.epd.gz"), gzip.finish().unwrap()).unwrap();
    for openings in ["", ", order = \"drawn\"", ", order = \"drawn\", count = 100"] {
        let plain = played(&sandbox, "book.epd", openings);
        assert_eq!(played(&sandbox, "book.epd.gz", openings), plain, "{openings}");
        assert_eq!(plain.1.contains("4k3/8/n7/8/b7/N7/P7/4K3"), openings.is_empty());
    }
    // What is kept is what was taken, and the digest of the file.
    let db = "book.epdorderdrawncount100.db";
    let lines =
        "SELECT length(text) - length(replace(text, char(10), '')) AS lines FROM experiment_files";
    assert!(sandbox.sql(db, lines).contains("102"), "a head, how it was taken, and 100 positions");
    let digest = "SELECT substr(text, 7, instr(text, char(10)) - 7) ->> 'sha256' AS sha256 FROM experiment_files";
    let sha256: String = Sha256::digest(&book).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(sandbox.sql(db, digest).contains(&sha256));
}

#[test]
fn a_wrong_line_of_a_large_book_is_named() {
    let sandbox = Sandbox::new();
    let good = book();
    sandbox.write("book.epd", &[&good, "4k3/8 w - -\n", &good].concat());
    sandbox.write("sweep.toml", &sweep("book.epd", ", order = \"drawn\""));
    let ran = sandbox.run(&["run", "sweep.toml"]);
    ran.expect_exit(3);
    assert!(ran.stderr().contains("line 24000 of `book.epd`: "), "{}", ran.stderr());
    // Nothing is read behind what is taken.
    sandbox.write("sweep.toml", &sweep("book.epd", ", count = 10"));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
}

#[test]
fn games_beyond_the_sample_are_announced() {
    let sandbox = Sandbox::new();
    sandbox.write("book.epd", &book());
    let long = sweep("book.epd", ", count = 10").replace("games = 4", "games = 22");
    sandbox.write("sweep.toml", &long);
    let ran = sandbox.run(&["run", "sweep.toml"]);
    ran.expect_exit(0);
    let note = "note: 10 positions are taken of `book.epd`, and then repeat; cells play from 11";
    assert!(ran.stderr().contains(note), "{}", ran.stderr());
    sandbox.write("sweep.toml", &long.replace("games = 22", "games = 20"));
    assert!(
        !sandbox
            .run(&["submit", "--dry-run", "sweep.toml"])
            .stderr()
            .contains("note: 10 positions")
    );
}
