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

/// Variables by which sbatch and squeue would look at other clusters.
const CLUSTER_VARIABLES: [&str; 2] = ["SBATCH_CLUSTERS", "SLURM_CLUSTERS"];

/// Options of sbatch that would submit jobs which are not counted, or more of them.
const OWN_OPTIONS: [(&str, char); 3] = [("job-name", 'J'), ("array", 'a'), ("clusters", 'M')];

/// Flags of sbatch that other short options may follow in the same word.
const SHORT_FLAGS: &str = "HIOQVWhksv";

/// The line after which the script may have words for its worker.
const BEFORE_WORDS: &str = "set -euo pipefail\n";

/// Options of the jobs.
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
            ("array", array(jobs)),
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

    /// The arguments of sbatch for so many jobs. By the name jobs are counted, so it wins over the user's arguments.
    fn sbatch_arguments(&self, jobs: u32) -> impl Iterator<Item = OsString> {
        let own = [format!("--job-name={}", self.name), format!("--array={}", array(jobs))];
        let own = own.into_iter().map(OsString::from);
        std::iter::once("--parsable".into()).chain(self.sbatch.iter().cloned()).chain(own)
    }

    /// The command that submits the script, for people.
    pub(super) fn sbatch_line(&self, jobs: u32) -> String {
        let words = self.sbatch_arguments(jobs).map(|word| word.display().to_string());
        let words: Vec<String> = std::iter::once("sbatch".to_owned()).chain(words).collect();
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
    }

    /// The worker jobs of this name that are pending and running.
    pub(super) async fn jobs(&self) -> Result<Jobs> {
        let name = format!("--name={}", self.name);
        let mut squeue = Command::new("squeue");
        squeue.args(["--me", "--all", "--array", "--noheader", "--format=%T", &name]);
        // What people set to see less must not hide jobs.
        for (variable, _) in std::env::vars_os() {
            if variable.as_encoded_bytes().starts_with(b"SQUEUE_") {
                squeue.env_remove(variable);
            }
        }
        for variable in CLUSTER_VARIABLES {
            squeue.env_remove(variable);
        }
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
        sbatch.args(self.sbatch_arguments(jobs));
        sbatch.envs(environment.iter().map(|(name, value)| (name, value)));
        for variable in CLUSTER_VARIABLES {
            sbatch.env_remove(variable);
        }
        // A script among the user's arguments would have those after it for itself.
        sbatch.env("SBATCH_JOB_NAME", &self.name).env("SBATCH_ARRAY_INX", array(jobs));
        let output = run(sbatch, self.script(jobs)?).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        // With the name of the cluster, where there are several.
        let id = text.trim().split(';').next().unwrap_or_default();
        Ok(id.to_owned())
    }
}

/// The indices of so many jobs.
fn array(jobs: u32) -> String {
    format!("1-{jobs}")
}

/// Checks that the user's arguments of sbatch leave the jobs' name, number and cluster alone.
///
/// # Errors
/// If they do not.
pub(super) fn check_sbatch(words: &[OsString]) -> Result<()> {
    let is_own = |word: &OsString| {
        let word = word.to_string_lossy();
        if let Some(long) = word.strip_prefix("--") {
            // sbatch takes abbreviations. The bare -- ends its options.
            let name = long.split('=').next().unwrap_or_default();
            return name == "cluster" || OWN_OPTIONS.iter().any(|(own, _)| own.starts_with(name));
        }
        let short = word.strip_prefix('-').map(|short| short.trim_start_matches(is_short_flag));
        short.is_some_and(|short| OWN_OPTIONS.iter().any(|(_, own)| short.starts_with(*own)))
    };
    let Some(word) = words.iter().find(|word| is_own(word)) else { return Ok(()) };
    Err(CliError::new(Exit::Usage, format!("pass {} to sbatch", word.display()))
        .because("the jobs' name and number are set here, so that they can be counted, and on one cluster")
        .help("use --job-name and --workers-max before the --"))
}

fn is_short_flag(letter: char) -> bool {
    SHORT_FLAGS.contains(letter)
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
    let output = ended.map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            failed()
                .because("there is no such command")
                .help("run this on a machine with Slurm's commands, such as the login node")
        } else {
            failed().because(error)
        }
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
        let sbatch = vec!["--comment=a b".into()];
        let line = JobOptions { sbatch, ..options }.sbatch_line(3);
        let own = "'--job-name=allocated' '--array=1-3'";
        assert_eq!(line, format!("sbatch --parsable '--comment=a b' {own}"));
    }

    #[test]
    fn arguments_of_sbatch_cannot_lead_past_the_bound() {
        let check = |word: &str| check_sbatch(&[word.into()]);
        for word in [
            "-J",
            "-Jother",
            "-HJother",
            "-a1-9",
            "-M",
            "-Mall",
            "--job-name=a",
            "--job",
            "--array",
            "--arr=1-9",
            "--clusters=all",
            "--cluster",
            "--",
        ] {
            assert!(check(word).is_err(), "{word}");
        }
        for word in [
            "--partition=short",
            "-pMain",
            "-A",
            "chess",
            "--account=a",
            "--cluster-constraint=x",
            "-H",
            "--mem=4G",
        ] {
            assert!(check(word).is_ok(), "{word}");
        }
    }
}
