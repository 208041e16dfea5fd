//! How games were played, for people and for programs: lengths, endings, workers and machines.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use spelrum_answers::{CellGames, CpuQuota, ExperimentSummary, GetOverview, Overview, WorkerShare};
use spelrum_model::labels::Label;

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::Form;
use crate::answers::TableAnswer;
use crate::document::TitledTable;
use crate::text::{Column, count, duration_us, optional, percent};

pub(crate) const LENGTHS: TableEntry = TableEntry::new(
    "lengths",
    "How long games are",
    &View {
        parts: |overview| parts((!is_empty(overview)).then(|| lengths(overview))),
        rows: length_rows,
    },
)
.in_json("lengths");

pub(crate) const TERMINATIONS: TableEntry = TableEntry::new(
    "terminations",
    "How games end",
    &View {
        parts: |overview| parts((!is_empty(overview)).then(|| terminations(overview))),
        rows: termination_rows,
    },
)
.in_json("terminations");

pub(crate) const WORKERS: TableEntry = TableEntry::new(
    "workers",
    "Workers and builds of the results: machines, games and times",
    &View {
        parts: |overview| parts((!is_empty(overview)).then(|| workers(overview))),
        rows: worker_rows,
    },
)
.with_choices()
.in_json("workers");

impl TableAnswer for Overview {
    type Question = GetOverview;
    const ACTION: &'static str = "read how games were played in";

    fn experiment(&self) -> &ExperimentSummary {
        &self.experiment
    }

    fn words_if_empty(&self) -> Option<&'static str> {
        (self.cells.is_empty() && self.workers.is_empty()).then_some("no games")
    }
}

/// Characters of a commit that suffice to identify it.
const COMMIT_CHARACTERS: usize = 7;

/// Joins labels, such as `site=lab2, gpu`.
fn labels_text(labels: &[Label]) -> String {
    labels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn is_empty(overview: &Overview) -> bool {
    overview.cells.is_empty() && overview.workers.is_empty()
}

fn length_columns(overview: &Overview) -> Columns<'_, &CellGames> {
    let plies = |cell: &CellGames, hundredths| cell.lengths.quantile(hundredths);
    Columns::<&CellGames>::new()
        .cell(&overview.axes, |cell| cell)
        .column("games", "games", Form::Count, |cell| cell.lengths.games())
        .column("plies_mean", "mean", Form::Decimals(1), |cell| cell.lengths.mean())
        .column("plies_shortest", "shortest", Form::Digits, move |cell| plies(cell, 0))
        .column("plies_p25", "25%", Form::Digits, move |cell| plies(cell, 25))
        .column("plies_median", "median", Form::Digits, move |cell| plies(cell, 50))
        .column("plies_p75", "75%", Form::Digits, move |cell| plies(cell, 75))
        .column("plies_longest", "longest", Form::Digits, move |cell| plies(cell, 100))
}

pub(crate) fn length_rows(overview: &Overview) -> Rows<'_> {
    Rows::new(&overview.axes, length_columns(overview), overview.cells.iter().collect())
}

fn lengths(overview: &Overview) -> TitledTable {
    let note = "In plies after the opening; 25%, median, 75%: as many of the games are no longer.";
    let table = length_columns(overview).table(LENGTHS.name, "How long games are", &overview.cells);
    table.with_notes(vec![note.to_owned()])
}

/// A cell, a termination, and the games that it ended.
type Ended<'a> = (&'a CellGames, &'a str, u64);

fn termination_columns(overview: &Overview) -> Columns<'_, Ended<'_>> {
    Columns::<Ended<'_>>::new()
        .cell(&overview.axes, |(cell, ..)| cell)
        .column("termination", "ended by", Form::Words, |(_, termination, _)| termination)
        .shown_as(|(_, termination, _)| termination_words(termination))
        .column("games", "games", Form::Count, |(.., games)| games)
        .column("share", "share", Form::Percent, |(cell, _, games)| {
            games as f64 / cell.lengths.games() as f64
        })
}

