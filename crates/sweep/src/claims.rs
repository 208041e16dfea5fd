//! `[[claims]]`: statements about results, made in a sweep before there are any.

use std::collections::BTreeSet;

use serde_json::json;
use spelrum_model::Role;
use spelrum_model::claims::{CLAIM_TEXT_BYTES_MAX, CLAIMS_MAX, Statement};
use spelrum_statistics::claims::{Bound, Quantifier};
use spelrum_toml::{Entry, Fault, Node, Span, Table};

use crate::axes::{Axis, axis_value};
use crate::key::{self, Key, Keys, Number, Own, Text, Word};
use crate::keys::ERROR_RATE;
use crate::players::Players;
use crate::selection::{SelectedValues, Selector};

/// A claim as parsed from the file alone.
#[derive(Debug)]
pub(super) struct ClaimInFile {
    pub(super) place: Span,
    pub(super) text: String,
    pub(super) statement: Statement,
    axes: SelectedValues,
    /// For each variant, whether it is the claim's player.
    player: Vec<bool>,
    /// For each variant, whether it is the claim's opponent; `None` if any is.
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

impl ClaimInFile {
    /// Whether the claim covers a point.
    pub(super) fn covers_point(&self, point: &[u32]) -> bool {
        self.axes.iter().all(|(axis, selected)| selected.binary_search(&point[*axis]).is_ok())
    }

    /// The role of a pairing of variants in the claim.
    pub(super) fn part_of(&self, (first, second): (usize, usize)) -> Part {
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
        let score = bound(table, &node.place)?;
        let (player_name, player_variants) = self.player(player)?;
        let (opponent_name, opponent_variants) = match opponent {
            None => (None, None),
            Some(entry) => {
                let (name, variants) = self.player(entry)?;
                let both = |variant: usize| player_variants[variant] && variants[variant];
                if (0..variants.len()).any(both) {
                    return Err(Fault::at(
                        &entry.value.place,
                        format!("`{player_name}` and its opponent `{name}` are one player here"),
                        "a player cannot be stronger than itself: name two different players, such as two \
                         variants",
                    ));
                }
                (Some(name), Some(variants))
            }
        };
        let axes = match table.get("at") {
            None => Vec::new(),
            Some(entry) => self.places(&entry.value)?,
        };
        Ok(ClaimInFile {
            place: node.place.clone(),
            text,
            statement: Statement {
                player: player_name,
                opponent: opponent_name,
                at: self.shown(&axes),
                score,
                quantifier: IN.read(table)?,
                error_rate: self.error_rate,
            },
            axes,
            player: player_variants,
            opponent: opponent_variants,
        })
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

/// `score_above`, or `score_below`.
fn bound(table: &Table, place: &Span) -> Result<Bound, Fault> {
    match (SCORE_ABOVE.optional(table)?, SCORE_BELOW.optional(table)?) {
        (Some(above), None) => Ok(Bound::Above(above)),
        (None, Some(below)) => Ok(Bound::Below(below)),
        (None, None) => Err(Fault::at(
            place,
            "this claim does not say what the score is to be",
            "write score_above = 0.5, or score_below = 0.5",
        )),
        (Some(_), Some(_)) => Err(Fault::at(
            SCORE_BELOW.place(table, place),
            "a claim has either `score_above` or `score_below`",
            "remove one of them, or make two claims of it",
        )),
    }
}

const SCORE_ABOVE: Key<Number> = Key::new(
    "score_above",
    "Score above",
    "The player's mean score is above this bound: 0.5 is even. A claim has either this or `score_below`.",
    Number::between(0.0, 1.0),
)
.hint("0.5 is an even score");

const SCORE_BELOW: Key<Number> = Key::new(
    "score_below",
    "Score below",
    "The player's mean score is below this bound: 0.5 is even.",
    Number::between(0.0, 1.0),
)
.hint("0.5 is an even score");

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
    &SCORE_ABOVE,
    &SCORE_BELOW,
    &IN,
];
