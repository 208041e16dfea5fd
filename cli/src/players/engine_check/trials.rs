//! The trials of an engine, in order.

use std::time::{Duration, Instant};

use spelrum_engine::Rules;
use spelrum_external::{
    BreachKind, Choice, Conditions, Diagnosis, Engine, EngineFailure, EngineSpec, FailureKind,
    Guard, LEFT_BEHIND, Limits, Options, Phase, Protocol, diagnose_protocol,
};
use spelrum_model::capabilities::{CHESS960_OPTION, EngineRequest, GtpLimits};
use spelrum_worker::capabilities;

use super::batch::{BATCH_MAX, ask_at_once};
use super::board::{Board, DEPTH_MAX};
use super::folder::Files;
use super::{Checked, Kept, Left, Limit, Repeats, TriedLimit};

/// A limit that every engine reaches quickly.
const NODES: u64 = 10_000;
const MOVE_TIME_MS: u64 = 200;
/// Used over GTP and XBoard, which have whole seconds.
const WHOLE_SECOND_MS: u64 = 1_000;
/// Engines that count nodes check their limit at intervals; a report above this multiple means the limit was ignored.
const NODES_TOLERANCE: u64 = 2;
/// An engine that thinks longer than this on such a limit ignores it.
const THINKS_AT_MOST: Duration = Duration::from_secs(10);
/// Tolerance for a move's time, on a busy machine.
const MARGIN: Duration = Duration::from_secs(1);
/// How long to wait for a program that may speak another protocol.
const SPEAKS_WITHIN: Duration = Duration::from_secs(3);

