//! The commands, one file each, and their help.

pub(crate) mod allocate;
pub(crate) mod analyze;
pub(crate) mod backup;
pub(crate) mod certificate;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod coordinator;
pub(crate) mod engine;
pub(crate) mod engine_check;
mod engine_push;
pub(crate) mod exclude;
pub(crate) mod export;
pub(crate) mod games;
pub(crate) mod import;
pub(crate) mod import_engines;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod match_engines;
pub(crate) mod network;
pub(crate) mod new;
pub(crate) mod open;
pub(crate) mod perft;
pub(crate) mod plan;
pub(crate) mod play;
pub(crate) mod playing_process;
pub(crate) mod remove;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod share;
pub(crate) mod solve;
pub(crate) mod speed;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod steer;
pub(crate) mod submit;
pub(crate) mod table;
pub(crate) mod token;
pub(crate) mod tree;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod worker;

use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Id, Parser, Subcommand};
use spelrum_engine::search::STACK_BYTES;
use spelrum_journal::Address;

use crate::arguments::GlobalArguments;
use crate::error::{CliError, Result};
use crate::exit::{EXIT_CODES, Exit};
use crate::local::preflight;

const TOUR: &str = "\
Tournaments between game-playing algorithms, on one machine or many.

You write a sweep: a small TOML file that names a game, players and the conditions to compare \
them under. Spelrum plays the games, keeps every result in one SQLite file, and shows which \
player is stronger under each condition, how long each takes per move, and with what confidence.

A tour of two minutes:

  spelrum new                              writes a commented sweep to start from
  spelrum run sweeps/tic-tac-toe.toml      plays a whole sweep on this machine's cores;
                                           interrupt it, run it again: it resumes
  spelrum report --db tic-tac-toe.db       shows the result tables again
  spelrum sql --db tic-tac-toe.db 'SELECT outcome, count(*) FROM games GROUP BY outcome'
                                           asks anything else

The same over several machines, with the same results:

  spelrum token create lab --role work --role submit --tokens tokens.toml
  spelrum certificate create HOST
  spelrum coordinator --db results.db --listen 0.0.0.0:7878 --tokens tokens.toml \\
      --tls-cert coordinator.pem --tls-key coordinator.key
  export SPELRUM_COORDINATOR=https://HOST:7878 SPELRUM_CA=ca.pem SPELRUM_TOKEN=spelrum_…
  spelrum worker                           (on each machine, with the line above)
  spelrum submit sweeps/pentago-depth.toml
  spelrum watch";

/// Tournaments between game-playing algorithms, on one machine or many
#[derive(Debug, Parser)]
#[command(name = "spelrum", version, long_about = TOUR, after_long_help = EXIT_CODES)]
#[command(after_help = "See 'spelrum --help' for a tour and the exit codes.")]
#[command(max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) everywhere: GlobalArguments,
}

/// The commands by what they are for, as the help lists them.
const FAMILIES: [(&str, &[&str]); 6] = [
    (
        "Every day",
        &[
            "run",
            "match",
            "new",
            "report",
            "sql",
            "games",
            "worker",
            "coordinator",
            "submit",
            "status",
            "watch",
            "open",
        ],
    ),
    (
        "Experiments",
        &["plan", "list", "pause", "resume", "cancel", "priority", "retry", "prune", "delete"],
    ),
    ("Results", &["stats", "replay", "verify", "check", "backup", "share", "export", "import"]),
    ("Cluster", &["token", "certificate", "allocate", "speed"]),
    (
        "Games and engines",
        &[
            "play",
            "analyze",
            "solve",
            "engine",
            "import-engines",
            "table",
            "network",
            "perft",
            "tree",
        ],
    ),
    ("Setup", &["config", "schema", "completions", "man"]),
];

