//! Storing a sweep: an experiment with its axes, players and cells, and its own views.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use spelrum_engine::{ENGINE_REVISION, Rules, Value};
use spelrum_tournament::scheduler::CellState;
use spelrum_tournament::{
    DefinitionJson, ExperimentId, OpeningsRule, Plan, PlannedCell, PlannedPlayer, Record,
};

use super::error::StoreError;
use super::own_views::identifier;
use super::rollup::{SAFE_MAX, count, integer};
use super::transaction::{Transaction, rows};

/// What a submit did.
#[derive(Clone, Debug)]
pub struct Submitted {
    /// The experiment.
    pub experiment: ExperimentId,
    /// Its UUID: of the one that was there, if it existed.
    pub uuid: String,
    /// Whether it existed before, with the same UUID, or the same name and text.
    pub existed: bool,
    /// Its cells as the scheduler needs them; empty if it existed.
    pub cells: Vec<CellState>,
    /// How many games they have together.
    pub games: u64,
}

/// Cells and players are stored so many at a time: a bound on the memory for their definitions.
const ROWS_AT_ONCE: usize = 1000;

impl Transaction<'_> {
    /// Stores an experiment with its players and cells, or finds the one that is there.
    ///
    /// # Errors
    /// If the same name is there with another text, or the database fails.
    pub async fn submit(
        &mut self,
        uuid: &str,
        toml: &str,
        plan: &Plan,
    ) -> Result<Submitted, StoreError> {
        if let Some(existing) = self.existing(uuid, toml, plan).await? {
            return Ok(existing);
        }
        let experiment = self.insert_experiment(uuid, toml, plan).await?;
        let players = self.insert_players(plan).await?;
        let definitions: Vec<DefinitionJson> = plan
            .conditions
            .iter()
            .map(|conditions| DefinitionJson::new(plan.seed, conditions))
            .collect();
        for (chunk, cells) in plan.cells.chunks(ROWS_AT_ONCE).enumerate() {
            let first_number = chunk * ROWS_AT_ONCE;
            self.insert_cells(experiment, first_number, cells, plan, &definitions, &players)
                .await?;
        }
        self.create_views(experiment, plan).await?;
        let cells = self.cell_states(experiment).await?;
        Ok(Submitted {
            experiment: ExperimentId(experiment),
            uuid: uuid.to_owned(),
            existed: false,
            games: cells.iter().map(|cell| cell.games).sum(),
            cells,
        })
    }

    async fn existing(
        &mut self,
        uuid: &str,
        toml: &str,
        plan: &Plan,
    ) -> Result<Option<Submitted>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.experiment_id AS "experiment_id!: i64", e.uuid, e.sweep_toml,
                (SELECT coalesce(sum(c.games_planned), 0) FROM cells AS c
                    WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS "games!: i64"
            FROM experiments AS e WHERE e.uuid = ?1 OR e.name = ?2
            ORDER BY e.uuid = ?1 DESC, e.experiment_id DESC LIMIT 1"#,
            uuid,
            plan.name
        )
        .fetch_optional(self.connection())
        .await?;
        match found {
            None => Ok(None),
            Some(found) if found.uuid != uuid && found.sweep_toml != toml => {
                Err(StoreError::NameTaken { name: plan.name.clone() })
            }
            Some(found) => Ok(Some(Submitted {
                experiment: ExperimentId(found.experiment_id),
                uuid: found.uuid,
                existed: true,
                cells: Vec::new(),
                games: u64::try_from(found.games).unwrap_or(0),
            })),
        }
    }

    async fn insert_experiment(
        &mut self,
        uuid: &str,
        toml: &str,
        plan: &Plan,
    ) -> Result<i64, StoreError> {
        let seed = safe("the sweep's seed", plan.seed)?;
        let record = match plan.record {
            Record::Moves => "moves",
            Record::Games => "games",
        };
        let game_timeout_us =
            plan.game_timeout_us.map(|us| safe("the sweep's game_timeout", us)).transpose()?;
        let now = self.now_unix_us;
        let name = identifier(&plan.name);
        let id = sqlx::query_scalar!(
            r#"INSERT INTO experiments (uuid, name, description, game, seed, state, priority,
                record, sweep_toml, engine_revision, submitted_unix_us, results_view, times_view,
                game_timeout_us)
            VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8, ?9, ?10, '', '', ?11)
            RETURNING experiment_id AS "experiment_id!: i64""#,
            uuid,
            plan.name,
            plan.description,
            plan.game,
            seed,
            plan.priority,
            record,
            toml,
            ENGINE_REVISION,
            now,
            game_timeout_us,
        )
        .fetch_one(self.connection())
        .await?;
        // A name that is taken, by a table or by another experiment's view, gets the id behind it.
        sqlx::query!(
            "UPDATE experiments SET results_view = 'results_' || n.name, times_view = 'times_' || n.name
            FROM (
                SELECT CASE WHEN EXISTS (
                    SELECT 1 FROM sqlite_schema
                    WHERE lower(name) IN ('results_' || ?2, 'times_' || ?2)
                ) THEN ?2 || '_' || ?1 ELSE ?2 END AS name) AS n
            WHERE experiment_id = ?1",
            id,
            name
        )
        .execute(self.connection())
        .await?;
        let axes: Vec<(i64, usize, &str)> =
            plan.axes.iter().enumerate().map(|(number, axis)| (id, number, &*axis.name)).collect();
        let axes = rows(&axes)?;
        sqlx::query!(
            "INSERT INTO experiment_axes (experiment_id, number, axis)
            SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?)",
            axes
        )
        .execute(self.connection())
        .await?;
        Ok(id)
    }

    /// Stores the players that are new, in the order of the plan; returns the ids of all.
    async fn insert_players(&mut self, plan: &Plan) -> Result<Vec<i64>, StoreError> {
        let mut ids = Vec::with_capacity(plan.players.len());
        for at_once in plan.players.chunks(ROWS_AT_ONCE) {
            ids.extend(self.insert_some_players(at_once).await?);
        }
        Ok(ids)
    }

    async fn insert_some_players(
        &mut self,
        players: &[PlannedPlayer],
    ) -> Result<Vec<i64>, StoreError> {
        let list: Vec<(String, &str)> = players
            .iter()
            .map(|player| {
                (hexadecimal(&Sha256::digest(&player.parameters_json)), &*player.algorithm)
            })
            .collect();
        let list = rows(&list)?;
        let last_known =
            sqlx::query_scalar!(r#"SELECT coalesce(max(player_id), 0) AS "id!: i64" FROM players"#)
                .fetch_one(self.connection())
                .await?;
        sqlx::query!(
            "INSERT INTO players (hash, algorithm)
            SELECT value ->> 0, value ->> 1 FROM jsonb_each(?) WHERE true
            ON CONFLICT (hash) DO NOTHING",
            list
        )
        .execute(self.connection())
        .await?;
        let ids = sqlx::query_scalar!(
            r#"SELECT p.player_id AS "player_id!: i64" FROM jsonb_each(?) AS j
            JOIN players AS p ON p.hash = j.value ->> 0 ORDER BY j.key"#,
            list
        )
        .fetch_all(self.connection())
        .await?;
        let mut parameters = Vec::new();
        let mut written = HashSet::new();
        for (player, &id) in players.iter().zip(&ids) {
            if id > last_known && written.insert(id) {
                parameters.extend(player.parameters().into_iter().map(|(parameter, value)| {
                    let (number, text) = value_columns(&value);
                    (id, parameter, number, text)
                }));
            }
        }
        let parameters = rows(&parameters)?;
        sqlx::query!(
            "INSERT INTO player_parameters (player_id, parameter, value_number, value_text)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?)",
            parameters
        )
        .execute(self.connection())
        .await?;
        Ok(ids)
    }

    async fn insert_cells(
        &mut self,
        experiment: i64,
        first_number: usize,
        cells: &[PlannedCell],
        plan: &Plan,
        definitions: &[DefinitionJson],
        players: &[i64],
    ) -> Result<(), StoreError> {
        #[derive(Serialize)]
        struct Cell<'p>(
            i64,
            i64,
            String,
            String,
            i64,
            [i64; 2],
            [&'p str; 2],
            &'static str,
            Option<u32>,
            Option<u32>,
            i64,
            bool,
        );
        #[derive(Serialize)]
        struct Named<'p>(i64, &'p str, Option<f64>, Cow<'p, str>);
        let first_id =
            sqlx::query_scalar!(r#"SELECT coalesce(max(cell_id), 0) + 1 AS "id!: i64" FROM cells"#)
                .fetch_one(self.connection())
                .await?;
        let mut list = Vec::with_capacity(cells.len());
        let mut axes = Vec::new();
        let mut rules = Vec::new();
        for ((id, number), cell) in (first_id..).zip(count(first_number)..).zip(cells) {
            let conditions = &plan.conditions[cell.conditions];
            let (openings, opening_plies) = match &conditions.openings {
                OpeningsRule::Start {} => ("start", None),
                OpeningsRule::Random { plies } => ("random", Some(*plies)),
                OpeningsRule::All { plies } => ("all", Some(*plies)),
                OpeningsRule::Listed { .. } => ("listed", None),
            };
            let [first, second] = cell.players.map(|player| &*plan.players[player].parameters_json);
            let [first_name, second_name] = &cell.player_names;
            list.push(Cell(
                id,
                number,
                cell.definition_hash.to_string(),
                definitions[cell.conditions].with_players(first, second),
                safe("a cell's seed", cell.seed)?,
                cell.players.map(|player| players[player]),
                [first_name, second_name],
                openings,
                opening_plies,
                conditions.max_plies,
                safe("a cell's games", cell.games)?,
                cell.timed,
            ));
            axes.extend(
                plan.place(cell).map(|(axis, value)| {
                    Named(id, axis, value.number, Cow::Borrowed(&*value.text))
                }),
            );
            rules.extend(
                rule_columns(&conditions.rules)
                    .into_iter()
                    .map(|(rule, number, text)| Named(id, rule, number, Cow::Owned(text))),
            );
        }
        let list = rows(&list)?;
        sqlx::query!(
            "INSERT INTO cells (experiment_id, cell_id, number, definition_hash, definition_json,
                seed, first_player_id, second_player_id, first_player_name, second_player_name,
                openings, opening_plies, plies_max, games_planned, timed)
            SELECT ?2, value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]',
                value ->> '$[4]', value ->> '$[5][0]', value ->> '$[5][1]', value ->> '$[6][0]',
                value ->> '$[6][1]', value ->> '$[7]', value ->> '$[8]', value ->> '$[9]',
                value ->> '$[10]', value ->> '$[11]'
            FROM jsonb_each(?1)",
            list,
            experiment
        )
        .execute(self.connection())
        .await?;
        let axes = rows(&axes)?;
        sqlx::query!(
            "INSERT INTO cell_axes (cell_id, axis, value_number, value_text)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?)",
            axes
        )
        .execute(self.connection())
        .await?;
        let rules = rows(&rules)?;
        sqlx::query!(
            "INSERT INTO cell_rules (cell_id, rule, value_number, value_text)
            SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?)",
            rules
        )
        .execute(self.connection())
        .await?;
        Ok(())
    }
}

