//! External engines: which one played is kept with each game, and how one lost it; and whether a game that
//! they play must come out the same again.

use std::ops::ControlFlow;

use crate::twin::InMemory;
use spelrum_answers::{
    Detail, EnginesUsed, FoundGame, GamesFilter, GamesOf, GamesOrder, GamesQuestion, MixedCell,
    Report, SettledGame, UsedEngine, WhichGame,
};
use spelrum_engine::{
    ALGORITHMS, Answer, EXTERNAL_ALGORITHMS, EndedBy, ExternalPlayer, Fault, Host, SearchReport,
    TextTurn, Timeless, parameters_of, replay_moves,
};
use spelrum_model::engines::Forfeit;
use spelrum_model::{CellId, GameId, OpeningsCache, Plan, PlayableCell, PlayedGame, Record};
use spelrum_store::contract::{Store as _, WriteTransaction};
use spelrum_store::{Removed, Removing, SqlValue, Writer};
use spelrum_sweep::{SweepText, plan_sweep};

use crate::fixture::{
    Store, game, identity, introduction, of_worker, plan, rows, sweep, text, with_engines,
};

/// Five programs and a player of ours, each against one that is ours.
const SWEEP: &str = r#"name = "engines"
game = "chess"
games = 4
max_plies = 12
pairing = { pairs = [
    ["ours", "opponent"], ["timed", "opponent"], ["shallow", "opponent"], ["sure", "opponent"],
    ["clocked", "opponent"], ["hurried", "opponent"],
] }

[players.ours]
algorithm = "random"

[players.timed]
algorithm = "alpha-beta"
evaluation = "material"
iterative = true
move_time = "10ms"

[players.shallow]
algorithm = "uci"
engine = "fish"
depth = 1

[players.sure]
algorithm = "uci"
engine = "fish"
depth = 1
reproducible = true

[players.clocked]
algorithm = "uci"
engine = "fish"
depth = 1
clock = "10s+100ms"

[players.hurried]
algorithm = "uci"
engine = "fish"
move_time = "10ms"

[players.opponent]
algorithm = "random"
"#;

/// Which of them play the same again.
const DETERMINISTIC: [(&str, bool); 6] = [
    ("ours", true),
    ("timed", false),
    ("shallow", false),
    ("sure", true),
    ("clocked", false),
    ("hurried", false),
];

fn engines_plan() -> Plan {
    planned(SWEEP)
}

