//! `[[claims]]`: statements about results, made in a sweep before there are any.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use spelrum_engine::parse_duration_us;
use spelrum_model::Role;
use spelrum_model::claims::{CLAIM_TEXT_BYTES_MAX, CLAIMS_MAX, Statement, Than};
use spelrum_statistics::claims::{About, Bound, Quantifier};
use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Table, Tree};

use crate::axes::{Axis, axis_value};
use crate::key::{self, Form, Key, Keys, Number, Own, Read, Text, Word, Wrong};
use crate::keys::ERROR_RATE;
use crate::players::Players;
use crate::selection::{SelectedValues, Selector};

/// A claim as parsed from the file alone.
#[derive(Debug)]
pub(super) struct ClaimInFile {
    pub(super) place: Span,
    pub(super) text: String,
    pub(super) statement: Statement,
    /// Its cells.
    pub(super) cells: SelectedCells,
    /// The cells that they are compared with.
    pub(super) than: Option<ThanInFile>,
}

/// The cells that a claim's are compared with.
#[derive(Debug)]
pub(super) enum ThanInFile {
    /// Those with the value before on this axis.
    Before(usize),
    /// Those of this selection, which differ on these axes and in these roles.
    Other { cells: SelectedCells, axes: Vec<usize>, roles: Vec<Role> },
}

/// Cells of a player, by their points and players.
#[derive(Clone, Debug)]
pub(super) struct SelectedCells {
    axes: SelectedValues,
    /// For each variant, whether it is the player.
    player: Vec<bool>,
    /// For each variant, whether it is the opponent; `None` if any is.
    opponent: Option<Vec<bool>>,
}

/// The role of two players in a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The claim does not concern them.
    Neither,
    /// One of the two is the claim's player.
    Player(Role),
    /// Both are.
    Both,
}

const EXAMPLE: &str = "[[claims]] and below it text = \"ab beats gm\", player = \"ab\", opponent = \"gm\" \
                       and score_above = 0.5";

impl SelectedCells {
    /// The role of a pairing of variants at a point.
    pub(super) fn part_at(&self, point: &[u32], names: (usize, usize)) -> Part {
        if self.covers_point(point) { self.part_of(names) } else { Part::Neither }
    }

    fn covers_point(&self, point: &[u32]) -> bool {
        self.axes.iter().all(|(axis, selected)| selected.binary_search(&point[*axis]).is_ok())
    }

    fn part_of(&self, (first, second): (usize, usize)) -> Part {
        let meets =
            |variant: usize| self.opponent.as_ref().is_none_or(|opponents| opponents[variant]);
        match (self.player[first] && meets(second), self.player[second] && meets(first)) {
            (true, true) => Part::Both,
            (true, false) => Part::Player(Role::Player),
            (false, true) => Part::Player(Role::Opponent),
            (false, false) => Part::Neither,
        }
    }
}

/// Reads `claims` and `error_rate`.
pub(super) fn read(
    root: &Table,
    axes: &[Axis],
    players: &Players,
) -> Result<Vec<ClaimInFile>, Fault> {
    let Some(node) = root.value("claims") else {
        return match root.value(ERROR_RATE.name) {
            None => Ok(Vec::new()),
            Some(node) => Err(Fault::at(
                &node.place,
                "`error_rate` is that of claims, and there are none",
                format!("state one: {EXAMPLE}; or remove `error_rate`"),
            )),
        };
    };
    let nodes = node.list("`claims`", "a list of tables", EXAMPLE)?;
    if nodes.is_empty() {
        let remedy = format!("state one: {EXAMPLE}; or remove `claims`");
        return Err(Fault::at(&node.place, "there is no claim in `claims`", remedy));
    }
    if nodes.len() > CLAIMS_MAX {
        let problem = format!("{} claims are too many", nodes.len());
        let remedy = format!("state at most {CLAIMS_MAX}: each makes the others harder to show");
        return Err(Fault::at(&node.place, problem, remedy));
    }
    let error_rate = ERROR_RATE.read(root)?;
    let mut reader = Reader { selector: Selector::new(axes, players), axes, error_rate };
    let mut texts = BTreeSet::new();
    let read = |node: &Node| {
        let claim = reader.read(node)?;
        if texts.insert(claim.text.clone()) {
            return Ok(claim);
        }
        let problem = format!("two claims say \"{}\"", claim.text);
        let remedy = "give each a text of its own: reports name claims by it";
        Err(Fault::at(&claim.place, problem, remedy))
    };
    nodes.iter().map(read).collect()
}

