//! `[[override]]`: other numbers of games for some cells, or none at all.

use std::collections::BTreeMap;

use super::axes::{Axis, identity};
use super::fault::{Fault, Span, did_you_mean};
use super::file::{number_of_games, texts};
use super::keys;
use super::players::Players;
use super::tree::{Entry, Node, Scalar, Table, Tree};
use super::vary::Variant;

/// Most overrides of a sweep.
const OVERRIDES_MAX: usize = 1_000;

/// Most comparisons of tables in `where` with tables on axes (invariant 9).
const COMPARISONS_MAX: usize = 1 << 22;

/// What some cells get instead of the sweep's `games`.
#[derive(Debug)]
pub(super) struct Override {
    /// Where it says which cells.
    pub(super) place: Span,
    axes: MeantValues,
    sides: Whose,
    /// None if the cells are skipped.
    pub(super) games: Option<u64>,
    /// Where it says what the cells get.
    pub(super) games_place: Span,
}

/// The axes that are named, and which of their values are meant, ascending.
type MeantValues = Vec<(usize, Vec<u32>)>;

/// Whose games are meant, by variants.
#[derive(Debug)]
enum Whose {
    Anybody,
    /// One of the two is among these.
    Either(Vec<bool>),
    /// One of the two is among the first, the other among the second.
    Both(Vec<bool>, Vec<bool>),
}

impl Override {
    /// Whether it is about a point.
    pub(super) fn is_at(&self, point: &[u32]) -> bool {
        self.axes.iter().all(|(axis, meant)| meant.binary_search(&point[*axis]).is_ok())
    }

