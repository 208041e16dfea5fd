//! The trait that describes a game, so that generic code can go from data to its positions.

use crate::core::book::{BookFormat, BookPosition};
use crate::core::external::{GtpBoard, Protocol};
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Parameters, Settings};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem, RangeProblem};
use crate::core::rules::{GameInfo, Rules};
use crate::core::sketch::{Diagram, Marked, RowNames, Sketch};
use crate::core::solver::Solvable;
use crate::core::termination::Termination;
use crate::evaluation::{Contents, EvaluationVisitor};
use crate::tables::TableValue;

/// The way in which a position's sides exchange their roles: see [`Game::side_exchange`].
#[derive(Clone, Copy, Debug)]
pub enum SideExchange<G> {
    /// The letters of the two sides ([`Position::SIDES`](crate::Position::SIDES)) exchanged in the notation, where
    /// the text so made is a position. For games whose sides differ in nothing but their names.
    Letters,
    /// The game's own way, for sides that also differ by where they play or in which direction. `None` for a
    /// position that alone has no exchanged one.
    By(fn(&G) -> Option<G>),
    /// The rules give the sides different roles, so that no position has an exchanged one.
    Impossible,
}

/// A game with all that generic code needs to construct it from data. Code that works on positions
/// alone needs only [`Position`](crate::Position). From [`Rules`] to the type:
/// [`crate::with_game!`]. See `docs/adding-a-game.md`.
pub trait Game: Solvable {
    /// The name that sweeps use, such as `tic-tac-toe`.
    const NAME: &'static str;

    /// Its description, in a sentence.
    const MEANING: &'static str;

    /// The rules that a sweep can choose, each once: name, meaning, range and usual value, in the
    /// order of the JSON form.
    const RULES: &'static [ParameterInfo];

