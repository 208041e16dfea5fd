//! A course for the simulation: which cells it asks for, and when, depends on what it is told.

use std::sync::Arc;

use spelrum_engine::games::Nim;
use spelrum_engine::{Parameters, Value};
use spelrum_model::{CellDefinition, OpeningsRule, Task};
use spelrum_scheduling::course::{CellOutcome, Course, Decision, NewCell, StoredCell};

use crate::world::World;

/// The seed of every sweep in here.
pub(crate) const SEED: u64 = 7;

/// Adds one or two cells after each that it is told of, until it has added so many.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    left: u64,
    added: i64,
    /// Mixes everything that it was told, in order.
    heard: u64,
    has_news: bool,
}

impl Toy {
    pub(crate) fn new(cells: u64) -> Self {
        Self { left: cells, added: 0, heard: 0, has_news: false }
    }

    fn take(&mut self, cells: usize) {
        self.left -= cells as u64;
        self.added += i64::try_from(cells).unwrap();
        self.has_news = false;
    }
}

impl Course for Toy {
    fn decide(&mut self) -> Decision {
        if self.left == 0 {
            return Decision::End;
        }
        if !self.has_news {
            return Decision::Wait;
        }
        let count = (1 + self.heard % 2).min(self.left);
        let games = 2 * (1 + self.heard % 4);
        let cells: Vec<_> = (0..).take(usize::try_from(count).unwrap()).collect();
        let cells: Vec<_> =
            cells.into_iter().map(|offset| new_cell(self.added + offset, games)).collect();
        self.take(cells.len());
        Decision::Add(cells)
    }

    fn adopt(&mut self, added: &[NewCell]) {
        self.take(added.len());
    }

    fn tell(&mut self, outcome: &CellOutcome) {
        let CellOutcome { number, games, wins, draws, .. } = *outcome;
        for value in [number, games, wins, draws] {
            self.heard = self.heard.wrapping_mul(31).wrapping_add(value);
        }
        self.has_news = true;
    }
}

fn new_cell(index: i64, games: u64) -> NewCell {
    let player = |index| {
        Arc::new(Parameters::from([
            ("algorithm".to_owned(), Value::Text("minimax".to_owned())),
            ("depth".to_owned(), Value::Integer(index)),
        ]))
    };
    NewCell {
        definition: CellDefinition {
            format: CellDefinition::FORMAT,
            seed: SEED,
            rules: Nim::rules(&[3], false).unwrap(),
            openings: OpeningsRule::Start {},
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players: [player(index), player(0)],
        },
        player_names: ["new".to_owned(), "old".to_owned()],
        axes: Vec::new(),
        games,
        timed: false,
        repeats: false,
        openings_count: None,
    }
}

/// Whether a course that nothing disturbed would have asked for just these cells, told what was told.
pub(crate) fn assert_undisturbed(mut course: Toy, cells: &[StoredCell]) {
    let mut asked = Vec::new();
    let mut outcome_count: u64 = 0;
    let mut outcomes = cells.iter().filter_map(|cell| cell.outcome.as_ref());
    loop {
        match course.decide() {
            Decision::Add(new) => asked.extend(new.into_iter().map(|new| (outcome_count, new))),
            Decision::Wait => {}
            Decision::End | Decision::Fail(_) => break,
        }
        let Some(outcome) = outcomes.next() else { break };
        assert_eq!(outcome.number, outcome_count, "told out of order");
        outcome_count += 1;
        course.tell(outcome);
    }
    assert_eq!(outcomes.next(), None, "told after its end");
    let stored: Vec<_> = cells.iter().filter_map(|cell| cell.added.clone()).collect();
    assert_eq!(stored, asked, "another course");
}

/// Whatever happens on the way.
#[test]
fn courses_come_to_their_end() {
    let led = |seed| {
        let mut world = World::new(seed, None, None);
        world.run();
        world.led
    };
    assert!((0..60).map(led).sum::<usize>() > 10);
}
