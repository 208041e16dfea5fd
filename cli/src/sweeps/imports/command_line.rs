//! A command line of fastchess or cutechess in a file: a script of a shell, or the line alone.
//!
//! Their words are described in fastchess's `man.md` and in cutechess's `docs/cutechess-cli.6`;
//! [`MatchWords`](crate::sweeps::match_words::MatchWords) reads them.

use std::path::Path;

use super::keys::{NotOurs, Words};

/// Programs whose command lines are read; `spelrum` comes before the word `match`.
const PROGRAMS: [&str; 6] = [
    "fastchess",
    "fast-chess",
    "fastchess-ob",
    "cutechess-cli",
    "cutechess-cli.exe",
    "fastchess.exe",
];

/// Finds the one command line.
pub(super) fn read(text: &str) -> Result<Words, NotOurs> {
    let text = text.replace("\r\n", "\n").replace("\\\n", " ");
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let mut found: Vec<Vec<String>> = Vec::new();
    for line in lines.filter(|line| line.contains("-engine") || line.contains("match")) {
        let words = shlex::split(line).ok_or_else(|| {
            NotOurs::new(
                "a line of it has a quote without an end",
                "end it, or write the command into a file of its own",
            )
        })?;
        found.extend(match_words(&words));
    }
    let words = match found.len() {
        1 => found.swap_remove(0),
        0 => {
            return Err(NotOurs::new(
                "it is neither JSON nor a command line of a match",
                "write a line such as: fastchess -engine cmd=./new -engine cmd=./old -each tc=8+0.08",
            ));
        }
        count => {
            return Err(NotOurs::new(
                format!("it has {count} command lines"),
                "write each into a file of its own, and import one after the other",
            ));
        }
    };
    if let Some(word) = words.iter().find(|word| word.contains('$') || word.contains('`')) {
        return Err(NotOurs::new(
            format!("its word {word} has a value that only the shell knows"),
            "write the value in its place",
        ));
    }
    Ok(Words { words, ..Words::default() })
}

/// The SPRT of cutechess as ours, which is about normalized Elo unless it says otherwise.
fn with_logistic_test(mut words: Vec<String>) -> Vec<String> {
    let test = words.iter().position(|word| word.trim_start_matches('-') == "sprt");
    if let Some(place) = test {
        words.insert(place + 1, "model=logistic".to_owned());
    }
    words
}

/// The words after the program, up to what the shell does with its output.
fn match_words(words: &[String]) -> Option<Vec<String>> {
    let is_program = |word: &String| {
        Path::new(word)
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| PROGRAMS.contains(&name))
    };
    let is_ours = |pair: &[String]| pair[0].ends_with("spelrum") && pair[1] == "match";
    let program = words.iter().position(is_program);
    let before = program.or_else(|| words.windows(2).position(is_ours).map(|place| place + 1));
    let start = before.map(|place| place + 1);
    // A line without a program.
    let start = start.or_else(|| words.first()?.starts_with('-').then_some(0))?;
    let is_shell = |word: &String| {
        matches!(word.as_str(), "|" | "&" | "&&" | "||" | ";" | "|&")
            || word
                .trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '&')
                .starts_with('>')
    };
    let ours = words[start..].iter().take_while(|word| !is_shell(word)).cloned().collect();
    let is_cutechess = program.is_some_and(|place| words[place].contains("cutechess"));
    let ours = if is_cutechess { with_logistic_test(ours) } else { ours };
    (!ours.is_empty()).then_some(ours)
}