fn ended(overview: &Overview) -> Vec<Ended<'_>> {
    let by_cell = overview.cells.iter().flat_map(|cell| {
        cell.terminations.iter().map(move |(termination, games)| (cell, &**termination, *games))
    });
    by_cell.collect()
}

pub(crate) fn termination_rows(overview: &Overview) -> Rows<'_> {
    Rows::new(&overview.axes, termination_columns(overview), ended(overview))
}

fn terminations(overview: &Overview) -> TitledTable {
    termination_columns(overview).table(TERMINATIONS.name, "How games end", ended(overview))
}

/// Returns each worker's share and machine; null where it does not report them.
pub(crate) fn worker_rows(overview: &Overview) -> Rows<'_> {
    fn reported(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    let columns = Columns::<&WorkerShare>::new()
        .key("worker_id", |share| share.worker.0)
        .key("worker", |share| &share.name)
        .key("host", |share| &share.host)
        .key("slots", |share| share.slots)
        .key("engine_revision", |share| share.engine_revision)
        .key("version", |share| &share.version)
        .key("cpu_model", |share| reported(&share.machine.cpu_model))
        .key("logical_cores", |share| share.machine.logical_cores)
        .key("operating_system", |share| reported(&share.machine.operating_system))
        .key("build_commit", |share| reported(&share.machine.build_commit))
        .key("build_profile", |share| reported(&share.machine.build_profile))
        .key("cores", |share| reported(&share.machine.cores))
        .key("quiet_slots", |share| share.machine.quiet_slots)
        .key("cpu_quota", |share| share.machine.cpu_quota.map(CpuQuota::cpus))
        .key("cpu_quota_period_us", |share| share.machine.cpu_quota.map(|quota| quota.period_us))
        .key("labels", |share| {
            let labels = &share.machine.labels;
            (!labels.is_empty()).then(|| labels_text(labels))
        })
        .key("games", |share| share.games)
        .key("plies", |share| share.plies)
        .key("wall_us", |share| share.wall_us);
    Rows::without_places(columns, overview.workers.iter().collect())
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

fn workers(overview: &Overview) -> TitledTable {
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

fn notes_on_workers(overview: &Overview, starts: u64, rows: u64) -> Vec<String> {
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
    use spelrum_answers::{ExperimentSummary, Lengths, Machine};
    use spelrum_model::ExperimentState;
    use spelrum_model::{CellId, ExperimentId, WorkerId};

    use super::*;
    use crate::answers::Answers;
    use crate::tables::text;

    pub(crate) fn overview(workers: Vec<WorkerShare>) -> Overview {
        let cell = |id: i64| {
            let mut games = CellGames {
                cell: CellId(id),
                axes: vec![Some("10".to_owned()), Some(id.to_string())],
                player: "alphabeta".to_owned(),
                opponent: "genetic".to_owned(),
                lengths: Lengths::default(),
                terminations: BTreeMap::new(),
            };
            games.add(9, "five_by_placement", 1_250);
            games.add(13, "five_by_rotation", 1_200);
            games.add(32, "board_full", 50);
            games
        };
        Overview {
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

    fn shown(overview: &Overview) -> String {
        let mut out = Vec::new();
        let answers = Answers::default().with(overview.clone());
        let tables = [LENGTHS, TERMINATIONS, WORKERS].into_iter();
        let page = tables.flat_map(|table| table.source.parts(&answers).unwrap()).collect();
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
        let json = |rows: Rows<'_>| serde_json::to_value(rows).unwrap();
        let workers = json(worker_rows(&overview));
        assert_eq!(workers[0]["cpu_model"], "A Processor");
        assert_eq!(workers[1]["cpu_model"], serde_json::Value::Null);
        let lengths = json(length_rows(&overview));
        assert_eq!(lengths[0]["plies_median"], 9);
        assert_eq!(lengths[1]["plies_longest"], 32);
        let terminations = json(termination_rows(&overview));
        assert_eq!(terminations[0]["termination"], "board_full");
        assert_eq!(terminations[0]["share"], 0.02);
    }
}
