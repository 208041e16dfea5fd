//! A small sweep, and games that look like played ones.

use spelrum_engine::games::Pentago;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::LazyLock;

use std::path::PathBuf;

use spelrum_answers::{CpuQuota, Machine};
use spelrum_engine::network::{DistanceErrors, Epoch, Run, SideErrors, SquareErrors};
use spelrum_engine::{
    EndedBy, GameRecord, MoveRecord, Outcome, Parameters, Remarks, SearchDetails, SearchReport,
    Side, Termination, Value, termination_named,
};
use spelrum_model::claims::{Claim, ClaimedCell, Statement};
use spelrum_model::engines::{EngineIdentity, Forfeit};
use spelrum_model::labels::WantedLabel;
use spelrum_model::placement::Placement;
use spelrum_model::{
    AxisValue, CellDefinition, CellId, ExperimentSettings, FinishedTraining, GameId, OpeningsRule,
    Plan, PlannedCell, PlayedGame, Role, SchedulingSettings, Task, TrainedNetwork, WorkerId,
};
use spelrum_statistics::claims::{About, Bound, Quantifier};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{GameFacts, Readers, SqlValue, Submitted, Sweep, WorkerIntroduction, Writer};
use tempfile::TempDir;

/// A claim that `gm` scores above 0.4 in these cells of a plan.
pub(crate) fn claim(text: &str, cells: impl IntoIterator<Item = usize>, player: Role) -> Claim {
    Claim {
        text: text.to_owned(),
        statement: Statement {
            player: "gm".to_owned(),
            opponent: None,
            at: vec![("depth".to_owned(), vec!["1".to_owned()])],
            about: About::Score(Bound::Above(0.4)),
            than: None,
            over: None,
            quantifier: Quantifier::Every,
            error_rate: 0.05,
        },
        cells: cells.into_iter().map(|cell| ClaimedCell { cell, player }).collect(),
    }
}

/// A database with one experiment of two cells and one worker.
pub(crate) struct Store {
    pub(crate) directory: TempDir,
    pub(crate) writer: Writer,
    pub(crate) worker: WorkerId,
    pub(crate) submitted: Submitted,
}

impl Store {
    pub(crate) async fn new() -> Self {
        Self::with(&plan("small")).await
    }

    pub(crate) async fn with(plan: &Plan) -> Self {
        Self::with_text(plan, "text").await
    }

    /// With the text that the plan is of.
    pub(crate) async fn with_text(plan: &Plan, toml: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&directory.path().join("results.db")).await.unwrap();
        let mut transaction = writer.begin().await.unwrap();
        let submitted = transaction.submit(sweep("uuid-1", toml, plan)).await.unwrap();
        let worker = transaction.introduce(&introduction("worker-1")).await.unwrap();
        transaction.commit().await.unwrap();
        Self { directory, writer, worker, submitted }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.writer.path().to_owned()
    }

    pub(crate) fn cell(&self, index: usize) -> CellId {
        self.submitted.cells[index].cell
    }

    pub(crate) async fn store(&mut self, games: &[PlayedGame]) {
        let mut transaction = self.writer.begin().await.unwrap();
        transaction.store_games(&of_worker(self.worker, games)).await.unwrap();
        transaction.commit().await.unwrap();
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Vec<SqlValue>> {
        rows(&self.writer.readers(), sql).await
    }

    /// The one integer that a query gives.
    pub(crate) async fn integer(&self, sql: &str) -> i64 {
        match &*self.rows(sql).await {
            [row] => match **row {
                [SqlValue::Integer(number)] => number,
                ref other => panic!("{sql}: {other:?}"),
            },
            other => panic!("{sql}: {other:?}"),
        }
    }

    /// The first column of a query, as texts.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        self.rows(sql).await.iter().map(|row| text(&row[0])).collect()
    }

    pub(crate) async fn assert_recount(&self) {
        let differences = self.writer.readers().recount().await.unwrap();
        let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        let compared = self.writer.readers().compare_digests().unwrap();
        assert!(compared.changed.is_empty(), "{}", compared.changed.join("\n"));
        // What is disappearing step by step is not compared, and the count does not know it.
        let disappearing = "SELECT (SELECT count(*) FROM removals WHERE what = 'everything')
            + (SELECT count(*) FROM exclusions WHERE done_unix_us IS NULL)";
        if self.integer(disappearing).await == 0 {
            // Taking games out again changes the last bits of sums of times, which the hashes of openings that occur
            // once do not forgive: SQL recounts them.
            let is_rounded = self.integer("SELECT count(*) FROM exclusions").await > 0;
            let is_exact = |table: &&str| !(is_rounded && *table == "cell_openings");
            let mut exact = SUMS.into_iter().filter(is_exact);
            let unconfirmed = exact.find(|table| !compared.has_confirmed(table));
            assert_eq!(unconfirmed, None);
        }
    }
}

