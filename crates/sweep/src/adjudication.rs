//! `adjudication`: ends games early by their players' scores, or by tables.

use std::num::NonZeroU32;

use serde_json::{Value as Json, json};
use spelrum_engine::games::Chess;
use spelrum_engine::search::WIN;
use spelrum_engine::{Adjudication, DrawRule, ResignRule, Rules, SyzygyResults, SyzygyRule};
use spelrum_model::OpeningsRule;
use spelrum_toml::{Fault, Node, Scalar, Span, Tree};

use crate::key::{self, Key, Keys, Of, Own, Switch, Whole, Word};

const RESIGN_EXAMPLE: &str = "resign = { score = 600, moves = 3 }";
const DRAW_EXAMPLE: &str = "draw = { score = 10, moves = 8, after = 40 }";
const TABLES_EXAMPLE: &str = "tables = true";
const SYZYGY_EXAMPLE: &str = "syzygy = { pieces = 6 }";

/// The sweep's settings, and their places.
#[derive(Clone, Debug)]
pub(super) struct AdjudicationInFile {
    pub(super) rule: Adjudication,
    /// The place of the setting that tables end games, if any.
    tables_place: Option<Span>,
    /// The place of the setting that Syzygy tables end games, if any.
    syzygy_place: Option<Span>,
    /// The place of the setting that counting restarts, if any.
    restart_place: Option<Span>,
}

impl AdjudicationInFile {
    /// Refuses tables where no game reaches a position of one, or every game begins in one, and restarts in
    /// games without captures of pieces and pawn moves.
    pub(super) fn check_setting(
        &self,
        rules: &Rules,
        openings: &OpeningsRule,
    ) -> Result<(), Fault> {
        let is_chess = rules.name() == Chess::rules().name();
        if let Some(place) = self.restart_place.as_ref().filter(|_| !is_chess) {
            let problem = "`restart` is about captures and pawn moves, which only chess has";
            return Err(Fault::at(place, problem, "remove `restart`"));
        }
        if let Some(place) = self.syzygy_place.as_ref().filter(|_| !is_chess) {
            return Err(Fault::at(place, "Syzygy tables are of chess endings", "remove `syzygy`"));
        }
        let Some(place) = &self.tables_place else { return Ok(()) };
        let fault = |problem: &str, remedy| Err(Fault::at(place, problem, remedy));
        if !is_chess {
            return fault("exact tables are of chess endings", "remove `tables`");
        }
        match openings {
            OpeningsRule::Ending { .. } => fault(
                "tables would end every game after its first move: all begin in an ending",
                "remove `tables`, or begin elsewhere",
            ),
            OpeningsRule::Start {}
            | OpeningsRule::Random { .. }
            | OpeningsRule::Strata { .. }
            | OpeningsRule::Listed { .. }
            | OpeningsRule::All { .. } => Ok(()),
        }
    }
}

/// Reads `adjudication`.
pub(super) fn read(node: &Node) -> Result<AdjudicationInFile, Fault> {
    let example = format!("adjudication = {{ {RESIGN_EXAMPLE} }}");
    let table = node.table("`adjudication`", &example)?;
    key::check(table, "`adjudication`", ADJUDICATION)?;
    if table.entries.is_empty() {
        return Err(Fault::at(
            &node.place,
            "`adjudication` does not say which games end early",
            format!(
                "write {RESIGN_EXAMPLE}, or {DRAW_EXAMPLE}, or in chess {TABLES_EXAMPLE} or {SYZYGY_EXAMPLE}, or several \
                 of them; or remove `adjudication`"
            ),
        ));
    }
    let place = |key: &str| table.value(key).map(|node| node.place.clone());
    let rule = Adjudication {
        resign: table.value("resign").map(read_resign).transpose()?,
        draw: table.value("draw").map(read_draw).transpose()?,
        tables: TABLES.read(table)?,
        syzygy: table.value("syzygy").map(read_syzygy).transpose()?,
    };
    Ok(AdjudicationInFile {
        rule,
        tables_place: place(TABLES.name).filter(|_| rule.tables),
        syzygy_place: place("syzygy"),
        restart_place: place("draw").filter(|_| rule.draw.is_some_and(|draw| draw.restart)),
    })
}

fn read_resign(node: &Node) -> Result<ResignRule, Fault> {
    let table = node.table("`resign`", RESIGN_EXAMPLE)?;
    key::check(table, "`resign`", RESIGN)?;
    Ok(ResignRule {
        score: at_least_1(RESIGN_SCORE.read(table)?),
        moves: at_least_1(RESIGN_MOVES.read(table)?),
        both: RESIGN_BOTH.read(table)?,
    })
}

fn read_draw(node: &Node) -> Result<DrawRule, Fault> {
    let table = node.table("`draw`", DRAW_EXAMPLE)?;
    key::check(table, "`draw`", DRAW)?;
    Ok(DrawRule {
        score: DRAW_SCORE.read(table)?,
        moves: at_least_1(DRAW_MOVES.read(table)?),
        after: DRAW_AFTER.read(table)?,
        restart: DRAW_RESTART.read(table)?,
    })
}