struct Reader<'a> {
    selector: Selector<'a>,
    axes: &'a [Axis],
    error_rate: f64,
}

impl Reader<'_> {
    fn read(&mut self, node: &Node) -> Result<ClaimInFile, Fault> {
        let table = node.table("a claim", EXAMPLE)?;
        key::check(table, "the claim", CLAIM)?;
        let required = |key: &str| {
            table.get(key).ok_or_else(|| {
                let remedy = format!("write, for example, {EXAMPLE}");
                Fault::at(&node.place, format!("this claim has no `{key}`"), remedy)
            })
        };
        let text = claim_text(&required("text")?.value)?;
        let player = required("player")?;
        let opponent = table.get("opponent");
        let about = about(table, &node.place)?;
        let (player_name, player_variants) = self.player(player)?;
        let (opponent_name, opponent_variants) = match opponent {
            None => (None, None),
            Some(entry) => {
                let (name, variants) = self.player(entry)?;
                refuse_self(&entry.value, (&player_name, &player_variants), (&name, &variants))?;
                (Some(name), Some(variants))
            }
        };
        let axes = match table.get("at") {
            None => Vec::new(),
            Some(entry) => self.places(&entry.value)?,
        };
        let at = self.shown(&axes);
        let cells = SelectedCells { axes, player: player_variants, opponent: opponent_variants };
        let than = match (table.value(ALONG.name), table.value(THAN.name)) {
            (None, None) => None,
            (Some(along), None) => Some(self.along(along)?),
            (None, Some(than)) => {
                Some(self.than(than, &cells, (&player_name, opponent_name.as_deref()))?)
            }
            (Some(_), Some(than)) => {
                let problem = "a claim has either `along` or `than`";
                return Err(Fault::at(&than.place, problem, "remove one of them"));
            }
        };
        let (than, than_in_file) = than.unzip();
        check_comparison(table, about, than.as_ref(), &node.place)?;
        Ok(ClaimInFile {
            place: node.place.clone(),
            text,
            statement: Statement {
                player: player_name,
                opponent: opponent_name,
                at,
                about,
                than,
                quantifier: IN.read(table)?,
                error_rate: self.error_rate,
            },
            cells,
            than: than_in_file,
        })
    }

    /// The axis along which each cell is compared with the one before.
    fn along(&self, node: &Node) -> Result<(Than, ThanInFile), Fault> {
        let name = ALONG.parse(node)?;
        let entry = Entry { key: name.clone(), key_place: node.place.clone(), value: node.clone() };
        let axis = self.selector.axis(&entry, &[])?;
        let numbers: Option<Vec<f64>> = self.axes[axis].values.iter().map(number).collect();
        if numbers.is_some_and(|numbers| !numbers.is_sorted()) {
            return Err(Fault::at(
                &node.place,
                format!(
                    "the values of `{name}` are not in ascending order: a gain is from each to the next"
                ),
                "list them in [axes] from the least to the greatest",
            ));
        }
        Ok((Than::Before(name), ThanInFile::Before(axis)))
    }

    /// What is put in place of a claim's own players and values.
    fn than(
        &mut self,
        node: &Node,
        cells: &SelectedCells,
        (player, opponent): (&str, Option<&str>),
    ) -> Result<(Than, ThanInFile), Fault> {
        let table = node.table("`than`", "than = { player = \"minimax\" }")?;
        let mut other = cells.clone();
        let (mut names, mut roles, mut replaced) = ([None, None], Vec::new(), Vec::new());
        for entry in &table.entries {
            match entry.key.as_str() {
                "player" => {
                    let (name, variants) = self.player(entry)?;
                    (names[0], other.player) = (Some(name), variants);
                    roles.push(Role::Player);
                }
                "opponent" => {
                    let (name, variants) = self.player(entry)?;
                    (names[1], other.opponent) = (Some(name), Some(variants));
                    roles.push(Role::Opponent);
                }
                _ => {
                    let axis = self.selector.axis(entry, &["player", "opponent"])?;
                    let values = self.selector.values(axis, &entry.value)?;
                    if values.len() > 1 {
                        let problem = format!("`than` names several values of `{}`", entry.key);
                        let remedy = "name one, with which all cells of the claim are compared";
                        return Err(Fault::at(&entry.value.place, problem, remedy));
                    }
                    replaced.push((axis, values));
                }
            }
        }
        if roles.is_empty() && replaced.is_empty() {
            return Err(Fault::at(
                &node.place,
                "`than` names no other cell",
                "name another player, opponent or value, such as than = { player = \"minimax\" }",
            ));
        }
        if let Some(opponents) = &other.opponent {
            let [new_player, new_opponent] = &names;
            let new_player = new_player.as_deref().unwrap_or(player);
            let new_opponent = new_opponent.as_deref().or(opponent).unwrap_or_default();
            refuse_self(node, (new_player, &other.player), (new_opponent, opponents))?;
        }
        replaced.sort_unstable();
        let axes: Vec<usize> = replaced.iter().map(|(axis, _)| *axis).collect();
        let at = self.shown(&replaced);
        other.axes.retain(|(axis, _)| !axes.contains(axis));
        other.axes.extend(replaced);
        other.axes.sort_unstable();
        let [player, opponent] = names;
        let than = Than::Other { player, opponent, at };
        Ok((than, ThanInFile::Other { cells: other, axes, roles }))
    }

    /// A name, and for each variant whether the name means it.
    fn player(&self, entry: &Entry) -> Result<(String, Vec<bool>), Fault> {
        let key = &entry.key;
        let name = entry.value.text(&format!("`{key}`"), &format!("{key} = \"alphabeta\""))?;
        Ok((name.to_owned(), self.selector.players(entry)?))
    }

    /// The named axes and their selected values, in the order of the axes.
    fn places(&mut self, node: &Node) -> Result<SelectedValues, Fault> {
        let table = node.table("`at`", "at = { depth = [1, 2] }")?;
        if table.entries.is_empty() {
            return Err(Fault::at(
                &node.place,
                "`at` names no axis",
                "name one, such as at = { depth = 6 }; or remove `at`, to mean every cell",
            ));
        }
        let mut named = Vec::new();
        for entry in &table.entries {
            let axis = self.selector.axis(entry, &[])?;
            named.push((axis, self.selector.values(axis, &entry.value)?));
        }
        named.sort_unstable();
        Ok(named)
    }

    /// The same in the axes' notation, however the claim wrote them.
    fn shown(&self, places: &[(usize, Vec<u32>)]) -> Vec<(String, Vec<String>)> {
        let shown = |(axis, values): &(usize, Vec<u32>)| {
            let Axis { name, values: axis_values, .. } = &self.axes[*axis];
            let text = |&value: &u32| axis_value(&axis_values[value as usize]).text;
            (name.clone(), values.iter().map(text).collect())
        };
        places.iter().map(shown).collect()
    }
}

