//! The keys of a sweep file, checked one by one.

use std::sync::Arc;

use spelrum_engine::parse_duration_us;
use spelrum_model::builds::Builds;
use spelrum_model::labels::WantedLabel;
use spelrum_model::{ExperimentSettings, SchedulingSettings, Task};
use spelrum_statistics::StopRule;
use spelrum_toml::{Fault, Node, Span, Table, Tree};

use crate::accuracy;
use crate::adjudication::{self, AdjudicationInFile};
use crate::axes::{self, Axis};
use crate::builds;
use crate::claim_keys::Results;
use crate::claims::{self, ClaimInFile};
use crate::course::{self, CourseInFile};
use crate::fields::{check_name, number_of_games, texts};
use crate::files::Files;
use crate::key;
use crate::keys::{
    ALLOCATE, ANY_BUILD, CHOICES, DESCRIPTION, FORFEITS_MAX, FORFEITS_STOP, GAMES_AT_ONCE, KIND,
    MAX_PLIES, MEASURES_TIME, MONOTONE, PRIORITY, RECORD, REPLICATES, SWAP_SIDES, SWEEP,
};
use crate::overrides::{self, Override};
use crate::pairing::{self, Pairing};
use crate::placement;
use crate::players::{self, Players};
use crate::sample::{self, Sample};
use crate::stop;
use crate::timing;

/// A parsed sweep file. Parts that may name axes are still trees.
#[derive(Debug)]
pub(super) struct SweepFile {
    pub(super) name: String,
    pub(super) settings: ExperimentSettings,
    /// The task of its cells.
    pub(super) task: Task,
    /// Absent: [`DEFAULT_SEED`](super::limits::DEFAULT_SEED).
    pub(super) seed: Option<Node>,
    /// Whether players swap sides, so that games come in pairs.
    pub(super) swap_sides: bool,
    /// Games, or choices, per cell: at least 1, and even if sides are swapped.
    pub(super) games: u64,
    pub(super) games_place: Span,
    /// Absent: every cell gets all its games.
    pub(super) stop: Option<StopRule>,
    pub(super) game: Node,
    /// Where games start, or players choose. Absent: the start position.
    pub(super) openings: Option<Node>,
    /// Files that the openings may name.
    pub(super) files: Arc<Files>,
    pub(super) max_plies: Option<u32>,
    pub(super) adjudication: Option<AdjudicationInFile>,
    /// Whether the sweep asks for times, so that every cell is timed.
    pub(super) measures_time: bool,
    pub(super) axes: Vec<Axis>,
    /// Absent: the whole grid.
    pub(super) sample: Option<Sample>,
    pub(super) players: Players,
    /// Whether engines may be rebuilt and play on in the same cells.
    pub(super) any_build: bool,
    /// The builds of engines. Absent: the sweep names none.
    pub(super) builds: Option<Builds>,
    pub(super) pairing: Pairing,
    /// Absent: the grid's cells are all there are.
    pub(super) course: Option<CourseInFile>,
    /// In the file's order.
    pub(super) overrides: Vec<Override>,
    /// In the file's order.
    pub(super) claims: Vec<ClaimInFile>,
}

/// The longest time limit of a game: 10,000 hours.
const GAME_TIMEOUT_US_MAX: u64 = 10_000 * 3_600 * 1_000_000;

