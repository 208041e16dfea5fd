//! The keys of `openings` and of `positions`.

use serde_json::json;
use spelrum_model::{OPENING_PLIES_MAX, ToMove};

use crate::books::COUNT_MAX;
use crate::forms;
use crate::key::{Key, Keys, Own, Swept, Switch, Text, Whole, Word};

/// The keys of openings written as a table: those of every kind, and then of each.
pub(crate) const OPENINGS_START: Keys = &[&OPENINGS_KIND];
/// The keys of openings that are this many plies from the start.
pub(crate) const OPENINGS_PLIES: Keys = &[
    &OPENINGS_KIND,
    &Key::new(
        "plies",
        "Plies",
        "Plies from the start of the game; for \"random\" also a list, to take them in turn.",
        Own(|| {
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
pub(crate) const OPENINGS_LISTED: Keys = &[
    &OPENINGS_KIND,
    &Key::new(
        "positions",
        "Positions",
        "Positions in the game's notation, each once up to symmetry.",
        Own(forms::positions),
    ),
    &Key::new(
        "file",
        "File",
        "A text file, from where the sweep is: one position on each line, comments after `#`.",
        Text,
    ),
];

pub(crate) const IS_DRAWN: Key<Swept<Word<bool>>> = Key::new(
    "order",
    "Order",
    "Whether pairs take them in the book's order, or in one drawn by the seed.",
    Swept(Word::first_of(&[("book", false), ("drawn", true)])),
);

pub(crate) const BOOK_COUNT: Key<Swept<Whole<u32>>> = Key::new(
    "count",
    "Count",
    "How many positions are taken of the book: its first ones, or with `order = \"drawn\"` a sample drawn \
     by the seed.",
    Swept(Whole { min: 1, max: Some(COUNT_MAX), default: None }),
)
.by_default("16,384 of a file that is compressed or larger than 1 MiB, and all of another").example("1000");

pub(crate) const BOOK_START: Key<Swept<Whole<u32>>> = Key::new(
    "start",
    "Start",
    "The number, from 1, of the book's first position that is taken; those before it are left out.",
    Swept(Whole { min: 1, max: None, default: Some(1) }),
);

pub(crate) const SKIPS_BAD: Key<Swept<Word<bool>>> = Key::new(
    "bad",
    "Bad entries",
    "What happens to a line or a game of the book that cannot be read, or in which the game is over there: an \
     error, or it is skipped and reported.",
    Swept(Word::first_of(&[("error", false), ("skip", true)])),
);

/// The keys of openings from a book.
pub(crate) const OPENINGS_BOOK: Keys = &[
    &OPENINGS_KIND,
    &Key::new(
        "file",
        "File",
        "An EPD or PGN file of the game, from where the sweep is, of any size; its name ends in .epd or .pgn, \
         or in one of these and .gz or .zip.",
        Text,
    )
    .required(),
    &Key::new(
        "plies",
        "Plies",
        "Of each game of a PGN file, the position after so many plies, or its last if it has fewer.",
        Own(|| {
            json!({
                "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": OPENING_PLIES_MAX },
                    forms::reference(),
                ],
            })
        }),
    )
    .by_default("the last position"),
    &IS_DRAWN,
    &BOOK_START,
    &BOOK_COUNT,
    &SKIPS_BAD,
];

pub(crate) const TO_MOVE: Key<Swept<Word<ToMove>>> = Key::new(
    "to_move",
    "To move",
    "The side to move: `\"white\"`, which wins, or `\"black\"`, which loses.",
    Swept(Word::first_of(&[
        (ToMove::White.word(), ToMove::White),
        (ToMove::Black.word(), ToMove::Black),
    ])),
);

pub(crate) const STRATIFIED: Key<Swept<Switch>> = Key::new(
    "stratified",
    "Stratified",
    "Whether distances are taken in turn, 1, 2, 3 and so on, each as long as it has positions left; \
     `false`: positions are drawn from all distances together, which are then as frequent as in the \
     ending.",
    Swept(Switch { default: true }),
);

/// The keys of openings from the table of an ending.
pub(crate) const OPENINGS_ENDING: Keys = &[
    &OPENINGS_KIND,
    &Key::new(
        "ending",
        "Ending",
        "White's pieces and then black's, each with its king first: `\"KRK\"`, `\"KBNK\"`, `\"KRKN\"`. At \
         most four pieces, kings included.",
        Own(|| {
            json!({ "anyOf": [{ "type": "string", "pattern": ENDING_PATTERN }, forms::reference()] })
        }),
    )
    .required(),
    &TO_MOVE,
    &Key::new(
        "distance",
        "Distance",
        "`[from, to]`: the number of moves that white still needs to mate, if both sides play their best.",
        Own(|| {
            let moves = json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, forms::reference()] });
            json!({
                "anyOf": [
                    { "type": "array", "minItems": 2, "maxItems": 2, "items": moves },
                    forms::reference(),
                ],
            })
        }),
    )
    .by_default("all there are"),
    &STRATIFIED,
];

/// Names of endings, including some that have too many pieces.
const ENDING_PATTERN: &str = "^[Kk][QRBNqrbn]{0,2}[Kk][QRBNqrbn]{0,2}$";

/// The schema has a form for each kind, with its meaning.
const OPENINGS_KIND: Key<Own> = Key::new(
    "kind",
    "",
    "The kind: the value of an axis.",
    Own(|| json!({ "anyOf": [forms::reference()] })),
)
.required();
