use std::sync::{Arc, Mutex};

use spelrum_engine::games::Nim;
use spelrum_engine::{Parameters, Value};
use spelrum_model::{OpeningsRule, PlannedAxis, Task};

use super::*;

mod find;
mod race;
mod tune;

/// Follows a script, one decision after the other, and records the outcomes it receives.
struct Scripted {
    decisions: std::vec::IntoIter<Decision>,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn note(&self, text: String) {
        self.calls.lock().unwrap().push(text);
    }
}

impl Course for Scripted {
    fn decide(&mut self) -> Decision {
        self.note("asked".to_owned());
        self.decisions.next().unwrap_or(Decision::Wait)
    }

    fn adopt(&mut self, added: &[NewCell]) {
        let _same = self.decisions.next();
        self.note(format!("adopts {}", added.len()));
    }

    fn tell(&mut self, outcome: &CellOutcome) {
        self.note(format!("told {} {}", outcome.number, outcome.wins));
    }
}

fn led(decisions: Vec<Decision>, cells: &[i64]) -> (LedCourse, Arc<Mutex<Vec<String>>>) {
    let (course, calls) = scripted(decisions);
    (LedCourse::begin(course, &plan(), cells.iter().copied().map(CellId).collect()), calls)
}

fn scripted(decisions: Vec<Decision>) -> (Box<dyn Course>, Arc<Mutex<Vec<String>>>) {
    let calls = Arc::new(Mutex::new(Vec::new()));
    (Box::new(Scripted { decisions: decisions.into_iter(), calls: Arc::clone(&calls) }), calls)
}

fn plan() -> Plan {
    let axes = vec![PlannedAxis { name: "depth".to_owned(), values: Vec::new() }];
    Plan { seed: 7, axes, stop: StopRule::from_precision(0.1), ..Plan::default() }
}

fn new_cell(depth: i64) -> NewCell {
    let player = Arc::new(Parameters::from([
        ("algorithm".to_owned(), Value::Text("minimax".to_owned())),
        ("depth".to_owned(), Value::Integer(depth)),
    ]));
    let value = AxisValue { number: Some(depth as f64), text: depth.to_string() };
    NewCell {
        definition: CellDefinition {
            format: CellDefinition::FORMAT,
            seed: 7,
            rules: Nim::rules(&[3], false).unwrap(),
            openings: OpeningsRule::Start {},
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players: [Arc::clone(&player), player],
        },
        player_names: ["a".to_owned(), "b".to_owned()],
        axes: vec![("depth".to_owned(), value)],
        games: 4,
        timed: true,
        repeats: false,
        openings_count: None,
    }
}

fn outcome(number: u64, wins: u64) -> CellOutcome {
    CellOutcome { number, games: 4, wins, ..CellOutcome::default() }
}

/// The whole course: decides, receives outcomes in order although a later cell is settled first, gets cells, closes.
#[test]
fn a_course_is_asked_after_each_cell_that_it_is_told_of() {
    let add = Decision::Add(vec![new_cell(1), new_cell(2)]);
    let decisions = vec![Decision::Wait, add, Decision::Wait, Decision::Wait, Decision::End];
    let (mut led, calls) = led(decisions, &[10, 11]);
    assert_eq!(led.next(|cell| cell == CellId(11)), Step::Wait);
    assert_eq!(led.next(|_| true), Step::Tell(CellId(10)));
    led.tell(&outcome(0, 3));
    let Step::Add(plan) = led.next(|_| true) else { panic!("it adds cells") };
    assert_eq!(
        plan.cells.iter().map(|cell| NewCell::from_planned(&plan, cell)).collect::<Vec<_>>(),
        [new_cell(1), new_cell(2)]
    );
    assert_eq!((plan.seed, plan.stop), (7, StopRule::from_precision(0.1)));
    led.added([CellId(12), CellId(13)]);
    for (number, cell) in [(1, 11), (2, 12)] {
        assert_eq!(led.next(|_| true), Step::Tell(CellId(cell)));
        led.tell(&outcome(number, 0));
    }
    assert_eq!(led.next(|_| false), Step::Wait);
    assert_eq!(led.next(|_| true), Step::Tell(CellId(13)));
    led.tell(&outcome(3, 1));
    assert_eq!(led.next(|_| true), Step::Close(None));
    let calls = calls.lock().unwrap().join(", ");
    assert_eq!(calls, "asked, told 0 3, asked, told 1 0, asked, told 2 0, asked, told 3 1, asked");
}

/// After a restart it receives the same outcomes in the same order, and repeats no decision.
#[test]
fn a_restart_shows_a_course_what_it_asked_for() {
    let add = |depth| Decision::Add(vec![new_cell(depth)]);
    let cell = |id, added, outcome| StoredCell { cell: CellId(id), added, outcome };
    let cells = vec![
        cell(10, None, Some(outcome(0, 3))),
        cell(11, Some((0, new_cell(1))), Some(outcome(1, 2))),
        cell(12, Some((1, new_cell(2))), None),
        cell(13, Some((2, new_cell(3))), None),
    ];
    let (course, calls) = scripted(vec![add(1), add(2), add(3), Decision::End]);
    let mut led = LedCourse::restore(course, &plan(), cells);
    assert_eq!(led.outcome_count(), 2);
    assert_eq!(led.next(|_| false), Step::Wait);
    assert_eq!(led.next(|_| true), Step::Tell(CellId(12)));
    led.tell(&outcome(2, 1));
    assert_eq!(led.next(|_| true), Step::Close(None));
    let calls = calls.lock().unwrap().join(", ");
    assert_eq!(calls, "adopts 1, told 0 3, adopts 1, told 1 2, adopts 1, told 2 1, asked");
}

#[test]
fn what_cannot_be_done_closes_the_experiment() {
    let fault = |decision| match led(vec![decision], &[10]).0.next(|_| false) {
        Step::Close(Some(fault)) => fault,
        step @ (Step::Tell(_) | Step::Add(_) | Step::Close(None) | Step::Wait) => {
            panic!("{step:?}")
        }
    };
    let with = |change: fn(&mut NewCell)| {
        let mut new = new_cell(1);
        change(&mut new);
        fault(Decision::Add(vec![new]))
    };
    assert_eq!(fault(Decision::Add(Vec::new())), CourseFault::AddsNothing);
    assert_eq!(with(|cell| cell.definition.seed = 1 << 53), CourseFault::LargeSeed(1 << 53));
    assert_eq!(with(|cell| cell.games = 0), CourseFault::NotInPairs(0));
    assert_eq!(with(|cell| cell.games = 3), CourseFault::NotInPairs(3));
    assert_eq!(
        with(|cell| "width".clone_into(&mut cell.axes[0].0)),
        CourseFault::UnknownAxis("width".to_owned())
    );
    let twice = fault(Decision::Add(vec![new_cell(1), new_cell(1)]));
    assert_eq!(twice, CourseFault::AgainTheSame("a".to_owned(), "b".to_owned()));
    let waits = led(vec![Decision::Wait], &[]).0.next(|_| true);
    assert_eq!(waits, Step::Close(Some(CourseFault::WaitsForNothing)));
    // With fixed sides there are no pairs.
    let mut fixed = new_cell(1);
    fixed.definition.swap_sides = false;
    fixed.games = 3;
    let (mut led, _) = led(vec![Decision::Add(vec![fixed])], &[]);
    assert!(matches!(led.next(|_| true), Step::Add(_)));
}