impl Arguments {
    /// Parses the process's command line. The help lists commands by family, which clap does not support.
    pub(crate) fn of_process() -> std::result::Result<Self, clap::Error> {
        let command = Self::command();
        let usage = "spelrum [OPTIONS] <COMMAND>";
        let template = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{all-args}}{{after-help}}",
            families(&command),
        );
        let hidden = command.mut_subcommands(|command| command.hide(true));
        let command = hidden.override_usage(usage).help_template(template);
        let mut words: Vec<OsString> = std::env::args_os().collect();
        // As with git and cargo: `spelrum help run` is `spelrum run --help`.
        if words.get(1).is_some_and(|word| word == "help") {
            words.remove(1);
            words.push("--help".into());
        }
        let matches = command.try_get_matches_from(words)?;
        refuse_servers(&matches)?;
        Self::from_arg_matches(&matches)
    }
}

/// The arguments that take the address of a PostgreSQL database, with their commands.
const TAKE_SERVERS: [(&str, &str); 3] =
    [("coordinator", "db"), ("backup", "db"), ("share", "server")];

/// Refuses the address of a PostgreSQL database wherever a command needs a file. The message does not quote the
/// address, which can have a password.
fn refuse_servers(matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
    let Some((command, matches)) = matches.subcommand() else { return Ok(()) };
    let is_server = |value: &OsStr| value.to_str().is_some_and(Address::is_one);
    let takes_it = |id: &Id| TAKE_SERVERS.contains(&(command, id.as_str()));
    let has_server = |id: &Id| {
        let values = matches.try_get_raw(id.as_str()).ok().flatten();
        values.is_some_and(|mut values| values.any(is_server))
    };
    if matches.ids().any(|id| !takes_it(id) && has_server(id)) {
        let problem = format!(
            "`spelrum {command}` needs a file there, and got the address of a PostgreSQL database\n\
             help: ask a coordinator that shares the database (--coordinator URL), or copy it to a file first: \
             spelrum backup FILE --db postgres://…; spelrum share FILE postgres://… is the way from a file to a server\n"
        );
        return Err(clap::Error::raw(ErrorKind::ValueValidation, problem));
    }
    refuse_servers(matches)
}

/// The commands of each family with their descriptions.
fn families(command: &clap::Command) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let names = FAMILIES.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (family, names) in FAMILIES {
        text += &format!("{header}{family}:{header:#}\n");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) = (command.get_name(), command.get_about().map(ToString::to_string));
            let about = about.unwrap_or_default();
            text +=
                &format!("  {literal}{name}{literal:#}{:1$}{about}\n", "", width - name.len() + 2);
        }
        text.push('\n');
    }
    text
}

/// The commands, in the order in which a newcomer meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Run),
    Match(match_engines::Match),
    New(new::New),
    Report(report::Report),
    Sql(sql::Sql),
    Games(games::Games),
    Stats(stats::Stats),
    List(list::List),
    Coordinator(coordinator::Coordinator),
    Token(token::Token),
    Certificate(certificate::Certificate),
    Worker(worker::Worker),
    Allocate(allocate::Allocate),
    // Started only by workers.
    #[command(hide = true)]
    PlayingProcess(playing_process::PlayingProcess),
    Plan(plan::Plan),
    Submit(submit::Submit),
    Status(status::Status),
    Watch(watch::Watch),
    Open(open::Open),
    Pause(steer::Pause),
    Resume(steer::Resume),
    Cancel(steer::Cancel),
    Priority(steer::Priority),
    Retry(steer::Retry),
    Prune(remove::Prune),
    Delete(remove::Delete),
    Check(check::Check),
    Backup(backup::Backup),
    Share(share::Share),
    Export(export::Export),
    Import(import::Import),
    Replay(replay::Replay),
    Verify(verify::Verify),
    Play(play::Play),
    Config(config::Config),
    Analyze(analyze::Analyze),
    Engine(engine::Engine),
    ImportEngines(import_engines::ImportEngines),
    Solve(solve::Solve),
    Table(table::Table),
    Network(network::Network),
    Speed(speed::SpeedOf),
    Perft(perft::Perft),
    Tree(tree::Tree),
    Completions(completions::Completions),
    Man(man::Man),
    Schema(schema::Schema),
}

