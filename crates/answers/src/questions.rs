//! The questions about experiments: what is asked, where, and what the answer is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::{CellId, ExperimentId};

use crate::call::{call, experiment_question};
use crate::cells::{CellCursor, CellsPage, SettledCells};
use crate::comparisons::Comparisons;
use crate::games::{GameCursor, GamesFilter, GamesOrder, GamesPage, SettledGame, WholeGames};
use crate::overview::Overview;
use crate::phases::Phases;
use crate::progress::Progress;
use crate::ratings::Ratings;
use crate::report::{Detail, Report};
use crate::runs::RunResult;
use crate::status::Status;
use crate::summary::{ExperimentSummary, ExperimentsPage};

/// Items of a page where a question does not say how many.
pub const PAGE_ITEMS_DEFAULT: u32 = 100;

/// Most items of a page.
pub const PAGE_ITEMS_MAX: u32 = 1_000;

/// This description of the API (OpenAPI 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetOpenapi {}
call!(GetOpenapi: Get "/api/v1/openapi.json" -> serde_json::Value);

/// Progress of experiments, workers, and problems that need attention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetStatus {
    /// Only this experiment, by its UUID or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
}
call!(GetStatus: Get "/api/v1/status" -> Status);

/// All experiments, oldest first, in pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListExperiments {
    /// The id of the experiment after which the page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<ExperimentId>,
    /// Most experiments of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}
call!(ListExperiments: Get "/api/v1/experiments" -> ExperimentsPage);

experiment_question! {
    /// An experiment's name, state and progress.
    GetExperiment: "/api/v1/experiments/{experiment}" -> ExperimentSummary
}

/// Results of every cell of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetReport {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// How much of it.
    #[serde(default)]
    pub detail: Detail,
}
call!(GetReport: Get "/api/v1/experiments/{experiment}/report" -> Report);

experiment_question! {
    /// Strength of an experiment's players on one scale.
    GetRatings: "/api/v1/experiments/{experiment}/ratings" -> Ratings
}

experiment_question! {
    /// Changes between an experiment's cells.
    GetComparisons: "/api/v1/experiments/{experiment}/comparisons" -> Comparisons
}

experiment_question! {
    /// Times of an experiment's moves by phase of the game.
    GetPhases: "/api/v1/experiments/{experiment}/phases" -> Phases
}

experiment_question! {
    /// How an experiment's games were played, and on which machines.
    GetOverview: "/api/v1/experiments/{experiment}/overview" -> Overview
}

experiment_question! {
    /// An experiment's progress and the work left, as sums over its cells.
    GetProgress: "/api/v1/experiments/{experiment}/progress" -> Progress
}

experiment_question! {
    /// Findings of the runs of an experiment that depends on its own results; none of any other.
    GetRuns: "/api/v1/experiments/{experiment}/runs" -> Vec<RunResult>
}

/// Results of an experiment's cells in the grid's order, in pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCells {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// Where the page begins: `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<CellCursor>,
    /// Most cells of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}
call!(ListCells: Get "/api/v1/experiments/{experiment}/cells" -> CellsPage);

/// Cells without a game to play, in the order of their last game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSettledCells {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// Only cells whose last game has a greater id: `last_game_id` of the answer before.
    #[serde(default)]
    pub after_game_id: i64,
    /// Most cells of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
}
call!(ListSettledCells: Get "/api/v1/experiments/{experiment}/settled-cells" -> SettledCells);

/// A filter, an order and a place in a list of games, as parameters.
macro_rules! games_question {
    ($(#[$doc:meta])* $call:ident of $of:ident: $of_type:ty, $path:literal -> $answer:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $call {
            /// Whose games.
            pub $of: $of_type,
            /// Which of them.
            #[serde(default)]
            pub filter: GamesFilter,
            /// Their order.
            #[serde(default)]
            pub order: GamesOrder,
            /// Where the page begins: `next` of the page before.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub after: Option<GameCursor>,
            /// Most games of the page.
            #[serde(skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 1, max = PAGE_ITEMS_MAX))]
    pub limit: Option<u32>,
        }
        call!($call: Get $path -> $answer);
    };
}

games_question! {
    /// Settled games of the cells that an experiment's sweep names, in pages.
    ListGames of experiment: String, "/api/v1/experiments/{experiment}/games" -> GamesPage
}

games_question! {
    /// Settled games of a cell, in pages.
    ListCellGames of cell: CellId, "/api/v1/cells/{cell}/games" -> GamesPage
}

games_question! {
    /// Settled games of an experiment with their moves, in pages, which hold fewer if games are long.
    ListWholeGames of experiment: String, "/api/v1/experiments/{experiment}/whole-games" -> WholeGames
}

games_question! {
    /// Settled games of a cell with their moves, in pages, which hold fewer if games are long.
    ListWholeCellGames of cell: CellId, "/api/v1/cells/{cell}/whole-games" -> WholeGames
}

/// A settled game with its moves, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetGame {
    /// The game's id.
    pub game_id: i64,
}
call!(GetGame: Get "/api/v1/games/{game_id}" -> SettledGame);

/// A settled game with its moves, by its cell and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetCellGame {
    /// The cell.
    pub cell: CellId,
    /// The game's number in the cell, from 0.
    pub number: u64,
}
call!(GetCellGame: Get "/api/v1/cells/{cell}/games/{number}" -> SettledGame);

/// The path of exports: `POST` with [`ExportExperiments`] as JSON. The answer is the file.
pub const EXPORT_PATH: &str = "/api/v1/export";

/// Copies experiments with all their data into a results database of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportExperiments {
    /// The experiments' UUIDs or names.
    #[schemars(length(min = 1, max = 1_000))]
    pub experiments: Vec<String>,
}

/// Where links for browsers are made.
pub const BROWSER_LINKS_PATH: &str = "/api/v1/browser-links";

/// Makes a link that lets a browser see the coordinator's pages, once and within ten minutes, for as much as the token of
/// this call allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeBrowserLink {}
call!(MakeBrowserLink: Post "/api/v1/browser-links" -> BrowserLink);

/// A link for a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserLink {
    /// The link, on the address of the call.
    pub url: String,
}

/// The path of an experiment's events, as server-sent events: `progress` with [`Progress`] when it has changed, `cells`
/// with [`SettledCells`] as cells settle, and `over` with the experiment's state.
pub const EVENTS_PATH: &str = "/api/v1/experiments/{experiment}/events";

/// Follows an experiment: its progress, and its cells as they settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowEvents {
    /// The experiment's UUID or name.
    pub experiment: String,
}

/// The path of games as lines of JSON: `GET` with [`StreamGames`]. Each line is a [`GameSummary`](crate::GameSummary) or,
/// with moves, a [`WholeGame`](crate::WholeGame).
pub const GAMES_PATH: &str = "/api/v1/experiments/{experiment}/games.jsonl";

/// All settled games of the cells that an experiment's sweep names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamGames {
    /// The experiment's UUID or name.
    pub experiment: String,
    /// Which of them.
    #[serde(default)]
    pub filter: GamesFilter,
    /// Their order.
    #[serde(default)]
    pub order: GamesOrder,
    /// Only those after this place, which the `next` of a page names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<GameCursor>,
    /// Whether moves are included.
    #[serde(default)]
    pub moves: bool,
}