/// The tables whose sums are counted along with the comparison of digests.
pub(crate) const SUMS: [&str; 8] = [
    "game_sides",
    "game_depths",
    "cell_depths",
    "cell_move_times",
    "cell_results",
    "cell_openings",
    "worker_results",
    "games",
];

pub(crate) async fn rows(readers: &Readers, sql: &str) -> Vec<Vec<SqlValue>> {
    let table =
        readers.query(sql, 1_000_000).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(!table.truncated);
    table.rows
}

/// A sweep as it is submitted.
pub(crate) fn sweep<'s>(uuid: &'s str, toml: &'s str, plan: &'s Plan) -> Sweep<'s> {
    static FILES: LazyLock<BTreeMap<String, String>> =
        LazyLock::new(|| BTreeMap::from([("book.txt".to_owned(), "# no position".to_owned())]));
    Sweep { uuid, toml, files: &FILES, plan, new_experiment: false, fills: None }
}

/// A value for people.
pub(crate) fn text(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => "NULL".to_owned(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => number.to_string(),
        SqlValue::Text(text) => text.clone(),
        SqlValue::Blob(bytes) => format!("{bytes:?}"),
    }
}

pub(crate) fn introduction(uuid: &str) -> WorkerIntroduction {
    WorkerIntroduction {
        uuid: uuid.to_owned(),
        name: format!("name of {uuid}"),
        host: "host".to_owned(),
        slots: 2,
        engine_revision: 1,
        version: "0.1.0".to_owned(),
        memory_bytes: None,
        engines: std::sync::Arc::default(),
        built: Arc::default(),
        trains: false,
        verifies: false,
        machine: Machine {
            cores: "2 cores".to_owned(),
            // Workers of all kinds.
            quiet_slots: [Some(1), Some(0), None][uuid.bytes().map(usize::from).sum::<usize>() % 3],
            cpu_quota: CpuQuota::new(150_000, 100_000),
            ..Machine::default()
        },
        credential: None,
    }
}

