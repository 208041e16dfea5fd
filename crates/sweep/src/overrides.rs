//! `[[override]]`: another number of games for some cells, or none at all.

use serde_json::json;
use spelrum_toml::{Fault, Node, Scalar, Span, Table, Tree};

use crate::axes::Axis;
use crate::fields::number_of_games;
use crate::key::{self, Key, Keys, Own, Whole};
use crate::players::Players;
use crate::selection::{SelectedValues, Selector};

/// Most overrides of a sweep.
const OVERRIDES_MAX: usize = 1_000;

/// The keys of `where` that are not axes.
const SIDES: [&str; 2] = ["player", "opponent"];

/// Games of some cells, in place of the sweep's `games`.
#[derive(Debug)]
pub(super) struct Override {
    /// The place of its condition.
    pub(super) place: Span,
    axes: SelectedValues,
    sides: PlayerFilter,
    /// `None` if the cells are skipped.
    pub(super) games: Option<u64>,
    /// The place of its number of games.
    pub(super) games_place: Span,
}

/// The players concerned, by variants.
#[derive(Debug)]
enum PlayerFilter {
    Any,
    /// At least one of the two is among these.
    Either(Vec<bool>),
    /// One of the two is among the first, the other among the second.
    Both(Vec<bool>, Vec<bool>),
}

impl Override {
    /// Whether it covers a point.
    pub(super) fn covers_point(&self, point: &[u32]) -> bool {
        self.axes.iter().all(|(axis, selected)| selected.binary_search(&point[*axis]).is_ok())
    }

    /// Whether it covers a pairing of variants.
    pub(super) fn covers_players(&self, (first, second): (usize, usize)) -> bool {
        match &self.sides {
            PlayerFilter::Any => true,
            PlayerFilter::Either(player) => player[first] || player[second],
            PlayerFilter::Both(player, opponent) => {
                (player[first] && opponent[second]) || (player[second] && opponent[first])
            }
        }
    }
}

const EXAMPLE: &str = "[[override]] and below it where = { depth = 6 } and games = 10";

/// Reads `override`.
pub(super) fn read(
    node: &Node,
    axes: &[Axis],
    players: &Players,
    swap_sides: bool,
) -> Result<Vec<Override>, Fault> {
    let nodes = node.list("`override`", "a list of tables", EXAMPLE)?;
    if nodes.len() > OVERRIDES_MAX {
        let problem = format!("{} overrides are too many", nodes.len());
        let remedy = format!("write at most {OVERRIDES_MAX}: a list in `where` means any of it");
        return Err(Fault::at(&node.place, problem, remedy));
    }
    let mut reader = Reader { selector: Selector::new(axes, players), swap_sides };
    nodes.iter().map(|node| reader.read(node)).collect()
}

struct Reader<'a> {
    selector: Selector<'a>,
    /// Whether games come in pairs.
    swap_sides: bool,
}

impl Reader<'_> {
    fn read(&mut self, node: &Node) -> Result<Override, Fault> {
        let table = node.table("an override", EXAMPLE)?;
        key::check(table, "the override", OVERRIDE)?;
        let Some(condition) = table.get("where") else {
            let problem = "this override does not say which cells it means";
            return Err(Fault::at(&node.place, problem, format!("write, for example, {EXAMPLE}")));
        };
        let games = match (table.get("games"), table.get("skip")) {
            (Some(games), None) => Some(number_of_games(&games.value, self.swap_sides)?),
            (None, Some(skip)) => match &skip.value.tree {
                Tree::Scalar(Scalar::Bool(true)) => None,
                Tree::Scalar(_) | Tree::Array(_) | Tree::Table(_) => {
                    let problem = "`skip` can only be true";
                    let remedy = "write skip = true, or remove the override";
                    return Err(Fault::at(&skip.value.place, problem, remedy));
                }
            },
            (None, None) | (Some(_), Some(_)) => {
                return Err(Fault::at(
                    &node.place,
                    "an override says either `games` or `skip`",
                    "write games = 10, or skip = true",
                ));
            }
        };
        let effect = table.get("games").or_else(|| table.get("skip"));
        let (axes, sides) = self.condition(&condition.value)?;
        Ok(Override {
            place: condition.value.place.clone(),
            axes,
            sides,
            games,
            games_place: effect.map_or(&node.place, |entry| &entry.value.place).clone(),
        })
    }

    /// The values of axes, and the players concerned.
    fn condition(&mut self, node: &Node) -> Result<(SelectedValues, PlayerFilter), Fault> {
        let table = node.table("`where`", "where = { depth = 6 }")?;
        if table.entries.is_empty() {
            return Err(Fault::at(
                &node.place,
                "this override means every cell",
                "name an axis or a player, or change the `games` of the sweep itself",
            ));
        }
        let mut axes = Vec::new();
        for entry in &table.entries {
            if !SIDES.contains(&entry.key.as_str()) {
                let axis = self.selector.axis(entry, &SIDES)?;
                axes.push((axis, self.selector.values(axis, &entry.value)?));
            }
        }
        Ok((axes, self.sides(table)?))
    }

    /// The players that `player` and `opponent` mean.
    fn sides(&self, table: &Table) -> Result<PlayerFilter, Fault> {
        match (table.get("player"), table.get("opponent")) {
            (None, None) => Ok(PlayerFilter::Any),
            (Some(player), None) => Ok(PlayerFilter::Either(self.selector.players(player)?)),
            (Some(player), Some(opponent)) => Ok(PlayerFilter::Both(
                self.selector.players(player)?,
                self.selector.players(opponent)?,
            )),
            (None, Some(opponent)) => Err(Fault::at(
                &opponent.key_place,
                "an override that names an `opponent` needs a `player` too",
                "write `player` to mean either of the two",
            )),
        }
    }
}

/// The keys of an override.
pub(super) const OVERRIDE: Keys = &[
    &Key::new(
        "where",
        "Where",
        "Which cells: values of axes (a list means any of them), and `player` and `opponent` by \
         name.",
        Own(|| json!({ "type": "object", "minProperties": 1 })),
    )
    .required(),
    &Key::new(
        "games",
        "Games",
        "Games in each of these cells: even, unless swap_sides is false.",
        Whole::<u64> { min: 1, max: None, default: None },
    ),
    &Key::new("skip", "Skip", "These cells are not played.", Own(|| json!({ "const": true }))),
];
