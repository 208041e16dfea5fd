//! The examples of the README and the tutorial are run as they stand there; what the documents name exists.

use crate::sandbox::{Sandbox, root};

/// What takes long, needs another machine or program, or never ends is not run: its flags are looked up.
const NOT_RUN: [&str; 10] = [
    "spelrum match",
    "spelrum plan",
    "spelrum replay",
    "https://",
    "HOST",
    "0.0.0.0",
    "sweeps/pentago",
    "chess-engines",
    "cargo test",
    "cargo install",
];

/// What a reader of a document does.
enum Step {
    /// Saves the sweep.
    Save(String),
    /// Changes the line of this key in it.
    Change { key: String, line: String },
    /// Gives a command, which prints this.
    Run { command: String, output: String },
}

/// The first block of TOML is the sweep, and later ones of a line change it.
fn steps(text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in text.split("```").skip(1).step_by(2) {
        if let Some(toml) = block.strip_prefix("toml\n") {
            match toml.trim_end().split_once('=') {
                _ if !steps.iter().any(|step| matches!(step, Step::Save(_))) => {
                    steps.push(Step::Save(toml.to_owned()));
                }
                Some((key, _)) if toml.lines().count() == 1 => {
                    let (key, line) = (key.trim().to_owned(), toml.trim_end().to_owned());
                    steps.push(Step::Change { key, line });
                }
                _ => {}
            }
        }
        let Some(console) = block.strip_prefix("console\n") else { continue };
        for line in console.replace("\\\n   ", "").lines() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    let (command, output) = (command.to_owned(), String::new());
                    steps.push(Step::Run { command, output });
                }
                (None, Some(Step::Run { output, .. })) => {
                    output.push_str(line);
                    output.push('\n');
                }
                _ => panic!("output before any command: {line}"),
            }
        }
    }
    steps
}

/// Asserts that a command printed this; `…` stands for lines that are left out.
fn assert_printed(command: &str, printed: &str, shown: &str) {
    let (all, shown) = (comparable(printed), comparable(shown));
    let mut rest = &all[..];
    let parts: Vec<_> = shown.split(|line| line == "…").collect();
    for part in &parts {
        let place = rest.windows(part.len().max(1)).position(|lines| lines == *part);
        let place = if part.is_empty() { Some(0) } else { place };
        assert!(
            place.is_some_and(|place| place == 0 || parts.len() > 1),
            "{command}: {part:#?} is not in\n{printed}"
        );
        rest = &rest[place.unwrap() + part.len()..];
    }
    assert!(parts.len() > 1 || rest.is_empty(), "{command} prints more:\n{printed}");
}

/// The words of a command as a shell would take them apart; single quotes only.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in command.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words
}

/// The arguments of `spelrum`, however it is called.
fn arguments(command: &str) -> Option<Vec<String>> {
    let command = command
        .strip_prefix("spelrum ")
        .or_else(|| command.strip_prefix("cargo run --release -- "))?;
    Some(words(command))
}

/// The text without what differs from run to run: durations, their errors and ratios, and the widths they give
/// columns.
fn comparable(text: &str) -> Vec<String> {
    let comparable = |line: &str| {
        let words: Vec<_> = line.split_whitespace().filter(|word| !word.starts_with('─')).collect();
        let is_time =
            |word: Option<&&str>| word.is_some_and(|unit| ["µs", "ms", "s"].contains(unit));
        words
            .iter()
            .enumerate()
            .filter(|(index, word)| !is_time(Some(word)) && !is_time(words.get(index + 1)))
            .filter(|(_, word)| !(word.starts_with('±') && word.ends_with('%')))
            .filter(|(_, word)| !word.starts_with('×'))
            // A token is another each time.
            .map(|(_, word)| if word.starts_with("spelrum_") { "spelrum_…" } else { word })
            .collect::<Vec<_>>()
            .join(" ")
    };
    text.lines().map(comparable).collect()
}

#[test]
fn the_readme_says_what_happens() {
    says_what_happens("README.md", "first.toml");
}

#[test]
fn the_tutorial_says_what_happens() {
    says_what_happens("docs/tutorial.md", "budget.toml");
}

fn says_what_happens(document: &str, sweep: &str) {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let sandbox = Sandbox::new();
    let (mut run, mut looked_up) = (0, 0);
    for step in steps(&text) {
        let (command, output) = match step {
            Step::Save(toml) => {
                sandbox.write(sweep, &toml);
                continue;
            }
            Step::Change { key, line } => {
                let before = std::fs::read_to_string(sandbox.path(sweep)).unwrap();
                let is_key = |old: &&str| old.split_once('=').is_some_and(|(k, _)| k.trim() == key);
                let old = before.lines().find(is_key).unwrap();
                sandbox.write(sweep, &before.replace(old, &line));
                continue;
            }
            Step::Run { command, output } => (command, output),
        };
        let Some(arguments) = arguments(&command) else {
            assert!(NOT_RUN.iter().any(|words| command.contains(words)), "{command} is not known");
            continue;
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if NOT_RUN.iter().any(|words| command.contains(words)) {
            let help = sandbox.run(&[arguments[0], "--help"]);
            help.expect_exit(0);
            for flag in arguments.iter().filter(|argument| argument.starts_with("--")) {
                assert!(help.stdout().contains(flag), "{command}: there is no {flag}");
            }
            looked_up += 1;
            continue;
        }
        let ran = sandbox.run(&arguments);
        ran.expect_exit(0);
        assert_printed(&command, ran.stdout(), &output);
        run += 1;
    }
    assert!(run >= 3 && looked_up >= 3, "{document} has examples: {run} run, {looked_up} not");
}

#[test]
fn the_architecture_names_what_is_there() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    // Outside of its code blocks.
    let text: String = text.split("```").step_by(2).collect();
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|quoted| {
        quoted.contains('/')
            && !quoted.contains(' ')
            && (quoted.ends_with('/') || quoted.contains('.'))
    });
    let mut found = 0;
    for path in paths.filter(|path| !path.starts_with("sweeps/x")) {
        assert!(root().join(path).exists(), "docs/architecture.md names {path}");
        found += 1;
    }
    assert!(found > 30, "only {found} paths were understood");
}

#[test]
fn every_link_leads_somewhere() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let links = readme.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    for link in links.filter(|link| !link.starts_with("http")) {
        assert!(root().join(link).exists(), "the README links to {link}");
    }
}
