//! `spelrum allocate slurm`, with scripts in the place of `sbatch` and `squeue`.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use spelrum_test_support::Tools;

use crate::sandbox::{Ran, Sandbox, Service, Watched, tic_tac_toe, wait_until};

/// Lists a line for each job in the file `jobs`: its process, if it has one. Those that have ended are left out.
const SQUEUE: &str = r#"#!/usr/bin/env bash
echo "$@" >>squeue.arguments
env | grep -E '^(SQUEUE_|S[A-Z]*_CLUSTERS=)' >>squeue.variables
[ ! -e squeue.fails ] || { echo "slurm_load_jobs error: down" >&2; exit 1; }
[ -e jobs ] || exit 0
while read -r process; do
    if [ "$process" = none ]; then echo PENDING; elif kill -0 "$process" 2>/dev/null; then echo RUNNING; fi
done <jobs
"#;

/// Takes a script from its input. Where the file `nodes` is, its tasks run at once; where `broken` is, they end at once.
const SBATCH: &str = r#"#!/usr/bin/env bash
echo "$@" >>sbatch.arguments
echo "$SPELRUM_COORDINATOR" >sbatch.coordinator
env | grep -E '^S[A-Z]*_(CLUSTERS|JOB_NAME|ARRAY_INX)=' | sort >sbatch.variables
[ ! -e sbatch.fails ] || { echo "sbatch: error: invalid account" >&2; exit 1; }
script=$(</dev/stdin)
echo "$script" >script
[ ! -e broken ] || { echo 4711; exit; }
[[ $script =~ --array=1-([0-9]+) ]]
for ((task = 1; task <= BASH_REMATCH[1]; task++)); do
    if [ -e nodes ]; then
        SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 SLURMD_NODENAME=node \
            bash script <&- >>log 2>&1 &
        echo $! >>jobs
    else
        echo none >>jobs
    fi
done
echo "4711;cluster"
"#;

struct Slurm {
    sandbox: Sandbox,
    coordinator: Service,
}

impl Slurm {
    fn new(_tools: Tools) -> Self {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("programs")).unwrap();
        for (name, script) in [("squeue", SQUEUE), ("sbatch", SBATCH)] {
            let path = sandbox.write(&format!("programs/{name}"), script);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
        Self { sandbox, coordinator }
    }

    fn submit(&self, sweep: &str) {
        self.sandbox.write("sweep.toml", sweep);
        let url = &self.coordinator.url;
        self.sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    }

    fn allocate(&self, arguments: &[&str]) -> Command {
        let inherited = std::env::var("PATH").unwrap();
        let url = &self.coordinator.url;
        let all =
            [&["allocate", "slurm", "--coordinator", url, "--slots", "1"], arguments].concat();
        let mut command = self.sandbox.spelrum(&all);
        let programs = self.sandbox.path("programs");
        command.env("PATH", format!("{}:{inherited}", programs.display()));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran(self.allocate(arguments).output().unwrap())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.sandbox.path(name)).unwrap_or_default()
    }
}

