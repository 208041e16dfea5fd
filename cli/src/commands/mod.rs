//! The commands, one file each, and the help that teaches them.

pub(crate) mod analyze;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod certificate;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod coordinator;
pub(crate) mod engine;
pub(crate) mod engine_check;
pub(crate) mod exclude;
pub(crate) mod export;
pub(crate) mod games;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod network;
pub(crate) mod new;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod playing_process;
pub(crate) mod remove;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
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

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Parser, Subcommand};
use spelrum_engine::search::STACK_BYTES;

use crate::arguments::GlobalArguments;
use crate::error::{CliError, Result};
use crate::exit::{EXIT_CODES, Exit};
use crate::preflight;

const TOUR: &str = "\
Tournaments between game-playing algorithms, on one machine or many.

You write a sweep: a small TOML file that names a game, players and the conditions to compare \
them under. Spelrum plays the games, keeps every result in one SQLite file, and tells who is \
stronger under each condition, how long each takes per move, and how sure that is.

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

/// The commands, in the order in which a newcomer meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Play a sweep on this machine and show the results; run again, it resumes
    Run(run::Run),
    /// Write a commented sweep to start from
    New(new::New),
    /// Show an experiment's result tables
    Report(report::Report),
    /// Ask the results anything, in SQL
    Sql(sql::Sql),
    /// Write an experiment's games as PGN, text, CSV or JSON lines
    Games(games::Games),
    /// Work out Elo, likelihoods and sequential tests from counts given by hand
    Stats(stats::Stats),
    /// List experiments
    List(list::List),
    /// Keep experiments and results, and hand out games to workers
    Coordinator(coordinator::Coordinator),
    Token(token::Token),
    Certificate(certificate::Certificate),
    /// Play games for a coordinator
    Worker(worker::Worker),
    // What a worker starts, and nobody else.
    #[command(hide = true)]
    PlayingProcess(playing_process::PlayingProcess),
    /// Give a coordinator a sweep to play
    Submit(submit::Submit),
    /// Show how far experiments are, what workers do, and what needs somebody
    Status(status::Status),
    /// Show how an experiment goes, until it ends
    Watch(watch::Watch),
    /// Stop handing out an experiment's games until it is resumed
    Pause(steer::Pause),
    /// Hand out a paused experiment's games again
    Resume(steer::Resume),
    /// End an experiment for good; what was counted stays
    Cancel(steer::Cancel),
    /// Let an experiment's games go before or after those of others
    Priority(steer::Priority),
    Retry(steer::Retry),
    Exclude(exclude::Exclude),
    Readmit(exclude::Readmit),
    Dismiss(exclude::Dismiss),
    /// Drop an experiment's moves; games and results stay
    Prune(remove::Prune),
    /// Throw an experiment away, with everything of it
    Delete(remove::Delete),
    /// Check that a results database is whole and that its sums are those of its games
    Check(check::Check),
    /// Copy a results database, also while it is being written
    Backup(backup::Backup),
    /// Copy whole experiments into a results database of their own
    Export(export::Export),
    /// Take experiments into a results database, without doubling what is there
    Import(import::Import),
    /// Find out what a coordinator bears
    Bench(bench::Bench),
    /// Show a recorded game move by move, and check that the engine does the same again
    Replay(replay::Replay),
    /// Play a sample of an experiment's games again, and say whose differ
    Verify(verify::Verify),
    /// Play against a player yourself
    Play(play::Play),
    /// Show which coordinator and token are in force, and where they come from
    Config(config::Config),
    /// Let a player search one position
    Analyze(analyze::Analyze),
    /// Run a built-in player as a UCI or GTP engine, or check engines of others
    Engine(engine::Engine),
    /// Find the exact value of a position and all moves that reach it
    Solve(solve::Solve),
    /// Make an exact table of a chess endgame, and show what it counts
    Table(table::Table),
    /// Train the networks of a sweep, and show how well they learnt
    Network(network::Network),
    /// Measure how fast this machine searches, for time limits that are scaled
    Speed(speed::SpeedOf),
    /// Count the move sequences from a position
    Perft(perft::Perft),
    /// Draw a game tree as lecture slides do, or count it
    Tree(tree::Tree),
    /// Print completions for a shell
    Completions(completions::Completions),
    /// Write a man page for each command, or print the main one
    Man(man::Man),
    /// Print the JSON schema of sweeps, for editors
    Schema(schema::Schema),
}

/// Runs one command to its end, on a thread that has as much stack as searches need: that of a
/// program's first thread is not the program's to choose.
pub(crate) fn run(command: Command) -> Result<Exit> {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| run_here(command));
    let thread =
        thread.map_err(|error| CliError::new(Exit::Internal, "start a thread").because(error))?;
    // To where every panic of the program is told of.
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn run_here(command: Command) -> Result<Exit> {
    match command {
        Command::Analyze(analyze) => analyze.run(),
        Command::Engine(engine) => engine.run(),
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
        Command::Report(report) => on_runtime(report.run()),
        Command::Sql(sql) => on_runtime(sql.run()),
        Command::Games(games) => on_runtime(games.run()),
        Command::List(list) => on_runtime(list.run()),
        Command::Check(check) => on_runtime(check.run()),
        Command::Backup(backup) => on_runtime(backup.run()),
        Command::Bench(bench) => on_runtime(bench.run()),
        Command::Export(export) => on_runtime(export.run()),
        Command::Import(import) => on_runtime(import.run()),
        Command::Replay(replay) => on_runtime(replay.run()),
        Command::Verify(verify) => on_runtime(verify.run()),
        Command::Play(play) => on_runtime(play.run()),
        Command::Coordinator(coordinator) => on_runtime(coordinator.run()),
        Command::Worker(worker) => on_runtime(worker.run()),
        Command::PlayingProcess(playing) => on_runtime(playing.run()),
        Command::Solve(solve) => on_runtime(solve.run()),
        Command::Table(table) => on_runtime(table.run()),
        Command::Network(network) => on_runtime(network.run()),
        Command::Submit(submit) => on_runtime(submit.run()),
        Command::Status(status) => on_runtime(status.run()),
        Command::Watch(watch) => on_runtime(watch.run()),
        Command::Pause(pause) => on_runtime(pause.run()),
        Command::Resume(resume) => on_runtime(resume.run()),
        Command::Cancel(cancel) => on_runtime(cancel.run()),
        Command::Priority(priority) => on_runtime(priority.run()),
        Command::Retry(retry) => on_runtime(retry.run()),
        Command::Exclude(exclude) => on_runtime(exclude.run()),
        Command::Readmit(readmit) => on_runtime(readmit.run()),
        Command::Dismiss(dismiss) => on_runtime(dismiss.run()),
        Command::Prune(prune) => on_runtime(prune.run()),
        Command::Delete(delete) => on_runtime(delete.run()),
    }
}

/// Async for the network and the database; everything else is synchronous.
fn on_runtime(command: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    preflight::open_files()?;
    // The runtime's threads, as many as it starts.
    preflight::threads(std::thread::available_parallelism().map_or(1, NonZeroUsize::get))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Players think on its blocking threads.
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| CliError::new(Exit::Internal, "start the runtime").because(error))?;
    let result = runtime.block_on(command);
    // What is still running was told to end, or is abandoned on purpose (the second Ctrl-C).
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
