//! The command of `--on-finish`, which runs when an experiment ends.

use std::panic::resume_unwind;
use std::process::{Command, Stdio};

use clap::Args;
use spelrum_answers::ExperimentSummary;
use spelrum_model::ExperimentState;

use crate::error::warn;

/// What to run when an experiment ends.
#[derive(Args, Clone, Debug)]
pub(crate) struct OnFinish {
    /// Run this command with `sh -c` when the experiment ends; it finds SPELRUM_EXPERIMENT (its name),
    /// SPELRUM_EXPERIMENT_UUID and SPELRUM_STATE (finished, cancelled or paused) in its environment
    #[arg(long = "on-finish", value_name = "COMMAND")]
    command: Option<String>,
}

impl OnFinish {
    /// The argument for a shell, after a space; empty if there is none.
    pub(crate) fn command_line(&self) -> String {
        let quoted = self.command.as_deref().and_then(|line| shlex::try_quote(line).ok());
        quoted.map(|line| format!(" --on-finish {line}")).unwrap_or_default()
    }

    /// Runs the command and waits for it. A failure is only a warning: the results are stored.
    pub(crate) async fn run(&self, experiment: &ExperimentSummary, state: ExperimentState) {
        let Some(line) = &self.command else { return };
        let mut command = Command::new("sh");
        // Keeps the command's output apart from results on stdout.
        command
            .args(["-c", line])
            .env("SPELRUM_EXPERIMENT", &experiment.name)
            .env("SPELRUM_EXPERIMENT_UUID", &experiment.uuid)
            .env("SPELRUM_STATE", state.name())
            .stdin(Stdio::null())
            .stdout(std::io::stderr());
        let ended = tokio::task::spawn_blocking(move || command.status()).await;
        let problem = match ended.unwrap_or_else(|panic| resume_unwind(panic.into_panic())) {
            Ok(status) if status.success() => return,
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("it cannot be started: {error}"),
        };
        warn(
            &format!("the command of --on-finish failed: {problem}"),
            "try it in a shell: sh -c COMMAND",
        );
    }
}
