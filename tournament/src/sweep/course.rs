//! `find` and `evolve`: what came of an experiment's cells decides which it gets next.
//!
//! The table of one names the player that it decides about. At each point of the grid it becomes the
//! [`RunSettings`] of a run; the player has a value there that stands for what is to be decided.

mod evolve;

use spelrum_engine::{Parameters, Player, Rules, Value, parse_duration_us};

use super::axes::Axis;
use super::fault::{Fault, Span};
use super::file::word;
use super::keys::{
    self, Key,
    course::evolve::{CELLS_MAX, EVOLVE, INDIVIDUALS_MAX},
    course::{AT_ONCE_MAX, FIND, FIND_AT_ONCE, FIND_STEPS, RUNS_MAX, STEPS_MAX},
};
use super::pairing::Pairing;
use super::players::Players;
use super::template::substitute;
use super::tree::{Entry, Node, Scalar, Table, Tree};
use crate::course::{CourseKind, FindSettings, LedParameter, PlannedRun, RunSettings, Unit};
use crate::definition::Task;

/// The course of a sweep, read. What may name axes is still a tree.
#[derive(Debug)]
pub(super) struct CourseInFile {
    pub(super) kind: CourseKind,
    /// Its table.
    pub(super) node: Node,
    /// The player that it decides about, by its place among the variants.
    pub(super) subject: usize,
    /// Whether that player meets nobody but itself.
    pub(super) meets_itself: bool,
    /// What its player says of the parameters that are decided: a value that stands for any.
    pub(super) stands_for: Vec<Entry>,
}

/// Keys that a sweep with a course cannot have, each with why.
const NOT_WITH_A_COURSE: [(&str, &str); 7] = [
    ("stop", "remove it: every cell has all its games"),
    ("allocate", "remove it: its course says which cells come next"),
    ("override", "remove it: the cells that it would change are not known yet"),
    ("anchors", "remove it: play a sweep of its own to rate players"),
    ("claims", "remove them: state claims in the sweep that confirms what was found"),
    ("error_rate", "remove it: it is about claims"),
    ("measure", "remove it: what a course decides by is the score"),
];

/// Reads the table of a course, if there is one.
pub(super) fn read(
    root: &Table,
    task: Task,
    swap_sides: bool,
    axes: &[Axis],
    players: &Players,
    pairing: &Pairing,
) -> Result<Option<CourseInFile>, Fault> {
    let found = CourseKind::ALL.into_iter().find_map(|kind| Some((kind, root.get(kind.name())?)));
    let Some((kind, entry)) = found else { return Ok(None) };
    let name = kind.name();
    if task != Task::Game {
        let problem = format!("an accuracy experiment cannot have `{name}`");
        return Err(Fault::at(&entry.key_place, problem, "remove one of them"));
    }
    for (key, remedy) in NOT_WITH_A_COURSE {
        if let Some(there) = root.get(key) {
            let problem = format!("a sweep with `{name}` has no `{key}`");
            return Err(Fault::at(&there.key_place, problem, remedy));
        }
    }
    let table = Course { kind, node: &entry.value, table: table_of(kind, &entry.value)? };
    keys::check(table.table, &format!("`{name}`"), keys_of(kind))?;
    if !swap_sides {
        return Err(Fault::at(
            &entry.key_place,
            format!("`{name}` needs pairs of games"),
            "remove swap_sides = false: who moves first would decide what is found",
        ));
    }
    if let Some(axis) = axes.iter().find(|axis| kind.axes().contains(&axis.name.as_str())) {
        let problem = format!("an axis of a sweep with `{name}` cannot be named `{}`", axis.name);
        return Err(Fault::at(
            &axis.place,
            problem,
            "rename it: results have an axis of this name",
        ));
    }
    let subject = table.subject(players, pairing)?;
    let meets_itself = pairing.pairs == [(subject, subject)];
    let stands_for = table.stands_for()?;
    let player = players.template(subject);
    for Entry { key, .. } in &stands_for {
        if let Some(said) = player.parameters.entries.iter().find(|it| it.key == *key) {
            let problem = format!("`{key}` of `{}` is what `{name}` decides", player.name);
            return Err(Fault::at(&said.key_place, problem, "remove it from the player"));
        }
    }
    let node = entry.value.clone();
    Ok(Some(CourseInFile { kind, node, subject, meets_itself, stands_for }))
}

/// The table of a course.
struct Course<'a> {
    kind: CourseKind,
    node: &'a Node,
    table: &'a Table,
}

fn keys_of(kind: CourseKind) -> &'static [Key] {
    match kind {
        CourseKind::Find => &FIND,
        CourseKind::Evolve => &EVOLVE,
    }
}

fn table_of(kind: CourseKind, node: &Node) -> Result<&Table, Fault> {
    let what = format!("`{}`", kind.name());
    node.table(&what, &format!("[{}]", kind.name()))
}

