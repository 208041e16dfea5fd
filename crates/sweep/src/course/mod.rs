//! Tables such as `find`: the results of an experiment's cells decide which it gets next. Each kind of course
//! has its own file.
//!
//! The table names the player that the course decides about. At each point of the grid it becomes the
//! [`RunSettings`] of a run; there the player has a placeholder for the value to be decided.

mod evolve;
mod find;
mod race;
mod tune;

use spelrum_engine::{EXTERNAL_ALGORITHMS, Parameters, Rules, parameters_of};
use spelrum_model::Task;
use spelrum_model::course::{CourseKind, OPTIONS, RunSettings, option_named};
use spelrum_toml::{Entry, Fault, Node, Table, Tree};

use super::axes::Axis;
use super::key::{self, Keys};
use super::keys::course::evolve::{CELLS_MAX, EVOLVE, INDIVIDUALS_MAX};
use super::keys::course::find::FIND;
use super::keys::course::race::RACE;
use super::keys::course::tune::TUNE;
use super::keys::course::{RUNS_MAX, STEPS_MAX};
use super::merge;
use super::pairing::Pairing;
use super::players::Players;
use super::template::substitute;

/// The course of a sweep, parsed. Parts that may name axes are still trees.
#[derive(Debug)]
pub(super) struct CourseInFile {
    pub(super) kind: CourseKind,
    /// Its table.
    pub(super) node: Node,
    /// The player that it decides about, by its place among the variants; for a race, the first of its players.
    pub(super) subject: usize,
    /// The players of a race, by their places among the variants, with their names.
    racers: Vec<(usize, String)>,
    /// Whether that player meets only itself.
    pub(super) meets_itself: bool,
    /// Placeholders in its player for the decided parameters.
    pub(super) stands_for: Vec<Entry>,
    /// Number of games in the cells that confirm the result; 0 without such cells.
    pub(super) confirm: u64,
    /// Whether its games come in pairs with swapped sides.
    swap_sides: bool,
    /// What ends games before the game's own rules do, if set: such a game has no margin.
    cut_off_by: Option<&'static str>,
}

/// Keys that a sweep with a course cannot have, each with the reason.
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
    let course = CourseKind::ALL.into_iter().find_map(|kind| Some((kind, root.get(kind.name())?)));
    let Some((kind, entry)) = course else { return Ok(None) };
    let name = kind.name();
    if task != Task::Game {
        let problem = format!("an accuracy experiment cannot have `{name}`");
        return Err(Fault::at(&entry.key_place, problem, "remove one of them"));
    }
    for (key, remedy) in NOT_WITH_A_COURSE {
        let is_of_found = kind == CourseKind::Find && matches!(key, "claims" | "error_rate");
        if let Some(there) = root.get(key).filter(|_| !is_of_found) {
            let problem = format!("a sweep with `{name}` has no `{key}`");
            return Err(Fault::at(&there.key_place, problem, remedy));
        }
    }
    let table = Course { kind, node: &entry.value, table: course_table(kind, &entry.value)? };
    key::check(table.table, &format!("`{name}`"), course_keys(kind))?;
    // Individuals that meet opponents all have the same side then.
    if !swap_sides && kind != CourseKind::Evolve {
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
    let racers = match kind {
        CourseKind::Race => table.racers(players, pairing)?,
        CourseKind::Find | CourseKind::Tune | CourseKind::Evolve => Vec::new(),
    };
    let subject = match racers.first() {
        Some(&first) => first,
        None => table.subject(players, pairing)?,
    };
    let name_of = |racer: usize| (racer, players.variants[racer].name.clone());
    let racers = racers.into_iter().map(name_of).collect();
    let stands_for = match kind {
        CourseKind::Find => table.stands_for()?,
        // Its player sets where it begins.
        CourseKind::Tune | CourseKind::Race => Vec::new(),
        CourseKind::Evolve => vec![table.formula_that_stands_for_any()?],
    };
    let player = players.template(subject);
    for Entry { key, key_place, .. } in &stands_for {
        if is_no_parameter(&player.parameters, key) {
            let problem = format!("`{key}` is not a parameter of `{}`", player.name);
            return Err(Fault::at(key_place, problem, OPTION_REMEDY));
        }
        if let Some(assigned) = assigned(&player.parameters, key) {
            let problem = format!("`{key}` of `{}` is what `{name}` decides", player.name);
            return Err(Fault::at(&assigned.key_place, problem, "remove it from the player"));
        }
    }
    let meets_itself = pairing.pairs.contains(&(subject, subject));
    let confirm = match kind {
        CourseKind::Find | CourseKind::Evolve | CourseKind::Race => 0,
        CourseKind::Tune => table.confirm()?,
    };
    let is_limited = |node: &Node| !matches!(node.text("", ""), Ok("unlimited"));
    let limited =
        root.get("max_plies").filter(|entry| is_limited(&entry.value)).map(|_| "max_plies");
    let cut_off_by = root.get("adjudication").map(|_| "adjudication").or(limited);
    let node = entry.value.clone();
    Ok(Some(CourseInFile {
        kind,
        node,
        subject,
        racers,
        meets_itself,
        stands_for,
        confirm,
        swap_sides,
        cut_off_by,
    }))
}

