//! A seeded simulation of coordinator, workers, clients and network around the scheduler.
//!
//! Every seed is another story of lost, repeated, delayed and reordered messages, of workers that
//! are killed, preempted, hang, leave, lie and report what the referee refuses; of a coordinator that is
//! killed before or after a commit, whose clock leaps, whose disk is full or takes what it said it had not,
//! and whose file another one opens; and of games that fail or kill their workers. Each answer of the scheduler and each commit is
//! judged by a slow twin ([`judge`]): invariants 4 to 6. Then the faults end, and everything must
//! be finished in bounded time, except for games that ask for engines or labels which no machine has: they stay,
//! until one comes that has them.
//!
//! `SPELRUM_SIMULATION_SEEDS=100000` runs more seeds, `SPELRUM_SIMULATION_SEEDS=50000..100000` those from
//! the first number on, `SPELRUM_SIMULATION_SEED=17` only this one, with its course.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that prints or panics tells somebody something"
)]

mod behaviour;
mod course;
mod desk;
mod dice;
mod engines;
mod exhaustive;
mod judge;
mod labels;
mod machines;
mod mutants;
mod reference;
mod scale;
mod scenario;
mod script;
mod stopping;
mod store;
mod worker;
mod world;

use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use mutants::Mutant;
use world::{Trace, World};

/// Seeds that are run if nobody asks for more.
const SEEDS: u64 = 300;

/// Seeds in which a mistake must be noticed.
const SEEDS_FOR_A_MISTAKE: u64 = 600;

/// Lines of the course that are printed of a seed that fails.
const LINES_MAX: usize = 400;

/// Runs one seed; returns the number of events the scheduler handled.
fn run(seed: u64, mutant: Option<Mutant>, trace: Trace) -> std::thread::Result<usize> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut world = World::new(seed, mutant, trace);
        world.run();
        world.events
    }))
}

/// Runs a seed again, and prints what happened up to its failure.
fn explain(seed: u64) {
    let trace = Rc::new(RefCell::new(Vec::new()));
    let _ = run(seed, None, Some(Rc::clone(&trace)));
    let lines = trace.borrow();
    let skipped = lines.len().saturating_sub(LINES_MAX);
    println!("{}\n… {skipped} lines …", lines.first().map_or("", String::as_str));
    lines.iter().skip(skipped.max(1)).for_each(|line| println!("{line}"));
}

fn number_from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

/// `SPELRUM_SIMULATION_SEEDS`: how many, or from which to which.
fn seeds_from_environment() -> Range<u64> {
    const NAME: &str = "SPELRUM_SIMULATION_SEEDS";
    let text = std::env::var(NAME).unwrap_or_default();
    let Some((first, end)) = text.split_once("..") else {
        return 0..number_from_environment(NAME).unwrap_or(SEEDS);
    };
    let number =
        |text: &str| text.parse().unwrap_or_else(|_| panic!("{NAME}: {text:?} is not a number"));
    number(first)..number(end)
}

#[test]
fn every_seed_keeps_the_invariants_and_finishes() {
    let only = number_from_environment("SPELRUM_SIMULATION_SEED");
    let seeds = only.map_or_else(seeds_from_environment, |seed| seed..seed + 1);
    let mut events = 0;
    for seed in seeds.clone() {
        match run(seed, None, None) {
            Ok(handled) => events += handled,
            Err(_) => {
                explain(seed);
                panic!(
                    "seed {seed} fails; run it again with SPELRUM_SIMULATION_SEED={seed} \
                     cargo test -p spelrum-scheduling --test simulation every_seed"
                );
            }
        }
    }
    if only.is_some() {
        explain(seeds.start);
    }
    println!("{} seeds, {events} events", seeds.count());
}

/// Nobody is charged for time in which the coordinator did not listen.
#[test]
fn a_coordinator_that_stands_still_charges_nobody() {
    let charges = |mutant| {
        move |&seed: &u64| {
            let mut world = World::with_stalls(seed, mutant);
            world.run();
            world.has_charged()
        }
    };
    assert_eq!((0..SEEDS).find(charges(None)), None, "this seed charges somebody");
}

/// In some seeds games are left that no machine has the engines or the labels for, until one comes that has.
#[test]
fn what_nobody_can_play_waits_for_who_can() {
    let waits = |seed| {
        let mut world = World::new(seed, None, None);
        world.run();
        world.waited
    };
    assert!((0..SEEDS).any(waits), "nothing ever waits");
}

/// In some seeds a worker that is sick is found out.
#[test]
fn a_worker_that_fails_much_is_quarantined() {
    let quarantines = |seed| {
        let mut world = World::new(seed, None, None);
        world.run();
        world.quarantined > 0
    };
    assert!((0..SEEDS).any(quarantines), "nobody is ever quarantined");
}

/// In some seeds games are verified, whatever happens meanwhile.
#[test]
fn games_are_verified() {
    let verified = |seed| {
        let mut world = World::new(seed, None, None);
        world.run();
        world.verified
    };
    assert!((0..60).map(verified).sum::<usize>() > 10);
}

#[test]
fn every_mistake_is_noticed() {
    let unnoticed: Vec<_> = Mutant::ALL
        .iter()
        .copied()
        .filter(|&mutant| {
            (0..SEEDS_FOR_A_MISTAKE).all(|seed| run(seed, Some(mutant), None).is_ok())
        })
        .collect();
    assert_eq!(unnoticed, [], "mistakes that no seed notices");
}

/// The same seed gives the same course, or a failing one could not be looked at.
#[test]
fn a_seed_is_a_story_that_can_be_told_again() {
    let tell = |seed| {
        let trace = Rc::new(RefCell::new(Vec::new()));
        run(seed, None, Some(Rc::clone(&trace))).unwrap();
        trace.take()
    };
    assert!((0..3).all(|seed| tell(seed) == tell(seed)));
}
