//! What a game tells of itself, so that generic code can go from data to its positions.

use crate::core::book::{BookError, BookFormat, BookPosition};
use crate::core::outside::{GtpBoard, Protocol};
use crate::core::parameters::{
    EvaluationInfo, ParameterError, ParameterInfo, Parameters, Settings,
};
use crate::core::position::{Ending, NotationError, Side};
use crate::core::rules::{GameInfo, Rules, RulesError};
use crate::core::sketch::Sketch;
use crate::core::solver::Solvable;
use crate::core::termination::Termination;
use crate::evaluation::{Contents, EvaluationVisitor};
use crate::tables::TableValue;

/// A game with everything that generic code needs to go from data to it. What is played by
/// positions alone needs only [`Position`](crate::Position). From [`Rules`] to the type:
/// [`crate::with_game!`]. `docs/adding-a-game.md` leads through it.
pub trait Game: Solvable {
    /// The name that sweeps use, such as `tic-tac-toe`.
    const NAME: &'static str;

    /// What it is, in a sentence.
    const MEANING: &'static str;

    /// The rules that a sweep can choose, each once: name, meaning, range and usual value. Their
    /// order is that of the JSON form.
    const RULES: &'static [ParameterInfo];

    /// How its games end, apart from what the arbiter may end them with.
    const TERMINATIONS: &'static [Termination];