impl<'a> Course<'a> {
    fn of(kind: CourseKind, node: &'a Node) -> Result<Self, Fault> {
        Ok(Self { kind, node, table: table_of(kind, node)? })
    }

    fn example(&self) -> &'static str {
        match self.kind {
            CourseKind::Find => {
                "find = { player = \"genetic\", parameter = \"move_time\", from = \"1ms\", to = \"1s\" }"
            }
            CourseKind::Evolve => {
                "evolve = { player = \"evolved\", population = 25, generations = 50 }"
            }
        }
    }

    fn value(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key).map(|entry| &entry.value)
    }

    fn required(&self, key: &str) -> Result<&'a Node, Fault> {
        self.value(key).ok_or_else(|| {
            let problem = format!("`{}` has no `{key}`", self.kind.name());
            Fault::at(&self.node.place, problem, format!("write, for example, {}", self.example()))
        })
    }

    fn text(&self, key: &str) -> Result<&'a str, Fault> {
        self.required(key)?.text(&format!("`{key}`"), self.example())
    }

    /// A whole number in a range.
    fn whole(&self, key: &str, default: i64, min: i64, max: i64) -> Result<u64, Fault> {
        let Some(node) = self.value(key) else { return Ok(default.unsigned_abs()) };
        let number = node.integer(&format!("`{key}`"), &format!("{key} = {default}"))?;
        if (min..=max).contains(&number) {
            return Ok(number.unsigned_abs());
        }
        let problem = format!("`{key}` cannot be {number}");
        Err(Fault::at(&node.place, problem, format!("choose {min} to {max}")))
    }

    /// The player that it decides about.
    fn subject(&self, players: &Players, pairing: &Pairing) -> Result<usize, Fault> {
        let node = self.required("player")?;
        let name = self.text("player")?;
        let &[subject] = &*players.named(name, &node.place)? else {
            let problem = format!("`{name}` is several players");
            let remedy = "make what it varies an axis: each value gets a run of its own";
            return Err(Fault::at(&node.place, problem, remedy));
        };
        if self.kind == CourseKind::Evolve && pairing.pairs == [(subject, subject)] {
            return Ok(subject);
        }
        let other = pairing.pairs.iter().find(|(a, b)| (*a == subject) == (*b == subject));
        if let Some(&(a, b)) = other {
            let [a, b] = [a, b].map(|variant| &players.variants[variant].name);
            return Err(Fault::at(
                &node.place,
                match a == b {
                    true => format!("`{a}` would meet itself"),
                    false => format!("`{a}` and `{b}` meet, of whom `{name}` is neither"),
                },
                format!("write pairing = {{ gauntlet = \"{name}\" }}, with others to meet"),
            ));
        }
        Ok(subject)
    }

    /// What the player says of the parameters that are decided.
    fn stands_for(&self) -> Result<Vec<Entry>, Fault> {
        if self.kind == CourseKind::Evolve {
            return Ok(vec![self.formula_that_stands_for_any()?]);
        }
        let parameter = self.required("parameter")?;
        Ok(vec![Entry {
            key: self.text("parameter")?.to_owned(),
            key_place: parameter.place.clone(),
            value: self.required("from")?.clone(),
        }])
    }

    fn find(&self, rules: &Rules, player: &Parameters) -> Result<FindSettings, Fault> {
        let log = word(self.table, "scale", &[("log", true), ("linear", false)])?.unwrap_or(true);
        let [from, to] = [self.required("from")?, self.required("to")?];
        let place = &self.required("parameter")?.place;
        let parameter = led(rules, player, (self.text("parameter")?, place), [from, to], log)?;
        Ok(FindSettings {
            parameter,
            steps: self.whole("steps", FIND_STEPS, 1, STEPS_MAX)?,
            at_once: self.whole("at_once", FIND_AT_ONCE, 1, AT_ONCE_MAX)?,
        })
    }
}

