//! The axis of a sweep along which results are plotted, and positions on it.

use std::collections::BTreeMap;

use spelrum_answers::places_text;
use spelrum_engine::parse_duration_us;
use spelrum_model::Role;

use crate::plot::Axis;

/// An axis of a sweep along which a plot is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Along {
    /// Its place among the axes.
    place: usize,
    /// Its name, or a parameter's, where players vary it.
    pub(super) name: String,
    /// Whether it is a parameter that players vary, which is part of their names.
    pub(super) is_varied: bool,
    /// Its values as displayed, from left to right, with their positions.
    values: Vec<(String, f64)>,
    is_numeric: bool,
}

/// A place on the axes: a value for each, `None` on an axis that does not apply.
pub(super) type Place = [Option<String>];

impl Along {
    /// Returns the axis with the most values, preferring numbers to names, and axes of the grid to parameters that
    /// players vary; `chosen` takes precedence. `None` if no axis has two values.
    pub(super) fn choose<'p>(
        axes: &[String],
        places: impl Iterator<Item = &'p Place> + Clone,
        may_be_varied: bool,
        chosen: Option<&str>,
    ) -> Option<Self> {
        // The first of equals.
        Self::all(axes, places, may_be_varied).reduce(|best, next| {
            let rank = |candidate: &Self| (chosen == Some(&*candidate.name), candidate.rank());
            if rank(&next) > rank(&best) { next } else { best }
        })
    }

    /// Returns two axes of the grid, the horizontal one first, for a value at each pair of their values: the first
    /// two by preference. Seeds are excluded.
    pub(super) fn choose_two<'p>(
        axes: &[String],
        places: impl Iterator<Item = &'p Place> + Clone,
        chosen: Option<&str>,
    ) -> Option<[Self; 2]> {
        let first = Self::choose(axes, places.clone(), false, chosen)
            .filter(|along| along.name != "seed")?;
        let candidates = Self::all(axes, places, false);
        let candidates =
            candidates.filter(|along| along.place != first.place && along.name != "seed");
        let second =
            candidates.reduce(|best, next| if next.rank() > best.rank() { next } else { best });
        Some([first, second?])
    }

    /// Axes with two values or more.
    fn all<'p>(
        axes: &[String],
        places: impl Iterator<Item = &'p Place> + Clone,
        may_be_varied: bool,
    ) -> impl Iterator<Item = Self> {
        axes.iter().enumerate().filter_map(move |(place, axis)| {
            let is_varied = match Role::from_axis(axis) {
                None => false,
                Some((Role::Player, _)) if may_be_varied => true,
                Some(_) => return None,
            };
            let values = places.clone().filter_map(|values| values.get(place)?.as_deref());
            let along = Self::on(place, axis, is_varied, values);
            (along.values.len() > 1).then_some(along)
        })
    }

    fn on<'v>(
        place: usize,
        axis: &str,
        is_varied: bool,
        values: impl Iterator<Item = &'v str>,
    ) -> Self {
        // Names keep the sweep's order, which is that of its cells.
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for value in values {
            let next = seen.len();
            seen.entry(value).or_insert(next);
        }
        let numbers: Option<Vec<(String, f64)>> = match axis {
            // Seeds have no order.
            "seed" => None,
            _ => seen.keys().map(|value| Some(((*value).to_owned(), number(value)?))).collect(),
        };
        let is_duration = |value: &&str| parse_duration_us(value).is_some();
        let durations = seen.keys().filter(|value| is_duration(value)).count();
        // Numbers and times do not share an axis.
        let numbers = numbers.filter(|_| durations == 0 || durations == seen.len());
        let is_numeric = numbers.is_some();
        let mut values = numbers.unwrap_or_else(|| {
            seen.iter().map(|(value, order)| ((*value).to_owned(), *order as f64)).collect()
        });
        values.sort_by(|a, b| a.1.total_cmp(&b.1));
        let name = Role::from_axis(axis).map_or(axis, |(_, parameter)| parameter).to_owned();
        Self { place, name, is_varied, values, is_numeric }
    }

    /// Returns the axis shifted by this many preceding axes.
    pub(super) fn beyond(self, axes: usize) -> Self {
        Self { place: self.place + axes, ..self }
    }

    fn rank(&self) -> (bool, bool, usize) {
        (self.is_numeric, !self.is_varied, self.values.len())
    }

    /// Returns the number of values.
    pub(super) fn values(&self) -> usize {
        self.values.len()
    }

    /// Reduces the axis to at most this many values, spread evenly.
    pub(super) fn thinned(mut self, values_max: usize) -> Self {
        let all = self.values.len();
        if all > values_max && values_max > 1 {
            let kept = (0..values_max).map(|index| index * (all - 1) / (values_max - 1));
            self.values = kept.map(|place| self.values[place].clone()).collect();
        }
        if !self.is_numeric {
            self.values.iter_mut().zip(0..).for_each(|((_, at), order)| *at = f64::from(order));
        }
        self
    }

    /// Returns its values as displayed, from left to right.
    pub(super) fn texts(&self) -> Vec<String> {
        self.values.iter().map(|(text, _)| text.clone()).collect()
    }

    /// Returns the index of a place's value.
    pub(super) fn number(&self, place: &Place) -> Option<usize> {
        let value = place.get(self.place)?.as_deref()?;
        self.values.iter().position(|(text, _)| text == value)
    }

    /// Formats a place on the axes other than this and another one.
    pub(super) fn elsewhere_than(&self, second: &Self, axes: &[String], place: &Place) -> String {
        let mut place = place.to_vec();
        if let Some(value) = place.get_mut(second.place) {
            *value = None;
        }
        self.elsewhere(axes, &place)
    }

    /// Returns a place's position on the axis and its label; `None` if it has no value there, or the value was left
    /// out.
    pub(super) fn at(&self, place: &Place) -> Option<(f64, &str)> {
        let value = place.get(self.place)?.as_deref()?;
        let (text, at) = self.values.iter().find(|(text, _)| text == value)?;
        Some((*at, text))
    }

    /// Returns the value at this position.
    pub(super) fn value(&self, at: f64) -> Option<&str> {
        let (text, _) = self.values.iter().find(|(_, place)| place.to_bits() == at.to_bits())?;
        Some(text)
    }

    /// Whether a place has a value on the axis.
    pub(super) fn touches(&self, place: &Place) -> bool {
        place.get(self.place).is_some_and(Option::is_some)
    }

    /// Formats a place on the other axes. Parameters that players vary are in their names, unless these are left out.
    pub(super) fn elsewhere(&self, axes: &[String], place: &Place) -> String {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (index, (axis, value)) in axes.iter().zip(place).enumerate() {
            let is_listed = match Role::from_axis(axis) {
                None => index != self.place,
                Some((Role::Player, _)) => self.is_varied && index != self.place,
                Some((Role::Opponent, _)) => false,
            };
            if is_listed {
                names.push(axis.clone());
                values.push(value.clone());
            }
        }
        places_text(&names, &values).unwrap_or_default()
    }

    /// Converts to the axis of a plot.
    pub(super) fn axis(&self) -> Axis {
        if self.is_numeric {
            let numbers: Vec<_> =
                self.values.iter().map(|(text, at)| (*at, text.clone())).collect();
            return Axis::from_numbers(&self.name, &numbers);
        }
        let names: Vec<_> = self.values.iter().map(|(text, _)| text.clone()).collect();
        Axis::from_names(&self.name, &names)
    }
}

