//! The keys of a claim, and the figure and bound that they give.

use serde_json::{Value as Json, json};
use spelrum_statistics::claims::{About, Bound, Quantifier};
use spelrum_toml::{Fault, Node, Span, Table, Tree};

use crate::axes::axis_value;
use crate::forms::DURATION_PATTERN;
use crate::key::{Form, Key, Keys, Number, Own, Read, Text, Word, Wrong};

/// The results of a sweep, which decide the figures that a claim can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// Games.
    Games,
    /// Moves that players choose alone.
    Choices,
    /// Values that `[find]` finds.
    Values,
}

impl Results {
    /// A sweep with these results.
    const fn sweep(self) -> &'static str {
        match self {
            Self::Games => "a sweep of games",
            Self::Choices => "an accuracy experiment",
            Self::Values => "a sweep with `find`",
        }
    }

    /// A bound to write instead of a figure that there is not.
    const fn example(self) -> &'static str {
        match self {
            Self::Games => {
                "score_above = 0.5, or score_below = 0.5, or for equals score_within = 0.05"
            }
            Self::Choices => "accuracy_above = 0.5, or gain_above = 0 with `along` or `than`",
            Self::Values => "value_above = 1000, or value_below = \"10ms\"",
        }
    }
}

/// The keys of a figure's bounds.
struct Bounds {
    above: Key<Limit>,
    below: Key<Limit>,
    within: Key<Within>,
    about: fn(Bound) -> About,
    /// What has this figure.
    results: &'static [Results],
}

/// The figure and its bound: exactly one of [`bounds`].
pub(super) fn about(table: &Table, place: &Span, results: Results) -> Result<About, Fault> {
    let mut found: Vec<(About, &'static str, bool)> = Vec::new();
    for figure in BOUNDS {
        let Bounds { above, below, within, about, .. } = figure;
        let bounds = [
            above.optional(table)?.map(|least| (Bound::Above(least), above.name)),
            below.optional(table)?.map(|most| (Bound::Below(most), below.name)),
            within.optional(table)?.map(|ends| (Bound::Within(ends), within.name)),
        ];
        let is_there = figure.results.contains(&results);
        found
            .extend(bounds.into_iter().flatten().map(|(bound, key)| (about(bound), key, is_there)));
    }
    let at = |key: &str| table.value(key).map_or(place, |node| &node.place);
    match found[..] {
        [(about, _, true)] => Ok(about),
        [(_, key, false)] => Err(Fault::at(
            at(key),
            format!("a claim of {} has no `{key}`", results.sweep()),
            format!("write {}", results.example()),
        )),
        [] => Err(Fault::at(
            place,
            "this claim does not say what is claimed of the player",
            format!("write {}", results.example()),
        )),
        [(_, first, _), (_, second, _), ..] => Err(Fault::at(
            at(second),
            format!("a claim has either `{first}` or `{second}`"),
            "remove one of them, or make two claims of it",
        )),
    }
}

/// The keys of which each claim has one.
pub(super) fn bounds() -> impl Iterator<Item = &'static str> {
    BOUNDS.iter().flat_map(|bounds| [bounds.above.name, bounds.below.name, bounds.within.name])
}

/// A bound of a figure: a number, or for the values of parameters also a duration, in milliseconds.
enum Limit {
    Number(Number),
    Amount,
}

impl Limit {
    const fn between(least: f64, most: f64) -> Self {
        Self::Number(Number::between(least, most))
    }
}

impl Form for Limit {
    fn schema(&self) -> Json {
        match self {
            Self::Number(number) => number.schema(),
            Self::Amount => amount_schema(),
        }
    }
}

impl Read for Limit {
    type Value = f64;

    fn parse(&self, node: &Node) -> Result<f64, Wrong> {
        match self {
            Self::Number(number) => number.parse(node),
            Self::Amount => amount(node),
        }
    }

    fn default(&self) -> Option<f64> {
        None
    }

    fn example(&self) -> String {
        match self {
            Self::Number(number) => number.example(),
            Self::Amount => "1000".to_owned(),
        }
    }
}

fn amount_schema() -> Json {
    let number = Number::between(0.0, AMOUNT_MAX).schema();
    json!({ "anyOf": [number, { "type": "string", "pattern": DURATION_PATTERN }] })
}

/// A number, or a duration in milliseconds.
fn amount(node: &Node) -> Result<f64, Wrong> {
    match axis_value(node).number {
        Some(number) if 0.0 < number && number < AMOUNT_MAX => Ok(number),
        Some(_) => Err(Wrong::Value("choose a number above 0".to_owned())),
        None => Err(Wrong::Type("a number or a duration")),
    }
}

const AMOUNT_MAX: f64 = 1e15;

/// Two numbers in order, or a margin about the figure of equals if there is one.
struct Within {
    equal: Option<f64>,
    least: f64,
    most: f64,
}

