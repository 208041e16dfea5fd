//! Slurm's commands, and the script that is submitted.

use std::ffi::OsString;
use std::io::{ErrorKind, Write as _};
use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::process::{Command, Output, Stdio};

use super::deciding::Jobs;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The script, as people submit it by hand.
const SCRIPT: &str = include_str!("../../../../deploy/slurm/workers.sbatch");

/// The line after which the script may have words for its worker.
const BEFORE_WORDS: &str = "set -euo pipefail\n";

/// What the jobs ask Slurm for.
#[derive(Clone, Debug)]
pub(super) struct JobOptions {
    pub(super) name: String,
    pub(super) slots: NonZeroU32,
    pub(super) mib_per_slot: u64,
    /// As `--time` of sbatch takes it.
    pub(super) time: String,
    /// More options of the worker.
    pub(super) worker: Vec<String>,
    /// More arguments of sbatch.
    pub(super) sbatch: Vec<OsString>,
}

impl JobOptions {
    /// The script for so many jobs.
    pub(super) fn script(&self, jobs: u32) -> Result<String> {
        let Self { name, slots, mib_per_slot, time, worker, sbatch: _ } = self;
        let options = [
            ("job-name", name.clone()),
            ("array", format!("1-{jobs}")),
            ("cpus-per-task", slots.to_string()),
            ("mem-per-cpu", format!("{mib_per_slot}M")),
            ("time", time.clone()),
        ];
        let with_option = |line: &str| {
            let option = line.strip_prefix("#SBATCH --").and_then(|line| line.split_once('='));
            let value = option.and_then(|(name, _)| options.iter().find(|(own, _)| *own == name));
            value.map_or_else(
                || line.to_owned(),
                |(name, value)| format!("#SBATCH --{name}={value}"),
            )
        };
        let script: String = SCRIPT.lines().map(|line| with_option(line) + "\n").collect();
        let words = shlex::try_join(worker.iter().map(String::as_str)).map_err(|error| {
            CliError::new(Exit::Usage, "write the options of the workers").because(error)
        })?;
        Ok(script.replacen(BEFORE_WORDS, &format!("{BEFORE_WORDS}set -- {words}\n"), 1))
    }

    /// The command that submits the script, for people.
    pub(super) fn sbatch_line(&self) -> String {
        let more = self.sbatch.iter().map(|word| format!(" {}", word.display()));
        format!("sbatch --parsable{}", more.collect::<String>())
    }

    /// The worker jobs of this name that are pending and running.
    pub(super) async fn jobs(&self) -> Result<Jobs> {
        let name = format!("--name={}", self.name);
        let mut squeue = Command::new("squeue");
        squeue.args(["--me", "--array", "--noheader", "--format=%T", &name]);
        let output = run(squeue, String::new()).await?;
        let mut jobs = Jobs::default();
        for state in String::from_utf8_lossy(&output.stdout).split_whitespace() {
            // Jobs that end hold their node a little longer.
            match state {
                "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => jobs.pending += 1,
                _ => jobs.running += 1,
            }
        }
        Ok(jobs)
    }

    /// Submits so many jobs, in this environment beside that of this process. Returns the job's id.
    pub(super) async fn submit(
        &self,
        jobs: u32,
        environment: &[(&'static str, OsString)],
    ) -> Result<String> {
        let mut sbatch = Command::new("sbatch");
        sbatch.arg("--parsable").args(&self.sbatch);
        sbatch.envs(environment.iter().map(|(name, value)| (name, value)));
        let output = run(sbatch, self.script(jobs)?).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        // With the name of the cluster, where there are several.
        let id = text.trim().split(';').next().unwrap_or_default();
        Ok(id.to_owned())
    }
}

/// Runs one of Slurm's commands to its end.
async fn run(mut command: Command, input: String) -> Result<Output> {
    let name = command.get_program().display().to_string();
    let failed = || CliError::new(Exit::Network, format!("run {name}"));
    let ended = tokio::task::spawn_blocking(move || {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A command that ends early says why itself.
            let _unread = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    });
    let ended = ended.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
    let output = ended.map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed()
            .because("there is no such command")
            .help("run this on a machine with Slurm's commands, such as the login node"),
        _ => failed().because(error),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let why = if said.is_empty() { output.status.to_string() } else { said };
    Err(failed().because(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_that_of_the_folder_with_these_options() {
        let options = JobOptions {
            name: "allocated".to_owned(),
            slots: NonZeroU32::new(4).unwrap(),
            mib_per_slot: 512,
            time: "00:30:00".to_owned(),
            worker: vec!["--label".to_owned(), "site=a b".to_owned()],
            sbatch: Vec::new(),
        };
        let script = options.script(3).unwrap();
        let changed: Vec<&str> = script.lines().filter(|line| !SCRIPT.contains(line)).collect();
        insta::assert_snapshot!(changed.join("\n"), @r"
        #SBATCH --job-name=allocated
        #SBATCH --array=1-3
        #SBATCH --cpus-per-task=4
        #SBATCH --mem-per-cpu=512M
        #SBATCH --time=00:30:00
        set -- --label 'site=a b'
        ");
        assert_eq!(script.lines().count(), SCRIPT.lines().count() + 1);
    }
}
