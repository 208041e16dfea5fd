//! The tests themselves, on a machine that has Rust and a C compiler alone: no test fails for want of another program.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use spelrum_test_support::SKIP_NOTHING;

use crate::sandbox::{Ran, Sandbox, root};

/// Tests that need programs which not every machine has: of each file that asks for some, those that ask first.
const NEED_PROGRAMS: &[&str] = &[
    "api_page::the_page_says_what_happens",
    "certificates::openssl_takes_the_certificates_for_what_they_are",
    "chaos::disk::a_disk_that_becomes_read_only_ends_the_program_and_loses_nothing",
    "chaos::hosts::hosts_that_are_cut_off_slow_or_lossy_change_nothing",
    "chess_files::chess_files_are_read_as_python_chess_reads_them",
    "commits::what_cannot_be_built_is_said_in_a_sentence",
    "commits::workers_build_the_commits_of_a_match",
    "cookbook::python_reads_the_same",
    "deploy::allocate::jobs_are_submitted_up_to_a_bound_and_for_games_that_they_can_play",
    "deploy::allocate::useless_jobs_and_a_refused_token_are_not_tried_for_ever",
    "deploy::allocate::workers_come_as_games_wait_and_end_with_them",
    "deploy::image::the_image_has_the_binary_and_nothing_else",
    "deploy::image::the_static_binary_plays_the_same_games_in_the_image",
    "deploy::image::what_would_not_start_in_the_image_is_refused",
    "deploy::slurm::a_task_plays_until_nothing_is_left",
    "deploy::slurm::a_task_that_is_told_to_end_hands_back_what_it_has_not_played",
    "deploy::slurm::a_task_without_a_coordinator_says_what_is_missing",
    "disk::a_full_disk_is_waited_for",
    "external_engines::an_engine_that_stops_starting_fails_no_game",
    "external_engines::misbehaviour_is_a_forfeit_with_a_name",
    "import_engines::an_imported_engine_plays",
    "interrupt::nohup_keeps_a_run_alive_when_the_terminal_closes",
    "limits::too_few_open_files_are_told_with_how_to_have_more",
    "limits::too_few_threads_are_told_and_nothing_waits_for_ever",
    "limits::too_little_memory_is_told_and_nothing_waits_for_ever",
    "lines::a_check_finds_requests_that_are_forgotten",
    "lines::batched_games_are_the_same_games",
    "lines::the_player_of_the_page_plays_as_the_page_says",
    "lines::the_transcript_of_the_page_is_true",
    "memory::a_refused_allocation_ends_an_analysis_with_what_to_do",
    "memory::a_refused_allocation_fails_the_game_and_not_the_program",
    "match_spellings::details_of_searches_and_clocks_are_kept_if_asked_for",
    "match_spellings::every_spelling_plays_and_its_games_are_read_by_others",
    "new::a_new_player_in_c_is_compiled_and_plays",
    "new::a_new_player_in_python_plays",
    "new::a_new_player_in_rust_is_compiled_and_plays",
    "older_engines::a_round_robin_of_older_engines_is_read_by_python_chess",
    "other_sqlite::python_reads_dumps_and_restores",
    "other_sqlite::the_sqlite3_shell_reads_dumps_and_restores",
    "pages::axe::axe_core_finds_nothing_on_any_page",
    "pages::pages_are_readable_in_a_browser_and_do_nothing",
    "pushed_programs::pushed_programs_play_on_the_workers_that_accept_them",
    "quarantine::a_worker_that_fails_much_says_why_it_gets_no_games_until_it_is_let_in",
    "schemathesis::the_api_is_as_described_whatever_it_is_asked",
    "shell::the_bash_script_is_one",
    "time_controls::python_chess_reads_the_time_controls",
    "tls::openssl_shakes_hands",
    "tls::the_operator_s_check_sees_a_refusal",
];

/// These tests as they run where the `PATH` leads nowhere.
fn without_programs(tests: &[&str]) -> Ran {
    let nowhere = Sandbox::new();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(tests).args(["--exact", "--nocapture"]).env("PATH", nowhere.path("."));
    command.env_remove(SKIP_NOTHING).env_remove("SPELRUM_BROWSER").stdin(Stdio::null());
    Ran(command.output().unwrap())
}

#[test]
fn tests_are_skipped_by_name_where_their_programs_are_missing() {
    let ran = without_programs(NEED_PROGRAMS);
    ran.expect_exit(0);
    let summary = format!("test result: ok. {} passed", NEED_PROGRAMS.len());
    assert!(ran.stdout().contains(&summary), "{}", ran.stdout());
    for test in NEED_PROGRAMS {
        let skipped = format!("skipped {test}: it needs ");
        assert!(ran.stderr().contains(&skipped), "{test}: {}", ran.stderr());
    }
}

#[test]
fn a_skipped_test_fails_where_nothing_may_be_skipped() {
    let nowhere = Sandbox::new();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["shell::the_bash_script_is_one", "--exact"]).env("PATH", nowhere.path("."));
    let ran = Ran(command.env(SKIP_NOTHING, "1").stdin(Stdio::null()).output().unwrap());
    ran.expect_exit(101);
    let said = "nothing may be skipped here: it needs bash on the PATH";
    assert!(ran.stdout().contains(said), "{}", ran.stdout());
}

/// A new test that asks for a program joins the list above.
#[test]
fn every_file_with_tests_that_need_programs_is_among_them() {
    let tests = root().join("cli/tests/all");
    let mut files = vec![tests.clone()];
    let mut asking = BTreeSet::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let asks = [concat!("Tools::", "find("), concat!("python_", "chess()")];
            if asks.iter().any(|ask| text.contains(ask)) {
                let module = path.strip_prefix(&tests).unwrap().with_extension("");
                let module = module.to_str().unwrap().replace('/', "::");
                // What starts the browser is part of the tests with pages.
                asking.insert(module.replace("::browser", ""));
            }
        }
    }
    asking.insert("disk".to_owned());
    let listed: BTreeSet<String> =
        NEED_PROGRAMS.iter().map(|test| test.rsplit_once("::").unwrap().0.to_owned()).collect();
    assert_eq!(asking, listed);
}