/// Refuses a player that would be its own opponent.
fn refuse_self(
    node: &Node,
    (player, players): (&str, &[bool]),
    (opponent, opponents): (&str, &[bool]),
) -> Result<(), Fault> {
    if !players.iter().zip(opponents).any(|(&player, &opponent)| player && opponent) {
        return Ok(());
    }
    Err(Fault::at(
        &node.place,
        format!("`{player}` and its opponent `{opponent}` are one player here"),
        "a player cannot be stronger than itself: name two different players, such as two variants",
    ))
}

/// Refuses a gain over nothing, and a comparison for a figure of single cells.
fn check_comparison(
    table: &Table,
    about: About,
    than: Option<&Than>,
    place: &Span,
) -> Result<(), Fault> {
    match (about, than) {
        (About::Gain(_), None) => Err(Fault::at(
            place,
            "this claim does not say over what the gain is",
            "write along = \"depth\" to compare each value of an axis with the one before, or \
             than = { player = \"minimax\" }",
        )),
        (About::Score(_) | About::TimeRatio(_), Some(_)) => Err(Fault::at(
            table.value(ALONG.name).or(table.value(THAN.name)).map_or(place, |node| &node.place),
            format!("{} is a figure of one cell, not of two", about.words()),
            "write gain_above = 0 to compare the scores of two cells, or remove this key",
        )),
        (About::Gain(_), Some(_)) | (About::Score(_) | About::TimeRatio(_), None) => Ok(()),
    }
}