fn read_syzygy(node: &Node) -> Result<SyzygyRule, Fault> {
    if let Tree::Scalar(Scalar::Integer(pieces)) = node.tree {
        let pieces = u8::try_from(pieces).ok().filter(|pieces| (3..=7).contains(pieces));
        let pieces = pieces.ok_or_else(|| {
            let remedy = "write a number of pieces from 3 to 7";
            Fault::at(&node.place, "`syzygy` is not a number of pieces that tables have", remedy)
        })?;
        return Ok(SyzygyRule { pieces, fifty_moves: true, results: SyzygyResults::All });
    }
    let table = node.table("`syzygy`", SYZYGY_EXAMPLE)?;
    key::check(table, "`syzygy`", SYZYGY)?;
    Ok(SyzygyRule {
        pieces: SYZYGY_PIECES.read(table)? as u8,
        fifty_moves: SYZYGY_FIFTY_MOVES.read(table)?,
        results: SYZYGY_RESULTS.read(table)?,
    })
}

/// A number of a key that begins at 1.
fn at_least_1(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

/// The farthest score from 0 that a rule may demand: a win on the board.
const SCORE_MAX: u32 = WIN.unsigned_abs();

/// Maximum number of moves that a rule may consider, or wait for.
const MOVES_MAX: u32 = 5_000;

const RESIGN_SCORE: Key<Whole<u32>> = Key::new(
    "score",
    "",
    "A side loses if its scores are at most the negative of this, in the evaluation's unit (in chess a hundredth \
     of a pawn).",
    Whole { min: 1, max: Some(SCORE_MAX), default: None },
)
.required().example("600");

const RESIGN_MOVES: Key<Whole<u32>> = Key::new(
    "moves",
    "",
    "For how many of its latest moves in a row the loser's scores must be so bad.",
    Whole { min: 1, max: Some(MOVES_MAX), default: Some(3) },
);

const RESIGN_BOTH: Key<Switch> = Key::new(
    "both",
    "",
    "`true`: the other side's scores must also be at least `score` for as many of its own latest moves; `false`: \
     the loser's scores are enough.",
    Switch { default: true },
);

/// The keys of `resign`.
pub(super) const RESIGN: Keys = &[&RESIGN_SCORE, &RESIGN_MOVES, &RESIGN_BOTH];

const DRAW_SCORE: Key<Whole<u32>> = Key::new(
    "score",
    "",
    "A game is drawn if all scores are at most this far from 0, in the evaluation's unit (in chess a hundredth of \
     a pawn).",
    Whole { min: 0, max: Some(SCORE_MAX), default: None },
)
.required().example("10");

const DRAW_MOVES: Key<Whole<u32>> = Key::new(
    "moves",
    "",
    "For how many of each side's latest moves in a row scores must be so near to 0.",
    Whole { min: 1, max: Some(MOVES_MAX), default: Some(8) },
);

const DRAW_AFTER: Key<Whole<u32>> = Key::new(
    "after",
    "",
    "How many full moves, of two plies each, must have been played from the opening first.",
    Whole { min: 0, max: Some(MOVES_MAX), default: Some(0) },
)
.example("40");

const DRAW_RESTART: Key<Switch> = Key::new(
    "restart",
    "",
    "`true`: a capture or a pawn move is the first move that counts, as in fastchess and cutechess; in \
     chess only.",
    Switch { default: false },
);

/// The keys of `draw`.
pub(super) const DRAW: Keys = &[&DRAW_SCORE, &DRAW_MOVES, &DRAW_AFTER, &DRAW_RESTART];

const TABLES: Key<Switch> = Key::new(
    "tables",
    "Ended by exact tables",
    "`true`: a chess game ends at its first position of four pieces or fewer, none of them a pawn, with \
     the result of the exact table: a win for the side that mates, a draw if neither does.",
    Switch { default: false },
);

const SYZYGY_PIECES: Key<Whole<u32>> = Key::new(
    "pieces",
    "",
    "The most pieces of a position, kings included, in which a game ends.",
    Whole { min: 3, max: Some(7), default: None },
)
.required()
.example("6");

const SYZYGY_FIFTY_MOVES: Key<Switch> = Key::new(
    "fifty_moves",
    "",
    "`true`: a win that the fifty-move rule prevents is a draw; `false`: it is a win.",
    Switch { default: true },
);

const SYZYGY_RESULTS: Key<Word<SyzygyResults>> = Key::new(
    "results",
    "",
    "The results with which games end: all, wins of either side alone, or draws alone.",
    Word::first_of(&[
        ("all", SyzygyResults::All),
        ("win_loss", SyzygyResults::WinLoss),
        ("draw", SyzygyResults::Draw),
    ]),
);

/// The keys of `syzygy`.
pub(super) const SYZYGY: Keys = &[&SYZYGY_PIECES, &SYZYGY_FIFTY_MOVES, &SYZYGY_RESULTS];

/// A table of these keys, or the number of pieces alone.
fn syzygy_schema() -> Json {
    json!({ "anyOf": [{ "type": "integer", "minimum": 3, "maximum": 7 }, key::object(SYZYGY)] })
}

/// The keys of `adjudication`, at least one of which is given.
pub(super) const ADJUDICATION: Keys = &[
    &Key::new(
        "resign",
        "Lost by scores",
        "A side loses whose last scores are all this bad: `{ score = 600, moves = 3, both = true }`.",
        Of(RESIGN),
    ),
    &Key::new(
        "draw",
        "Drawn by scores",
        "A game is drawn if the last scores of both sides are all this near to 0: `{ score = 10, moves = 8, \
         after = 40 }`.",
        Of(DRAW),
    ),
    &TABLES,
    &Key::new(
        "syzygy",
        "Ended by Syzygy tables",
        "A chess game ends at its first position of so many pieces or fewer without castling rights, with the result \
         that the worker's [Syzygy tables](engines.md#syzygy-tables) give: `6`, or `{ pieces = 6, fifty_moves = true, \
         results = \"all\" }`. Only workers that have all tables of so many pieces get the games.",
        Own(syzygy_schema),
    ),
];