/// Reads the file's keys; `files` came with it.
pub(super) fn read(root: &Table, files: Arc<Files>) -> Result<SweepFile, Fault> {
    key::check(root, "the sweep", SWEEP)?;
    let name = read_name(required(root, "name", "name = \"my-sweep\"")?)?;
    let game = required(root, "game", "game = \"pentago\"")?.clone();
    let task = KIND.read(root)?;
    accuracy::check_keys(root, task)?;
    let swap_sides = task == Task::Game && SWAP_SIDES.read(root)?;
    let (games, openings) = match task {
        Task::Game => (required(root, "games", "games = 100")?, root.value("openings")),
        Task::Choice => {
            let example = "positions = { kind = \"random\", plies = [20, 24, 28] }";
            let positions = required(root, "positions", example)?;
            (required(root, "choices", "choices = 1000")?, Some(positions))
        }
    };
    let mut players = players::read(required(root, "players", "[players.alphabeta]")?)?;
    let axes = root.value("axes").map_or(Ok(Vec::new()), axes::read)?;
    let pairing = match task {
        Task::Game => pairing::read(root.value("pairing"), root.value("anchors"), &players)?,
        Task::Choice => {
            let example = "[reference] and below it algorithm = \"exact\"";
            accuracy::add_reference(&mut players, required(root, "reference", example)?)?
        }
    };
    let overrides = match root.value("override") {
        Some(node) => overrides::read(node, &axes, &players, swap_sides)?,
        None => Vec::new(),
    };
    if task == Task::Choice {
        accuracy::check_overrides(&overrides)?;
    }
    let course = course::read(root, task, swap_sides, &axes, &players, &pairing)?;
    let replicates = replicates(root, &axes)?;
    let claims = claims::read(
        root,
        &axes,
        &players,
        match (task, &course) {
            (Task::Choice, _) => Results::Choices,
            (Task::Game, Some(_)) => Results::Values,
            (Task::Game, None) => Results::Games,
        },
        replicates.as_deref(),
    )?;
    let adjudication = root.value("adjudication").map(adjudication::read).transpose()?;
    let placement = root.value("placement").map(placement::read).transpose()?;
    let mut placement = placement.unwrap_or_default();
    if let Some(rule) = adjudication.as_ref().and_then(|adjudication| adjudication.rule.syzygy) {
        // Only a worker with the tables plays these games.
        placement.require.push(WantedLabel::syzygy(rule.pieces));
        placement.require.sort_unstable();
        placement.require.dedup();
    }
    Ok(SweepFile {
        name,
        course,
        task,
        seed: root.value("seed").cloned(),
        swap_sides,
        games: match task {
            Task::Game => number_of_games(games, swap_sides)?,
            Task::Choice => CHOICES.parse(games)?,
        },
        games_place: games.place.clone(),
        stop: root.value("stop").map(stop::read).transpose()?,
        game,
        openings: openings.cloned(),
        files,
        max_plies: match task {
            Task::Game => MAX_PLIES.read(root)?,
            // The chosen move gets no answer.
            Task::Choice => Some(1),
        },
        adjudication,
        measures_time: MEASURES_TIME.read(root)?,
        settings: ExperimentSettings {
            description: DESCRIPTION.optional(root)?.unwrap_or_default(),
            record: RECORD.read(root)?,
            scheduling: SchedulingSettings {
                priority: PRIORITY.read(root)?,
                games_at_once: GAMES_AT_ONCE.read(root)?,
                allocation: ALLOCATE.read(root)?,
            },
            game_timeout_us: game_timeout_us(root.value("game_timeout"))?,
            forfeits_max: forfeits_max(root)?,
            timing: root.value("timing").map(timing::read).transpose()?.unwrap_or_default(),
            placement,
            replicates,
            monotone: monotone(root, &axes)?,
        },
        sample: root.value("sample").map(|node| sample::read(node, &axes)).transpose()?,
        overrides,
        claims,
        any_build: ANY_BUILD.read(root)?,
        builds: root.value("builds").map(builds::read).transpose()?,
        axes,
        pairing,
        players,
    })
}

fn required<'a>(root: &'a Table, key: &str, example: &str) -> Result<&'a Node, Fault> {
    root.required(key, example).map(|entry| &entry.value)
}

/// The name also names the database file.
fn read_name(node: &Node) -> Result<String, Fault> {
    let name = node.text("`name`", "name = \"my-sweep\"")?;
    check_name("an experiment", name, &node.place)?;
    Ok(name.to_owned())
}