/// Parses a value that is a number, or a time in microseconds.
fn number(value: &str) -> Option<f64> {
    let number: Option<f64> = value.parse().ok().filter(|number: &f64| number.is_finite());
    number.or_else(|| parse_duration_us(value).map(|us| us as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along(axes: &[&str], places: &[&[&str]], may_be_varied: bool) -> Option<Along> {
        let axes: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
        let places: Vec<Vec<Option<String>>> = places
            .iter()
            .map(|values| {
                values.iter().map(|value| (*value != "-").then(|| (*value).to_owned())).collect()
            })
            .collect();
        Along::choose(&axes, places.iter().map(|place| &**place), may_be_varied, None)
    }

    fn values(along: &Along) -> Vec<&str> {
        along.values.iter().map(|(text, _)| &**text).collect()
    }

    #[test]
    fn numbers_go_before_names_and_more_before_fewer() {
        let places: &[&[&str]] = &[&["a", "10", "1"], &["b", "9", "1"], &["c", "10", "-"]];
        let found = along(&["mode", "depth", "seed"], places, false).unwrap();
        assert_eq!((&*found.name, values(&found)), ("depth", vec!["9", "10"]));
        let found = along(&["mode", "rule", "seed"], &[&["b", "x", "2"], &["a", "x", "1"]], false);
        assert_eq!(values(&found.unwrap()), ["b", "a"], "in the sweep's order");
        assert_eq!(along(&["depth"], &[&["1"], &["1"], &["-"]], false), None);
        assert_eq!(along(&[], &[&[]], true), None);
    }

    #[test]
    fn times_are_numbers_unless_one_is_none() {
        let found = along(&["time"], &[&["1s"], &["5ms"], &["20us"]], false).unwrap();
        assert_eq!(values(&found), ["20us", "5ms", "1s"]);
        assert_eq!(found.at(&[Some("5ms".to_owned())]), Some((5_000.0, "5ms")));
        for mixed in ["unlimited", "7"] {
            let found = along(&["time"], &[&["10ms"], &["5ms"], &[mixed]], false).unwrap();
            assert!(!found.is_numeric, "{mixed}");
            assert_eq!(values(&found), ["10ms", "5ms", mixed]);
        }
        for strange in ["NaN", "inf", "1e999", ""] {
            let found = along(&["x"], &[&["1"], &[strange]], false).unwrap();
            assert!(!found.is_numeric, "{strange}");
        }
    }

    #[test]
    fn what_players_vary_is_theirs_alone() {
        let axes = ["player.depth", "player.nodes", "opponent.depth", "seed"];
        let places: &[&[&str]] = &[&["1", "7", "2", "1"], &["2", "7", "2", "1"]];
        assert_eq!(along(&axes, places, false), None);
        let found = along(&axes, places, true).unwrap();
        assert_eq!((&*found.name, found.is_varied), ("depth", true));
        let place: Vec<_> = places[0].iter().map(|value| Some((*value).to_owned())).collect();
        assert_eq!(found.elsewhere(&axes.map(str::to_owned), &place), "player.nodes=7, seed=1");
    }

    #[test]
    fn values_are_thinned_evenly() {
        let places: Vec<Vec<String>> = (0..1_000).map(|number| vec![number.to_string()]).collect();
        let places: Vec<Vec<&str>> = places.iter().map(|place| vec![&*place[0]]).collect();
        let places: Vec<&[&str]> = places.iter().map(|place| &**place).collect();
        let found = along(&["depth"], &places, false).unwrap().thinned(4);
        assert_eq!(values(&found), ["0", "333", "666", "999"]);
        assert_eq!(found.at(&[Some("5".to_owned())]), None);
        assert!(found.touches(&[Some("5".to_owned())]) && !found.touches(&[None]));
    }
}
