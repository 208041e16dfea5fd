//! The keys of `openings` and of `positions`.

use serde_json::json;
use spelrum_model::OPENING_PLIES_MAX;

use super::{Key, Kind};
use crate::books::COUNT_MAX;
use crate::forms;

/// The keys of openings written as a table: those of every kind, and then of each.
pub(crate) const OPENINGS_START: &[Key] = &[OPENINGS_KIND];
/// The keys of openings that are this many plies from the start.
pub(crate) const OPENINGS_PLIES: &[Key] = &[
    OPENINGS_KIND,
    Key::new(
        "plies",
        "Plies",
        "Plies from the start of the game; for \"random\" also a list, to take them in turn.",
        Kind::Own(|| {
            json!({
                "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": OPENING_PLIES_MAX },
                    {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": true,
                        "items": { "type": "integer", "minimum": 0, "maximum": OPENING_PLIES_MAX },
                    },
                    forms::reference(),
                ],
            })
        }),
    )
    .required(),
];
/// The keys of openings that are listed, here or in a file.
pub(crate) const OPENINGS_LISTED: &[Key] = &[
    OPENINGS_KIND,
    Key::new(
        "positions",
        "Positions",
        "Positions in the game's notation, each once up to symmetry.",
        Kind::Own(forms::positions),
    ),
    Key::new(
        "file",
        "File",
        "A text file, from where the sweep is: one position on each line, comments after `#`.",
        Kind::Text,
    ),
];

/// The keys of openings from a book.
pub(crate) const OPENINGS_BOOK: &[Key] = &[
    OPENINGS_KIND,
    Key::new(
        "file",
        "File",
        "An EPD or PGN file of the game, from where the sweep is, of any size; its name ends in .epd or .pgn, \
         or in one of these and .gz or .zip.",
        Kind::Text,
    )
    .required(),
    Key::new(
        "plies",
        "Plies",
        "Of each game of a PGN file, the position after so many plies, or its last if it has fewer.",
        Kind::Own(|| {
            json!({
                "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": OPENING_PLIES_MAX },
                    forms::reference(),
                ],
            })
        }),
    ).by_default("the last position"),
    Key::new(
        "order",
        "Order",
        "Whether pairs take them in the book's order, or in one drawn by the seed.",
        Kind::Own(
            || json!({ "default": "book", "anyOf": [{ "enum": ["book", "drawn"] }, forms::reference()] }),
        ),
    ),
    Key::new(
        "count",
        "Count",
        "How many positions are taken of the book: its first ones, or with `order = \"drawn\"` a sample drawn \
         by the seed.",
        Kind::Own(|| {
            json!({
                "anyOf": [
                    { "type": "integer", "minimum": 1, "maximum": COUNT_MAX },
                    forms::reference(),
                ],
            })
        }),
    ).by_default("16,384 of a file that is compressed or larger than 1 MiB, and all of another"),
    Key::new(
        "bad",
        "Bad entries",
        "What happens to a line or a game of the book that cannot be read, or in which the game is over there: an \
         error, or it is skipped and reported.",
        Kind::Own(
            || json!({ "default": "error", "anyOf": [{ "enum": ["error", "skip"] }, forms::reference()] }),
        ),
    ),
];

/// The keys of openings from the table of an ending.
pub(crate) const OPENINGS_ENDING: &[Key] = &[
    OPENINGS_KIND,
    Key::new(
        "ending",
        "Ending",
        "White's pieces and then black's, each with its king first: `\"KRK\"`, `\"KBNK\"`, `\"KRKN\"`. At \
         most four pieces, kings included, and no pawns.",
        Kind::Own(|| {
            json!({ "anyOf": [{ "type": "string", "pattern": ENDING_PATTERN }, forms::reference()] })
        }),
    )
    .required(),
    Key::new(
        "to_move",
        "To move",
        "The side to move: `\"white\"`, which wins, or `\"black\"`, which loses.",
        Kind::Own(
            || json!({ "default": "white", "anyOf": [{ "enum": ["white", "black"] }, forms::reference()] }),
        ),
    ),
    Key::new(
        "distance",
        "Distance",
        "`[from, to]`: the number of moves that white still needs to mate, if both sides play their best.",
        Kind::Own(|| {
            let moves = json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, forms::reference()] });
            json!({
                "anyOf": [
                    { "type": "array", "minItems": 2, "maxItems": 2, "items": moves },
                    forms::reference(),
                ],
            })
        }),
    ).by_default("all there are"),
    Key::new(
        "stratified",
        "Stratified",
        "Whether distances are taken in turn, 1, 2, 3 and so on, each as long as it has positions left; \
         `false`: positions are drawn from all distances together, which are then as frequent as in the \
         ending.",
        Kind::Own(
            || json!({ "default": true, "anyOf": [{ "type": "boolean" }, forms::reference()] }),
        ),
    ),
];

/// Names of endings, including some that have too many pieces.
const ENDING_PATTERN: &str = "^[Kk][QRBNqrbn]{0,2}[Kk][QRBNqrbn]{0,2}$";

/// The schema has a form for each kind, with its meaning.
const OPENINGS_KIND: Key = Key::new(
    "kind",
    "",
    "The kind: the value of an axis.",
    Kind::Own(|| json!({ "anyOf": [forms::reference()] })),
)
.required();