/// The remedy where the name of an engine's option is not written as one.
const OPTION_REMEDY: &str =
    "an option of its engine is named with `options` before it, such as options.\"Skill Level\"";

/// Whether the name is neither a parameter of a player that is external nor an option.
fn is_no_parameter(parameters: &Table, name: &str) -> bool {
    let algorithm = parameters.get("algorithm").and_then(|entry| entry.value.text("", "").ok());
    algorithm.is_some_and(|algorithm| {
        EXTERNAL_ALGORITHMS.contains(&algorithm)
            && option_named(name).is_none()
            && (name == OPTIONS || parameters_of(algorithm).iter().all(|known| known.name != name))
    })
}

/// The entry of a player that sets a parameter or an engine's option.
fn assigned<'p>(parameters: &'p Table, name: &str) -> Option<&'p Entry> {
    let Some(option) = option_named(name) else { return parameters.get(name) };
    let Tree::Table(options) = &parameters.get(OPTIONS)?.value.tree else { return None };
    options.entries.iter().find(|entry| entry.key.eq_ignore_ascii_case(option))
}

/// The table of a course.
struct Course<'a> {
    kind: CourseKind,
    node: &'a Node,
    table: &'a Table,
}

fn course_keys(kind: CourseKind) -> Keys {
    match kind {
        CourseKind::Find => FIND,
        CourseKind::Tune => TUNE,
        CourseKind::Evolve => EVOLVE,
        CourseKind::Race => RACE,
    }
}

fn course_table(kind: CourseKind, node: &Node) -> Result<&Table, Fault> {
    let label = format!("`{}`", kind.name());
    node.table(&label, &format!("[{}]", kind.name()))
}

impl<'a> Course<'a> {
    fn new(kind: CourseKind, node: &'a Node) -> Result<Self, Fault> {
        Ok(Self { kind, node, table: course_table(kind, node)? })
    }

    fn example(&self) -> &'static str {
        match self.kind {
            CourseKind::Find => find::EXAMPLE,
            CourseKind::Tune => tune::EXAMPLE,
            CourseKind::Evolve => evolve::EXAMPLE,
            CourseKind::Race => race::EXAMPLE,
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

    /// The player that the course decides about.
    fn subject(&self, players: &Players, pairing: &Pairing) -> Result<usize, Fault> {
        let node = self.required("player")?;
        let name = self.text("player")?;
        let &[subject] = &*players.named(name, &node.place)? else {
            let problem = format!("`{name}` is several players");
            let remedy = "make what it varies an axis: each value gets a run of its own";
            return Err(Fault::at(&node.place, problem, remedy));
        };
        if self.kind != CourseKind::Find && pairing.pairs == [(subject, subject)] {
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
                match self.kind {
                    CourseKind::Find => {
                        format!("write pairing = {{ gauntlet = \"{name}\" }}, with others to meet")
                    }
                    CourseKind::Tune | CourseKind::Evolve | CourseKind::Race => format!(
                        "write pairing = {{ gauntlet = \"{name}\" }}, with others to meet, or \
                         pairing = {{ pairs = [[\"{name}\", \"{name}\"]] }}"
                    ),
                },
            ));
        }
        Ok(subject)
    }
}

