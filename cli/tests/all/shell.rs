//! What the program gives a shell: completions and man pages, of everything that it can do.

use std::process::Stdio;

use spelrum_test_support::Tools;

use crate::help::commands;
use crate::sandbox::Sandbox;

#[test]
fn completions_know_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&["completions", shell]);
        script.expect_exit(0);
        for command in commands() {
            for word in command.split(' ') {
                assert!(script.stdout().contains(word), "{shell} does not know {command}");
            }
        }
        assert!(script.stdout().contains("dry-run"), "{shell} does not know --dry-run");
    }
    sandbox.run(&["completions", "tcsh"]).expect_exit(2);
}

#[test]
fn the_bash_script_is_one() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let sandbox = Sandbox::new();
    let script = sandbox.run(&["completions", "bash"]);
    let path = sandbox.write("spelrum.bash", script.stdout());
    let mut check = tools.command("bash");
    let check = check.arg("-n").arg(&path).stderr(Stdio::piped()).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    // Asked as a shell asks: what may follow `spelrum rep`?
    let asked = format!(
        "source {}; COMP_WORDS=(spelrum rep); COMP_CWORD=1; \
         _spelrum spelrum rep spelrum; echo \"${{COMPREPLY[@]}}\"",
        path.display()
    );
    let answer = tools.command("bash").args(["--norc", "-c", &asked]).output().unwrap();
    let answer = String::from_utf8(answer.stdout).unwrap();
    assert!(answer.split_whitespace().any(|word| word == "report"), "{answer}");
}

#[test]
fn every_command_has_a_man_page() {
    let sandbox = Sandbox::new();
    sandbox.run(&["man", "share/man1"]).expect_exit(0);
    let page = |name: &str| std::fs::read_to_string(sandbox.path("share/man1").join(name)).unwrap();
    let main = page("spelrum.1");
    assert_eq!(main, sandbox.run(&["man"]).stdout());
    for command in commands() {
        let text = page(&format!("spelrum-{}.1", command.replace(' ', "-")));
        assert!(text.contains(".SH SYNOPSIS"), "{text}");
        let above = command
            .rsplit_once(' ')
            .map_or("spelrum".to_owned(), |(above, _)| format!("spelrum-{above}"));
        let listed = format!("spelrum\\-{}(1)", command.replace([' ', '-'], "\\-"));
        assert!(page(&format!("{above}.1")).contains(&listed), "{command} is not in {above}(1)");
    }
    assert!(page("spelrum-run.1").contains("Examples:"));
    // Where nothing can be written.
    sandbox.write("file", "");
    let failed = sandbox.run(&["man", "file/below"]);
    insta::assert_snapshot!(failed.expect_exit(2).failure());
}
