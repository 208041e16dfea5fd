//! How long the largest sweeps take to plan, and how much memory: `cargo bench -p
//! spelrum-sweep --bench planning`.
//!
//! The peer is what a planner without any sharing would have to do at least: spell out each cell's
//! definition and hash it. Times differ between machines, their ratio hardly does. Each sweep is
//! planned in a process of its own, so that the peak memory is its own.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark tells what it measured")]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use spelrum_model::Plan;

use spelrum_sweep::{SweepText, plan_sweep};

/// Few players over many points, and a player of its own at every point.
const SWEEPS: [(&str, Sweep); 3] =
    [("few players", few_players), ("many players", many_players), ("sampled", sampled)];

/// Writes a sweep.
type Sweep = fn() -> String;

fn main() {
    // Cargo passes `--bench`; a child gets the name of its sweep.
    let asked = env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    match asked.and_then(|name| SWEEPS.iter().find(|(sweep_name, _)| *sweep_name == name)) {
        Some((name, sweep)) => measure(name, &sweep()),
        None => {
            for (name, _) in SWEEPS {
                let executable = env::current_exe().expect("a running program has a path");
                let status = Command::new(executable).arg(name).status().expect("it runs again");
                assert!(status.success(), "{name}: {status}");
            }
        }
    }
}

fn few_players() -> String {
    "name = \"few\"\ngame = \"pentago\"\ngames = 1000\nopenings = { kind = \"random\", plies = 2 }\n\
     [axes]\nx = { from = 1, to = 1000, step = 1 }\ny = { from = 1, to = 100, step = 1 }\n\
     [players.a]\nalgorithm = \"alpha-beta\"\ndepth = 1\nnodes = \"$x\"\n\
     [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 1\nnodes = \"$y\"\n"
        .to_owned()
}

const GENETIC: &str = "[players.genetic]\nalgorithm = \"genetic-minimax\"\ndepth = 4\n\
     population = \"$population\"\nelites = \"$elites\"\ncrossover_rate = \"$crossover\"\n\
     mutation_rate = \"$mutation\"\nmin_visits = \"$visits\"\n\
     [players.hero]\nalgorithm = \"alpha-beta\"\ndepth = 3\n";

fn many_players() -> String {
    format!(
        "name = \"many\"\ngame = \"pentago\"\ngames = 10\n[axes]\n\
         population = {{ from = 10, to = 100, step = 10 }}\nelites = {{ from = 0, to = 9, step = 1 }}\n\
         crossover = {{ from = 0.1, to = 1.0, step = 0.1 }}\n\
         mutation = {{ from = 0.1, to = 1.0, step = 0.1 }}\n\
         visits = {{ from = 1, to = 10, step = 1 }}\n{GENETIC}"
    )
}

fn sampled() -> String {
    format!(
        "name = \"sampled\"\ngame = \"pentago\"\ngames = 10\n\
         sample = {{ method = \"latin-hypercube\", points = 100000 }}\n[axes]\n\
         population = {{ from = 10, to = 200, step = 10 }}\nelites = {{ from = 0, to = 9, step = 1 }}\n\
         crossover = {{ from = 0.05, to = 1.0, step = 0.05 }}\n\
         mutation = {{ from = 0.05, to = 1.0, step = 0.05 }}\n\
         visits = {{ from = 1, to = 20, step = 1 }}\n{GENETIC}"
    )
}

fn measure(name: &str, text: &str) {
    let sweep = SweepText::new("sweep.toml", text);
    let started = Instant::now();
    let plan = plan_sweep(&sweep).expect("the sweep is right");
    let planning = started.elapsed();
    let peak_mb = peak_memory_kb().map_or_else(|| "?".to_owned(), |kb| (kb / 1024).to_string());
    let started = Instant::now();
    spell_out(&plan);
    let peer = started.elapsed();
    println!(
        "{name}: {} cells, {} players in {:.3} s, {:.2} of the peer's {:.3} s; at most {peak_mb} MB",
        plan.cells.len(),
        plan.players.len(),
        planning.as_secs_f64(),
        planning.as_secs_f64() / peer.as_secs_f64(),
        peer.as_secs_f64(),
    );
}

fn spell_out(plan: &Plan) {
    for cell in &plan.cells {
        let definition = plan.definition(cell);
        assert_eq!(black_box(definition.hash()), cell.definition_hash);
        assert_eq!(black_box(definition.cell_seed()), cell.seed);
    }
}

/// The most memory this process had so far, where the system tells.
fn peak_memory_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