/// A parameter with the ends of what is tried of it, of a player that has one of them.
fn led(
    rules: &Rules,
    player: &Parameters,
    (name, place): (&str, &Span),
    ends: [&Node; 2],
    log: bool,
) -> Result<LedParameter, Fault> {
    let microseconds = format!("{name}_us");
    let (key, unit) = match (player.get(name), player.get(&microseconds)) {
        (Some(Value::Integer(_)), _) => (name.to_owned(), Unit::Whole),
        (Some(Value::Number(_)), _) => (name.to_owned(), Unit::Real),
        (_, Some(Value::Integer(_))) => (microseconds, Unit::Microseconds),
        _ => {
            let problem = format!("`{name}` is not a number or a duration");
            let remedy = "name a parameter such as \"move_time\", \"nodes\" or \"depth\"";
            return Err(Fault::at(place, problem, remedy));
        }
    };
    let number = |node: &Node| -> Result<f64, Fault> {
        match (&node.tree, unit) {
            (Tree::Scalar(Scalar::Integer(integer)), Unit::Whole | Unit::Real) => {
                Ok(*integer as f64)
            }
            (Tree::Scalar(Scalar::Number(number)), Unit::Real) => Ok(*number),
            (Tree::Scalar(Scalar::Text(text)), Unit::Microseconds) => {
                parse_duration_us(text).map(|us| us as f64).ok_or_else(|| {
                    node.wrong_type(&format!("`{name}`"), "a duration", "from = \"1ms\"")
                })
            }
            _ => Err(node.wrong_type(
                &format!("an end of `{name}`"),
                match unit {
                    Unit::Whole => "a whole number",
                    Unit::Real => "a number",
                    Unit::Microseconds => "a duration",
                },
                match unit {
                    Unit::Whole => "from = 1, to = 100000",
                    Unit::Real => "from = 0.1, to = 0.9",
                    Unit::Microseconds => "from = \"1ms\", to = \"1s\"",
                },
            )),
        }
    };
    let [low, high] = [number(ends[0])?, number(ends[1])?];
    if low >= high {
        let problem = format!("there is nothing between {} and {}", ends[0], ends[1]);
        return Err(Fault::at(&ends[1].place, problem, "choose a greater end"));
    }
    if log && low <= 0.0 {
        let problem = format!("{} has no logarithm", ends[0]);
        return Err(Fault::at(
            &ends[0].place,
            problem,
            "begin above 0, or write scale = \"linear\"",
        ));
    }
    let parameter = LedParameter { name: name.to_owned(), key, unit, low, high, log };
    // What lies between two good values is good.
    let mut with_end = player.clone();
    with_end.insert(parameter.key.clone(), parameter.value(high));
    Player::from_parameters(rules, &with_end)
        .map_err(|error| Fault::at(&ends[1].place, error.problem, error.remedy))?;
    Ok(parameter)
}

/// What a run comes to at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSize {
    pub(super) cells: u64,
    /// Of evolution: all that are bred.
    pub(super) individuals: u64,
}

impl RunSize {
    pub(super) fn of(run: &PlannedRun) -> Self {
        let individuals = match &run.settings {
            RunSettings::Find(_) => 0,
            RunSettings::Evolve(it) => {
                it.generations.saturating_mul(it.breeding.population as u64)
            }
        };
        Self { cells: run.trials(), individuals }
    }
}

impl CourseInFile {
    /// Refuses more runs, or more of what all of them do together, than anybody holds.
    pub(super) fn check_size(&self, runs: &[RunSize]) -> Result<(), Fault> {
        let name = self.kind.name();
        let all = runs.len();
        let sum = |of: fn(&RunSize) -> u64| runs.iter().map(of).fold(0, u64::saturating_add);
        let bounds = match self.kind {
            CourseKind::Find => [(sum(|it| it.cells), STEPS_MAX.unsigned_abs(), "steps"); 2],
            CourseKind::Evolve => [
                (sum(|it| it.cells), CELLS_MAX, "cells"),
                (sum(|it| it.individuals), INDIVIDUALS_MAX, "individuals"),
            ],
        };
        let (problem, remedy) = if all > RUNS_MAX {
            let remedy = format!("sweep fewer values, or pair fewer players: at most {RUNS_MAX}");
            (format!("`{name}` would have {all} runs"), remedy)
        } else if let Some((there, max, what)) = bounds.into_iter().find(|it| it.0 > it.1) {
            let remedy = format!("choose fewer: at most {max} in all");
            (format!("the {all} runs of `{name}` would have {there} {what}"), remedy)
        } else {
            return Ok(());
        };
        Err(Fault::at(&self.node.place, problem, remedy))
    }

    /// How many runs there are of the same at a point.
    pub(super) fn runs_each(&self, axes: &[Axis], point: &[u32]) -> Result<u64, Fault> {
        match self.kind {
            CourseKind::Find => Ok(1),
            CourseKind::Evolve => {
                Course::of(self.kind, &substitute(&self.node, axes, point))?.runs()
            }
        }
    }

    /// Whether a run meets all opponents, and not each opponent has a run of its own.
    pub(super) fn meets_all(&self) -> bool {
        match self.kind {
            CourseKind::Find => false,
            CourseKind::Evolve => true,
        }
    }

    /// What the run at a point does, whose subject is this player there.
    pub(super) fn settings(
        &self,
        axes: &[Axis],
        point: &[u32],
        rules: &Rules,
        player: &Parameters,
    ) -> Result<RunSettings, Fault> {
        let node = substitute(&self.node, axes, point);
        let course = Course::of(self.kind, &node)?;
        match self.kind {
            CourseKind::Find => course.find(rules, player).map(RunSettings::Find),
            CourseKind::Evolve => course
                .evolve(rules, player, self.meets_itself)
                .map(|settings| RunSettings::Evolve(Box::new(settings))),
        }
    }
}