    /// Whether it is about a pairing of variants.
    pub(super) fn is_of(&self, (first, second): (usize, usize)) -> bool {
        match &self.sides {
            Whose::Anybody => true,
            Whose::Either(player) => player[first] || player[second],
            Whose::Both(player, opponent) => {
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
    let Tree::Array(nodes) = &node.tree else {
        return Err(node.wrong_type("`override`", "a list of tables", EXAMPLE));
    };
    if nodes.len() > OVERRIDES_MAX {
        let problem = format!("{} overrides are too many", nodes.len());
        let remedy = format!("write at most {OVERRIDES_MAX}: a list in `where` means any of it");
        return Err(Fault::at(&node.place, problem, remedy));
    }
    let mut reader = Reader { axes, players, swap_sides, values: BTreeMap::new(), comparisons: 0 };
    nodes.iter().map(|node| reader.read(node)).collect()
}

struct Reader<'a> {
    axes: &'a [Axis],
    players: &'a Players,
    /// Whether games come in pairs.
    swap_sides: bool,
    /// Of axes that were named: each value by what it means.
    values: BTreeMap<usize, BTreeMap<String, u32>>,
    comparisons: usize,
}

impl Reader<'_> {
    fn read(&mut self, node: &Node) -> Result<Override, Fault> {
        let table = node.table("an override", EXAMPLE)?;
        keys::check(table, "the override", &keys::OVERRIDE)?;
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

    /// Which values of which axes, and whose games.
    fn condition(&mut self, node: &Node) -> Result<(MeantValues, Whose), Fault> {
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
            if !["player", "opponent"].contains(&entry.key.as_str()) {
                let axis = self.axis(entry)?;
                axes.push((axis, self.meant_values(axis, &entry.value)?));
            }
        }
        Ok((axes, self.sides(table)?))
    }

    fn axis(&self, Entry { key, key_place, .. }: &Entry) -> Result<usize, Fault> {
        let names = || self.axes.iter().map(|axis| axis.name.as_str());
        names().position(|name| name == key).ok_or_else(|| {
            let varies = |variant: &&Variant| {
                let varied = &self.players.templates[variant.template].varied;
                varied.iter().any(|varied| varied.key == *key)
            };
            let remedy = match self.players.variants.iter().find(varies) {
                Some(variant) => {
                    format!("name who varies it, such as player = \"{}\"", variant.name)
                }
                None => did_you_mean(key, "keys", names().chain(["player", "opponent"])),
            };
            Fault::at(key_place, format!("there is no axis `{key}`"), remedy)
        })
    }

    /// The values of an axis that `wanted`, or one of a list of such, means.
    fn meant_values(&mut self, axis: usize, wanted: &Node) -> Result<Vec<u32>, Fault> {
        // The value of an axis may itself be a list.
        let mut meant = self.meant_by(axis, wanted)?;
        if !meant.is_empty() {
            return Ok(meant);
        }
        let listed = match &wanted.tree {
            Tree::Array(nodes) if !nodes.is_empty() => nodes.as_slice(),
            Tree::Array(_) | Tree::Scalar(_) | Tree::Table(_) => std::slice::from_ref(wanted),
        };
        for node in listed {
            let found = self.meant_by(axis, node)?;
            if found.is_empty() {
                let Axis { name, values, .. } = &self.axes[axis];
                return Err(Fault::at(
                    &node.place,
                    format!("the axis `{name}` has no value {}", shown(node)),
                    one_of(values),
                ));
            }
            meant.extend(found);
        }
        meant.sort_unstable();
        meant.dedup();
        Ok(meant)
    }

    /// The values that one value means.
    fn meant_by(&mut self, axis: usize, wanted: &Node) -> Result<Vec<u32>, Fault> {
        let values = (0..).zip(&self.axes[axis].values);
        let Tree::Table(table) = &wanted.tree else {
            let known = self
                .values
                .entry(axis)
                .or_insert_with(|| values.map(|(index, value)| (identity(value), index)).collect());
            return Ok(known.get(&identity(wanted)).copied().into_iter().collect());
        };
        self.comparisons += self.axes[axis].values.len() * (table.entries.len() + 1);
        if self.comparisons > COMPARISONS_MAX {
            let problem = "the tables in `where` and on axes are too many to compare";
            return Err(Fault::at(
                &wanted.place,
                problem,
                "write fewer overrides, or fewer tables",
            ));
        }
        let is_meant = |(index, value)| has_entries(value, table).then_some(index);
        Ok(values.filter_map(is_meant).collect())
    }

    /// Whom `player` and `opponent` mean.
    fn sides(&self, table: &Table) -> Result<Whose, Fault> {
        match (table.get("player"), table.get("opponent")) {
            (None, None) => Ok(Whose::Anybody),
            (Some(player), None) => Ok(Whose::Either(self.named(player)?)),
            (Some(player), Some(opponent)) => {
                Ok(Whose::Both(self.named(player)?, self.named(opponent)?))
            }
            (None, Some(opponent)) => Err(Fault::at(
                &opponent.key_place,
                "an override that names an `opponent` needs a `player` too",
                "write `player` to mean either of the two",
            )),
        }
    }

    /// For each variant whether it is named.
    fn named(&self, Entry { key, value, .. }: &Entry) -> Result<Vec<bool>, Fault> {
        let what = format!("`{key}`");
        let example = format!("{key} = \"alphabeta\", or a list of players");
        let names = match &value.tree {
            Tree::Array(_) => texts(value, &what, &example)?,
            Tree::Scalar(_) | Tree::Table(_) => vec![(value.text(&what, &example)?, &value.place)],
        };
        let mut named = vec![false; self.players.variants.len()];
        for (name, place) in names {
            for variant in self.players.named(name, place)? {
                named[variant] = true;
            }
        }
        Ok(named)
    }
}

/// Whether a value is a table that has all these entries.
fn has_entries(value: &Node, wanted: &Table) -> bool {
    let Tree::Table(table) = &value.tree else { return false };
    wanted.entries.iter().all(|Entry { key, value: wanted, .. }| {
        table.get(key).is_some_and(|entry| identity(&entry.value) == identity(wanted))
    })
}

fn shown(node: &Node) -> String {
    match &node.tree {
        Tree::Table(_) => format!("with {node}"),
        Tree::Scalar(_) | Tree::Array(_) => format!("`{node}`"),
    }
}

/// A remedy that lists the values of an axis.
fn one_of(values: &[Node]) -> String {
    const LISTED_MAX: usize = 16;
    let shown = |node: &Node| match &node.tree {
        Tree::Table(_) => format!("{{ {node} }}"),
        Tree::Scalar(_) | Tree::Array(_) => node.to_string(),
    };
    let listed: Vec<String> = values.iter().take(LISTED_MAX).map(shown).collect();
    let more = if values.len() > LISTED_MAX { ", …" } else { "" };
    format!("its values are {}{more}", listed.join(", "))
}
