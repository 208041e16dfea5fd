//! Searches of single positions for people: bounded in time, memory and number, on threads of low priority of their own, so
//! that workers' calls do not wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use spelrum_answers::{
    ANALYZED_LINE_PLIES_MAX, ANALYZED_MOVES_MAX, AnalyzePosition, AnalyzedPosition, GamesFilter,
    GamesOrder, ListCells, ListWholeCellGames, PositionAnalysis, PositionEnding, StoredPlayer,
};
use spelrum_engine::network::recipe_of;
use spelrum_engine::search::STACK_BYTES;
use spelrum_engine::{
    Analysis, Game, Host, Parameters, PlayError, Player, Problem, Rules, TextGame, Value,
    analyze_after, with_game,
};
use spelrum_proto::limits::NAME_BYTES_MAX;
use spelrum_proto::work::check_length;
use spelrum_proto::{Reason, Refusal};
use spelrum_store::Question as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::questions::unanswered;
use super::{Answers, Api, Reply, place};

/// Searches at once.
const SEARCHES_MAX: usize = 2;

/// Most time for an answer.
const TIME_MAX: Duration = Duration::from_secs(5);

/// How much longer a search may take that heeds no time limit, before it is broken off.
const OVERTIME: Duration = Duration::from_secs(1);

/// Most memory of a search. Only the exact solver, whose memory no parameter bounds, takes nearly so much.
const MEMORY_BYTES_MAX: u64 = 288 << 20;

/// Parameters with their greatest values here: those of memory, of which more gains nothing in so little time, and those of
/// work between two looks at the clock.
const BOUNDS: [(&str, i64); 4] = [
    ("table_mib", 16),
    ("max_tree_nodes", 1 << 20),
    ("population", 1_024),
    ("tournament_size", 64),
];

/// Longest texts, in bytes: a position, a move, and a player's parameters as JSON.
const POSITION_BYTES_MAX: usize = 1_024;
const MOVE_BYTES_MAX: usize = 32;
const PLAYER_BYTES_MAX: usize = 16 << 10;

/// Pages of cells in which a stored player is looked up.
const CELL_PAGES_MAX: usize = 10;

/// The places of searches, if there are any.
#[derive(Debug)]
pub(super) struct Searches(Option<Arc<Semaphore>>);

impl Searches {
    pub(super) fn new(are_allowed: bool) -> Self {
        Self(are_allowed.then(|| Arc::new(Semaphore::new(SEARCHES_MAX))))
    }
}

impl Answers<AnalyzePosition> for Api {
    async fn answer(&self, question: AnalyzePosition) -> Result<Reply<AnalyzedPosition>, Refusal> {
        Ok(Reply::Small(self.analyze(question).await?))
    }
}

impl Api {
    /// Whether positions are searched for people.
    pub(crate) fn may_play(&self) -> bool {
        self.searches.0.is_some()
    }

    /// The places of searches.
    ///
    /// # Errors
    /// If positions are not searched for people.
    pub(crate) fn check_may_play(&self) -> Result<&Arc<Semaphore>, Refusal> {
        self.searches.0.as_ref().ok_or_else(|| {
            let problem = "this coordinator does not search positions for people";
            let remedy = "start it with --play, or use spelrum analyze on your own machine";
            Refusal::new(Reason::WrongState, problem, remedy)
        })
    }

    /// Reads a position, and lets a player search it.
    pub(crate) async fn analyze(
        &self,
        question: AnalyzePosition,
    ) -> Result<AnalyzedPosition, Refusal> {
        let places = self.check_may_play()?;
        let game = PositionedGame::read(&question)?;
        let given = match (&question.player, &question.stored_player) {
            (Some(_), Some(_)) => {
                let problem = "both player and stored_player are given";
                return Err(Refusal::new(Reason::Malformed, problem, "leave one of them out"));
            }
            (Some(player), None) => Some(player.clone()),
            (None, Some(stored)) => Some(self.stored_player(stored).await?),
            (None, None) => None,
        };
        let player = given.map(|given| bounded_player(&game.rules, given)).transpose()?;
        let ending = game.reached.ending();
        let mut answer = AnalyzedPosition {
            position: game.reached.position(),
            to_move: game.reached.to_move(),
            legal_moves: game.reached.legal_moves(),
            ending: ending.map(|ending| PositionEnding {
                winner: ending.winner,
                termination: ending.termination.name().to_owned(),
                words: ending.termination.words().to_owned(),
            }),
            player: player.as_ref().map(|player| player.parameters().clone()),
            analysis: None,
        };
        if let Some(player) = player.filter(|_| ending.is_none()) {
            let place = place(places, "other positions are being searched")?;
            let asked = question.time_ms.map(u64::from).map(Duration::from_millis);
            let time = asked.map_or(TIME_MAX, |asked| asked.min(TIME_MAX));
            let (seed, line_plies) = (question.seed, question.line_plies);
            let search = Search { game, player, seed, time, line_plies };
            answer.analysis = Some(self.search(search, place).await?);
        }
        Ok(answer)
    }

