//! The table of keys against their readers: a key in the table without a reader would be accepted
//! silently.

use super::{RANDOM_PLAYERS, SweepText, plan_sweep, tic_tac_toe};
use crate::key::Key;
use crate::{adjudication, claim_keys, keys, overrides, pairing, range, sample};

/// A value that no key accepts: a list of a list of a switch.
const NOTHING: &str = "[[true]]";

/// Refused, but not as an unknown key.
fn assert_is_read(text: &str) {
    let error = plan_sweep(&SweepText::new("sweep.toml", text))
        .expect_err(&format!("a key that nothing reads is taken:\n{text}"));
    assert!(!error.problem.contains("unknown key"), "{}\n{text}", error.problem);
}

/// An inline table with these entries, and then the key with a value that it does not accept.
fn table_with(entries: &[(&str, &str)], key: &Key) -> String {
    let other_entries = entries.iter().filter(|(name, _)| *name != key.name);
    let other_entries: Vec<String> =
        other_entries.map(|(name, value)| format!("{name} = {value}, ")).collect();
    format!("{{ {}{} = {NOTHING} }}", other_entries.concat(), key.name)
}

#[test]
fn every_key_of_a_sweep_is_read() {
    let base = [("name", "\"x\""), ("game", "\"tic-tac-toe\""), ("games", "2")];
    for key in keys::SWEEP {
        let other_entries = base.iter().filter(|(name, _)| *name != key.name);
        let other_entries: Vec<String> =
            other_entries.map(|(name, value)| format!("{name} = {value}\n")).collect();
        let players = if key.name == "players" { "" } else { RANDOM_PLAYERS };
        assert_is_read(&format!("{}{} = {NOTHING}\n{players}", other_entries.concat(), key.name));
    }
}

#[test]
fn every_key_of_its_tables_is_read() {
    let head = |line: String| assert_is_read(&tic_tac_toe(&line, RANDOM_PLAYERS));
    for key in keys::OPENINGS_START {
        head(format!("openings = {}", table_with(&[("kind", "\"start\"")], key)));
    }
    for key in keys::OPENINGS_PLIES {
        let openings = [("kind", "\"random\""), ("plies", "2")];
        head(format!("openings = {}", table_with(&openings, key)));
    }
    for key in keys::OPENINGS_LISTED {
        let openings = [("kind", "\"listed\""), ("positions", "[\".........\"]")];
        let openings = if key.name == "file" { &openings[..1] } else { &openings };
        head(format!("openings = {}", table_with(openings, key)));
    }
    for key in keys::OPENINGS_BOOK {
        let openings = [("kind", "\"book\""), ("file", "\"book.pgn\"")];
        head(format!("openings = {}", table_with(&openings, key)));
    }
    for key in keys::OPENINGS_ENDING {
        let openings = [("kind", "\"ending\""), ("ending", "\"KRK\"")];
        head(format!("openings = {}", table_with(&openings, key)));
    }
    for key in adjudication::ADJUDICATION {
        head(format!("adjudication = {}", table_with(&[], key)));
    }
    for key in adjudication::RESIGN {
        let rule = table_with(&[("score", "600")], key);
        head(format!("adjudication = {{ resign = {rule} }}"));
    }
    for key in adjudication::DRAW {
        let rule = table_with(&[("score", "10")], key);
        head(format!("adjudication = {{ draw = {rule} }}"));
    }
    for key in adjudication::SYZYGY {
        let rule = table_with(&[("pieces", "5")], key);
        head(format!("adjudication = {{ syzygy = {rule} }}"));
    }
    for key in pairing::PAIRING_FORMS {
        head(format!("pairing = {}", table_with(&[], key)));
    }
    for key in pairing::PAIRING_BESIDES {
        head(format!("pairing = {}", table_with(&[("pairs", "[[\"a\", \"b\"]]")], key)));
    }
    let axis = |line: &str, range: &str| {
        let players = "[players.a]\nalgorithm = \"minimax\"\ndepth = \"$x\"\n[players.b]\n\
                       algorithm = \"random\"";
        assert_is_read(&tic_tac_toe(line, &format!("[axes]\nx = {range}\n{players}")));
    };
    for key in sample::SAMPLE {
        let sample = [("method", "\"random\""), ("points", "1")];
        axis(&format!("sample = {}", table_with(&sample, key)), "[1, 2, 3]");
    }
    for key in overrides::OVERRIDE {
        let entries = [("where", "{ x = 1 }"), ("games", "2")];
        let entries = if key.name == "skip" { &entries[..1] } else { &entries };
        axis(&format!("override = [{}]", table_with(entries, key)), "[1, 2, 3]");
    }
    for key in claim_keys::CLAIM {
        let entries = [("text", "\"x\""), ("player", "\"a\""), ("score_above", "0.5")];
        let is_bound = claim_keys::bounds().any(|bound| bound == key.name);
        let entries = if is_bound { &entries[..2] } else { &entries };
        axis(&format!("claims = [{}]", table_with(entries, key)), "[1, 2, 3]");
    }
    for key in range::RANGE {
        let ends = [("from", "1"), ("to", "3")];
        let by: &[(&str, &str)] = match key.name {
            "step" | "factor" | "count" => &[],
            "scale" => &[("count", "3")],
            _ => &[("step", "1")],
        };
        axis("", &table_with(&[&ends, by].concat(), key));
    }
    for key in keys::PLAYER {
        let players = format!("[players.a]\nalgorithm = \"random\"\n{} = {NOTHING}\n", key.name);
        assert_is_read(&tic_tac_toe("", &format!("{players}[players.b]\nalgorithm = \"random\"")));
    }
}