/// Maximum length of a game before it fails: in whole milliseconds, as sent over the wire.
fn game_timeout_us(node: Option<&Node>) -> Result<Option<u64>, Fault> {
    let Some(node) = node else { return Ok(None) };
    let text = node.text("`game_timeout`", "game_timeout = \"10m\", or \"unlimited\"")?;
    if text == "unlimited" {
        return Ok(None);
    }
    match parse_long_duration_us(text) {
        None => Err(Fault::at(
            &node.place,
            format!("`game_timeout` cannot be \"{text}\""),
            "write a number and ms, s, m or h, such as \"10m\"; or \"unlimited\"",
        )),
        Some(us) if us % 1_000 != 0 || !(1_000..=GAME_TIMEOUT_US_MAX).contains(&us) => {
            Err(Fault::at(
                &node.place,
                format!("a game cannot be given up after {text}"),
                "choose whole milliseconds from \"1ms\" to \"10000h\", or \"unlimited\"",
            ))
        }
        Some(us) => Ok(Some(us)),
    }
}

/// The axis whose values are replicates.
fn replicates(root: &Table, axes: &[Axis]) -> Result<Option<String>, Fault> {
    let Some(node) = root.value(REPLICATES.name) else { return Ok(None) };
    let (name, place) = (REPLICATES.parse(node)?, &node.place);
    match axes.iter().any(|axis| axis.name == name) {
        true => Ok(Some(name)),
        false => Err(Fault::at(
            place,
            format!("`replicates` names \"{name}\", which is not an axis"),
            "name an axis of seeds, such as replicates = \"seed\" with seed = [1, 2, 3] in [axes]",
        )),
    }
}

/// The axes along which scores only rise or only fall.
fn monotone(root: &Table, axes: &[Axis]) -> Result<Vec<String>, Fault> {
    let Some(node) = root.value(MONOTONE.name) else { return Ok(Vec::new()) };
    let example = "monotone = \"nodes\"";
    let names = match &node.tree {
        Tree::Scalar(_) => vec![(node.text("`monotone`", example)?, &node.place)],
        Tree::Array(_) | Tree::Table(_) => texts(node, "`monotone`", example)?,
    };
    let columns: Vec<String> = axes
        .iter()
        .enumerate()
        .flat_map(|(index, axis)| axis.columns(index))
        .map(|column| column.name)
        .collect();
    let known = |(name, place): (&str, &Span)| {
        if columns.iter().any(|column| column == name) {
            return Ok(name.to_owned());
        }
        let remedy = match &columns[..] {
            [] => "add [axes] with its values, or remove `monotone`".to_owned(),
            columns => format!("the axes are {}", columns.join(", ")),
        };
        Err(Fault::at(place, format!("`monotone` names \"{name}\", which is not an axis"), remedy))
    };
    names.into_iter().map(known).collect()
}

/// Number of forfeits of one player that pauses the experiment, if any.
fn forfeits_max(root: &Table) -> Result<Option<u64>, Fault> {
    match root.get(FORFEITS_MAX.name) {
        _ if FORFEITS_STOP.read(root)? => FORFEITS_MAX.read(root).map(Some),
        None => Ok(None),
        Some(entry) => Err(Fault::at(
            &entry.key_place,
            "forfeits are losses here, however many there are",
            "add forfeits = \"stop\", or remove `forfeits_max`",
        )),
    }
}

/// Parses durations of whole games, whose units moves do not need.
fn parse_long_duration_us(text: &str) -> Option<u64> {
    let (number, seconds) = match (text.strip_suffix('m'), text.strip_suffix('h')) {
        (Some(minutes), _) => (minutes, 60),
        (_, Some(hours)) => (hours, 3_600),
        (None, None) => return parse_duration_us(text),
    };
    let number = number.trim_end();
    // Any other ending of a number is another unit.
    number.ends_with(|last: char| last.is_ascii_digit()).then_some(())?;
    parse_duration_us(&format!("{number}s"))?.checked_mul(seconds)
}
