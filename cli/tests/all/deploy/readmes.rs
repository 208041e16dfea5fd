//! What the READMEs of `deploy/` and the page for operators say: their links, their commands, the tests they name.

use std::path::Path;

use super::files::{path, text};
use crate::sandbox::{Sandbox, root};

const READMES: [&str; 5] = [
    "README.md",
    "compose/README.md",
    "container/README.md",
    "kubernetes/README.md",
    "slurm/README.md",
];

/// The heading of a page, as links call it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -".contains(*c);
    heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

#[test]
fn their_links_lead_somewhere() {
    for readme in READMES {
        let directory = path(readme).parent().unwrap().to_owned();
        let text = text(readme);
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let there = if file.is_empty() { path(readme) } else { directory.join(file) };
            assert!(there.exists(), "deploy/{readme} links to {link}");
            if !heading.is_empty() {
                let page = std::fs::read_to_string(there).unwrap();
                let mut headings = page.lines().filter_map(|line| line.strip_prefix("## "));
                assert!(
                    headings.any(|candidate| anchor(candidate) == heading),
                    "deploy/{readme}: {link}"
                );
            }
        }
    }
}

/// The commands of `spelrum` in a README, on the machine or in its image.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let blocks = text.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let command = |line: &str| -> Option<Vec<String>> {
        let line = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# "))?;
        // Names of Kubernetes are no program.
        let words = line.split_whitespace().filter(|_| !line.starts_with("kubectl "));
        let is_program =
            |word: &&str| *word == "spelrum" || *word == "/spelrum" || word.starts_with("spelrum:");
        let words = words.skip_while(|word| !is_program(word)).skip(1);
        let words: Vec<_> =
            words.take_while(|word| !word.starts_with('>')).map(str::to_owned).collect();
        words.first().is_some_and(|first| !first.starts_with('-')).then_some(words)
    };
    blocks.flat_map(str::lines).filter_map(command).collect()
}

#[test]
fn their_commands_and_files_are_there() {
    let sandbox = Sandbox::new();
    let mut known = 0;
    for readme in READMES {
        let text = text(readme);
        for words in commands(&text) {
            let mut asked: Vec<&str> = words.iter().map(String::as_str).collect();
            let has_commands = ["token", "certificate", "allocate"].contains(&&*words[0]);
            asked.truncate(if has_commands { 2 } else { 1 });
            let help = sandbox.run(&[&asked[..], &["--help"]].concat());
            help.expect_exit(0);
            // Behind `--` are those of other programs.
            let own = words.iter().take_while(|word| *word != "--");
            for flag in own.filter(|word| word.starts_with("--")) {
                assert!(help.stdout().contains(&**flag), "deploy/{readme}: there is no {flag}");
            }
            known += 1;
        }
        for file in text.split_whitespace().filter(|word| word.starts_with("deploy/")) {
            assert!(root().join(file).exists(), "deploy/{readme} names {file}");
        }
    }
    assert!(known >= 8, "{known} commands were understood");
}

/// Whether a test of this name is in a file of ours.
fn is_a_test(name: &str, directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            !path.ends_with("target") && is_a_test(name, &path)
        } else {
            path.extension().is_some_and(|extension| extension == "rs")
                && std::fs::read_to_string(&path).unwrap().contains(&format!("fn {name}()"))
        }
    })
}

#[test]
fn which_versions_work_together_is_tested_by_what_is_named() {
    let page = std::fs::read_to_string(root().join("docs/operating.md")).unwrap();
    let section = page.split("## ").find(|section| section.starts_with("Upgrading\n")).unwrap();
    let mut found = 0;
    for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let tests = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap();
        for name in tests.split('`').skip(1).step_by(2) {
            let crates = ["cli", "coordinator", "crates", "proto", "worker"];
            let is_there = crates.iter().any(|directory| is_a_test(name, &root().join(directory)));
            assert!(is_there, "docs/operating.md names {name}");
            found += 1;
        }
    }
    assert!(found >= 10, "{found} tests are named");
}
