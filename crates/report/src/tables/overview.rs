//! How games were played, for people and for programs: lengths, endings, workers and machines.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::{CellGames, CpuQuota, WorkerShare};
use spelrum_model::Role;
use spelrum_model::labels::Label;

use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use super::worker_effects;
use crate::document::TitledTable;
use crate::text::{Column, count, duration_us, optional, percent};

pub(crate) const LENGTHS: TableEntry = TableEntry::new(
    "lengths",
    "How long games are",
    Source::Overview(View {
        parts: |overview| parts((!is_empty(overview)).then(|| lengths(overview))),
        rows: |overview| {
            let Overview { experiment, axes, lengths, .. } = &Overview::from(overview);
            rows(experiment, axes, lengths)
        },
    }),
);

pub(crate) const TERMINATIONS: TableEntry = TableEntry::new(
    "terminations",
    "How games end",
    Source::Overview(View {
        parts: |overview| parts((!is_empty(overview)).then(|| terminations(overview))),
        rows: |overview| {
            let Overview { experiment, axes, terminations, .. } = &Overview::from(overview);
            rows(experiment, axes, terminations)
        },
    }),
);

pub(crate) const WORKERS: TableEntry = TableEntry::new(
    "workers",
    "Workers and builds of the results: machines, games and times",
    Source::Overview(View {
        parts: |overview| parts((!is_empty(overview)).then(|| workers(overview))),
        rows: |overview| {
            let Overview { experiment, axes, workers, .. } = &Overview::from(overview);
            rows(experiment, axes, workers)
        },
    }),
)
.with_choices();

/// Characters of a commit that suffice to identify it.
const COMMIT_CHARACTERS: usize = 7;

/// Overview of how an experiment's games were played. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct Overview<'a> {
    #[serde(skip)]
    pub(crate) experiment: &'a str,
    #[serde(skip)]
    pub(crate) axes: &'a [String],
    pub(crate) lengths: Vec<Lengths<'a>>,
    pub(crate) terminations: Vec<Termination<'a>>,
    pub(crate) workers: Vec<Worker<'a>>,
    pub(crate) worker_effects: Vec<worker_effects::Row<'a>>,
}

/// Lengths of a cell's games.
#[derive(Debug, Serialize)]
pub(crate) struct Lengths<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    games: u64,
    plies_mean: Option<f64>,
    plies_shortest: Option<u32>,
    plies_p25: Option<u32>,
    plies_median: Option<u32>,
    plies_p75: Option<u32>,
    plies_longest: Option<u32>,
}

/// Number of a cell's games with one ending.
#[derive(Debug, Serialize)]
pub(crate) struct Termination<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    termination: &'a str,
    games: u64,
    share: f64,
}

/// A worker's share and machine; null where it does not report them.
#[derive(Debug, Serialize)]
pub(crate) struct Worker<'a> {
    worker_id: i64,
    worker: &'a str,
    host: &'a str,
    slots: u32,
    engine_revision: u32,
    version: &'a str,
    cpu_model: Option<&'a str>,
    logical_cores: Option<u32>,
    operating_system: Option<&'a str>,
    build_commit: Option<&'a str>,
    build_profile: Option<&'a str>,
    cores: Option<&'a str>,
    quiet_slots: Option<u32>,
    cpu_quota: Option<f64>,
    cpu_quota_period_us: Option<u64>,
    labels: Option<String>,
    games: u64,
    plies: u64,
    wall_us: f64,
}

impl<'a> From<&'a results::Overview> for Overview<'a> {
    fn from(overview: &'a results::Overview) -> Self {
        let terminations = overview.cells.iter().flat_map(|cell| {
            let all = cell.lengths.games();
            cell.terminations.iter().map(move |(termination, games)| Termination {
                cell_id: cell.cell.0,
                axes: &cell.axes,
                player: &cell.player,
                opponent: &cell.opponent,
                termination,
                games: *games,
                share: *games as f64 / all as f64,
            })
        });
        Self {
            experiment: &overview.experiment.name,
            axes: &overview.axes,
            lengths: overview.cells.iter().map(Into::into).collect(),
            terminations: terminations.collect(),
            workers: overview.workers.iter().map(Into::into).collect(),
            worker_effects: worker_effects::rows(overview),
        }
    }
}

