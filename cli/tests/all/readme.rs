//! The README's examples are run as they stand there; what the documents name exists.

use crate::sandbox::{Sandbox, root};

/// What takes long, needs another machine or program, or never ends is not run: its flags are looked up.
const NOT_RUN: [&str; 7] = [
    "spelrum match",
    "HOST",
    "0.0.0.0",
    "sweeps/pentago",
    "chess-engines",
    "cargo test",
    "cargo install",
];

/// A command of the README, and what it prints there.
struct Example {
    command: String,
    output: String,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n   ", "");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    examples.push(Example { command: command.to_owned(), output: String::new() });
                }
                None => {
                    let example: &mut Example = examples.last_mut().unwrap();
                    example.output.push_str(line);
                    example.output.push('\n');
                }
            }
        }
    }
    examples
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
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let sandbox = Sandbox::new();
    let sweep = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    sandbox.write("first.toml", sweep);
    let (mut run, mut looked_up) = (0, 0);
    for Example { command, output } in examples(&readme) {
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
        assert_eq!(comparable(ran.stdout()), comparable(&output), "{command}\n{}", ran.stdout());
        run += 1;
    }
    assert!(run >= 3 && looked_up >= 5, "the README has examples: {run} run, {looked_up} not");
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