#[test]
fn jobs_are_submitted_up_to_a_bound_and_for_games_that_they_can_play() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let slurm = Slurm::new(tools);
    let ran = slurm.run(&["--dry-run"]);
    ran.expect_exit(0);
    assert!(ran.stdout().starts_with("# queue: 0 games, "), "{}", ran.stdout());
    assert_eq!(ran.stdout().lines().count(), 1);

    // Games that need what these workers lack.
    let needy = tic_tac_toe("needy", 10).replacen(
        "games =",
        "placement = { require = [\"gpu\"] }\ngames =",
        1,
    );
    slurm.submit(&needy);
    slurm.run(&["--once"]).expect_exit(0);
    assert_eq!(slurm.read("sbatch.arguments"), "");
    let ran = slurm.run(&[
        "--dry-run",
        "--label",
        "gpu",
        "--workers-max",
        "3",
        "--",
        "--partition=short",
    ]);
    ran.expect_exit(0);
    let script = ran.stdout();
    for words in [
        "# queue: 20 games, 20 of them for such workers; jobs: 0 pending and 0 running, of 3 at most",
        "; with a job for each 1 queued game, 3 more jobs to submit.\n",
        "# sbatch --parsable '--partition=short' '--job-name=spelrum-allocated' '--array=1-3' <<'END'\n#!/usr/bin/env bash\n",
        "\n#SBATCH --array=1-3\n",
        "\n#SBATCH --cpus-per-task=1\n",
        "\nset -- --exit-when-idle 300000ms --label gpu\n",
    ] {
        assert!(script.contains(words), "{words:?} is not in {script}");
    }
    assert_eq!(slurm.read("sbatch.arguments"), "", "nothing was submitted");

    let once = ["--once", "--label", "gpu", "--games-per-worker", "10", "--", "--partition=short"];
    // What the user set for other jobs changes neither which are counted nor how many there are.
    let mut with_variables = slurm.allocate(&once);
    for (name, value) in [
        ("SBATCH_JOB_NAME", "other"),
        ("SBATCH_ARRAY_INX", "1-99"),
        ("SBATCH_CLUSTERS", "all"),
        ("SLURM_CLUSTERS", "all"),
        ("SQUEUE_STATES", "COMPLETED"),
        ("SQUEUE_PARTITION", "long"),
    ] {
        with_variables.env(name, value);
    }
    Ran(with_variables.output().unwrap()).expect_exit(0);
    let submitted = "--parsable --partition=short --job-name=spelrum-allocated --array=1-2\n";
    assert_eq!(slurm.read("sbatch.arguments"), submitted);
    assert_eq!(
        slurm.read("sbatch.variables"),
        "SBATCH_ARRAY_INX=1-2\nSBATCH_JOB_NAME=spelrum-allocated\n"
    );
    assert_eq!(slurm.read("squeue.variables"), "");
    assert_eq!(slurm.read("sbatch.coordinator").trim_end(), slurm.coordinator.url);
    assert_eq!(slurm.read("jobs"), "none\nnone\n", "one for each ten games");
    let asked = "--me --all --array --noheader --format=%T --name=spelrum-allocated\n";
    assert!(slurm.read("squeue.arguments").ends_with(asked));
    // These wait, and no more are wanted.
    slurm.run(&once).expect_exit(0);
    assert_eq!(slurm.read("jobs"), "none\nnone\n");
    let bounded = ["--once", "--label", "gpu", "--workers-max", "5"];
    slurm.run(&bounded).expect_exit(0);
    slurm.run(&bounded).expect_exit(0);
    assert_eq!(slurm.read("jobs").lines().count(), 5);

    // What Slurm says is shown, and nothing is submitted where jobs cannot be counted.
    slurm.sandbox.write("jobs", "");
    slurm.sandbox.write("sbatch.fails", "");
    let ran = slurm.run(&bounded);
    ran.expect_exit(5);
    assert_eq!(ran.stderr(), "error: failed to run sbatch: sbatch: error: invalid account\n");
    slurm.sandbox.write("squeue.fails", "");
    let before = slurm.read("sbatch.arguments");
    let ran = slurm.run(&bounded);
    ran.expect_exit(5);
    assert_eq!(ran.stderr(), "error: failed to run squeue: slurm_load_jobs error: down\n");
    assert_eq!(slurm.read("sbatch.arguments"), before);
    std::fs::remove_file(slurm.sandbox.path("programs/squeue")).unwrap();
    let ran =
        Ran(slurm.allocate(&bounded).env("PATH", slurm.sandbox.path("programs")).output().unwrap());
    ran.expect_exit(5);
    assert!(
        ran.stderr().contains("help: run this on a machine with Slurm's commands"),
        "{}",
        ran.stderr()
    );
    for wrong in [
        ["--workers-max", "1001"],
        ["--job-name", "a,b"],
        ["--idle-end", "0s"],
        ["--time", "1\n#SBATCH --array=1-99"],
        ["--", "-Jother"],
        ["--", "--array=1-99"],
    ] {
        slurm.run(&wrong).expect_exit(2);
    }
    let ran = slurm.run(&["--", "--clusters=all"]);
    ran.expect_exit(2);
    assert!(ran.stderr().starts_with("error: failed to pass --clusters=all to sbatch: "));
}

/// Jobs that end without a game are submitted ever more seldom; what the coordinator refuses ends the watch.
#[test]
fn useless_jobs_and_a_refused_token_are_not_tried_for_ever() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let slurm = Slurm::new(tools);
    slurm.sandbox.write("broken", "");
    slurm.submit(&tic_tac_toe("sweep", 10));
    let mut allocate = Watched::spawn(slurm.allocate(&["--interval", "100ms"]));
    for wait in ["0.2", "0.4", "0.8"] {
        allocate.read_until("jobs have ended and no fewer games are queued: see their logs");
        allocate.read_until(&format!("looking again in {wait} s"));
    }
    assert_eq!(slurm.read("sbatch.arguments").lines().count(), 3);
    allocate.process.signal(Signal::INT);
    assert_eq!(allocate.end(), Some(130));
    drop(slurm);

    let sandbox = Sandbox::new();
    let open = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
    let coordinator = sandbox.coordinator_as(
        sandbox.spelrum(&open).env("SPELRUM_TOKEN", "right-token").stderr(Stdio::null()),
    );
    let watch = ["allocate", "slurm", "--coordinator", &coordinator.url];
    let ran = Ran(sandbox.spelrum(&watch).env("SPELRUM_TOKEN", "wrong-token").output().unwrap());
    ran.expect_exit(5);
    assert!(ran.stderr().starts_with("error: failed to read the coordinator's queue: "));
}

/// Over failures of Slurm and a restart of the coordinator, until all is played.
#[test]
fn workers_come_as_games_wait_and_end_with_them() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let mut slurm = Slurm::new(tools);
    slurm.sandbox.write("nodes", "");
    slurm.sandbox.write("sbatch.fails", "");
    let often = ["--interval", "100ms", "--workers-max", "2", "--idle-end", "10s"];
    let mut allocate = Watched::spawn(slurm.allocate(&often));
    slurm.submit(&tic_tac_toe("sweep", 10));
    allocate.read_until("failed to run sbatch: sbatch: error: invalid account");
    let address = slurm.coordinator.address().to_owned();
    slurm.coordinator.process.kill();
    allocate.read_until("failed to reach the coordinator");
    std::fs::remove_file(slurm.sandbox.path("sbatch.fails")).unwrap();
    slurm.coordinator = slurm.sandbox.coordinator("c.db", &address);
    allocate.read_until("submitted; queue: 20 games");
    slurm.sandbox.wait_until_finished(&slurm.coordinator);
    assert_eq!(slurm.read("jobs").lines().count(), 2);
    // The workers end by themselves; this one does not.
    wait_until("the workers have ended", || {
        let jobs = slurm.read("jobs");
        jobs.lines().all(|process| !std::path::Path::new(&format!("/proc/{process}/exe")).exists())
    });
    allocate.process.signal(Signal::INT);
    allocate.read_until("scancel --user=\"$USER\" --name=spelrum-allocated");
    assert_eq!(allocate.end(), Some(130));
}