    /// The kinds of ended games that [`crate::perft()`] counts apart, by their names in its output.
    const LEAF_KINDS: &'static [&'static str];

    /// Whether games that ended before the depth are leaves of [`crate::perft()`] where no kinds of ended
    /// games are counted apart.
    const ENDED_GAMES_ARE_LEAVES: bool = false;

    /// The game's evaluations, the default first. [`evaluations!`](crate::evaluations) writes this and
    /// [`Game::visit_evaluation`].
    const EVALUATIONS: &'static [EvaluationInfo];

    /// What a game is won by beside winning it, in the plural, such as `discs`: what
    /// [`Position::margin`](crate::Position::margin) counts. `None` where there is nothing of the kind.
    const MARGIN: Option<&'static str> = None;

    /// What external engines that play it speak: its notation is then theirs.
    const PROTOCOLS: &'static [Protocol] = &[];

    /// Its board for programs that speak GTP, where some do.
    const GTP_BOARD: Option<GtpBoard> = None;

    /// All of this for code that knows no types. Not for a game to change.
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

    /// Checks what the table of rules alone cannot.
    ///
    /// # Errors
    /// If nothing can be played by these rules.
    fn check_rules(_rules: &Rules) -> Result<(), RulesError> {
        Ok(())
    }

    /// The start position under rules of this game, which have been checked.
    fn from_rules(rules: &Rules) -> Self;

    /// Reads a position that play can reach from `start`, in the game's notation. A position that is
    /// over is read too.
    ///
    /// # Errors
    /// If the text is not such a position.
    fn read(start: Self, text: &str) -> Result<Self, NotationError>;

    /// Which of [`Game::LEAF_KINDS`] a game ended in by a move of `mover` is.
    fn leaf_kind(ending: Ending, mover: Side) -> usize;

    /// Makes the evaluation that the settings name and hands it over as its own type.
    ///
    /// # Errors
    /// If the evaluation cannot be made of these settings.
    fn visit_evaluation<V: EvaluationVisitor<Self>>(
        settings: &Settings,
        contents: &dyn Contents,
        visitor: V,
    ) -> Result<V::Output, ParameterError>;

    /// How a move is written and what wins, for a newcomer who is about to play.
    fn explain(rules: &Rules) -> String;

    /// A move in numbers, where reference data of the game writes it so.
    fn numbered_move(_mv: Self::Move) -> Option<[i32; 3]> {
        None
    }

    /// The stones on the board, where reference data of the game counts by them.
    fn stones(&self) -> Option<u32> {
        None
    }

    /// The empty cells of the board, in a game whose every move fills one: how far the position is from a full
    /// board.
    fn empty_cells(&self) -> Option<u32> {
        None
    }

    /// The positions of a book in its order: of each line of EPD its own, of each game of PGN the one after so
    /// many plies, or its last if it has fewer or `plies` is `None`; or what is wrong with the line or the game.
    /// A game has books only if it says so.
    fn read_book(
        _start: &Self,
        format: BookFormat,
        _text: &str,
        _plies: Option<u32>,
    ) -> Vec<Result<BookPosition<Self>, BookError>> {
        vec![Err(BookError {
            place: 0..0,
            problem: format!("{} has no books in {}", Self::NAME, format.name()),
            remedy: "list positions in the game's notation, one on each line: kind = \"listed\""
                .to_owned(),
        })]
    }

    /// A legal move as people of the game's world write it, where that is not its notation.
    fn written(&self, mv: Self::Move) -> String {
        mv.to_string()
    }

    /// A move as external engines write it, where that is not its notation.
    fn told(_mv: Self::Move, _protocol: Protocol) -> Option<String> {
        None
    }

    /// Reads a move of an external engine.
    ///
    /// # Errors
    /// If it is not a move of the game.
    fn heard(&self, text: &str, _protocol: Protocol) -> Result<Self::Move, NotationError> {
        self.parse_move(text)
    }

    /// Moves that lead from the start to this position, for protocols that have no word for a position.
    fn way_here(&self) -> Option<Vec<Self::Move>> {
        None
    }

    /// What is drawn of the position where there is little room, as in the picture of a tree: its
    /// notation, unless the game has something better.
    fn sketch(&self) -> Sketch {
        Sketch::Notation(self.to_string())
    }

    /// What an endgame table says of the position, without a search: its value, and the moves that keep it,
    /// in canonical order; `None` where no table has it.
    fn table_solution(&self) -> Option<(TableValue, Vec<Self::Move>)> {
        None
    }

    /// Whether the solver usually needs no more than a few seconds from here.
    fn is_solved_soon(&self) -> bool {
        true
    }

    /// The start position.
    ///
    /// # Errors
    /// If the rules are another game's.
    fn start(rules: &Rules) -> Result<Self, RulesError> {
        rules.must_be_of::<Self>()?;
        Ok(Self::from_rules(rules))
    }

    /// Reads a position in the game's notation. A position that is over is read too.
    ///
    /// # Errors
    /// If the rules are another game's, or the text is not a position of this game under them.
    fn parse(rules: &Rules, text: &str) -> Result<Self, NotationError> {
        Self::read(Self::start(rules)?, text)
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
        match Self::of::<G>(&Parameters::new()) {
            Ok(rules) => rules,
            Err(error) => panic!("the usual rules of {}: {error}", G::NAME),
        }
    }

    /// A game under these rules; those that are not named are as usual.
    ///
    /// # Errors
    /// If a rule is unknown, has the wrong type or is outside its range, or the rules fail the game's
    /// own check.
    pub fn of<G: Game>(given: &Parameters) -> Result<Self, RulesError> {
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
    pub(crate) fn must_be_of<G: Game>(&self) -> Result<(), RulesError> {
        if self.is_of::<G>() {
            return Ok(());
        }
        Err(RulesError {
            rule: None,
            problem: format!("these are rules of {}, not of {}", self.name(), G::NAME),
            remedy: format!("give the rules of {}", G::NAME),
        })
    }
}

/// Lists a game's evaluations, the default first: the table and the way to each type.
#[macro_export]
macro_rules! evaluations {
    ($($evaluation:ty),+ $(,)?) => {
        const EVALUATIONS: &'static [$crate::EvaluationInfo] =
            &[$(<$evaluation as $crate::evaluation::GameEvaluation<Self>>::INFO),+];

        fn visit_evaluation<V: $crate::evaluation::EvaluationVisitor<Self>>(
            settings: &$crate::Settings,
            contents: &dyn $crate::evaluation::Contents,
            visitor: V,
        ) -> Result<V::Output, $crate::ParameterError> {
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