    /// Rules other than the usual ones that tests hold the game to, such as other sizes of its board: the JSON form
    /// without the name, `{"size": 5}`. Tests of the game itself take all of them, and tests of searches the first,
    /// which therefore should make short games.
    const SAMPLE_RULES: &'static [&'static str] = &[];

    /// The ways in which its games end, in addition to the arbiter's.
    const TERMINATIONS: &'static [Termination];

    /// The kinds of ended games that [`crate::perft()`] counts separately, by their names in its
    /// output.
    const LEAF_KINDS: &'static [&'static str];

    /// Whether games that ended before the depth are leaves of [`crate::perft()`] if kinds of ended games are
    /// not counted separately.
    const ENDED_GAMES_ARE_LEAVES: bool = false;

    /// The game's evaluations, the default first. [`evaluations!`](crate::evaluations) writes this and
    /// [`Game::visit_evaluation`].
    const EVALUATIONS: &'static [EvaluationInfo];

    /// The unit of the winner's margin, in the plural, such as `discs`: see
    /// [`Position::margin`](crate::Position::margin). `None` for a game without margins.
    const MARGIN: Option<&'static str> = None;

    /// The protocols of external engines that play it, whose notation is then the game's.
    const PROTOCOLS: &'static [Protocol] = &[];

    /// Its board in GTP, if it has one.
    const GTP_BOARD: Option<GtpBoard> = None;

    /// The names of its board's rows, shown beside a diagram.
    const ROW_NAMES: RowNames = RowNames::Down;

    /// Whether [`Game::read`] also takes texts other than those that positions are written as, such as a FEN without
    /// its last fields.
    const READS_OTHER_FORMS: bool = false;

    /// All of this as data. Games do not override it.
    const INFO: &'static GameInfo = &GameInfo {
        name: Self::NAME,
        meaning: Self::MEANING,
        rules: Self::RULES,
        sides: Self::SIDES,
        terminations: Self::TERMINATIONS,
        leaf_kinds: Self::LEAF_KINDS,
        evaluations: Self::EVALUATIONS,
        history_matters: Self::HISTORY_MATTERS,
        margin: Self::MARGIN,
        protocols: Self::PROTOCOLS,
        gtp_board: Self::GTP_BOARD,
    };

    /// Checks conditions that the table of rules cannot express.
    ///
    /// # Errors
    /// If nothing can be played by these rules.
    fn check_rules(_rules: &Rules) -> Result<(), KeyProblem> {
        Ok(())
    }

    /// The start position under rules of this game, which have been checked.
    fn from_rules(rules: &Rules) -> Self;

    /// How to give everything of the one side to the other. In the exchanged position the other side is to move, or
    /// the same side is; its moves, its ending and its evaluation are those of the original with the sides
    /// exchanged. Exchanging twice gives the original.
    ///
    /// Tests of evaluations and of rules depend on it, and no search does.
    fn side_exchange(_rules: &Rules) -> SideExchange<Self> {
        SideExchange::Letters
    }

    /// Parses a position that play can reach from `start`, in the game's notation, including positions that
    /// are over.
    ///
    /// # Errors
    /// If the text is not such a position.
    fn read(start: Self, text: &str) -> Result<Self, Problem>;

    /// The index in [`Game::LEAF_KINDS`] of a game that ended by a move of `mover`.
    fn leaf_kind(ending: Ending, mover: Side) -> usize;

    /// Passes on the position after each legal move, in any order; none if the game is over. A game that can make
    /// its moves sooner than list them in canonical order should override this.
    fn for_each_child(&self, mut visit: impl FnMut(&Self)) {
        for index in 0..self.legal_move_count() {
            let mut child = self.clone();
            child.play_unchecked(self.nth_legal_move(index));
            visit(&child);
        }
    }

    /// Makes the evaluation that the settings name and passes it on as its own type.
    ///
    /// # Errors
    /// If the evaluation cannot be made of these settings.
    fn visit_evaluation<V: EvaluationVisitor<Self>>(
        settings: &Settings,
        contents: &dyn Contents,
        visitor: V,
    ) -> Result<V::Output, KeyProblem>;

    /// How to write a move and how to win, for a new player.
    fn explain(rules: &Rules) -> String;

    /// A move as numbers, for games whose reference data has this form.
    fn numbered_move(_mv: Self::Move) -> Option<[i32; 3]> {
        None
    }

    /// The number of stones on the board, for games whose reference data is sorted by it.
    fn stones(&self) -> Option<u32> {
        None
    }

    /// The number of empty cells, in a game whose every move fills one: the distance from a full board.
    fn empty_cells(&self) -> Option<u32> {
        None
    }

    /// The positions of a book in its order: each line of EPD, and of each game of PGN the position after
    /// `plies` plies, or its last if it has fewer or `plies` is `None`; or the error in the line or game. By
    /// default a game has no books.
    fn read_book(
        _start: &Self,
        format: BookFormat,
        _text: &str,
        _plies: Option<u32>,
    ) -> Vec<Result<BookPosition<Self>, RangeProblem>> {
        vec![Err(Problem::at(
            0..0,
            format!("{} has no books in {}", Self::NAME, format.name()),
            "list positions in the game's notation, one on each line: kind = \"listed\"",
        ))]
    }

    /// A legal move in the customary notation of the game, where that differs from the engine's.
    fn written(&self, mv: Self::Move) -> String {
        mv.to_string()
    }

    /// A move in the notation of external engines, where that differs from the engine's.
    fn engine_move(_mv: Self::Move, _protocol: Protocol) -> Option<String> {
        None
    }

    /// Parses a move of an external engine.
    ///
    /// # Errors
    /// If it is not a move of the game.
    fn parse_engine_move(&self, text: &str, _protocol: Protocol) -> Result<Self::Move, Problem> {
        self.parse_move(text)
    }

    /// Moves that lead from the start to this position, for protocols that cannot state a position.
    fn moves_from_start(&self) -> Option<Vec<Self::Move>> {
        None
    }

    /// A small picture of the position, as in the picture of a tree: by default its notation.
    fn sketch(&self) -> Sketch {
        Sketch::Notation(self.to_string())
    }

    /// What a legal move here changes, to be marked in the sketch of the position after it: by default every cell
    /// and heap that is different there. A game whose moves turn or shift many cells at once should override this.
    fn marks(&self, mv: Self::Move) -> Vec<Marked> {
        let mut after = self.clone();
        after.play_unchecked(mv);
        self.sketch().changes_to(&after.sketch())
    }

    /// The diagram of the position, with marks of the move made in the position before. Games do not override it.
    fn diagram(&self, last: Option<(&Self, Self::Move)>) -> Diagram {
        Diagram {
            sketch: self.sketch(),
            row_names: Self::ROW_NAMES,
            marks: last.map_or_else(Vec::new, |(before, mv)| before.marks(mv)),
            to_move: (!self.is_over()).then(|| self.to_move()),
        }
    }

    /// An endgame table's value of the position, without a search, and the moves that keep it, in canonical
    /// order; `None` if no table has the position.
    fn table_solution(&self) -> Option<(TableValue, Vec<Self::Move>)> {
        None
    }

    /// Whether the solver usually needs at most a few seconds from here.
    fn is_solved_soon(&self) -> bool {
        true
    }

    /// The start position.
    ///
    /// # Errors
    /// If the rules are another game's.
    fn start(rules: &Rules) -> Result<Self, KeyProblem> {
        rules.must_be_of::<Self>()?;
        Ok(Self::from_rules(rules))
    }

    /// Parses a position in the game's notation, including positions that are over.
    ///
    /// # Errors
    /// If the rules are another game's, or the text is not a position of this game under them.
    fn parse(rules: &Rules, text: &str) -> Result<Self, Problem> {
        Self::read(Self::start(rules).map_err(|problem| problem.moved_to(()))?, text)
    }
}