/// A check under way.
pub(super) struct Trials<'a> {
    spec: EngineSpec,
    guard: &'a Guard,
    requests: Option<&'a [EngineRequest]>,
    aborted: &'a dyn Fn() -> bool,
    step: &'a dyn Fn(&str),
    engine: Option<Engine>,
    /// Whether going on is useless.
    is_over: bool,
    checked: Checked,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        spec: &EngineSpec,
        guard: &'a Guard,
        requests: Option<&'a [EngineRequest]>,
        aborted: &'a dyn Fn() -> bool,
        step: &'a dyn Fn(&str),
    ) -> Self {
        let checked = Checked::new(spec);
        let mut spec = spec.clone();
        spec.patience.unbounded_move = spec.patience.unbounded_move.min(THINKS_AT_MOST);
        Self { spec, guard, requests, aborted, step, engine: None, is_over: false, checked }
    }

    pub(super) fn run(mut self) -> Checked {
        let files = Files::read(&self.spec.in_place(0).directory);
        (self.step)("starting it");
        let begun = Instant::now();
        let started = self.start(&Conditions::default());
        self.checked.started_in = started.then(|| begun.elapsed());
        if let Some(engine) = &mut self.engine {
            self.checked.identity = Some(engine.identity().clone());
            self.checked.parallel = engine.parallel();
            self.checked.capabilities = capabilities(engine, self.aborted);
            self.check_requests();
            match self.spec.protocol {
                Protocol::Uci => {
                    let time = Limit::MoveTimeMs(MOVE_TIME_MS);
                    self.try_chess(&[Limit::Depth(DEPTH_MAX), Limit::Nodes(NODES), time]);
                }
                Protocol::Xboard => {
                    let time = Limit::MoveTimeMs(WHOLE_SECOND_MS);
                    self.try_chess(&[Limit::Depth(DEPTH_MAX), time]);
                }
                Protocol::Gtp => self.try_gtp(),
                Protocol::Lines => self.try_lines(),
                Protocol::Ugi => self.try_ugi(),
            }
        }
        self.part(&files);
        self.checked
    }

    /// Starts the engine if it is not running; returns whether it runs.
    fn start(&mut self, conditions: &Conditions) -> bool {
        if self.engine.as_mut().is_some_and(Engine::is_usable) {
            return true;
        }
        match self.start_for(conditions) {
            Ok(engine) => self.engine = Some(engine),
            Err(failure) => self.fail(&failure),
        }
        !self.is_over
    }

    fn start_for(&self, conditions: &Conditions) -> Result<Engine, EngineFailure> {
        Engine::start_for(conditions, &self.spec, &Options::new(), self.guard, self.aborted)
    }

    /// Records a failure that ends the trials.
    fn fail(&mut self, failure: &EngineFailure) {
        self.is_over = true;
        if failure.kind == FailureKind::Aborted {
            return;
        }
        let is_mute = failure.during == Phase::Start
            && matches!(
                failure.kind,
                FailureKind::NoAnswer { .. } | FailureKind::Crash(_) | FailureKind::Refused { .. }
            );
        if is_mute {
            (self.step)("trying what it speaks");
        }
        let another = is_mute
            .then(|| diagnose_protocol(&self.spec, self.guard, SPEAKS_WITHIN, self.aborted))
            .flatten();
        let Diagnosis { problem, remedy } = another.unwrap_or_else(|| failure.diagnose(&self.spec));
        self.checked.note(problem, remedy);
    }

    fn check_requests(&mut self) {
        let requests = self.requests.unwrap_or_default();
        let unmet =
            requests.iter().find_map(|request| request.unmet_by(&self.checked.capabilities));
        if let Some(inability) = unmet {
            self.checked.note(inability.problem, inability.remedy);
        }
    }

    /// Whether to try a limit: those of a sweep's players, or all.
    fn is_asked(&self, limit: Limit) -> bool {
        let Some(requests) = self.requests.filter(|requests| !requests.is_empty()) else {
            return true;
        };
        requests.iter().any(|request| match limit {
            Limit::Nodes(_) => request.nodes,
            Limit::Depth(_) => request.depth,
            Limit::MoveTimeMs(_) => request.move_time_us.is_some() || request.clock,
        })
    }

    fn try_chess(&mut self, limits: &[Limit]) {
        let protocol = if self.spec.protocol == Protocol::Xboard {
            spelrum_engine::Protocol::Xboard
        } else {
            spelrum_engine::Protocol::Uci
        };
        let boards = Board::chess(protocol, false);
        let Some(first) = boards.first() else { return };
        for &limit in limits {
            if self.is_asked(limit) {
                self.try_limit(first, limit);
            }
        }
        // Without a usable move, no limit has been tried.
        if self.checked.limits.is_empty() {
            return;
        }
        self.checked.games.push("chess".to_owned());
        let kept = self
            .checked
            .limits
            .iter()
            .find(|tried| tried.kept != Kept::No)
            .map(|tried| tried.limit);
        if let Some(limit) = kept {
            self.try_repeating(&boards, limit);
            let declared = self.checked.capabilities.declared.iter().flatten();
            if declared.into_iter().any(|option| option.name.eq_ignore_ascii_case(CHESS960_OPTION))
            {
                (self.step)("Chess960");
                let conditions = Conditions { chess960: true, ..conditions_of(limit) };
                let boards = Board::chess(protocol, true);
                let played = boards.iter().all(|board| self.choose(board, &conditions).is_some());
                if played {
                    self.checked.games.push("Chess960".to_owned());
                }
            }
        }
    }

    fn try_gtp(&mut self) {
        let supported =
            self.checked.capabilities.gtp.as_ref().map(|gtp| gtp.limits).unwrap_or_default();
        let wanted = self.wanted_games();
        let mut wrong = String::new();
        for (game, size, boards) in Board::of_gtp_games() {
            if !wanted.is_empty() && !wanted.contains(&game) {
                continue;
            }
            let sizes = self.checked.capabilities.gtp.iter().flat_map(|gtp| &gtp.board_sizes);
            if sizes.into_iter().any(|entry| *entry == (size, false)) {
                continue;
            }
            let Some(first) = boards.first() else { continue };
            let limits: Vec<Limit> = gtp_limits(supported, first.depth())
                .filter(|limit| self.is_asked(*limit))
                .collect();
            (self.step)(game);
            let conditions =
                limits.first().map_or_else(Conditions::default, |limit| conditions_of(*limit));
            let conditions = Conditions { board_size: Some(size), ..conditions };
            if self.plays(game, &boards, &conditions, &mut wrong) {
                for limit in limits {
                    self.try_limit(first, limit);
                }
                self.try_repeating_under(&boards, &conditions);
            }
        }
        if self.checked.games.is_empty() && !self.is_over {
            self.checked.note(
                format!(
                    "it plays neither Pentago nor Othello, which Spelrum plays over GTP{wrong}"
                ),
                "take another engine, or correct its `args` and `gtp` in the engines file",
            );
        }
    }

    /// Tries the games that a sweep wants, or all, of which an engine over UGI plays some: nothing in the protocol says
    /// which.
    fn try_ugi(&mut self) {
        let wanted = self.wanted_games();
        let mut wrong = String::new();
        for game in Rules::games() {
            if !wanted.is_empty() && !wanted.contains(&game.name) {
                continue;
            }
            let Ok(rules) = Rules::from_name(game.name) else { continue };
            let boards = Board::of_any_game(&rules, spelrum_engine::Protocol::Ugi);
            let Some(first) = boards.first() else { continue };
            let limits =
                [Limit::Depth(first.depth()), Limit::Nodes(NODES), Limit::MoveTimeMs(MOVE_TIME_MS)];
            let limits: Vec<Limit> =
                limits.into_iter().filter(|limit| self.is_asked(*limit)).collect();
            let Some(conditions) = limits.first().map(|limit| conditions_of(*limit)) else {
                return;
            };
            (self.step)(game.name);
            if self.plays(game.name, &boards, &conditions, &mut wrong)
                && self.checked.limits.is_empty()
            {
                for limit in limits {
                    self.try_limit(first, limit);
                }
                self.try_repeating_under(&boards, &conditions);
            }
        }
        if self.checked.games.is_empty() && !self.is_over {
            let games = if wanted.is_empty() { "any game" } else { &wanted.join(" or ") };
            self.checked.note(
                format!("it does not play {games} over UGI as Spelrum writes it{wrong}"),
                "take another engine, or correct its `args` and its `ugi` in the engines file",
            );
        }
    }

    /// The games of the sweep that the engine is checked for; none without one.
    fn wanted_games(&self) -> Vec<&'a str> {
        let requests = self.requests.unwrap_or_default();
        requests.iter().map(|request| request.game.name.as_str()).collect()
    }

    /// Whether the engine answers each of these positions by a legal move. If not, the reason is kept in `wrong`.
    fn plays(
        &mut self,
        game: &str,
        boards: &[Board],
        conditions: &Conditions,
        wrong: &mut String,
    ) -> bool {
        let is_played = boards.iter().all(|board| match self.answer(board, conditions) {
            Ok(Some(choice)) if board.is_legal(&choice.mv) => true,
            Ok(Some(choice)) => {
                *wrong = format!("; in {game} it answered `{}`, which is not legal", choice.mv);
                false
            }
            Ok(None) => false,
            Err(failure) => {
                *wrong = format!("; in {game}: {}", failure.kind);
                self.is_over |= failure.kind == FailureKind::Aborted;
                false
            }
        });
        if is_played {
            self.checked.games.push(game.to_owned());
        }
        is_played
    }

    /// Tries each game in a process of its own. A player may refuse games, but not all of them.
    fn try_lines(&mut self) {
        let wanted = self.wanted_games();
        let mut refusal = None;
        for game in Rules::games() {
            if self.is_over || !wanted.is_empty() && !wanted.contains(&game.name) {
                continue;
            }
            let Ok(rules) = Rules::from_name(game.name) else { continue };
            let boards = Board::of_any_game(&rules, spelrum_engine::Protocol::Lines);
            let Some(first) = boards.first() else { continue };
            (self.step)(game.name);
            let game_setup = first.setup();
            let depth = Limit::Depth(first.depth());
            let conditions = Conditions { game: game_setup, ..conditions_of(depth) };
            // The process of the last game ends before the next begins.
            self.engine = None;
            match self.start_for(&conditions) {
                Ok(engine) => self.engine = Some(engine),
                Err(failure) if matches!(failure.kind, FailureKind::Refused { .. }) => {
                    refusal = Some(failure);
                    continue;
                }
                Err(failure) => {
                    self.fail(&failure);
                    return;
                }
            }
            if !boards.iter().all(|board| self.choose(board, &conditions).is_some()) {
                continue;
            }
            self.checked.games.push(game.name.to_owned());
            if self.checked.limits.is_empty() {
                let limits = [Limit::Nodes(NODES), Limit::MoveTimeMs(MOVE_TIME_MS)];
                for limit in [depth].into_iter().chain(limits) {
                    if self.is_asked(limit) {
                        self.try_limit(first, limit);
                    }
                }
                self.try_repeating_under(&boards, &conditions);
                self.try_batch(&boards, &conditions);
            }
        }
        if self.checked.games.is_empty()
            && let Some(failure) = refusal
        {
            self.fail(&failure);
        }
    }

    /// Tries whether the engine keeps a limit.
    fn try_limit(&mut self, board: &Board, limit: Limit) {
        if self.is_over {
            return;
        }
        (self.step)(&format!("{} {}", limit.name(), limit.asked()));
        let (board_size, game) = (board.size(), board.setup());
        let conditions = Conditions { board_size, game, ..conditions_of(limit) };
        match self.answer(board, &conditions) {
            Ok(None) => {}
            Ok(Some(choice)) => {
                let is_legal = board.is_legal(&choice.mv);
                self.note_move(board, &choice, is_legal);
                let (reported, kept) = compare_limit(limit, &choice);
                self.checked.limits.push(TriedLimit { limit, reported, kept });
                if kept == Kept::No {
                    let reported = reported.unwrap_or_default();
                    self.note_limit(
                        format!("it reported {}", spelrum_report::text::count(reported)),
                        limit,
                    );
                }
            }
            Err(failure) => {
                let (FailureKind::Hang { waited, .. }
                | FailureKind::OutOfTime { took: waited, .. }) = &failure.kind
                else {
                    self.fail(&failure);
                    return;
                };
                self.checked.limits.push(TriedLimit { limit, reported: None, kept: Kept::No });
                self.note_limit(
                    format!("it was still thinking after {} s", waited.as_secs()),
                    limit,
                );
            }
        }
    }

    fn note_limit(&mut self, measured: String, limit: Limit) {
        let (name, asked) = (limit.name(), spelrum_report::text::count(limit.asked()));
        let unit = if name == "move_time" { " ms" } else { "" };
        self.checked.note(
            format!("it does not keep to `{name}`: {measured} on a limit of {asked}{unit}"),
            "bound its players by another limit that it keeps to, and report it to its author",
        );
    }

    fn note_move(&mut self, board: &Board, choice: &Choice, is_legal: bool) {
        if !is_legal {
            self.checked.note(
                format!("it answered `{}`, which is not legal in {}", choice.mv, board.shown()),
                "report it to its author: such a move loses the game",
            );
        }
    }

    fn try_repeating(&mut self, boards: &[Board], limit: Limit) {
        self.try_repeating_under(boards, &conditions_of(limit));
    }

    /// Asks about each position in two fresh games; over the protocol of lines in two processes, since a player that
    /// ended is started again.
    fn try_repeating_under(&mut self, boards: &[Board], conditions: &Conditions) {
        (self.step)("the same positions again");
        let mut repeats = Repeats { same: 0, positions: 0 };
        for board in boards {
            let Some(first) = self.choose(board, conditions) else { return };
            if self.spec.protocol == Protocol::Lines {
                self.engine = None;
            }
            let Some(second) = self.choose(board, conditions) else { return };
            repeats.positions += 1;
            repeats.same += usize::from(first.mv.eq_ignore_ascii_case(&second.mv));
        }
        self.checked.repeats = Some(repeats);
    }

    /// Asks about as many positions at the same time as it says it answers.
    fn try_batch(&mut self, boards: &[Board], conditions: &Conditions) {
        let parallel = self.engine.as_ref().map_or(1, Engine::parallel);
        if self.is_over || parallel < 2 {
            return;
        }
        self.checked.parallel = parallel;
        let games = parallel.min(BATCH_MAX);
        (self.step)(&format!("{games} requests at the same time"));
        // Its process ends before the next begins.
        self.engine = None;
        let asked = (boards, games);
        match ask_at_once(&self.spec, self.guard, asked, conditions, self.aborted) {
            Ok(choices) => {
                for (board, choice) in choices {
                    self.note_move(board, &choice, board.is_legal(&choice.mv));
                }
                self.checked.batch = Some(games);
            }
            Err(failure) => {
                if failure.kind != FailureKind::Aborted {
                    self.checked.note(
                        format!("asked {games} times at the same time, it failed: {}", failure.kind),
                        "let it answer each request by its `id`, and not wait for more than there are, or leave out \
                         `parallel`",
                    );
                }
                self.is_over = true;
                return;
            }
        }
        // It is parted from later.
        self.engine = self.start_for(conditions).ok();
    }

    /// The engine's legal move in a fresh game. Records a problem if the move is illegal.
    fn choose(&mut self, board: &Board, conditions: &Conditions) -> Option<Choice> {
        match self.answer(board, conditions) {
            Ok(choice) => {
                let choice = choice?;
                let is_legal = board.is_legal(&choice.mv);
                self.note_move(board, &choice, is_legal);
                is_legal.then_some(choice)
            }
            Err(failure) => {
                self.fail(&failure);
                None
            }
        }
    }

    /// The engine's answer in a fresh game, restarting the engine if needed; `None` if the trials are over.
    fn answer(
        &mut self,
        board: &Board,
        conditions: &Conditions,
    ) -> Result<Option<Choice>, EngineFailure> {
        if self.is_over || !self.start(conditions) {
            return Ok(None);
        }
        // Over GTP and XBoard, limits stay in force once set: other limits need a restart.
        if self.engine.as_ref().is_some_and(|engine| !engine.suits(conditions)) {
            if let Some(engine) = self.engine.take() {
                engine.close();
            }
            if !self.start(conditions) {
                return Ok(None);
            }
        }
        let Some(engine) = &mut self.engine else { return Ok(None) };
        engine.new_game(conditions, self.aborted)?;
        let chosen = engine.choose(&board.situation(conditions.limits), self.aborted);
        self.checked.memory_bytes = self.checked.memory_bytes.max(engine.peak_bytes());
        chosen.map(Some)
    }

    /// Quits the engine and looks for leftovers.
    fn part(&mut self, before: &Files) {
        let Some(mut engine) = self.engine.take() else { return };
        let breaches = engine.take_breaches().into_iter();
        // Output outside the protocol is common and harmless.
        let breaches = breaches.filter(|breach| breach.kind != BreachKind::Junk);
        self.checked.breaches = breaches.map(|breach| breach.to_string()).collect();
        if !engine.is_usable() {
            return;
        }
        (self.step)("quitting");
        let patience = self.spec.patience.quit;
        let parting = engine.part();
        let files = Files::read(&self.spec.in_place(0).directory).changed_since(before);
        self.checked.parting = Some(Left { took: parting.took, files });
        // Over the protocol of lines, a player ends with its input.
        if !parting.ended_by_itself && self.spec.protocol != Protocol::Lines {
            self.checked.note(
                format!("it was still there {} after `quit`, and was killed", shown(patience)),
                "raise `quit_timeout` in the engines file if it only is slow, or report it to its author",
            );
        }
        let mut lines = parting.transcript.lines().filter_map(|line| line.strip_prefix("! "));
        if let Some(left) = lines.find_map(|line| line.strip_prefix(LEFT_BEHIND)) {
            self.checked.note(
                format!("it left processes behind when it ended, which were killed: {left}"),
                "start the engine itself instead of what starts it, or have a script end with `exec`",
            );
        }
    }
}