/// A value of an axis as a number, in microseconds if it is a time; unbounded values are the greatest.
fn number(value: &Node) -> Option<f64> {
    let Tree::Scalar(scalar) = &value.tree else { return None };
    match scalar {
        Scalar::Integer(integer) => Some(*integer as f64),
        Scalar::Number(number) => Some(*number),
        Scalar::Text(text) if text == "unlimited" => Some(f64::INFINITY),
        Scalar::Text(text) => parse_duration_us(text).map(|us| us as f64),
        Scalar::Bool(_) => None,
    }
}

/// The claim in words: a line of text.
fn claim_text(node: &Node) -> Result<String, Fault> {
    let example = "text = \"ab beats gm at every depth\"";
    let text = node.text("`text`", example)?;
    let problem = if text.trim().is_empty() {
        "this claim says nothing"
    } else if text.len() > CLAIM_TEXT_BYTES_MAX {
        "this claim is too long"
    } else if text.contains(char::is_control) {
        "this claim has line breaks, or other characters that cannot be shown"
    } else {
        return Ok(text.to_owned());
    };
    let remedy = format!(
        "say what is claimed in one line of at most {CLAIM_TEXT_BYTES_MAX} bytes: {example}"
    );
    Err(Fault::at(&node.place, problem, remedy))
}

/// The keys of a figure's bounds.
struct Bounds {
    above: Key<Number>,
    below: Key<Number>,
    within: Key<Within>,
    about: fn(Bound) -> About,
}

/// The figure and its bound: exactly one of [`bounds`].
fn about(table: &Table, place: &Span) -> Result<About, Fault> {
    let mut found: Vec<(About, &'static str)> = Vec::new();
    for Bounds { above, below, within, about } in BOUNDS {
        let bounds = [
            above.optional(table)?.map(|least| (Bound::Above(least), above.name)),
            below.optional(table)?.map(|most| (Bound::Below(most), below.name)),
            within.optional(table)?.map(|ends| (Bound::Within(ends), within.name)),
        ];
        found.extend(bounds.into_iter().flatten().map(|(bound, key)| (about(bound), key)));
    }
    match found[..] {
        [(about, _)] => Ok(about),
        [] => Err(Fault::at(
            place,
            "this claim does not say what the score is to be",
            "write score_above = 0.5, or score_below = 0.5, or for equals score_within = 0.05",
        )),
        [(_, first), (_, second), ..] => Err(Fault::at(
            table.value(second).map_or(place, |node| &node.place),
            format!("a claim has either `{first}` or `{second}`"),
            "remove one of them, or make two claims of it",
        )),
    }
}

/// The keys of which each claim has one.
pub(super) fn bounds() -> impl Iterator<Item = &'static str> {
    BOUNDS.iter().flat_map(|bounds| [bounds.above.name, bounds.below.name, bounds.within.name])
}

/// Two numbers in order, or a margin about the figure of equals.
struct Within {
    equal: f64,
    least: f64,
    most: f64,
}

impl Form for Within {
    fn schema(&self) -> Json {
        let ends = Number::between(self.least, self.most).schema();
        let margin = Number::between(0.0, self.margin_max()).schema();
        json!({ "anyOf": [margin, { "type": "array", "items": ends, "minItems": 2, "maxItems": 2 }] })
    }
}

impl Within {
    fn margin_max(&self) -> f64 {
        (self.most - self.equal).min(self.equal - self.least)
    }
}

impl Read for Within {
    type Value = [f64; 2];

