//! What the program says of itself, word for word.

use crate::sandbox::Sandbox;

fn help(arguments: &[&str]) -> String {
    let ran = Sandbox::new().run(arguments);
    ran.expect_exit(0);
    assert_eq!(ran.stderr(), "");
    let help = ran.stdout().to_owned();
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    help
}

#[test]
fn the_program_gives_a_tour() {
    insta::assert_snapshot!("spelrum", help(&["--help"]));
}

fn help_of(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    help(&words)
}

/// The names in a list of commands, each at the beginning of a line.
fn listed<'h>(help: &'h str, heading: &str, end: &str) -> Vec<&'h str> {
    let lines = help.lines().skip_while(|line| *line != heading);
    let lines = lines.take_while(|line| *line != end);
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

/// Every command, as the tour lists them, followed by its own commands: `engine`, `engine uci`.
pub(crate) fn commands() -> Vec<String> {
    let tour = help(&["--help"]);
    let mut commands = Vec::new();
    for command in listed(&tour, "Every day:", "Options:") {
        commands.push(command.to_owned());
        let of_command = help_of(command);
        let nested = listed(&of_command, "Commands:", "");
        commands.extend(nested.iter().map(|nested| format!("{command} {nested}")));
    }
    assert!(commands.len() > 40, "{commands:?}");
    commands
}

#[test]
fn every_command_teaches_by_example() {
    let commands = commands();
    assert!(commands.iter().any(|command| command == "run"), "{commands:?}");
    for command in commands {
        let help = help_of(&command);
        let example = format!("\n  spelrum {command}");
        let is_shown = |help: &str| help.contains(&example);
        let above = command.split_once(' ').map(|(above, _)| help_of(above));
        assert!(
            is_shown(&help) || above.is_some_and(|above| is_shown(&above)),
            "{command} has no example"
        );
        insta::assert_snapshot!(format!("spelrum_{}", command.replace(' ', "_")), help);
    }
}

/// Words of the project's early dialect, and what users read instead.
const BANNED: [(&str, &str); 9] = [
    ("programs of others", "external engines"),
    ("program of others", "external engine"),
    ("engines of others", "external engines"),
    ("file of engines", "engines file"),
    ("whoever", "the caller, anyone who"),
    ("nobody", "no worker, no player"),
    ("somebody", "a person, another program"),
    ("needs anybody", "no problems"),
    ("robbed", "lost to other processes"),
];

#[test]
fn users_read_plain_words() {
    let readme = std::fs::read_to_string(crate::sandbox::root().join("README.md")).unwrap();
    let mut texts =
        vec![("README.md".to_owned(), readme), ("spelrum".to_owned(), help(&["--help"]))];
    texts.extend(commands().into_iter().map(|command| {
        let help = help_of(&command);
        (command, help)
    }));
    for (name, text) in texts {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for (word, better) in BANNED {
            assert!(!text.contains(word), "{name} says `{word}`: write {better}");
        }
    }
}

#[test]
fn exit_codes_are_the_same_in_the_help_and_in_the_readme() {
    let codes = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.trim_matches(['|', ' ']))
            .filter_map(|line| line.split(['|', ' ']).next())
            .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
            .map(ToOwned::to_owned)
            .collect()
    };
    let help = help(&["--help"]);
    let readme = std::fs::read_to_string(crate::sandbox::root().join("README.md")).unwrap();
    let section = |text: &str, heading: &str| text.split_once(heading).unwrap().1.to_owned();
    let in_help = codes(&section(&help, "Exit codes:"));
    assert_eq!(in_help[..3], ["0", "1", "2"]);
    let readme = section(&readme, "## Exit codes");
    let readme = readme.split("\n## ").next().unwrap();
    assert_eq!(codes(readme), in_help);
}

#[test]
fn help_may_be_a_word() {
    assert_eq!(help(&["help"]), help(&["--help"]));
    assert_eq!(help(&["help", "run"]), help(&["run", "--help"]));
    assert_eq!(help(&["help", "engine", "check"]), help(&["engine", "check", "--help"]));
}

#[test]
fn no_command_is_a_usage_error_that_helps() {
    let ran = Sandbox::new().run(&[]);
    ran.expect_exit(2);
    assert!(ran.stderr().contains("Usage: spelrum [OPTIONS] <COMMAND>"), "{}", ran.stderr());
}

#[test]
fn a_misspelt_command_is_a_usage_error_with_a_suggestion() {
    let ran = Sandbox::new().run(&["reprot"]);
    ran.expect_exit(2);
    assert!(ran.stderr().contains("report"), "{}", ran.stderr());
}

#[test]
fn the_version_is_the_package_s() {
    let ran = Sandbox::new().run(&["--version"]);
    ran.expect_exit(0);
    assert_eq!(ran.stdout(), format!("spelrum {}\n", env!("CARGO_PKG_VERSION")));
}