impl CourseInFile {
    /// Refuses too many runs, or too much total work of them, to hold. `runs` are their settings, each with
    /// the number of opponents.
    pub(super) fn check_size<'r>(
        &self,
        runs: impl ExactSizeIterator<Item = (&'r RunSettings, u64)>,
    ) -> Result<(), Fault> {
        let (name, number) = (self.kind.name(), runs.len());
        if number > RUNS_MAX {
            let problem = format!("`{name}` would have {number} runs");
            let remedy = format!("sweep fewer values, or pair fewer players: at most {RUNS_MAX}");
            return Err(Fault::at(&self.node.place, problem, remedy));
        }
        let (mut cells, mut individuals) = (0_u64, 0_u64);
        for (settings, meetings) in runs {
            cells = cells.saturating_add(settings.cells_at_most(meetings));
            individuals = individuals.saturating_add(settings.individuals());
        }
        let (noun, cells_max, fewer) = match self.kind {
            CourseKind::Find => ("steps", STEPS_MAX, "choose fewer"),
            CourseKind::Tune => ("cells", STEPS_MAX, "choose fewer steps, or meet fewer players"),
            CourseKind::Evolve => {
                ("cells", CELLS_MAX, "choose fewer runs, generations or individuals")
            }
            CourseKind::Race => {
                ("cells", CELLS_MAX, "choose fewer rounds with more games, or fewer players")
            }
        };
        let all = [(cells, cells_max, noun), (individuals, INDIVIDUALS_MAX, "individuals")];
        match all.into_iter().find(|(there, max, _)| there > max) {
            None => Ok(()),
            Some((count, max, noun)) => {
                let problem = format!("the {number} runs of `{name}` would have {count} {noun}");
                let remedy = format!("{fewer}: at most {max} in all");
                Err(Fault::at(&self.node.place, problem, remedy))
            }
        }
    }

    /// The position, in a cell of these players, of the one that the course decides about.
    pub(super) fn position(&self, names: (usize, usize)) -> usize {
        let is_racer = |variant| self.racers.iter().any(|&(racer, _)| racer == variant);
        usize::from(names.0 != self.subject && !is_racer(names.0))
    }

    /// Its table at a point.
    fn node_at(&self, axes: &[Axis], point: &[u32]) -> Result<Node, Fault> {
        let used = merge::axes_of_course(&self.node, axes)?;
        Ok(substitute(&merge::merge_course(&self.node, &used, axes, point), axes, point))
    }

    /// Number of identical runs at a point.
    pub(super) fn runs_each(&self, axes: &[Axis], point: &[u32]) -> Result<u64, Fault> {
        match self.kind {
            CourseKind::Find | CourseKind::Tune | CourseKind::Race => Ok(1),
            CourseKind::Evolve => Course::new(self.kind, &self.node_at(axes, point)?)?.runs_each(),
        }
    }

    /// Settings of the run at a point, whose subject is this player there.
    pub(super) fn settings(
        &self,
        axes: &[Axis],
        point: &[u32],
        rules: &Rules,
        player: &Parameters,
    ) -> Result<RunSettings, Fault> {
        let node = self.node_at(axes, point)?;
        let course = Course::new(self.kind, &node)?;
        key::check(course.table, &format!("`{}`", self.kind.name()), course_keys(self.kind))?;
        match self.kind {
            CourseKind::Find => course.find(rules, player).map(RunSettings::Find),
            CourseKind::Tune => {
                let tune = course.tune(rules, player, self.meets_itself)?;
                Ok(RunSettings::Tune(Box::new(tune)))
            }
            CourseKind::Evolve => course
                .evolve(rules, player, (self.meets_itself, self.swap_sides), self.cut_off_by)
                .map(|settings| RunSettings::Evolve(Box::new(settings))),
            CourseKind::Race => {
                let names = self.racers.iter().map(|(_, name)| name.clone());
                course.race(names.collect()).map(RunSettings::Race)
            }
        }
    }
}
