//! Cells' places on the axes, as seen by each of their players.

use std::collections::BTreeMap;

use spelrum_model::{CellId, Role};

use crate::cell_result::CellResult;

/// The cells' values on the axes, in the axes' order.
#[derive(Clone, Debug, Default)]
pub struct Places {
    axes: Vec<String>,
    values: BTreeMap<CellId, Vec<Option<String>>>,
}

impl Places {
    /// Creates places without cells, on these axes.
    #[must_use]
    pub fn on(axes: Vec<String>) -> Self {
        Self { axes, values: BTreeMap::new() }
    }

    /// Records a cell's value on an axis, as written in the sweep. Unknown axes are ignored.
    pub fn put(&mut self, cell: CellId, axis: &str, value: String) {
        let Some(place) = self.axes.iter().position(|name| name == axis) else { return };
        let values = self.values.entry(cell);
        values.or_insert_with(|| vec![None; self.axes.len()])[place] = Some(value);
    }

    /// The axes' names, in the sweep's order.
    #[must_use]
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// Returns the axes' names, in the sweep's order.
    #[must_use]
    pub fn into_axes(self) -> Vec<String> {
        self.axes
    }

    /// Returns a cell's values; `None` on an axis that does not apply to the cell.
    #[must_use]
    pub fn values(&self, cell: CellId) -> Vec<Option<String>> {
        self.values.get(&cell).cloned().unwrap_or_else(|| vec![None; self.axes.len()])
    }

    /// Returns the values as seen by one of its players: `player.depth` is its own, `opponent.depth` the other's.
    #[must_use]
    pub fn seen_by(&self, role: Role, cell: CellId) -> Vec<Option<String>> {
        let values = self.values(cell);
        let value = |(index, axis): (usize, &String)| match (role, Role::from_axis(axis)) {
            (Role::Opponent, Some((axis_role, parameter))) => {
                let other = axis_role.swapped().axis(parameter);
                values[self.axes.iter().position(|axis| *axis == other)?].clone()
            }
            (Role::Player, _) | (Role::Opponent, None) => values[index].clone(),
        };
        self.axes.iter().enumerate().map(value).collect()
    }
}

/// Formats a place on the axes, such as `depth=2, budget=10ms`; empty if no axis applies.
#[must_use]
pub fn places_text(axes: &[String], values: &[Option<String>]) -> Option<String> {
    let on_axis = |(axis, value): (&String, &Option<String>)| {
        value.as_ref().map(|value| format!("{axis}={value}"))
    };
    let places: Vec<_> = axes.iter().zip(values).filter_map(on_axis).collect();
    (!places.is_empty()).then(|| places.join(", "))
}

/// The players of each cell.
#[derive(Clone, Debug)]
pub struct Opponents<'a>(BTreeMap<CellId, [&'a str; 2]>);

impl<'a> Opponents<'a> {
    /// Reads the players of these cells.
    #[must_use]
    pub fn new(cells: &'a [CellResult]) -> Self {
        let players = |cell: &'a CellResult| [cell.player.as_str(), cell.opponent.as_str()];
        Self(cells.iter().map(|cell| (cell.cell, players(cell))).collect())
    }

    /// Returns a player's role and opponent in a cell; `None` for an unknown cell. In self-play the role is the first.
    #[must_use]
    pub fn of_player(&self, cell: CellId, player: &str) -> Option<(Role, &'a str)> {
        let [first, second] = *self.0.get(&cell)?;
        Some(if first == player { (Role::Player, second) } else { (Role::Opponent, first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: [Option<&str>; 3]) -> Vec<Option<String>> {
        values.map(|value| value.map(str::to_owned)).into()
    }

    #[test]
    fn each_player_sees_its_own_values_first() {
        let axes = ["depth", "player.nodes", "opponent.nodes"].map(str::to_owned);
        let mut places = Places::on(axes.to_vec());
        places.put(CellId(1), "player.nodes", "10".to_owned());
        places.put(CellId(1), "depth", "2".to_owned());
        places.put(CellId(1), "opponent.nodes", "20".to_owned());
        places.put(CellId(1), "gone", "1".to_owned());
        assert_eq!(places.values(CellId(1)), some([Some("2"), Some("10"), Some("20")]));
        assert_eq!(places.values(CellId(1)), places.seen_by(Role::Player, CellId(1)));
        let other = places.seen_by(Role::Opponent, CellId(1));
        assert_eq!(other, some([Some("2"), Some("20"), Some("10")]));
        assert_eq!(places.values(CellId(2)), some([None; 3]));
        let text = places_text(&axes, &other);
        assert_eq!(text.as_deref(), Some("depth=2, player.nodes=20, opponent.nodes=10"));
        assert_eq!(places_text(&axes, &some([None; 3])), None);
        assert_eq!(places.into_axes(), axes);
    }
}