/// Runs one command to its end, on a thread with enough stack for searches: the program cannot choose the stack of its
/// first thread.
pub(crate) fn run(command: Command) -> Result<Exit> {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| run_here(command));
    let thread =
        thread.map_err(|error| CliError::new(Exit::Internal, "start a thread").because(error))?;
    // Resumes in the handler that reports all of the program's panics.
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn run_here(command: Command) -> Result<Exit> {
    match command {
        Command::Analyze(analyze) => analyze.run(),
        Command::Engine(engine) => engine.run(),
        Command::ImportEngines(import) => import.run(),
        Command::Perft(perft) => perft.run(),
        Command::Speed(speed) => speed.run(),
        Command::Tree(tree) => tree.run(),
        Command::Config(config) => config.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
        Command::New(new) => new.run(),
        Command::Schema(schema) => schema.run(),
        Command::Stats(stats) => stats.run(),
        Command::Token(token) => token.run(),
        Command::Certificate(certificate) => certificate.run(),
        Command::Run(run) => on_runtime(run.run()),
        Command::Match(of_engines) => on_runtime(of_engines.run()),
        Command::Report(report) => on_runtime(report.run()),
        Command::Sql(sql) => on_runtime(sql.run()),
        Command::Games(games) => on_runtime(games.run()),
        Command::List(list) => on_runtime(list.run()),
        Command::Check(check) => on_runtime(check.run()),
        Command::Backup(backup) => on_runtime(backup.run()),
        Command::Share(share) => on_runtime(share.run()),
        Command::Export(export) => on_runtime(export.run()),
        Command::Import(import) => on_runtime(import.run()),
        Command::Replay(replay) => on_runtime(replay.run()),
        Command::Verify(verify) => on_runtime(verify.run()),
        Command::Play(play) => on_runtime(play.run()),
        Command::Coordinator(coordinator) => on_runtime(coordinator.run()),
        Command::Worker(worker) => on_runtime(worker.run()),
        Command::Allocate(allocate) => on_runtime(allocate.run()),
        Command::PlayingProcess(playing) => on_runtime(playing.run()),
        Command::Solve(solve) => on_runtime(solve.run()),
        Command::Table(table) => on_runtime(table.run()),
        Command::Network(network) => on_runtime(network.run()),
        Command::Plan(plan) => on_runtime(plan.run()),
        Command::Submit(submit) => on_runtime(submit.run()),
        Command::Status(status) => on_runtime(status.run()),
        Command::Open(open) => on_runtime(open.run()),
        Command::Watch(watch) => on_runtime(watch.run()),
        Command::Pause(pause) => on_runtime(pause.run()),
        Command::Resume(resume) => on_runtime(resume.run()),
        Command::Cancel(cancel) => on_runtime(cancel.run()),
        Command::Priority(priority) => on_runtime(priority.run()),
        Command::Retry(retry) => on_runtime(retry.run()),
        Command::Prune(prune) => on_runtime(prune.run()),
        Command::Delete(delete) => on_runtime(delete.run()),
    }
}

/// Runs an async command: the network and the database need it; everything else is synchronous. It is boxed, so that
/// the runtime is compiled once and not for each command.
fn on_runtime(command: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let command: Pin<Box<dyn Future<Output = Result<Exit>>>> = Box::pin(command);
    preflight::open_files()?;
    // The runtime's own threads.
    preflight::threads(std::thread::available_parallelism().map_or(1, NonZeroUsize::get))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Players think on the runtime's blocking threads.
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| CliError::new(Exit::Internal, "start the runtime").because(error))?;
    let result = runtime.block_on(command);
    // Remaining tasks were asked to end, or are abandoned on purpose (the second Ctrl-C).
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_family() {
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let mut listed: Vec<&str> =
            FAMILIES.iter().flat_map(|(_, names)| *names).copied().collect();
        shown.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, shown);
    }
}
