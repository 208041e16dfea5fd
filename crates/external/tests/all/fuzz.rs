//! Randomly changed output of engines: realistic conversations, as bytes in pieces. Parsers never panic, keep
//! little, and find a clean answer after any input. `PROPTEST_CASES=1000000` is the long form.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use spelrum_external::text::{Assembler, LINE_BYTES_MAX, Line};
use spelrum_external::{Breaches, gtp, uci, xboard};

/// Realistic greetings, declarations, searches and answers.
const OVER_UCI: &str = "\
Stockfish 15.1 by the Stockfish developers (see AUTHORS file)
id name Stockfish 15.1
id author the Stockfish developers
option name Debug Log File type string default
option name Threads type spin default 1 min 1 max 512
option name Clear Hash type button
option name Style type combo default Normal var Solid var Normal var Risky
option name Ponder type check default false
uciok
readyok
info string NNUE evaluation using nn-ad9b42354671.nnue enabled
info depth 1 seldepth 1 multipv 1 score cp 19 nodes 20 nps 20000 hashfull 0 tbhits 0 time 1 pv g1f3
info depth 12 seldepth 17 multipv 1 score cp 33 lowerbound nodes 18331 nps 916550 time 20 pv e2e4 e7e5 g1f3
info depth 12 currmove d2d4 currmovenumber 2
info depth 30 score mate -3 nodes 99 nps 1 time 1 pv e7e8q a7a8
bestmove e2e4 ponder e7e5\r
";

/// Realistic answers to commands, with numbers and without, over several lines, and with an error.
const OVER_GTP: &str = "\
= GNU Go

=2 3.8

? unknown command: kgs-chat

=4 protocol_version
name
genmove
quit

= E5

=6 resign\r
\r
?7 illegal move

";

/// Realistic features, searches, answers and claims.
const OVER_XBOARD: &str = "\
HoiChess 0.22.0
feature myname=\"HoiChess\" ping=1 setboard=1 time=1 colors=0 smp=1 option=\"verbose -spin 0 -9 9\"
feature option=\"Style -combo Solid /// *Normal\" done=0
tellics say hello
feature done=1
pong 1
1 0 0 28 1. ... e5
 2.     14    0       38   d1d2  e8e7
9 -9 60 1315073 17 900 4\t1. ... e5 2. Nf3 Bd6?
move e7e5\r
pong 2
12. ... Nf6
My move is : d7d5
Error (unknown command): easy
Illegal move: e2e4
offer draw
1/2-1/2 {Draw by repetition}
resign
";

/// Texts with a meaning in one protocol or the other, and unexpected ones.
const WORDS: [&str; 31] = [
    "feature ",
    "=\"",
    "move ",
    "pong ",
    "Error (",
    " -spin ",
    "0-1 {",
    "bestmove ",
    "uciok\n",
    "readyok\n",
    "info ",
    "score cp ",
    "mate ",
    "pv ",
    "string ",
    "option name ",
    " type ",
    "spin ",
    " default ",
    " min ",
    " max ",
    "= ",
    "=1 ",
    "? ",
    "\n\n",
    "\r",
    "-9223372036854775809",
    "18446744073709551616",
    "(none)",
    "\u{0}\u{1b}[2J",
    "\u{202e}é",
];

/// One change of the output.
#[derive(Clone, Debug)]
enum Mutation {
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Replace(Index, u8),
    /// Copies a piece to another place.
    Copy(Index, Index, usize),
    /// Repeats a byte many times.
    Stretch(Index, u8, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let word = select(WORDS.to_vec()).prop_map(|word| word.as_bytes().to_vec());
    prop_oneof![
        4 => (any::<Index>(), word).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        2 => (any::<Index>(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Replace(at, byte)),
        3 => (any::<Index>(), 1..60_usize).prop_map(|(at, count)| Mutation::Remove(at, count)),
        2 => (any::<Index>(), any::<Index>(), 1..200_usize)
            .prop_map(|(from, to, count)| Mutation::Copy(from, to, count)),
        1 => (any::<Index>(), any::<u8>(), 1..300_usize)
            .prop_map(|(at, byte, count)| Mutation::Stretch(at, byte, count)),
    ]
}

impl Mutation {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let place = |at: &Index| at.index(bytes.len() + 1);
        match self {
            Self::Insert(at, more) => {
                let at = place(at);
                bytes.splice(at..at, more.iter().copied());
            }
            Self::Remove(at, count) => {
                let at = place(at);
                bytes.drain(at..(at + count).min(bytes.len()));
            }
            Self::Replace(at, by) => {
                let at = place(at);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = *by;
                }
            }
            Self::Copy(from, to, count) => {
                let (from, to) = (place(from), place(to));
                let piece = bytes[from..(from + count).min(bytes.len())].to_vec();
                bytes.splice(to..to, piece);
            }
            Self::Stretch(at, by, count) => {
                let at = place(at);
                bytes.splice(at..at, std::iter::repeat_n(*by, *count));
            }
        }
    }
}

