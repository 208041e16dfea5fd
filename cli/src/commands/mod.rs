//! The commands, one file each.

pub(crate) mod analyze;
pub(crate) mod coordinator;
pub(crate) mod list;
pub(crate) mod perft;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sql;
pub(crate) mod status;
pub(crate) mod steer;
pub(crate) mod submit;
pub(crate) mod worker;

use std::time::Duration;

use crate::arguments::Command;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// Runs one command to its end.
pub(crate) fn run(command: Command) -> Result<Exit> {
    match command {
        Command::Analyze(analyze) => analyze.run(),
        Command::Perft(perft) => perft.run(),
        Command::Run(run) => on_runtime(run.run()),
        Command::Report(report) => on_runtime(report.run()),
        Command::Sql(sql) => on_runtime(sql.run()),
        Command::List(list) => on_runtime(list.run()),
        Command::Coordinator(coordinator) => on_runtime(coordinator.run()),
        Command::Worker(worker) => on_runtime(worker.run()),
        Command::Submit(submit) => on_runtime(submit.run()),
        Command::Status(status) => on_runtime(status.run()),
        Command::Pause(pause) => on_runtime(pause.run()),
        Command::Resume(resume) => on_runtime(resume.run()),
        Command::Cancel(cancel) => on_runtime(cancel.run()),
    }
}

/// Async for the network and the database; everything else is synchronous.
fn on_runtime(command: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Exit::Internal, "start the runtime").because(error))?;
    let result = runtime.block_on(command);
    // What is still running was told to end, or is abandoned on purpose (the second Ctrl-C).
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}