impl<'a> From<&'a CellGames> for Lengths<'a> {
    fn from(cell: &'a CellGames) -> Self {
        let [plies_shortest, plies_p25, plies_median, plies_p75, plies_longest] =
            [0, 25, 50, 75, 100].map(|hundredths| cell.lengths.quantile(hundredths));
        Self {
            cell_id: cell.cell.0,
            axes: &cell.axes,
            player: &cell.player,
            opponent: &cell.opponent,
            games: cell.lengths.games(),
            plies_mean: cell.lengths.mean(),
            plies_shortest,
            plies_p25,
            plies_median,
            plies_p75,
            plies_longest,
        }
    }
}

impl<'a> From<&'a WorkerShare> for Worker<'a> {
    fn from(share: &'a WorkerShare) -> Self {
        let non_empty = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        Self {
            worker_id: share.worker.0,
            worker: &share.name,
            host: &share.host,
            slots: share.slots,
            engine_revision: share.engine_revision,
            version: &share.version,
            cpu_model: non_empty(&share.machine.cpu_model),
            logical_cores: share.machine.logical_cores,
            operating_system: non_empty(&share.machine.operating_system),
            build_commit: non_empty(&share.machine.build_commit),
            build_profile: non_empty(&share.machine.build_profile),
            cores: non_empty(&share.machine.cores),
            quiet_slots: share.machine.quiet_slots,
            cpu_quota: share.machine.cpu_quota.map(CpuQuota::cpus),
            cpu_quota_period_us: share.machine.cpu_quota.map(|quota| quota.period_us),
            labels: (!share.machine.labels.is_empty()).then(|| labels(&share.machine.labels)),
            games: share.games,
            plies: share.plies,
            wall_us: share.wall_us,
        }
    }
}