fn planned(text: &str) -> Plan {
    plan_sweep(&SweepText::new("engines.toml", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Invariant 2: what a cell's players say, what the database makes of their parameters, and what the store in
/// memory does, agree.
#[tokio::test]
async fn all_agree_on_what_must_come_out_the_same_again() {
    let plan = engines_plan();
    let mut store = Store::with(&plan).await;
    let mut memory = InMemory::new();
    let mut transaction = memory.begin().await.unwrap();
    let submitted = transaction.submit(sweep("uuid-1", "text", &plan)).await.unwrap();
    let worker = transaction.introduce(&introduction("worker-1")).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(plan.cells.len(), DETERMINISTIC.len());
    for (cell, state) in plan.cells.iter().zip(&submitted.cells) {
        let name = cell.player_names[0].to_string();
        let (_, expected) = DETERMINISTIC.into_iter().find(|(player, _)| *player == name).unwrap();
        let playable = PlayableCell::new(plan.definition(cell)).unwrap();
        assert_eq!(playable.is_deterministic(), expected, "{name}");

        let results = [game(state.cell, 0, 4), game(state.cell, 0, 5)];
        for result in &results {
            store.store(std::slice::from_ref(result)).await;
            let mut transaction = memory.begin().await.unwrap();
            let result = of_worker(worker, std::slice::from_ref(result));
            transaction.store_games(&result).await.unwrap();
            transaction.commit().await.unwrap();
        }
        let reason = if expected { "conflict" } else { "repeat" };
        let asked = format!("SELECT reason FROM uncounted_games WHERE cell_id = {}", state.cell);
        assert_eq!(store.texts(&asked).await, [reason], "{name}");
        assert_eq!(memory.uncounted().last().unwrap().1, reason, "{name}");
    }
}

/// The store's SQL knows such players by that parameter.
#[test]
fn external_players_alone_name_an_engine() {
    let names_engine = |algorithm: &&str| {
        parameters_of(algorithm).iter().any(|parameter| parameter.name == "engine")
    };
    assert!(EXTERNAL_ALGORITHMS.iter().all(names_engine));
    assert!(!ALGORITHMS.iter().any(names_engine));
}

async fn settled(store: &Store, cell: CellId, number: u64) -> SettledGame {
    let which = WhichGame::InCell(GameId { cell, number });
    match store.writer.readers().game(which).await.unwrap() {
        FoundGame::Settled(game) => *game,
        FoundGame::Missing(missing) => panic!("{missing}"),
    }
}

async fn report(writer: &Writer) -> Report {
    writer.readers().report("engines", Detail::Cells).await.unwrap().unwrap()
}

fn cell_of(plan: &Plan, store: &Store, player: &str) -> CellId {
    let index = plan.cells.iter().position(|cell| &*cell.player_names[0] == player).unwrap();
    store.cell(index)
}

const TABLES: [&str; 3] = ["engines", "game_engines", "forfeits"];

async fn counts(store: &Store) -> [i64; 3] {
    let mut counts = [0; 3];
    for (table, count) in TABLES.into_iter().zip(&mut counts) {
        *count = store.integer(&format!("SELECT count(*) FROM {table}")).await;
    }
    counts
}

async fn remove(store: &mut Store, what: Removing) {
    let experiment = store.submitted.experiment;
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_removal(experiment, what, 0).await.unwrap();
    while transaction.remove_some().await.unwrap() == Removed::Some {}
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn games_of_our_players_leave_no_row() {
    let mut store = Store::with(&plan("small")).await;
    let games: Vec<PlayedGame> = (0..6).map(|number| game(store.cell(0), number, number)).collect();
    store.store(&games).await;
    assert_eq!(counts(&store).await, [0; 3]);
    assert_eq!(store.integer("SELECT count(*) FROM moves WHERE told_us IS NOT NULL").await, 0);
    assert_eq!(settled(&store, store.cell(0), 1).await.engines, [None, None]);
    let answer = store.writer.readers().report("small", Detail::Cells).await.unwrap().unwrap();
    assert!(answer.engines.is_empty() && answer.engines.mixed.is_empty());
}

#[tokio::test]
async fn engines_and_forfeits_stay_when_moves_go_and_go_with_their_games() {
    let mut plan = engines_plan();
    plan.settings.record = Record::Full;
    let mut store = Store::with(&plan).await;
    let cell = cell_of(&plan, &store, "shallow");
    let plain = with_engines(game(cell, 0, 4), [Some(1), None], None);
    let lost = with_engines(game(cell, 1, 2), [None, Some(0)], Some("it crashed: \"signal\" 11"));
    store.store(&[plain.clone(), lost.clone()]).await;
    // Again: what is beside the settled results keeps none of it.
    store.store(&[with_engines(game(cell, 1, 2), [None, Some(7)], Some("late"))]).await;
    assert_eq!(counts(&store).await, [2, 2, 1]);
    for played in [&plain, &lost] {
        let game = settled(&store, cell, played.game.number).await;
        assert_eq!(game.engines, played.engines);
        assert_eq!(game.forfeit, played.forfeit);
        assert_eq!(game.moves.as_deref(), Some(&*played.record.moves));
    }
    assert!(plain.record.moves.iter().any(|mv| mv.search.told_us.is_some()));
    assert!(plain.record.moves.iter().any(|mv| mv.search.told_us.is_none()));
    let listed = GamesQuestion {
        scope: GamesOf::Cell(cell),
        filter: GamesFilter::All,
        order: GamesOrder::Number,
    };
    let whole = store.writer.readers().whole_games(listed, None, 5).await.unwrap().games;
    let engines: Vec<_> = whole.iter().map(|game| game.game.engines.clone()).collect();
    assert_eq!(engines, [plain.engines.clone(), lost.engines.clone()]);
    store.assert_recount().await;

    remove(&mut store, Removing::Moves).await;
    assert_eq!(store.integer("SELECT count(*) FROM moves").await, 0);
    assert_eq!(store.integer("SELECT count(*) FROM move_notes").await, 0);
    let settled_game = settled(&store, cell, 1).await;
    assert_eq!(
        (settled_game.moves, settled_game.engines, settled_game.forfeit),
        (None, lost.engines, lost.forfeit)
    );
    // Without moves stored: no time is told of them.
    store.store(&[with_engines(game(cell, 2, 4), [Some(1), None], None)]).await;
    assert_eq!(settled(&store, cell, 2).await.engines, [Some(identity(1)), None]);
    store.assert_recount().await;

    remove(&mut store, Removing::Everything).await;
    assert_eq!(counts(&store).await, [2, 0, 0], "programs stay, as players do");
}

/// Which program played is told by player; a player of a cell that was two is a mixture.
#[tokio::test]
async fn a_player_that_was_several_programs_is_told_of() {
    // One of them demands a build.
    let build = "1be07d43";
    let known = format!("reproducible = true\nbuild = \"{build}\"");
    let plan = planned(&SWEEP.replace("reproducible = true", &known));
    let mut store = Store::with(&plan).await;
    let [shallow, sure] = ["shallow", "sure"].map(|name| cell_of(&plan, &store, name));
    // In odd numbers the other moves first.
    let by = |cell, number: u64, program| {
        let sides =
            if number.is_multiple_of(2) { [Some(program), None] } else { [None, Some(program)] };
        with_engines(game(cell, number, number), sides, None)
    };
    let mut games: Vec<_> =
        (0..4).map(|number| by(shallow, number, 1 + (number / 3) as u8)).collect();
    games.extend((0..3).map(|number| by(sure, number, 2)));
    store.store(&games).await;
    let used = |player: &str, program, games| UsedEngine {
        player: player.to_owned(),
        engine: identity(program),
        build: (player == "sure").then(|| build.to_owned()),
        cells: 1,
        games,
    };
    let engines = report(&store.writer).await.engines;
    let expected = EnginesUsed {
        engines: vec![used("shallow", 1, 3), used("shallow", 2, 1), used("sure", 2, 3)],
        mixed: vec![MixedCell { cell: shallow, player: "shallow".to_owned(), programs: 2 }],
        forfeits: Vec::new(),
    };
    assert_eq!(engines, expected);
    let rows = store
        .rows("SELECT cell_id, player, engine, games FROM engines_used ORDER BY cell_id, engine")
        .await;
    let row = |cell: CellId, player: &str, engine: &str, games| {
        vec![
            SqlValue::Integer(cell.0),
            SqlValue::Text(player.to_owned()),
            SqlValue::Text(engine.to_owned()),
            SqlValue::Integer(games),
        ]
    };
    let expected = [
        row(shallow, "shallow", "Fish 1", 3),
        row(shallow, "shallow", "Fish 2", 1),
        row(sure, "sure", "Fish 2", 3),
    ];
    assert_eq!(rows, expected);
}

/// A program that plays the last legal move, until it does not.
struct Last {
    moves: usize,
    fault: Option<Fault>,
}

impl ExternalPlayer for Last {
    fn choose(&mut self, turn: &TextTurn<'_>, _: &dyn Host) -> Result<Answer<String>, Fault> {
        if let Some(fault) = self.fault.clone().filter(|_| self.moves == 0) {
            return Err(fault);
        }
        self.moves = self.moves.saturating_sub(1);
        let moves = turn.moves.iter().map(|turn| turn.mv.as_str());
        let position = replay_moves(turn.rules, turn.opening, moves).unwrap().pop().unwrap();
        let mv =
            spelrum_engine::legal_moves(turn.rules, &position.position).unwrap().pop().unwrap();
        let search = SearchReport {
            depth: 1,
            nodes: 20,
            evaluations: 0,
            full_tree_leaves: 0,
            score: Some(3),
            ended_by: EndedBy::Depth,
            told_us: Some(77),
        };
        Ok(Answer { mv, search })
    }
}

/// Two real games of each cell that has a program: one to its end, and one that the program loses.
fn played(plan: &Plan, ids: &[CellId]) -> Vec<PlayedGame> {
    let openings = OpeningsCache::default();
    let mut games = Vec::new();
    for (cell, id) in plan.cells.iter().zip(ids) {
        let playable = PlayableCell::with_cache(plan.definition(cell), &openings).unwrap();
        if !playable.has_engines() {
            continue;
        }
        for (number, fault) in [(0, None), (1, Some(Fault::Crash("signal 11".to_owned())))] {
            let derived = playable.derive(number);
            let side =
                playable.players_of(&derived).iter().position(|player| player.external().is_some());
            let side = side.unwrap();
            let forfeit = fault.as_ref().map(|fault| Forfeit {
                message: fault.to_string(),
                output: "> go depth 1\n! oh no\n".to_owned(),
            });
            let mut program = Last { moves: 3, fault };
            let mut outside: [Option<&mut dyn ExternalPlayer>; 2] = [None, None];
            outside[side] = Some(&mut program);
            let record = playable.play_with(&derived, outside, &Timeless).unwrap();
            let mut engines = [None, None];
            engines[side] = Some(identity(3));
            let game = PlayedGame::new(GameId { cell: *id, number }, &derived, record, 1);
            games.push(game.with_engines(engines, forfeit));
        }
    }
    games
}

/// All that is stored of engines, apart from ids.
async fn all_of(writer: &Writer) -> Vec<String> {
    let rows = rows(
        &writer.readers(),
        "SELECT c.number, g.number, x.side, e.name, e.author, e.sha256, f.message, f.output, (
            SELECT group_concat(coalesce(m.told_us, '-')) FROM moves AS m WHERE m.game_id = g.game_id)
        FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
        LEFT JOIN game_engines AS x ON x.game_id = g.game_id
        LEFT JOIN engines AS e ON e.engine_id = x.engine_id
        LEFT JOIN forfeits AS f ON f.game_id = g.game_id ORDER BY 1, 2, 3",
    )
    .await;
    rows.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join("|")).collect()
}

async fn export(store: &Store, name: &str) -> std::path::PathBuf {
    let file = store.directory.path().join(name);
    let (readers, to) = (store.writer.readers(), file.clone());
    let experiment = [store.submitted.experiment];
    tokio::task::spawn_blocking(move || {
        readers.export(&experiment, &to, || ControlFlow::Continue(())).unwrap();
    })
    .await
    .unwrap();
    file
}

async fn import(file: &std::path::Path, directory: &std::path::Path) -> Result<Writer, String> {
    let mut other = Writer::open(&directory.join("other.db")).await.unwrap();
    let imported = other.import(file, false, |_| ControlFlow::Continue(())).await;
    let imported = imported.map_err(|error| format!("{error:?}"));
    imported.map(|_| other)
}

/// Cells that were grown after games had been counted are known as such where they are imported.
#[tokio::test]
async fn an_exported_experiment_brings_the_first_plans_of_its_cells() {
    let mut plan = engines_plan();
    let mut store = Store::with_text(&plan, SWEEP).await;
    let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    store.store(&played(&plan, &ids)).await;
    plan.cells.iter_mut().for_each(|cell| cell.games += 2);
    let mut transaction = store.writer.begin().await.unwrap();
    let longer = SWEEP.replace("games = 4", "games = 6");
    transaction.submit(sweep("uuid-2", &longer, &plan)).await.unwrap();
    transaction.commit().await.unwrap();
    let file = export(&store, "export.db").await;
    let directory = tempfile::tempdir().unwrap();
    let other = import(&file, directory.path()).await.unwrap();
    let plans = "SELECT games_planned_first || ' ' || games_planned FROM cells ORDER BY number";
    let plans_of_other: Vec<_> =
        rows(&other.readers(), plans).await.iter().map(|row| text(&row[0])).collect();
    assert_eq!(plans_of_other, store.texts(plans).await);
    // Two cells have no game that counts.
    assert_eq!(plans_of_other.iter().filter(|plans| *plans == "4 6").count(), 4);
}

/// With moves, and without: what an export brings is what was there.
#[tokio::test]
async fn an_exported_experiment_brings_its_engines() {
    for prune in [false, true] {
        let plan = engines_plan();
        let mut store = Store::with_text(&plan, SWEEP).await;
        let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
        store.store(&played(&plan, &ids)).await;
        if prune {
            remove(&mut store, Removing::Moves).await;
        }
        let file = export(&store, "export.db").await;
        let directory = tempfile::tempdir().unwrap();
        let other = import(&file, directory.path()).await.unwrap();
        let lines = all_of(&other).await;
        assert_eq!(lines, all_of(&store.writer).await);
        assert_eq!(lines.len(), 8);
        assert!(
            lines.iter().any(|line| line.contains("signal 11|> go depth 1\n! oh no\n|")),
            "{lines:?}"
        );
        assert_eq!(lines.iter().any(|line| line.contains("77")), !prune);
        assert_eq!(report(&other).await.engines, report(&store.writer).await.engines);
        let differences = other.readers().recount().await.unwrap();
        assert!(differences.is_empty());
    }
}

/// Nothing of a file is believed: neither that nobody played, nor what cannot be told to people.
#[tokio::test]
async fn a_file_that_tells_of_other_engines_is_refused() {
    for (spoil, expected) in [
        ("DELETE FROM game_engines WHERE game_id = 1", "the program of `fish` is not reported"),
        ("DELETE FROM forfeits", "no forfeit is reported, but it ended by crash"),
        ("INSERT INTO forfeits VALUES (1, 'no', '')", "neither side lost by a fault"),
        (
            "INSERT INTO game_engines SELECT game_id, 1 - side, engine_id FROM game_engines",
            "is not an external engine, but one is reported",
        ),
        ("UPDATE engines SET name = 'a' || char(27)", "spelrum does not write"),
        ("UPDATE engines SET sha256 = 'ab'", "spelrum does not write"),
        ("DELETE FROM engines", "spelrum does not write"),
        ("UPDATE forfeits SET output = char(7)", "spelrum does not write"),
    ] {
        let plan = engines_plan();
        let mut store = Store::with_text(&plan, SWEEP).await;
        let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
        store.store(&played(&plan, &ids)).await;
        let file = export(&store, "export.db").await;
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch(spoil).unwrap();
        drop(connection);
        let directory = tempfile::tempdir().unwrap();
        let refused = import(&file, directory.path()).await.unwrap_err();
        assert!(refused.contains(expected), "{spoil}: {refused}");
    }
}

/// Games in which each move takes 1 ms, half of it of processor time, and of a program `cpu_us`.
fn timed_games(plan: &Plan, ids: &[CellId], cpu_us: u64) -> Vec<PlayedGame> {
    let mut games = played(plan, ids);
    for game in &mut games {
        let is_program = game.engines.each_ref().map(Option::is_some);
        for mv in &mut game.record.moves {
            let cpu_us = if is_program[usize::from(mv.mover)] { cpu_us } else { 500 };
            (mv.wall_us, mv.cpu_us) = (1_000, cpu_us);
            game.record.wall_us += 1_000;
        }
    }
    games
}

/// A move of each player in the cell of the first: its mean processor time, whether it is compared by that, and its
/// ratio of processor time to its opponent's.
async fn processor_times(writer: &Writer, first: &str) -> [(Option<f64>, bool, Option<f64>); 2] {
    let report = report(writer).await;
    let cell = report.cells.iter().find(|cell| cell.player == first).unwrap().cell;
    let costs: Vec<_> = report.moves.iter().filter(|moves| moves.cell == cell).collect();
    [0, 1].map(|role| {
        let costs = &costs[role].costs;
        let ratio = costs.cpu.and_then(|cpu| cpu.us_ratio);
        let ratio = ratio.map(|ratio| (ratio.value * 1e6).round() / 1e6);
        (costs.cpu.map(|cpu| cpu.us_mean), costs.is_compared_by_cpu, ratio)
    })
}

/// An engine of several threads uses more of it than passes.
#[tokio::test]
async fn engines_are_compared_by_their_own_processor_time_where_it_is_known() {
    let plan = engines_plan();
    let mut store = Store::with_text(&plan, SWEEP).await;
    let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    store.store(&timed_games(&plan, &ids, 8_000)).await;
    let shallow = [(Some(8_000.0), true, Some(16.0)), (Some(500.0), true, Some(0.0625))];
    assert_eq!(processor_times(&store.writer, "shallow").await, shallow);
    let hurried = [(Some(8_000.0), false, None), (Some(500.0), true, None)];
    assert_eq!(processor_times(&store.writer, "hurried").await, hurried, "a limit ends its moves");
    let file = export(&store, "export.db").await;
    let directory = tempfile::tempdir().unwrap();
    let other = import(&file, directory.path()).await.unwrap();
    assert_eq!(processor_times(&other, "shallow").await, shallow);

    // What an older release stored is what it took to talk to them; that of ours is theirs.
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("UPDATE experiments SET engine_cpu_known = 0").unwrap();
    drop(connection);
    let directory = tempfile::tempdir().unwrap();
    let other = import(&file, directory.path()).await.unwrap();
    let unknown = [(None, false, None), (Some(500.0), true, None)];
    assert_eq!(processor_times(&other, "shallow").await, unknown);

    // Some systems do not report it.
    let mut store = Store::with_text(&plan, SWEEP).await;
    store.store(&timed_games(&plan, &ids, 0)).await;
    assert_eq!(processor_times(&store.writer, "shallow").await, unknown);
}
