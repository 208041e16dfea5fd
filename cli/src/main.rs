//! `spelrum`: tournaments between game-playing algorithms, on one machine or many.
//!
//! The only binary. This file parses the command line, runs one command and turns its result into a message and an
//! exit code. The modules:
//!
//! | module | contents |
//! |---|---|
//! | [`commands`] | each command: its arguments, help and steps |
//! | [`config`] | the config file, the environment, tokens and trust |
//! | [`terminal`] | output, progress, prompts, notices, logs, signals, panics |
//! | [`players`] | built-in players, external engines, UCI, UGI, GTP, XBoard and lines |
//! | [`sweeps`] | sweep files, their edits and their preview |
//! | [`local`] | the embedded coordinator and worker, and this machine |
//! | [`remote`] | a coordinator elsewhere |
//! | [`results`] | queries to a file or a coordinator |
//!
//! Results become text, tables and plots in the crate `spelrum_report`.

mod arguments;
mod commands;
mod config;
mod error;
mod exit;
mod local;
mod players;
mod remote;
mod results;
mod sweeps;
mod terminal;

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};

use commands::Arguments;
use error::{CliError, MessageStyle};
use exit::Exit;
use local::endgame_tables;
use players::engines_file;
use terminal::{logging, panic};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == engines_file::GUARD) {
        return spelrum_external::guard::run(&[engines_file::GUARD], words);
    }
    panic::install_hook();
    if let Some(color) = arguments::asked_color(std::env::args_os()) {
        color.write_global();
    }
    endgame_tables::install();
    panic::run_catching_panics(|| match Arguments::of_process() {
        Ok(arguments) => {
            arguments.everywhere.apply();
            commands::run(arguments.command).unwrap_or_else(|error| {
                print_error(&error);
                error.exit()
            })
        }
        Err(answer) => answer_of_clap(&nearest_first(answer)),
    })
    .into()
}

/// Sorts suggested commands by similarity, nearest first: clap puts the best one last.
fn nearest_first(mut answer: clap::Error) -> clap::Error {
    const SUGGESTED_MAX: usize = 2;
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(commands)) = answer.get(kind) {
        let nearest = commands.iter().rev().take(SUGGESTED_MAX).cloned().collect();
        answer.insert(kind, ContextValue::Strings(nearest));
    }
    answer
}

/// Prints help, the version, or an error in the command line.
fn answer_of_clap(answer: &clap::Error) -> Exit {
    match answer.print() {
        Ok(()) if answer.use_stderr() => Exit::Usage,
        Ok(()) => Exit::Success,
        Err(error) => {
            let error = CliError::from(error);
            print_error(&error);
            error.exit()
        }
    }
}

/// Prints an error's message to stderr, in colour on a terminal.
fn print_error(error: &CliError) {
    if logging::is_json() {
        if let Some(message) = error.message(MessageStyle::Plain) {
            tracing::error!("{}", message.trim_end());
        }
        return;
    }
    let style = match anstream::stderr().current_choice() {
        anstream::ColorChoice::Never => MessageStyle::Plain,
        anstream::ColorChoice::Auto
        | anstream::ColorChoice::AlwaysAnsi
        | anstream::ColorChoice::Always => MessageStyle::Colour,
    };
    if let Some(message) = error.message(style) {
        // Without stderr as well, the message cannot be shown.
        let _unheard = terminal::stderr().write_all(message.as_bytes());
    }
}