/// Joins labels, such as `site=lab2, gpu`.
fn labels(labels: &[Label]) -> String {
    labels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn is_empty(overview: &results::Overview) -> bool {
    overview.cells.is_empty() && overview.workers.is_empty()
}

/// Returns the places of the grid's axes. Parameters that players vary are in their names already.
fn grid(overview: &results::Overview) -> Vec<usize> {
    (0..overview.axes.len())
        .filter(|&axis| Role::from_axis(&overview.axes[axis]).is_none())
        .collect()
}

/// Returns the columns that identify a cell.
fn columns_of_cells(overview: &results::Overview, grid: &[usize]) -> Vec<Column> {
    let axes = grid.iter().map(|&axis| Column::numbers(&overview.axes[axis]));
    axes.chain(["player", "opponent"].map(Column::words)).collect()
}

/// Returns a cell's place and players.
fn cell_texts(grid: &[usize], cell: &CellGames) -> Vec<String> {
    let place = grid
        .iter()
        .map(|&axis| optional(cell.axes.get(axis).and_then(Option::as_deref), str::to_owned));
    place.chain([cell.player.clone(), cell.opponent.clone()]).collect()
}

fn lengths(overview: &results::Overview) -> TitledTable {
    let grid = grid(overview);
    let mut columns = columns_of_cells(overview, &grid);
    columns.extend(
        ["games", "mean", "shortest", "25%", "median", "75%", "longest"].map(Column::numbers),
    );
    let mut table = TitledTable::new(LENGTHS.name, "How long games are", columns);
    for cell in &overview.cells {
        let plies =
            |hundredths| optional(cell.lengths.quantile(hundredths), |plies| plies.to_string());
        let figures = [count(cell.lengths.games())]
            .into_iter()
            .chain([optional(cell.lengths.mean(), |mean| format!("{mean:.1}"))])
            .chain([0, 25, 50, 75, 100].map(plies));
        table.row(cell_texts(&grid, cell).into_iter().chain(figures));
    }
    let note = "In plies after the opening; 25%, median, 75%: as many of the games are no longer.";
    table.with_notes(vec![note.to_owned()])
}

fn terminations(overview: &results::Overview) -> TitledTable {
    let grid = grid(overview);
    let mut columns = columns_of_cells(overview, &grid);
    columns.extend([Column::words("ended by"), Column::numbers("games"), Column::numbers("share")]);
    let mut table = TitledTable::new(TERMINATIONS.name, "How games end", columns);
    for cell in &overview.cells {
        let all = cell.lengths.games();
        for (termination, games) in &cell.terminations {
            let share = percent(*games as f64 / all as f64);
            let figures = [termination_words(termination), count(*games), share];
            table.row(cell_texts(&grid, cell).into_iter().chain(figures));
        }
    }
    table
}

/// Formats a termination for people.
pub(crate) fn termination_words(termination: &str) -> String {
    termination.replace('_', " ")
}

/// Total of identical workers.
#[derive(Debug, Default)]
struct WorkerTotal {
    workers: u64,
    games: u64,
    wall_us: f64,
}

fn workers(overview: &results::Overview) -> TitledTable {
    let columns = vec![
        Column::words("worker"),
        Column::words("processor"),
        Column::numbers("cores"),
        Column::words("build"),
        Column::numbers("games"),
        Column::numbers("time"),
        Column::numbers("share"),
    ];
    let mut table = TitledTable::new(WORKERS.name, "Workers and builds of the results", columns);
    // A restarted worker has a new id, but the same machine.
    let mut alike: IndexMap<_, WorkerTotal> = IndexMap::new();
    for share in &overview.workers {
        let cores = share.machine.logical_cores;
        let processor = text_or_dash(&share.machine.cpu_model);
        let row = (worker_name(share), processor, cores, build(share));
        let sum = alike.entry(row).or_default();
        sum.workers += 1;
        sum.games += share.games;
        sum.wall_us += share.wall_us;
    }
    let all_us: f64 = overview.workers.iter().map(|share| share.wall_us).sum();
    for ((name, processor, cores, build), sum) in &alike {
        table.row([
            name.clone(),
            processor.clone(),
            optional(*cores, |cores| count(cores.into())),
            build.clone(),
            count(sum.games),
            duration_us(sum.wall_us),
            optional((all_us > 0.0).then(|| sum.wall_us / all_us), percent),
        ]);
    }
    let starts: u64 = alike.values().map(|sum| sum.workers).sum();
    table.with_notes(notes_on_workers(overview, starts, alike.len() as u64))
}

/// Returns its name, with its host's if that differs.
fn worker_name(share: &WorkerShare) -> String {
    match share.name == share.host {
        true => share.name.clone(),
        false => format!("{} on {}", share.name, share.host),
    }
}

fn text_or_dash(text: &str) -> String {
    optional(Some(text).filter(|text| !text.is_empty()), str::to_owned)
}

/// Returns the version, with the commit if known; `release` is left out.
pub(crate) fn build(share: &WorkerShare) -> String {
    let commit: String = share.machine.build_commit.chars().take(COMMIT_CHARACTERS).collect();
    let profile = Some(&*share.machine.build_profile).filter(|profile| *profile != "release");
    let words = [&*share.version, &*commit].into_iter().chain(profile);
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn notes_on_workers(overview: &results::Overview, starts: u64, rows: u64) -> Vec<String> {
    let revisions: BTreeSet<u32> =
        overview.workers.iter().map(|share| share.engine_revision).collect();
    let revisions: Vec<String> = revisions.iter().map(ToString::to_string).collect();
    let mut notes = vec![
        "Time: of the games that count, by the workers' clocks, over all their slots.".to_owned(),
        format!("Build: version and commit; engine revision {}.", revisions.join(", ")),
    ];
    if starts > rows {
        notes.push(format!("They were started {} times.", count(starts)));
    }
    let (models, builds) = (overview.cpu_models(), overview.builds());
    if models > 1 {
        notes.push(format!(
            "Games of {} models of processors are mixed: times of moves are of all of them.",
            count(models as u64),
        ));
    }
    if builds > 1 {
        notes.push(format!("Games of {} builds are mixed.", count(builds as u64)));
    }
    if overview.workers.iter().any(|share| share.machine.build_profile == "debug") {
        notes.push("A debug build plays the same games, and takes much longer.".to_owned());
    }
    let mut systems: BTreeMap<&str, u64> = BTreeMap::new();
    for share in overview.workers.iter().filter(|share| !share.machine.operating_system.is_empty())
    {
        *systems.entry(&share.machine.operating_system).or_default() += share.games;
    }
    notes.extend(systems.iter().map(|(system, games)| match systems.len() {
        1 => format!("System: {system}."),
        _ => format!("System: {system}: {} games.", count(*games)),
    }));
    notes
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{ExperimentSummary, Machine};
    use spelrum_model::ExperimentState;
    use spelrum_model::{CellId, ExperimentId, WorkerId};

    use super::*;
    use crate::answers::Answers;
    use crate::tables::{registry, text};

    pub(crate) fn overview(workers: Vec<WorkerShare>) -> results::Overview {
        let cell = |id: i64| {
            let mut games = CellGames {
                cell: CellId(id),
                axes: vec![Some("10".to_owned()), Some(id.to_string())],
                player: "alphabeta".to_owned(),
                opponent: "genetic".to_owned(),
                lengths: results::Lengths::default(),
                terminations: BTreeMap::new(),
            };
            games.add(9, "five_by_placement", 1_250);
            games.add(13, "five_by_rotation", 1_200);
            games.add(32, "board_full", 50);
            games
        };
        results::Overview {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
                name: "pentago-depth".to_owned(),
                game: "pentago".to_owned(),
                task: spelrum_model::Task::Game,
                state: ExperimentState::Finished,
                priority: 0,
                cells: 2,
                games_planned: 5_000,
                games_settled: 5_000,
                games_failed: 0,
                submitted_unix_us: 0,
            },
            axes: vec!["player.nodes".to_owned(), "depth".to_owned()],
            workers,
            worker_effects: Vec::new(),
            cells: vec![cell(1), cell(2)],
        }
    }

    pub(crate) fn worker(id: i64, host: &str, cpu_model: &str, profile: &str) -> WorkerShare {
        WorkerShare {
            worker: WorkerId(id),
            name: host.to_owned(),
            host: host.to_owned(),
            slots: 4,
            engine_revision: 2,
            version: "0.1.0".to_owned(),
            machine: Machine {
                cpu_model: cpu_model.to_owned(),
                logical_cores: Some(16),
                operating_system: "Some System 12, x86_64".to_owned(),
                build_commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
                build_profile: profile.to_owned(),
                ..Machine::default()
            },
            games: 1_250,
            plies: 13_000,
            wall_us: 7.5e9,
        }
    }

    /// A worker whose system reports nothing about its machine.
    pub(crate) fn of_unknown_machine() -> WorkerShare {
        let share = worker(4, "rack-4", "", "");
        WorkerShare { name: "old".to_owned(), machine: Machine::default(), ..share }
    }

    fn shown(overview: &results::Overview) -> String {
        let mut out = Vec::new();
        let answers = Answers { overview: Some(overview.clone()), ..Answers::default() };
        let page = registry::page(&LENGTHS, &answers).unwrap();
        text::document(&overview.experiment, page).write_text(&mut out).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn how_games_were_played_is_readable_in_100_columns() {
        let model = "Vendor(R) 8375C CPU @ 2.90GHz";
        let mixed = vec![
            worker(1, "rack-1", model, "release"),
            worker(2, "rack-1", model, "release"),
            worker(3, "rack-2", "Another 7763 64-Core Processor", "debug"),
            of_unknown_machine(),
        ];
        let text = shown(&overview(mixed));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
        let alike = shown(&overview(vec![worker(1, "rack-1", model, "release")]));
        assert!(!alike.contains("mixed") && !alike.contains("started"), "{alike}");
    }

    #[test]
    fn programs_get_what_workers_said_and_null() {
        let overview =
            overview(vec![worker(1, "rack-1", "A Processor", "release"), of_unknown_machine()]);
        let json = serde_json::to_value(Overview::from(&overview)).unwrap();
        assert_eq!(json["workers"][0]["cpu_model"], "A Processor");
        assert_eq!(json["workers"][1]["cpu_model"], serde_json::Value::Null);
        assert_eq!(json["lengths"][0]["plies_median"], 9);
        assert_eq!(json["lengths"][1]["plies_longest"], 32);
        assert_eq!(json["terminations"][0]["termination"], "board_full");
        assert_eq!(json["terminations"][0]["share"], 0.02);
    }
}