    /// Searches on a thread of its own. It ends soon after this future is dropped, or the coordinator ends.
    async fn search(
        &self,
        search: Search,
        place: OwnedSemaphorePermit,
    ) -> Result<PositionAnalysis, Refusal> {
        let caller = Caller::default();
        let gone = Arc::clone(&caller.gone);
        let (sender, receiver) = oneshot::channel();
        let thread = std::thread::Builder::new().name("analysis".to_owned());
        let thread = thread.stack_size(STACK_BYTES).spawn(move || {
            yield_to_others();
            let analysis = search.run(gone);
            drop(place);
            // A caller that has gone needs no answer.
            let _gone = sender.send(analysis);
        });
        thread.map_err(|error| internal(&error.to_string()))?;
        match self.stopping().run_until_cancelled(receiver).await {
            None => Err(Refusal::new(Reason::Ending, "the coordinator ends", "")),
            Some(answer) => answer.unwrap_or_else(|_| Err(internal("the search failed"))),
        }
    }

    /// The parameters of a player in the first of its cells that has games.
    ///
    /// # Errors
    /// If there is no such experiment, or none of its cells has a game of this player.
    pub(crate) async fn stored_player(&self, stored: &StoredPlayer) -> Result<Parameters, Refusal> {
        let StoredPlayer { experiment, name } = stored;
        check_length("experiment", experiment, NAME_BYTES_MAX)?;
        check_length("name", name, NAME_BYTES_MAX)?;
        let _place = place(&self.reports, "too many reports are being made")?;
        let mut after = None;
        for _ in 0..CELL_PAGES_MAX {
            let question = ListCells { experiment: experiment.clone(), after, limit: None };
            let page = question.answer(&self.readers).await.map_err(unanswered)?;
            for cell in page.cells.iter().filter(|cell| cell.games > 0) {
                let names = [&cell.player, &cell.opponent];
                let Some(side) = names.iter().position(|player| *player == name) else { continue };
                let games = ListWholeCellGames {
                    cell: cell.cell,
                    filter: GamesFilter::All,
                    order: GamesOrder::default(),
                    after: None,
                    limit: Some(1),
                };
                let games = games.answer(&self.readers).await.map_err(unanswered)?.games;
                let Some(game) = games.first() else { continue };
                let definition = game.game.definition();
                let definition = definition.map_err(|damage| internal(&damage.to_string()))?;
                return Ok((*definition.players[side]).clone());
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let problem = format!("{experiment:?} has no games of a player {name:?}");
        let remedy = "its page lists its players; one that has not played yet has to be described";
        Err(Refusal::new(Reason::UnknownGame, problem, remedy))
    }
}

/// The caller that waits for an answer.
#[derive(Default)]
struct Caller {
    gone: Arc<AtomicBool>,
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// A game up to a position.
struct PositionedGame {
    rules: Rules,
    opening: String,
    moves: Vec<String>,
    reached: TextGame,
}

impl PositionedGame {
    fn read(question: &AnalyzePosition) -> Result<Self, Refusal> {
        let AnalyzePosition { game, rules, opening, moves, line_plies, .. } = question;
        check_length("game", game, NAME_BYTES_MAX)?;
        check_length("opening", opening.as_deref().unwrap_or_default(), POSITION_BYTES_MAX)?;
        if moves.len() > ANALYZED_MOVES_MAX {
            let problem = format!("the game has {} moves", moves.len());
            let remedy = format!("send at most {ANALYZED_MOVES_MAX}, or begin from a position");
            return Err(Refusal::new(Reason::Malformed, problem, remedy));
        }
        if *line_plies > ANALYZED_LINE_PLIES_MAX {
            let problem = format!("a line of {line_plies} plies is too long");
            let remedy = format!("ask for at most {ANALYZED_LINE_PLIES_MAX}");
            return Err(Refusal::new(Reason::Malformed, problem, remedy));
        }
        check_size("rules", rules)?;
        let rules = Rules::from_parameters(game, rules).map_err(malformed)?;
        let opening = match opening {
            Some(opening) => opening.clone(),
            None => with_game!(&rules, G => start::<G>(&rules)).map_err(malformed)?,
        };
        let mut reached = TextGame::new(&rules, &opening).map_err(malformed)?;
        for (number, text) in (1..).zip(moves) {
            check_length("moves", text, MOVE_BYTES_MAX)?;
            reached.play(text).map_err(|problem| {
                let what = format!("move {number}: {}", problem.what);
                Refusal::new(Reason::Malformed, what, problem.remedy)
            })?;
        }
        Ok(Self { rules, opening, moves: moves.clone(), reached })
    }
}

fn start<G: Game>(rules: &Rules) -> Result<String, Problem> {
    Ok(G::start(rules).map_err(|problem| problem.moved_to(()))?.to_string())
}

fn check_size(name: &str, parameters: &Parameters) -> Result<(), Refusal> {
    let bytes = serde_json::to_vec(parameters).map_or(usize::MAX, |json| json.len());
    if bytes <= PLAYER_BYTES_MAX {
        return Ok(());
    }
    let problem = format!("the message's field {name} has more than {PLAYER_BYTES_MAX} bytes");
    Err(Refusal::new(Reason::Malformed, problem, "send less"))
}

/// A player whose searches stay within the bounds.
fn bounded_player(rules: &Rules, mut given: Parameters) -> Result<Player, Refusal> {
    check_size("player", &given)?;
    let mut player = Player::from_parameters(rules, &given).map_err(malformed)?;
    for (name, most) in BOUNDS {
        if matches!(player.parameters().get(name), Some(Value::Integer(value)) if *value > most) {
            given.insert(name.to_owned(), Value::Integer(most));
            player = Player::from_parameters(rules, &given).map_err(malformed)?;
        }
    }
    let parameters = player.parameters();
    let refused = |why: &str| {
        let problem = format!("this player cannot search here: {why}");
        Err(Refusal::new(Reason::Malformed, problem, "choose another player"))
    };
    if player.external().is_some() {
        return refused("external engines run on workers, and not in the coordinator");
    }
    if parameters.get("algorithm") == Some(&Value::Text("table".to_owned())) {
        return refused("making its endgame tables takes longer than a search may");
    }
    if recipe_of(parameters).is_some() {
        return refused("training its network takes longer than a search may");
    }
    if player.memory_bytes() > MEMORY_BYTES_MAX {
        return refused("its parameters ask for too much memory");
    }
    Ok(player)
}

/// Whether a player can search positions here.
pub(crate) fn can_search(rules: &Rules, player: &Parameters) -> bool {
    bounded_player(rules, player.clone()).is_ok()
}

/// A problem with a game, a position or a player.
fn malformed<P>(problem: spelrum_engine::Problem<P>) -> Refusal {
    Refusal::new(Reason::Malformed, problem.what, problem.remedy)
}

fn internal(problem: &str) -> Refusal {
    Refusal::new(Reason::Internal, problem, "report this as a fault of the program")
}

/// Lowers this thread's priority: workers' calls come before searches.
fn yield_to_others() {
    // On other systems the priority belongs to the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(10) {
        tracing::debug!(%error, "could not lower the priority of a search");
    }
}

/// A search, and those of the plies after its move.
struct Search {
    game: PositionedGame,
    player: Player,
    seed: u64,
    time: Duration,
    line_plies: u32,
}

impl Search {
    fn run(self, gone: Arc<AtomicBool>) -> Result<PositionAnalysis, Refusal> {
        let host = SearchHost { started: Instant::now(), most: self.time + OVERTIME, gone };
        // The first search may take most of the time, since the others only illustrate what it found.
        let first = if self.line_plies > 1 { self.time * 2 / 3 } else { self.time };
        let Analysis { best_move, search, wall_us, .. } =
            self.analyze(&self.game.moves, first, &host).map_err(|error| match error {
                PlayError::Aborted => {
                    let problem = "the search did not end in time";
                    let remedy = "give the player a smaller limit, or choose another one";
                    Refusal::new(Reason::TooMany, problem, remedy)
                }
                error @ (PlayError::Opening(_)
                | PlayError::OtherGame
                | PlayError::NotOurs(_)
                | PlayError::Memory(_)
                | PlayError::Network(_)) => Refusal::new(Reason::Malformed, error.to_string(), ""),
            })?;
        let mut line = vec![best_move.clone()];
        let mut reached = self.game.reached.clone();
        let mut moves = self.game.moves.clone();
        while let Some(last) = line.last()
            && (line.len() as u32) < self.line_plies
            && reached.play(last).is_ok()
            && reached.ending().is_none()
        {
            moves.push(last.clone());
            let left = self.time.saturating_sub(host.wall());
            let share = left / (self.line_plies - line.len() as u32);
            if share.is_zero() {
                break;
            }
            let Ok(next) = self.analyze(&moves, share, &host) else { break };
            line.push(next.best_move);
        }
        Ok(PositionAnalysis {
            best_move,
            score: search.score,
            value: search.proven_value(),
            depth: search.depth,
            nodes: search.nodes,
            evaluations: search.evaluations,
            ended_by: search.ended_by,
            wall_us,
            line,
        })
    }

    fn analyze(
        &self,
        moves: &[String],
        time: Duration,
        host: &SearchHost,
    ) -> Result<Analysis, PlayError> {
        let time_us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&(moves.len() as u64).to_le_bytes());
        let PositionedGame { rules, opening, .. } = &self.game;
        analyze_after(rules, opening, moves, &self.player.with_time_max(time_us), key, host)
    }
}

/// Ends a search whose caller has gone, or that takes too long.
struct SearchHost {
    started: Instant,
    most: Duration,
    gone: Arc<AtomicBool>,
}

impl Host for SearchHost {
    fn wall(&self) -> Duration {
        self.started.elapsed()
    }

    /// Not reported.
    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || self.wall() > self.most
    }
}