/// A conversation with some changes, in pieces of so many bytes.
fn changed(bytes: &'static str) -> impl Strategy<Value = (Vec<u8>, usize)> {
    (vec(mutation(), 0..8), 1..400_usize).prop_map(move |(mutations, piece)| {
        let mut bytes = bytes.as_bytes().to_vec();
        mutations.iter().for_each(|mutation| mutation.apply(&mut bytes));
        (bytes, piece)
    })
}

fn line(text: &str) -> Line {
    Line { text: text.to_owned(), is_cut: false }
}

/// Texts kept for people are short and harmless.
fn assert_short(text: &str) {
    assert!(text.len() <= Breaches::SAID_BYTES_MAX, "{text:?}");
    assert!(!text.contains(char::is_control), "{text:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_clean_move_is_heard_behind_whatever_was_said_over_uci((bytes, length) in changed(OVER_UCI)) {
        let mut client = uci::Client::default();
        client.greet();
        let mut lines = Assembler::default();
        for piece in bytes.chunks(length).chain([&b"\n"[..]]) {
            lines.take(piece, |line| {
                assert!(line.text.len() <= 3 * LINE_BYTES_MAX);
                match client.take(&line) {
                    Some(uci::Event::Greeted) => _ = client.ask_ready(),
                    Some(uci::Event::Ready | uci::Event::Chosen(_)) => client.begin_search(),
                    None => {}
                }
            });
        }
        assert_short(client.name());
        assert_short(client.author());
        for option in client.options() {
            let text = uci::Message::Option(option.clone()).to_string();
            prop_assert!(uci::Message::parse(&text, &uci::Words::uci()).is_some(), "{text}");
        }
        client.begin_search();
        match client.take(&line("bestmove e2e4")) {
            Some(uci::Event::Chosen(answer)) => prop_assert_eq!(answer.mv, Ok("e2e4".to_owned())),
            event => prop_assert!(false, "{event:?}"),
        }
    }

    #[test]
    fn a_clean_answer_is_heard_behind_whatever_was_said_over_gtp(
        (bytes, length) in changed(OVER_GTP),
        has_ids in any::<bool>(),
    ) {
        let mut client = gtp::Client::new(has_ids);
        client.ask(&"name");
        let mut lines = Assembler::default();
        for piece in bytes.chunks(length).chain([&b"\n"[..]]) {
            lines.take_keeping_cr(piece, |line| {
                if let Some(answer) = client.take(&line) {
                    let (Ok(text) | Err(text)) = answer.text;
                    assert!(text.len() <= gtp::RESPONSE_BYTES_MAX);
                    client.ask(&"genmove b");
                }
            });
        }
        let asked = client.ask(&"genmove w");
        let id = if has_ids { asked.split(' ').next().unwrap() } else { "" };
        prop_assert_eq!(client.take(&line(&format!("={id} C7"))), None);
        let heard = client.take(&line(""));
        prop_assert_eq!(heard, Some(gtp::Response { text: Ok("C7".to_owned()) }));
    }

    #[test]
    fn a_clean_move_is_heard_behind_whatever_was_said_over_xboard(
        (bytes, length) in changed(OVER_XBOARD),
    ) {
        let mut client = xboard::Client::default();
        client.greet();
        let mut lines = Assembler::default();
        for piece in bytes.chunks(length).chain([&b"\n"[..]]) {
            lines.take(piece, |line| {
                match client.take(&line) {
                    Some(xboard::Event::Greeted) => _ = client.ping(),
                    Some(xboard::Event::Declared) | None => {}
                    Some(xboard::Event::Claimed(text) | xboard::Event::Refused(text)) => {
                        assert_short(&text);
                        client.await_move_again();
                    }
                    Some(xboard::Event::Chosen(text)) => {
                        assert_short(&text);
                        client.begin_search();
                    }
                    Some(xboard::Event::Ready) => client.begin_search(),
                }
            });
        }
        assert_short(&client.features().name);
        prop_assert!(client.take_replies().lines().all(|line| line.len() < 300));
        client.begin_search();
        let event = client.take(&line("move e2e4"));
        prop_assert_eq!(event, Some(xboard::Event::Chosen("e2e4".to_owned())));
    }

    /// This project's own server, as other programs start it.
    #[test]
    fn whatever_a_server_is_told_it_says_lines(
        words in vec(select(vec![
            "uci", "isready", "ucinewgame", "position startpos moves e2e4", "go depth 3", "go",
            "go wtime 1 btime -1 movestogo 0", "stop", "ponderhit", "position fen 8/8 w", "quit",
            "setoption name Hash value 99999999999999999999", "setoption", "debug on", "register",
        ]), 0..12),
        mutations in vec(mutation(), 0..6),
        length in 1..100_usize,
    ) {
        let mut input = words.join("\n").into_bytes();
        mutations.iter().for_each(|mutation| mutation.apply(&mut input));
        let words = uci::Words::uci();
        let mut server = uci::Server::new(words, "a".to_owned(), "b".to_owned(), Vec::new());
        let mut lines = Assembler::default();
        for piece in input.chunks(length).chain([&b"\n"[..]]) {
            lines.take(piece, |line| {
                for action in server.take(&line.text) {
                    if let uci::Action::Say(output) = action {
                        assert!(!output.contains(['\n', '\r']), "{output:?}");
                    }
                }
            });
        }
    }
}