    fn parse(&self, node: &Node) -> Result<[f64; 2], Wrong> {
        const WANTED: &str = "a margin, or two numbers";
        let Self { equal, least, most } = *self;
        let ends = match &node.tree {
            Tree::Array(ends) => ends
                .iter()
                .map(|end| end.number("", ""))
                .collect::<Result<Vec<f64>, Fault>>()
                .map_err(|_| Wrong::Type(WANTED))?,
            Tree::Scalar(_) | Tree::Table(_) => {
                let margin = node.number("", "").map_err(|_| Wrong::Type(WANTED))?;
                // 0.57, and not 0.5700000000000001.
                [equal - margin, equal + margin].map(|end| (end * 1e12).round() / 1e12).to_vec()
            }
        };
        match ends[..] {
            [low, high] if least < low && low < high && high < most => Ok([low, high]),
            _ => Err(Wrong::Value(format!(
                "choose a margin above 0 and below {}, or two numbers, the lesser first, above {least} and below \
                 {most}",
                self.margin_max()
            ))),
        }
    }

    fn default(&self) -> Option<[f64; 2]> {
        None
    }

    fn example(&self) -> String {
        "0.05".to_owned()
    }
}

const BOUNDS: &[Bounds] = &[SCORE, GAIN, TIME_RATIO];

const SCORE: Bounds = Bounds {
    above: Key::new(
        "score_above",
        "Score above",
        "The player's mean score is above this bound: 0.5 is even. A claim has one such key.",
        Number::between(0.0, 1.0),
    )
    .hint("0.5 is an even score"),
    below: Key::new(
        "score_below",
        "Score below",
        "The player's mean score is below this bound: 0.5 is even.",
        Number::between(0.0, 1.0),
    )
    .hint("0.5 is an even score"),
    within: Key::new(
        "score_within",
        "Score within",
        "The players are equal but for this margin, such as `0.05`; or the mean score is between two bounds, such as \
         `[0.45, 0.55]`.",
        Within { equal: 0.5, least: 0.0, most: 1.0 },
    )
    .hint("0.05 is a score of 0.45 to 0.55"),
    about: About::Score,
};

const GAIN: Bounds = Bounds {
    above: Key::new(
        "gain_above",
        "Gain above",
        "The player's mean score is higher by more than this than in the cell compared with (`along`, `than`): 0 if it is \
         higher at all.",
        Number::between(-1.0, 1.0),
    )
    .example("0"),
    below: Key::new(
        "gain_below",
        "Gain below",
        "The gain is less than this: 0 if the score is lower.",
        Number::between(-1.0, 1.0),
    )
    .example("0"),
    within: Key::new(
        "gain_within",
        "Gain within",
        "The two scores are equal but for this margin, such as `0.05`; or the gain is between two bounds.",
        Within { equal: 0.0, least: -1.0, most: 1.0 },
    ),
    about: About::Gain,
};

const TIME_RATIO: Bounds = Bounds {
    above: Key::new(
        "time_ratio_above",
        "Time ratio above",
        "The player takes more than this multiple of its opponent's time for a move: the geometric mean over games, as in \
         the report's table of times.",
        Number::between(0.0, RATIO_MAX),
    )
    .example("1"),
    below: Key::new(
        "time_ratio_below",
        "Time ratio below",
        "The player takes less than this multiple of its opponent's time for a move: 0.5 is half of it.",
        Number::between(0.0, RATIO_MAX),
    )
    .example("1"),
    within: Key::new(
        "time_ratio_within",
        "Time ratio within",
        "The times are equal but for this margin, such as `0.1`; or the ratio is between two bounds.",
        Within { equal: 1.0, least: 0.0, most: RATIO_MAX },
    ),
    about: About::TimeRatio,
};

const RATIO_MAX: f64 = 1e6;

const ALONG: Key<Text> = Key::new(
    "along",
    "Along",
    "The axis along which the score gains: each cell is compared with that of the value before, in the axis's order.",
    Text,
)
.example("\"depth\"");

const THAN: Key<Own> = Key::new(
    "than",
    "Than",
    "What each cell is compared with: the cell that has another `player`, `opponent` or value of an axis, and is the same \
     in all else.",
    Own(|| json!({ "type": "object", "minProperties": 1 })),
);

const IN: Key<Word<Quantifier>> = Key::new(
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
    &Key::new("player", "Player", "The player, or variant, whose score the claim is about.", Text)
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
    &ALONG,
    &THAN,
    &IN,
];