fn shown(duration: Duration) -> String {
    spelrum_report::text::duration_us(duration.as_secs_f64() * 1e6)
}

/// The limits that can be set over GTP, cheapest first.
fn gtp_limits(supported: GtpLimits, reached: u32) -> impl Iterator<Item = Limit> {
    let GtpLimits { depth, nodes, seconds, milliseconds, time_settings } = supported;
    let whole_seconds = seconds || time_settings;
    let time =
        if milliseconds { Some(MOVE_TIME_MS) } else { whole_seconds.then_some(WHOLE_SECOND_MS) };
    let limits = [
        depth.then_some(Limit::Depth(reached)),
        nodes.then_some(Limit::Nodes(NODES)),
        time.map(Limit::MoveTimeMs),
    ];
    limits.into_iter().flatten()
}

fn conditions_of(limit: Limit) -> Conditions {
    let limits = match limit {
        Limit::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
        Limit::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
        Limit::MoveTimeMs(ms) => {
            Limits { move_time: Some(Duration::from_millis(ms)), ..Limits::default() }
        }
    };
    Conditions { limits, margin: MARGIN, ..Conditions::default() }
}

/// The engine's reported use of a limit, and whether the limit was kept.
fn compare_limit(limit: Limit, choice: &Choice) -> (Option<u64>, Kept) {
    let (reported, most) = match limit {
        Limit::Nodes(nodes) => (choice.nodes, nodes.saturating_mul(NODES_TOLERANCE)),
        Limit::Depth(depth) => (choice.depth.map(u64::from), u64::from(depth)),
        Limit::MoveTimeMs(ms) => {
            let took = u64::try_from(choice.wall.as_millis()).unwrap_or(u64::MAX);
            // A later answer would have timed out.
            (Some(took), ms.saturating_add(u64::try_from(MARGIN.as_millis()).unwrap_or(0)))
        }
    };
    let kept = match reported {
        None => Kept::Unknown,
        Some(reported) if reported <= most => Kept::Yes,
        Some(_) => Kept::No,
    };
    (reported, kept)
}