pub(crate) fn parameters(values: &[(&str, Value)]) -> Parameters {
    values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

pub(crate) fn alpha_beta(depth: i64) -> Parameters {
    parameters(&[
        ("algorithm", Value::Text("alpha-beta".to_owned())),
        ("depth", Value::Integer(depth)),
        ("shuffle", Value::Bool(true)),
    ])
}

pub(crate) fn genetic(depth: i64) -> Parameters {
    parameters(&[
        ("algorithm", Value::Text("genetic-minimax".to_owned())),
        ("depth", Value::Integer(depth)),
        ("mutation", Value::Number(0.25)),
    ])
}

pub(crate) fn timed(move_time_us: i64) -> Parameters {
    let mut player = alpha_beta(9);
    player.insert("move_time_us".to_owned(), Value::Integer(move_time_us));
    player
}

/// Evaluates positions by a network.
pub(crate) fn networked(depth: i64) -> Parameters {
    let recipe = [
        ("ending", Value::Text("KRK".to_owned())),
        ("hidden", Value::List(vec![Value::Integer(2)])),
        ("inputs", Value::Text("coordinates".to_owned())),
    ];
    let mut player = alpha_beta(depth);
    player.insert("evaluation".to_owned(), Value::Text("network".to_owned()));
    player.insert("network".to_owned(), Value::Table(parameters(&recipe)));
    player
}

/// What looks like what came of a training.
pub(crate) fn trained(cell: CellId) -> FinishedTraining {
    FinishedTraining {
        task: GameId { cell, number: 0 },
        engine_revision: 1,
        sha256: [7; 32],
        started_unix_us: 1_700_000_000_000_000,
        wall_us: 2_000_000,
        trained: Some(TrainedNetwork {
            bytes: [1; 32].into_iter().chain([7; 32]).collect(),
            runs: vec![Run {
                network: 0,
                positions: 47_219,
                examples: 1_000,
                validation: 500,
                best_epoch: 1,
                validation_error: 2.5,
                constant_error: 6.25,
            }],
            epochs: (1..=2)
                .map(|epoch| Epoch {
                    network: 0,
                    epoch,
                    training_error: 3.0,
                    validation_error: 2.5 * f64::from(epoch),
                })
                .collect(),
            sides: vec![SideErrors {
                network: 0,
                to_move: Side::Second,
                positions: 250,
                mean_plies: 21.5,
                spread: 6.0,
                error: 2.0,
            }],
            distances: vec![DistanceErrors {
                network: 0,
                plies: 4,
                positions: 9,
                error: 1.5,
                nearer: -0.5,
            }],
            squares: vec![SquareErrors { network: 0, square: 63, positions: 30, error: 3.5 }],
        }),
    }
}

/// An external engine, with these parameters beside those that it has in any case.
pub(crate) fn fish(more: &[(&str, Value)]) -> Parameters {
    let mut player = parameters(&[
        ("algorithm", Value::Text("uci".to_owned())),
        ("engine", Value::Text("fish".to_owned())),
        ("margin_us", Value::Integer(50_000)),
        ("reproducible", Value::Bool(false)),
    ]);
    player.extend(parameters(more));
    player
}

/// What such a program says of itself: of equal `variety` it is the same.
pub(crate) fn identity(variety: u8) -> EngineIdentity {
    EngineIdentity {
        name: if variety == 0 { String::new() } else { format!("Fish {variety}") },
        author: "\"somebody's\"".to_owned(),
        sha256: [variety; 32],
    }
}

/// The same game, played by external engines on these sides, who say how long they took.
pub(crate) fn with_engines(
    game: PlayedGame,
    engines: [Option<u8>; 2],
    forfeit: Option<&str>,
) -> PlayedGame {
    let forfeit = forfeit.map(|message| Forfeit {
        message: message.to_owned(),
        output: format!("> go depth 3\n< {message}\n"),
    });
    let mut game = game.with_engines(engines.map(|number| number.map(identity)), forfeit);
    for mv in &mut game.record.moves {
        let says = engines[usize::from(mv.mover)].filter(|_| mv.search.score.is_some());
        mv.search.told_us = says.map(|variety| u64::from(variety) + mv.wall_us);
        mv.remarks = says.map(|variety| {
            let note = if variety == 0 { "" } else { "\"why\":\nit wins" };
            let millionths = 1_000_000 - u32::from(variety);
            let distribution = [(mv.mv.clone(), millionths)].into();
            let details = SearchDetails {
                seldepth: (variety > 0).then(|| variety.into()),
                hashfull: Some(u32::from(variety)),
                tbhits: (variety > 1).then_some(7),
                pv: if variety == 2 { String::new() } else { format!("{} b2", mv.mv) },
            };
            let (note, refused) = (note.to_owned(), variety.into());
            Box::new(Remarks { note, distribution, refused, details })
        });
    }
    game
}

/// The same, lost by a crash if it was forfeited.
pub(crate) fn crashed(mut game: PlayedGame) -> PlayedGame {
    if game.forfeit.is_some() {
        game.record.termination = Termination::CRASH;
    }
    game
}

/// An external engine.
pub(crate) fn engine(name: &str) -> Parameters {
    parameters(&[
        ("algorithm", Value::Text("gtp".to_owned())),
        ("depth", Value::Integer(3)),
        ("engine", Value::Text(name.to_owned())),
    ])
}

/// A cell under the fixture's conditions, added to a plan that has its seed.
pub(crate) fn add_cell<'p>(
    plan: &'p mut Plan,
    names: [&str; 2],
    players: [Parameters; 2],
    depth: i64,
    games: u64,
) -> &'p mut PlannedCell {
    add_cell_of(plan, true, names, players, depth, games)
}

/// The same, where the players swap sides or not.
pub(crate) fn add_cell_of<'p>(
    plan: &'p mut Plan,
    swap_sides: bool,
    names: [&str; 2],
    players: [Parameters; 2],
    depth: i64,
    games: u64,
) -> &'p mut PlannedCell {
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let number = Some(depth as f64);
    let definition = CellDefinition {
        format: 1,
        seed: plan.seed,
        rules: Pentago::rules(true),
        openings: OpeningsRule::Random { plies: 2 },
        max_plies: Some(40),
        adjudication: None,
        swap_sides,
        task: Task::Game,
        players: players.map(std::sync::Arc::new),
    };
    let depth = AxisValue { number, text: depth.to_string() };
    plan.add_cell(&definition, names, &[("depth", depth)], games)
}

/// A plan without cells.
pub(crate) fn empty_plan(name: &str) -> Plan {
    Plan {
        name: name.to_owned(),
        game: "pentago".to_owned(),
        seed: 7,
        settings: ExperimentSettings {
            description: "what it asks".to_owned(),
            scheduling: SchedulingSettings { priority: 3, ..SchedulingSettings::default() },
            ..ExperimentSettings::default()
        },
        ..Plan::default()
    }
}