/// A parameter's or a rule's value: as a number, if it is one, and as the sweep writes it.
fn value_columns(value: &Value) -> (Option<f64>, String) {
    match value {
        Value::Bool(switch) => (Some(f64::from(u8::from(*switch))), switch.to_string()),
        #[expect(clippy::cast_precision_loss, reason = "parameters are below 2^53")]
        Value::Integer(number) => (Some(*number as f64), number.to_string()),
        Value::Number(number) => (Some(*number), number.to_string()),
        Value::Text(text) => (None, text.clone()),
    }
}

/// A game's rules by name.
fn rule_columns(rules: &Rules) -> Vec<(&'static str, Option<f64>, String)> {
    let switch = |rule, on: bool| (rule, Some(f64::from(u8::from(on))), on.to_string());
    match rules {
        Rules::Pentago { win_before_rotation } => {
            vec![switch("win_before_rotation", *win_before_rotation)]
        }
        Rules::TicTacToe {} => Vec::new(),
        Rules::Nim { heaps, misere } => {
            let heaps: Vec<String> = heaps.iter().map(u32::to_string).collect();
            vec![("heaps", None, heaps.join(" ")), switch("misere", *misere)]
        }
    }
}

/// Bytes in lower-case hexadecimal.
fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn safe(what: &'static str, value: u64) -> Result<i64, StoreError> {
    if value > SAFE_MAX { Err(StoreError::TooLarge { what, value }) } else { Ok(integer(value)) }
}