impl Form for Within {
    fn schema(&self) -> Json {
        let ends = match self.most == AMOUNT_MAX {
            true => amount_schema(),
            false => Number::between(self.least, self.most).schema(),
        };
        let ends = json!({ "type": "array", "items": ends, "minItems": 2, "maxItems": 2 });
        match self.margin_max() {
            Some(most) => json!({ "anyOf": [Number::between(0.0, most).schema(), ends] }),
            None => ends,
        }
    }
}

impl Within {
    fn margin_max(&self) -> Option<f64> {
        self.equal.map(|equal| (self.most - equal).min(equal - self.least))
    }
}

impl Read for Within {
    type Value = [f64; 2];

    fn parse(&self, node: &Node) -> Result<[f64; 2], Wrong> {
        let Self { equal, least, most } = *self;
        let wanted = match equal {
            Some(_) => "a margin, or two numbers",
            None => "a list of two numbers",
        };
        let ends = match (&node.tree, equal) {
            (Tree::Array(ends), _) => ends
                .iter()
                .map(|end| match most == AMOUNT_MAX {
                    true => amount(end),
                    false => end.number("", "").map_err(|_| Wrong::Type(wanted)),
                })
                .collect::<Result<Vec<f64>, Wrong>>()?,
            (Tree::Scalar(_), Some(equal)) => {
                let margin = node.number("", "").map_err(|_| Wrong::Type(wanted))?;
                // 0.57, and not 0.5700000000000001.
                [equal - margin, equal + margin].map(|end| (end * 1e12).round() / 1e12).to_vec()
            }
            (Tree::Scalar(_) | Tree::Table(_), _) => return Err(Wrong::Type(wanted)),
        };
        let numbers = || format!("two numbers, the lesser first, above {least} and below {most}");
        match ends[..] {
            [low, high] if least < low && low < high && high < most => Ok([low, high]),
            _ => Err(Wrong::Value(match self.margin_max() {
                Some(margin) => {
                    format!("choose a margin above 0 and below {margin}, or {}", numbers())
                }
                None => format!("choose {}", numbers()),
            })),
        }
    }

    fn default(&self) -> Option<[f64; 2]> {
        None
    }

    fn example(&self) -> String {
        if self.equal.is_some() { "0.05" } else { "[0.6, 0.8]" }.to_owned()
    }
}

const BOUNDS: &[Bounds] = &[SCORE, GAIN, TIME_RATIO, ACCURACY, VALUE, RATING_LEAD];

const SCORE: Bounds = Bounds {
    above: Key::new(
        "score_above",
        "Score above",
        "The player's mean score is above this bound: 0.5 is even. A claim has one such key.",
        Limit::between(0.0, 1.0),
    )
    .hint("0.5 is an even score"),
    below: Key::new(
        "score_below",
        "Score below",
        "The player's mean score is below this bound: 0.5 is even.",
        Limit::between(0.0, 1.0),
    )
    .hint("0.5 is an even score"),
    within: Key::new(
        "score_within",
        "Score within",
        "The players are equal but for this margin, such as `0.05`; or the mean score is between two bounds, such as \
         `[0.45, 0.55]`.",
        Within { equal: Some(0.5), least: 0.0, most: 1.0 },
    )
    .hint("0.05 is a score of 0.45 to 0.55"),
    about: About::Score,
    results: &[Results::Games],
};

const GAIN: Bounds = Bounds {
    above: Key::new(
        "gain_above",
        "Gain above",
        "The player's mean score, or its accuracy in an accuracy experiment, is higher by more than this than in the cell \
         compared with (`along`, `than`): 0 if it is higher at all.",
        Limit::between(-1.0, 1.0),
    )
    .example("0"),
    below: Key::new(
        "gain_below",
        "Gain below",
        "The gain is less than this: 0 if it is a loss.",
        Limit::between(-1.0, 1.0),
    )
    .example("0"),
    within: Key::new(
        "gain_within",
        "Gain within",
        "The two are equal but for this margin, such as `0.05`; or the gain is between two bounds.",
        Within { equal: Some(0.0), least: -1.0, most: 1.0 },
    ),
    about: About::Gain,
    results: &[Results::Games, Results::Choices],
};

const TIME_RATIO: Bounds = Bounds {
    above: Key::new(
        "time_ratio_above",
        "Time ratio above",
        "The player takes more than this multiple of its opponent's time for a move: the geometric mean over games, as in \
         the report's table of times.",
        Limit::between(0.0, RATIO_MAX),
    )
    .example("1"),
    below: Key::new(
        "time_ratio_below",
        "Time ratio below",
        "The player takes less than this multiple of its opponent's time for a move: 0.5 is half of it.",
        Limit::between(0.0, RATIO_MAX),
    )
    .example("1"),
    within: Key::new(
        "time_ratio_within",
        "Time ratio within",
        "The times are equal but for this margin, such as `0.1`; or the ratio is between two bounds.",
        Within { equal: Some(1.0), least: 0.0, most: RATIO_MAX },
    ),
    about: About::TimeRatio,
    results: &[Results::Games],
};

