//! Axes of plots: positions and labels of values.

use crate::text::duration_us;
use crate::text::shortened_apart;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    /// Equal ratios have equal distances.
    Log,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Quantity on the axis, with its unit.
    pub(super) label: String,
    scale: Scale,
    /// First and last position.
    pub(super) range: [f64; 2],
    /// Labels with their positions, in order.
    ticks: Vec<(f64, String)>,
}

/// The least time on an axis of times, in microseconds: less is not measured.
const TIME_US_MIN: f64 = 0.1;

/// Maximum length of a name beside an axis.
const NAME_CHARACTERS_MAX: usize = 20;

/// Ratio of values from which an axis is logarithmic.
const WIDE: f64 = 16.0;

impl Axis {
    /// Creates an axis of names, from left to right: the first is at 0, the next at 1.
    pub(crate) fn from_names(label: impl Into<String>, names: &[String]) -> Self {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let names = shortened_apart(&names, |_| NAME_CHARACTERS_MAX);
        let range = [-0.5, names.len() as f64 - 0.5];
        let ticks = (0..).map(f64::from).zip(names).collect();
        Self { label: label.into(), scale: Scale::Linear, range, ticks }
    }

    /// Creates an axis of numbers, labelled as given here: logarithmic if they are far apart.
    pub(crate) fn from_numbers(label: impl Into<String>, numbers: &[(f64, String)]) -> Self {
        let least = numbers.iter().map(|(number, _)| *number).fold(f64::INFINITY, f64::min);
        let most = numbers.iter().map(|(number, _)| *number).fold(f64::NEG_INFINITY, f64::max);
        let is_wide = numbers.len() > 2 && least > 0.0 && most >= WIDE * least;
        let scale = if is_wide { Scale::Log } else { Scale::Linear };
        let mut ticks: Vec<(f64, String)> =
            numbers.iter().map(|(number, text)| (scale.position(*number), text.clone())).collect();
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [from, to] = [scale.position(least), scale.position(most)];
        let margin = if to > from { (to - from) * 0.06 } else { 0.5 };
        Self { label: label.into(), scale, range: [from - margin, to + margin], ticks }
    }

    /// Creates an axis of scores, from 0 to 1.
    pub(crate) fn for_scores(label: impl Into<String>) -> Self {
        let ticks = (0..=4).map(|quarter| f64::from(quarter) / 4.0);
        let ticks = ticks.map(|score| (score, format!("{score:.2}"))).collect();
        Self { label: label.into(), scale: Scale::Linear, range: [-0.02, 1.02], ticks }
    }

    /// Creates an axis of shares, from 0 to all.
    pub(crate) fn for_shares(label: impl Into<String>) -> Self {
        let ticks = (0..=4).map(|quarter| f64::from(quarter) / 4.0);
        let ticks = ticks.map(|share| (share, format!("{:.0} %", share * 100.0))).collect();
        Self { label: label.into(), scale: Scale::Linear, range: [0.0, 1.0], ticks }
    }

    /// Creates a logarithmic axis of times in microseconds, wide enough for all of these.
    pub(crate) fn from_times(
        label: impl Into<String>,
        times_us: impl Iterator<Item = f64>,
    ) -> Self {
        let (mut least, mut most) = (f64::INFINITY, TIME_US_MIN);
        for time_us in times_us.filter(|time_us| *time_us >= TIME_US_MIN) {
            (least, most) = (least.min(time_us), most.max(time_us));
        }
        let scale = Scale::Log;
        let [from, to] = [scale.position(least.min(most)), scale.position(most)];
        let margin = ((to - from) * 0.06).max(0.1);
        let range = [from - margin, to + margin];
        let decades = range[0].floor() as i32..=range[1].ceil() as i32;
        let parts: &[f64] = match range[1] - range[0] {
            width if width < 1.5 => &[1.0, 2.0, 5.0],
            width if width < 3.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let times =
            decades.flat_map(|decade| parts.iter().map(move |part| part * 10_f64.powi(decade)));
        let ticks = times.map(|time_us| (scale.position(time_us), round_time(time_us)));
        let ticks =
            ticks.filter(|(position, _)| (range[0]..=range[1]).contains(position)).collect();
        Self { label: label.into(), scale, range, ticks }
    }

    /// Creates an axis of counts from 0, wide enough for all of these.
    pub(crate) fn from_counts(label: impl Into<String>, counts: impl Iterator<Item = f64>) -> Self {
        let most = counts.filter(|count| count.is_finite()).fold(1.0_f64, f64::max);
        let step = round_step(most / 6.0).max(1.0);
        let to = (most / step).ceil() as i64;
        let ticks = (0..=to).map(|times| times as f64 * step);
        let ticks = ticks.map(|count| (count, format!("{count:.0}"))).collect();
        let range = [0.0, to as f64 * step];
        Self { label: label.into(), scale: Scale::Linear, range, ticks }
    }

    /// Creates an axis of values of either sign, wide enough for all of these.
    pub(crate) fn from_values(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        // The distance of larger ones has no number.
        for value in values.filter(|value| value.abs() < 1e300) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        let margin = match (most - least) * 0.04 {
            // Of what is smaller there is no power of ten.
            small if small < 1e-300 => (most.abs() * 0.04).max(0.1),
            margin => margin,
        };
        let range = [least - margin, most + margin];
        let step = round_step((range[1] - range[0]) / 6.0);
        let from = (range[0] / step).ceil() as i64;
        let to = (range[1] / step).floor() as i64;
        // As many decimals as the step has.
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let ticks = (from..=to).map(|times| times as f64 * step);
        let ticks = ticks.map(|value| (value, format!("{value:.decimals$}"))).collect();
        Self { label: label.into(), scale: Scale::Linear, range, ticks }
    }

    /// Creates an axis of Elo differences, wide enough for all of these.
    pub(crate) fn from_elo(label: impl Into<String>, elo: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        for elo in elo.filter(|elo| elo.is_finite()) {
            (least, most) = (least.min(elo), most.max(elo));
        }
        let margin = ((most - least) * 0.04).max(10.0);
        let range = [least - margin, most + margin];
        let step = round_step((range[1] - range[0]) / 6.0);
        let from = (range[0] / step).ceil() as i64;
        let to = (range[1] / step).floor() as i64;
        let ticks = (from..=to).map(|times| times as f64 * step);
        let ticks = ticks.map(|elo| (elo, crate::text::signed(elo))).collect();
        Self { label: label.into(), scale: Scale::Linear, range, ticks }
    }

    /// Returns a value's position, clamped to the axis' ends.
    pub(super) fn position(&self, value: f64) -> f64 {
        self.scale.position(value).clamp(self.range[0], self.range[1])
    }

    /// Returns the labels that fit without touching, given the axis' length in characters.
    pub(super) fn ticks(&self, lengths_in_characters: f64) -> Vec<(f64, String)> {
        let character = (self.range[1] - self.range[0]) / lengths_in_characters;
        let mut end = f64::NEG_INFINITY;
        let mut shown = Vec::new();
        for (position, text) in &self.ticks {
            let half = (text.chars().count() as f64 / 2.0 + 0.75) * character;
            if position - half >= end {
                end = position + half;
                shown.push((*position, text.clone()));
            }
        }
        shown
    }
}

impl Scale {
    fn position(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            // Zero has no logarithm: an axis ends before it.
            Self::Log => value.max(f64::MIN_POSITIVE).log10(),
        }
    }
}

