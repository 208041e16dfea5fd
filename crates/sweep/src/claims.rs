//! `[[claims]]`: statements about results, made in a sweep before there are any.

use std::collections::BTreeSet;

use spelrum_engine::parse_duration_us;
use spelrum_model::Role;
use spelrum_model::claims::{CLAIM_TEXT_BYTES_MAX, CLAIMS_MAX, Statement, Than};
use spelrum_statistics::claims::About;
use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Table, Tree};

use crate::accuracy::REFERENCE;
use crate::axes::{Axis, axis_value};
use crate::claim_keys::{ALONG, CLAIM, IN, Results, THAN, about};
use crate::key;
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

    /// Whether the first variant, or the second, is the claim's player; and whether either is its opponent.
    pub(super) fn roles_of(&self, (first, second): (usize, usize)) -> [bool; 2] {
        let is_any = |named: &[bool]| named[first] || named[second];
        [is_any(&self.player), self.opponent.as_ref().is_none_or(|named| is_any(named))]
    }

    /// Whether a variant is the claim's player.
    pub(super) fn is_player(&self, variant: usize) -> bool {
        self.player[variant]
    }

    pub(super) fn covers_point(&self, point: &[u32]) -> bool {
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
    results: Results,
    replicates: Option<&str>,
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
    let mut reader =
        Reader { selector: Selector::new(axes, players), axes, error_rate, results, replicates };
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
    results: Results,
    /// The axis of replicates.
    replicates: Option<&'a str>,
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
        let about = about(table, &node.place, self.results)?;
        let (player_name, player_variants) = self.player(player)?;
        let player_name = self.one_player(about, player, player_name, &player_variants)?;
        let (opponent_name, opponent_variants) = match opponent {
            None => (None, None),
            Some(entry) => {
                let (name, variants) = self.player(entry)?;
                refuse_self(&entry.value, (&player_name, &player_variants), (&name, &variants))?;
                let name = self.one_player(about, entry, name, &variants)?;
                (Some(name), Some(variants))
            }
        };
        let axes = match table.get("at") {
            None => Vec::new(),
            Some(entry) => self.places(about, &entry.value)?,
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
                over: self.replicates.filter(|_| about.is_of_cells()).map(str::to_owned),
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
        self.refuse_replicates(axis, node)?;
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

    /// Refuses a comparison along the axis of replicates.
    fn refuse_replicates(&self, axis: usize, node: &Node) -> Result<(), Fault> {
        let name = &self.axes[axis].name;
        if self.replicates != Some(name.as_str()) {
            return Ok(());
        }
        let problem = format!("`{name}` is the axis of replicates, whose values are not compared");
        Err(Fault::at(&node.place, problem, "name another axis, or remove `replicates`"))
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
                    self.refuse_replicates(axis, &entry.value)?;
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

    /// The name by which runs and ratings know a player: that of its one variant. Cells are found by any name.
    fn one_player(
        &self,
        about: About,
        entry: &Entry,
        name: String,
        variants: &[bool],
    ) -> Result<String, Fault> {
        if !about.is_of_runs() && !about.is_of_ratings() {
            return Ok(name);
        }
        let named = self.selector.names(variants);
        match named[..] {
            [one] => Ok(one.to_owned()),
            _ => Err(Fault::at(
                &entry.value.place,
                format!("`{name}` is several players"),
                format!(
                    "name one, such as \"{}\", or make a claim of each",
                    named.first().unwrap_or(&"")
                ),
            )),
        }
    }

    /// A name, and for each variant whether the name means it.
    fn player(&self, entry: &Entry) -> Result<(String, Vec<bool>), Fault> {
        let key = &entry.key;
        let name = entry.value.text(&format!("`{key}`"), &format!("{key} = \"alphabeta\""))?;
        if self.results == Results::Choices {
            if key == "opponent" {
                let problem = "players choose alone here, without an opponent";
                return Err(Fault::at(&entry.key_place, problem, "remove `opponent`"));
            }
            if name == REFERENCE {
                let problem = "the reference is what players are measured against";
                return Err(Fault::at(&entry.value.place, problem, "name a player that chooses"));
            }
        }
        Ok((name.to_owned(), self.selector.players(entry)?))
    }

    /// The named axes and their selected values, in the order of the axes.
    fn places(&mut self, about: About, node: &Node) -> Result<SelectedValues, Fault> {
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
            let is_table = |value: &Node| matches!(value.tree, Tree::Table(_));
            let is_by_text = about.is_of_runs() || about.is_of_ratings();
            if is_by_text && self.axes[axis].values.iter().any(is_table) {
                let problem = format!(
                    "`{}` has tables, by which {} are not selected",
                    entry.key,
                    if about.is_of_runs() { "runs" } else { "ratings" }
                );
                return Err(Fault::at(&entry.key_place, problem, "name an axis of single values"));
            }
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
    match (about.compares_cells(), than) {
        (true, None) => Err(Fault::at(
            place,
            "this claim does not say over what the gain is",
            "write along = \"depth\" to compare each value of an axis with the one before, or \
             than = { player = \"minimax\" }",
        )),
        (false, Some(_)) => Err(Fault::at(
            table.value(ALONG.name).or(table.value(THAN.name)).map_or(place, |node| &node.place),
            format!("{} is a figure of one cell, not of two", about.words()),
            "write gain_above = 0 to compare two cells, or remove this key",
        )),
        (true, Some(_)) | (false, None) => Ok(()),
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