const ACCURACY: Bounds = Bounds {
    above: Key::new(
        "accuracy_above",
        "Accuracy above",
        "In an [accuracy experiment](#accuracy): the player chooses a best move in more than this share of the positions.",
        Limit::between(0.0, 1.0),
    )
    .hint("0.5 is a best move in half of the positions"),
    below: Key::new(
        "accuracy_below",
        "Accuracy below",
        "The player chooses a best move in less than this share of the positions.",
        Limit::between(0.0, 1.0),
    )
    .hint("0.5 is a best move in half of the positions"),
    within: Key::new(
        "accuracy_within",
        "Accuracy within",
        "The share is between two bounds, such as `[0.6, 0.8]`.",
        Within { equal: None, least: 0.0, most: 1.0 },
    ),
    about: About::Accuracy,
    results: &[Results::Choices],
};

const VALUE: Bounds = Bounds {
    above: Key::new(
        "value_above",
        "Value above",
        "In a sweep with [`find`](#find): the value found is above this number or duration, in every run of the player.",
        Limit::Amount,
    ),
    below: Key::new(
        "value_below",
        "Value below",
        "The value found is below this number or duration.",
        Limit::Amount,
    ),
    within: Key::new(
        "value_within",
        "Value within",
        "The value found is between two, such as `[1000, 4000]` or `[\"5ms\", \"20ms\"]`.",
        Within { equal: None, least: 0.0, most: AMOUNT_MAX },
    ),
    about: About::Value,
    results: &[Results::Values],
};

const RATING_LEAD: Bounds = Bounds {
    above: Key::new(
        "rating_lead_above",
        "Rating lead above",
        "The player's [rating](statistics.md#ratings) is higher by more than this many Elo than its opponent's, on one scale of \
         all that met; without `opponent` than that of every other player, so that 0 is that it is first.",
        Limit::between(-ELO_MAX, ELO_MAX),
    )
    .example("0"),
    below: Key::new(
        "rating_lead_below",
        "Rating lead below",
        "The lead is less than this: 0 if the rating is lower.",
        Limit::between(-ELO_MAX, ELO_MAX),
    )
    .example("0"),
    within: Key::new(
        "rating_lead_within",
        "Rating lead within",
        "The ratings are equal but for this margin in Elo, such as `20`; or the lead is between two bounds.",
        Within { equal: Some(0.0), least: -ELO_MAX, most: ELO_MAX },
    )
    .example("20"),
    about: About::RatingLead,
    results: &[Results::Games],
};

const ELO_MAX: f64 = 10_000.0;

const RATIO_MAX: f64 = 1e6;

pub(super) const ALONG: Key<Text> = Key::new(
    "along",
    "Along",
    "The axis along which the score gains: each cell is compared with that of the value before, in the axis's order.",
    Text,
)
.example("\"depth\"");

pub(super) const THAN: Key<Own> = Key::new(
    "than",
    "Than",
    "What each cell is compared with: the cell that has another `player`, `opponent` or value of an axis, and is the same \
     in all else.",
    Own(|| json!({ "type": "object", "minProperties": 1 })),
);

pub(super) const IN: Key<Word<Quantifier>> = Key::new(
    "in",
    "In",
    "`\"every\"`: the claim holds if it holds in each of these cells. `\"some\"`: in at least one.",
    Word::first_of(&[
        (Quantifier::Every.name(), Quantifier::Every),
        (Quantifier::Some.name(), Quantifier::Some),
    ]),
);

/// The keys of a claim.
pub(super) const CLAIM: Keys = &[
    &Key::new("text", "Text", "The claim, in one line: reports use it as the claim's name.", Text)
        .required(),
    &Key::new("player", "Player", "The player, or variant, that the claim is about.", Text)
        .required(),
    &Key::new("opponent", "Opponent", "The player that it meets, on either side.", Text)
        .by_default("any player"),
    &Key::new(
        "at",
        "At",
        "Which cells: values of axes, as in an [override](#overrides).",
        Own(|| json!({ "type": "object", "minProperties": 1 })),
    )
    .by_default("every cell in which they meet"),
    &SCORE.above,
    &SCORE.below,
    &SCORE.within,
    &GAIN.above,
    &GAIN.below,
    &GAIN.within,
    &TIME_RATIO.above,
    &TIME_RATIO.below,
    &TIME_RATIO.within,
    &ACCURACY.above,
    &ACCURACY.below,
    &ACCURACY.within,
    &VALUE.above,
    &VALUE.below,
    &VALUE.within,
    &RATING_LEAD.above,
    &RATING_LEAD.below,
    &RATING_LEAD.within,
    &ALONG,
    &THAN,
    &IN,
];