/// Formats a round time of an axis: `20 ms`, not `20.0 ms`.
fn round_time(time_us: f64) -> String {
    let text = duration_us(time_us);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        Some(_) | None => text,
    }
}

/// Returns 1, 2 or 5 times a power of ten: the least that is at least this large.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|part| part * power);
    steps.into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|(_, text)| text.clone()).collect()
    }

    #[test]
    fn numbers_far_apart_have_equal_distances_for_equal_ratios() {
        let numbers = |numbers: &[f64]| {
            let numbers: Vec<_> =
                numbers.iter().map(|number| (*number, number.to_string())).collect();
            Axis::from_numbers("nodes", &numbers)
        };
        for few in [0.001, 1.0] {
            let [a, b, c] = [1.0, 10.0, 100.0].map(|ratio| ratio * few);
            let axis = numbers(&[a, b, c]);
            let [left, middle, right] = [a, b, c].map(|value| axis.position(value));
            assert!((middle - left - 1.0).abs() < 1e-9 && (right - middle - 1.0).abs() < 1e-9);
            assert_eq!(axis.position(0.0), axis.range[0], "at the end");
        }
        let far = numbers(&[10.0, 100.0, 1000.0]);
        assert_eq!(
            (far.scale, texts(&far)),
            (Scale::Log, vec!["10".into(), "100".into(), "1000".into()])
        );
        assert!((far.position(100.0) - 2.0).abs() < 1e-12);
        for near in [&[1.0, 2.0, 3.0][..], &[0.0, 100.0, 1000.0], &[1.0], &[1.0, 100.0]] {
            let near = numbers(near);
            assert_eq!(near.scale, Scale::Linear);
            assert!(near.range[0] < near.range[1], "{near:?}");
        }
    }

    #[test]
    fn axes_of_times_hold_all_of_them() {
        for times in [&[][..], &[0.0], &[7.0], &[1.0, 10.0], &[0.0, 3.0, 1e9], &[1_000.0, 1_100.0]]
        {
            let axis = Axis::from_times("time", times.iter().copied());
            assert!(axis.range.iter().all(|end| end.is_finite()), "{axis:?}");
            assert!(axis.range[0] < axis.range[1], "{axis:?}");
            for time in times {
                let position = axis.position(*time);
                assert!(axis.range[0] <= position && position <= axis.range[1], "{axis:?}");
            }
        }
        let axis = Axis::from_times("time", [900.0, 2_100_000.0].into_iter());
        assert_eq!(texts(&axis), ["1 ms", "10 ms", "100 ms", "1 s"]);
    }

    #[test]
    fn counts_begin_at_nothing() {
        let axis = |counts: &[f64]| Axis::from_counts("plies", counts.iter().copied());
        assert_eq!(texts(&axis(&[9.0, 36.0])), ["0", "10", "20", "30", "40"]);
        assert_eq!(texts(&axis(&[3.0])), ["0", "1", "2", "3"]);
        for counts in [&[][..], &[0.0], &[f64::NAN]] {
            assert_eq!(axis(counts).range, [0.0, 1.0]);
        }
    }

    #[test]
    fn steps_are_round_and_labels_do_not_touch() {
        assert_eq!([0.9, 1.0, 3.0, 60.0, 0.03].map(round_step), [1.0, 1.0, 5.0, 100.0, 0.05]);
        let elo = Axis::from_elo("Elo", [-300.0, 180.0, f64::NAN].into_iter());
        assert_eq!(texts(&elo), ["-300", "-200", "-100", "0", "+100"]);
        let names: Vec<String> = (0..100).map(|number| format!("value {number}")).collect();
        let axis = Axis::from_names("x", &names);
        let shown = axis.ticks(90.0);
        assert!(shown.len() < 12 && shown.len() > 5, "{shown:?}");
        assert_eq!(Axis::from_names("x", &names[..3]).ticks(90.0).len(), 3);
    }
}