impl Rules {
    /// The usual rules of a game.
    ///
    /// # Panics
    /// If the table of the game's rules has no usual value for one, or they fail the game's own
    /// check: a mistake in the game.
    #[must_use]
    pub fn usual<G: Game>() -> Self {
        match Self::new::<G>(&Parameters::new()) {
            Ok(rules) => rules,
            Err(error) => panic!("the usual rules of {}: {error}", G::NAME),
        }
    }

    /// A game under these rules; missing rules take their usual value.
    ///
    /// # Errors
    /// If a rule is unknown, has the wrong type or is outside its range, or the rules fail the game's
    /// own check.
    pub fn new<G: Game>(given: &Parameters) -> Result<Self, KeyProblem> {
        let values = Settings::of_game(G::NAME, G::RULES, given)?;
        let rules = Self { game: G::INFO, values };
        G::check_rules(&rules)?;
        Ok(rules)
    }

    /// Whether these are rules of this game.
    #[must_use]
    pub fn is_of<G: Game>(&self) -> bool {
        self.name() == G::NAME
    }

    /// Refuses the rules of another game.
    pub(crate) fn must_be_of<G: Game>(&self) -> Result<(), KeyProblem> {
        if self.is_of::<G>() {
            return Ok(());
        }
        Err(Problem::at(
            None,
            format!("these are rules of {}, not of {}", self.name(), G::NAME),
            format!("give the rules of {}", G::NAME),
        ))
    }
}

/// Lists a game's evaluations, the default first: their table and the way to each type.
#[macro_export]
macro_rules! evaluations {
    ($($evaluation:ty),+ $(,)?) => {
        const EVALUATIONS: &'static [$crate::EvaluationInfo] =
            &[$(<$evaluation as $crate::evaluation::GameEvaluation<Self>>::INFO),+];

        fn visit_evaluation<V: $crate::evaluation::EvaluationVisitor<Self>>(
            settings: &$crate::Settings,
            contents: &dyn $crate::evaluation::Contents,
            visitor: V,
        ) -> Result<V::Output, $crate::KeyProblem> {
            use $crate::evaluation::GameEvaluation;
            let name = settings.word("evaluation");
            $(if name == <$evaluation as GameEvaluation<Self>>::INFO.name {
                let evaluation =
                    <$evaluation as GameEvaluation<Self>>::from_settings(settings, contents)?;
                return Ok(visitor.visit(evaluation));
            })+
            unreachable!("settings name one of the game's evaluations, not {name}")
        }
    };
}