/// Alpha-beta against genetic minimax at depth 1 and 2, 20 games each.
pub(crate) fn plan(name: &str) -> Plan {
    let mut plan = empty_plan(name);
    for depth in 1..=2 {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 20);
    }
    plan
}

/// A game that looks like a played one. Of equal `variety` it is the same but for its number.
pub(crate) fn game(cell: CellId, number: u64, variety: u64) -> PlayedGame {
    let plies = 2 + variety % 5;
    let moves = (0..plies)
        .map(|ply| {
            let forced = (variety + ply) % 4 == 3;
            let search = SearchReport {
                depth: if forced { 0 } else { u32::try_from(variety % 3).unwrap() + 1 },
                nodes: if forced { 0 } else { 1000 * (ply + 1) + variety },
                evaluations: if forced { 0 } else { 900 * (ply + 1) },
                full_tree_leaves: if forced { 0 } else { 40_000 },
                score: variety.is_multiple_of(2).then_some(-5),
                ended_by: if forced { EndedBy::OnlyMove } else { EndedBy::Depth },
                told_us: None,
            };
            MoveRecord {
                mover: u8::try_from(ply % 2).unwrap(),
                mv: format!("m{ply}.{variety}"),
                position_key: (1 << 52) + ply + variety,
                legal_moves: if forced { 1 } else { 200 },
                search,
                wall_us: if forced { 1 } else { 100 + 37 * ply * (variety + 1) },
                // Of some the machine took time.
                cpu_us: match (forced, variety % 5) {
                    (true, _) => 1,
                    (false, 4) => (90 + 37 * ply * (variety + 1)) / 3,
                    (false, _) => 90 + 37 * ply * (variety + 1),
                },
                involuntary_switches: (!variety.is_multiple_of(3)).then_some(ply * variety),
                remarks: None,
            }
        })
        .collect();
    PlayedGame {
        game: GameId { cell, number },
        engine_revision: 1,
        opening: format!("opening {}", number / 2 % 3),
        record: GameRecord {
            first_side: Side::First,
            outcome: match variety % 3 {
                0 => Outcome::Win,
                1 => Outcome::Draw,
                _ => Outcome::Loss,
            },
            // One game in four has none, as if a fault had ended it.
            margin: (variety % 4 != 3).then(|| {
                let ahead = 1 + i32::try_from(variety % 7).unwrap();
                [ahead, 0, -ahead][usize::try_from(variety % 3).unwrap()]
            }),
            termination: termination("five_by_placement"),
            moves,
            wall_us: 5000 + variety,
        },
        moves_hash: (1 << 52) + variety,
        values: Vec::new(),
        engines: [None, None],
        forfeit: None,
        scaled: None,
        started_unix_us: 1_700_000_000_000_000 + i64::try_from(number).unwrap(),
    }
}

/// The termination of this name.
pub(crate) fn termination(name: &str) -> Termination {
    termination_named(name).unwrap_or_else(|| panic!("no game ends by {name}"))
}

/// Games with the worker that reports them.
pub(crate) fn of_worker(worker: WorkerId, games: &[PlayedGame]) -> Vec<(WorkerId, PlayedGame)> {
    games.iter().map(|game| (worker, game.clone())).collect()
}

/// Numbers with a fraction, to nine digits: two ways of summing up need not end in the same bit.
pub(crate) fn rounded(text: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_of_number(c)).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        out.push_str(before);
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') => out.push_str(&format!("{value:.8e}")),
            _ => out.push_str(number),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What a sweep of so many cells asks of workers.
pub(crate) fn placement_of(cells: usize) -> Placement {
    let label = |text| WantedLabel::parse(text).unwrap();
    match cells % 3 {
        0 => Placement {
            require: vec![label("site=a")],
            prefer: vec![label("gpu")],
            speed_min: Some(1_000_000),
            ..Placement::default()
        },
        1 => Placement {
            prefer: vec![label("site")],
            noise_max_permille: Some(50),
            quota_period_max_permille: Some(200),
            ..Placement::default()
        },
        _ => Placement::default(),
    }
}

/// Facts that say that a lease was granted, and not when, which differs from store to store.
pub(crate) fn without_grant_times(facts: Vec<GameFacts>) -> Vec<GameFacts> {
    let without = |facts: GameFacts| {
        let granted_unix_us = facts.granted_unix_us.map(|at| i64::from(at > 0));
        GameFacts { granted_unix_us, ..facts }
    };
    facts.into_iter().map(without).collect()
}
