//! Ranges: `{ from, to, step }`, `{ from, to, factor }` and `{ from, to, count }`, of numbers and
//! durations.
//!
//! A range must meet its end: one that passes it is an error, since the author expects the written value.

use serde_json::json;
use spelrum_engine::parse_duration_us;
use spelrum_toml::{Fault, Node, Scalar, Span, Table, Tree};

use crate::forms;
use crate::key::{self, Key, Keys, Own, Whole, Word};
use crate::limits::POINTS_MAX;

const EXAMPLE: &str = "such as { from = 10, to = 50, step = 10 }, \
                       { from = \"10ms\", to = \"640ms\", factor = 2 } or \
                       { from = 0, to = 1, count = 5 }";

/// The values of a range. All have the range's place.
pub(super) fn expand(table: &Table, place: &Span) -> Result<Vec<Node>, Fault> {
    key::check(table, "this range", RANGE)?;
    let end = |key: &str| {
        table.get(key).map(|entry| &entry.value).ok_or_else(|| {
            let problem = format!("this range has no `{key}`");
            Fault::at(place, problem, format!("give `{key}`, {EXAMPLE}"))
        })
    };
    let (from, to) = (end("from")?, end("to")?);
    let values = match ["step", "factor", COUNT.name].map(|key| table.get(key)) {
        [Some(step), None, None] => {
            unscaled(table, "step")?;
            steps(from, to, &step.value)?
        }
        [None, Some(factor), None] => {
            unscaled(table, "factor")?;
            factors(from, to, &factor.value)?
        }
        [None, None, Some(count)] => {
            let ends = [from, to];
            counted(ends, COUNT.read(table)?, &count.value.place, IS_LOGARITHMIC.read(table)?)?
        }
        _ => {
            return Err(Fault::at(
                place,
                "a range goes by one of `step`, `factor` and `count`",
                format!("give one of them, {EXAMPLE}"),
            ));
        }
    };
    let node = |value| Node { place: place.clone(), tree: Tree::Scalar(value) };
    Ok(values.into_iter().map(node).collect())
}

/// Equal steps, without rounding: whole microseconds, or decimals of as many places as the
/// sweep wrote.
fn steps(from: &Node, to: &Node, step: &Node) -> Result<Vec<Scalar>, Fault> {
    let unit = Unit::common(&[from, to, step])?;
    let (first, last, width) = (unit.exact(from)?, unit.exact(to)?, unit.exact(step)?);
    if width == 0 || (last - first).signum() * width.signum() < 0 {
        let problem = format!("steps of {step} never lead from {from} to {to}");
        return Err(never_reaches(problem, step));
    }
    let count = (last - first) / width;
    let before = first + count * width;
    if before != last {
        return Err(misses(to, &unit.write(&[before, before + width])));
    }
    match usize::try_from(count) {
        Ok(count) if count < POINTS_MAX => {
            let values: Vec<i128> =
                (0..=count).map(|index| first + index as i128 * width).collect();
            Ok(unit.write(&values))
        }
        Ok(_) | Err(_) => Err(too_many(step)),
    }
}

/// Equal ratios, multiplied as floats; see [`Unit::write_rounded`].
fn factors(from: &Node, to: &Node, factor: &Node) -> Result<Vec<Scalar>, Fault> {
    /// How far off the end may be after all the multiplications.
    const TOLERANCE: f64 = 1e-9;
    let Some(ratio) = number(factor) else {
        return Err(factor.wrong_type("`factor`", "a number", "factor = 2"));
    };
    let unit = Unit::common(&[from, to])?;
    let (first, last) = (unit.float(from)?, unit.float(to)?);
    let falls = ratio < 1.0;
    if !(first > 0.0 && last > 0.0 && ratio > 0.0)
        || (first != last && (ratio == 1.0 || falls != (last < first)))
    {
        let problem = format!("a factor of {factor} never leads from {from} to {to}");
        return Err(never_reaches(problem, factor));
    }
    let mut values = vec![first];
    let mut value = first;
    while (value / last - 1.0).abs() > TOLERANCE {
        let next = value * ratio;
        let passes = (next / last - 1.0).abs() > TOLERANCE && falls == (next < last);
        if passes {
            return Err(misses(to, &unit.write_rounded(&[value, next])));
        }
        if values.len() >= POINTS_MAX {
            return Err(too_many(factor));
        }
        values.push(next);
        value = next;
    }
    Ok(unit.write_rounded(&values))
}

/// Refuses `scale` with a step or a factor, which already sets the spacing.
fn unscaled(table: &Table, key: &str) -> Result<(), Fault> {
    match table.get(IS_LOGARITHMIC.name) {
        None => Ok(()),
        Some(scale) => Err(Fault::at(
            &scale.key_place,
            format!("`scale` goes with `count`, not with `{key}`"),
            format!("remove it, or give `count` instead of `{key}`"),
        )),
    }
}

/// This many values, both ends included, at equal distances or in equal ratios.
fn counted(
    [from, to]: [&Node; 2],
    count: usize,
    place: &Span,
    is_logarithmic: bool,
) -> Result<Vec<Scalar>, Fault> {
    let unit = Unit::common(&[from, to])?;
    let values = if is_logarithmic {
        ratios(unit, from, to, count)?
    } else {
        distances(unit, unit.exact(from)?, unit.exact(to)?, count)
    };
    if values.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Fault::at(
            place,
            format!("from {from} to {to} there are no {count} different values"),
            match unit {
                Unit::Duration => "give a smaller `count`: times are whole microseconds",
                Unit::Decimal { .. } => "give a smaller `count`, or ends further apart",
            },
        ));
    }
    Ok(values)
}

/// This many values at equal distances: exact wherever they need no more places than the ends.
fn distances(unit: Unit, first: i128, last: i128, count: usize) -> Vec<Scalar> {
    let (width, gaps) = (last - first, count as i128 - 1);
    // In parts of a unit, to avoid truncation here.
    let parts = (0..count as i128).map(|index| first * gaps + width * index);
    match unit {
        _ if width % gaps == 0 => unit.write(&parts.map(|part| part / gaps).collect::<Vec<_>>()),
        Unit::Duration => {
            unit.write(&parts.map(|part| (part + gaps / 2) / gaps).collect::<Vec<_>>())
        }
        Unit::Decimal { places } => {
            let parts_of_one = gaps as f64 * (0..places).fold(1.0, |scale, _| scale * 10.0);
            unit.write_rounded(&parts.map(|part| part as f64 / parts_of_one).collect::<Vec<_>>())
        }
    }
}

/// This many values in equal ratios.
fn ratios(unit: Unit, from: &Node, to: &Node, count: usize) -> Result<Vec<Scalar>, Fault> {
    let (first, last) = (unit.float(from)?, unit.float(to)?);
    for (end, value) in [(from, first), (to, last)] {
        if value <= 0.0 {
            let problem = format!("a logarithmic scale has no place for {end}");
            return Err(Fault::at(
                &end.place,
                problem,
                "use ends above zero, or scale = \"linear\"",
            ));
        }
    }
    let width = libm::log(last / first);
    let value = |index: usize| {
        let share = index as f64 / (count - 1) as f64;
        // Keeps the ends as written.
        if index + 1 == count { last } else { first * libm::exp(width * share) }
    };
    Ok(unit.write_rounded(&(0..count).map(value).collect::<Vec<_>>()))
}

/// The unit of a range's ends.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// Microseconds.
    Duration,
    /// 10 to the power of minus this many decimal places.
    Decimal { places: usize },
}

/// Most digits before the point, and after it.
const DIGITS_MAX: usize = 15;

impl Unit {
    /// The common unit of all nodes.
    fn common(nodes: &[&Node]) -> Result<Self, Fault> {
        let mut places = 0;
        let durations = nodes.iter().filter(|node| duration_us(node).is_some()).count();
        if durations == nodes.len() {
            return Ok(Self::Duration);
        }
        for node in nodes {
            let Some(number) = number(node) else {
                let problem = match duration_us(node) {
                    Some(_) => format!("this range mixes the duration {node} with numbers"),
                    None => format!("a range goes over numbers or durations, not {}", node.kind()),
                };
                let remedy = "use numbers only, or durations only, such as \"10ms\"";
                return Err(Fault::at(&node.place, problem, remedy));
            };
            let digits = number.abs().to_string();
            let (integer, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
            if integer.len().max(fraction.len()) > DIGITS_MAX {
                return Err(Fault::at(
                    &node.place,
                    format!("{node} has too many digits for a range"),
                    format!("use at most {DIGITS_MAX} digits before and after the point"),
                ));
            }
            places = places.max(fraction.len());
        }
        Ok(Self::Decimal { places })
    }

    /// A node as a whole number of units.
    fn exact(self, node: &Node) -> Result<i128, Fault> {
        let units = match self {
            Self::Duration => duration_us(node).map(i128::from),
            Self::Decimal { places } => number(node).and_then(|number| {
                // `common` ensures that no more places are cut off.
                format!("{number:.places$}").replace('.', "").parse().ok()
            }),
        };
        units.ok_or_else(|| node.wrong_type("the end of a range", "a number or a duration", "10"))
    }

    /// A node as a float: microseconds, or the number.
    fn float(self, node: &Node) -> Result<f64, Fault> {
        match self {
            Self::Duration => self.exact(node).map(|us| us as f64),
            Self::Decimal { .. } => Ok(number(node).unwrap_or(0.0)),
        }
    }

    /// Values for the axis: durations in the largest unit that suits them all, whole numbers
    /// where no place is needed.
    fn write(self, values: &[i128]) -> Vec<Scalar> {
        let all_by = |divisor: i128| values.iter().all(|value| value % divisor == 0);
        match self {
            Self::Duration => {
                let units = [(1_000_000, "s"), (1_000, "ms"), (1, "us")];
                let (size, name) =
                    units.into_iter().find(|&(size, _)| all_by(size)).unwrap_or((1, "us"));
                let text = |us: &i128| Scalar::Text(format!("{}{name}", us / size));
                values.iter().map(text).collect()
            }
            Self::Decimal { places: 0 } => {
                let integer =
                    |value: &i128| Scalar::Integer(i64::try_from(*value).unwrap_or(i64::MAX));
                values.iter().map(integer).collect()
            }
            Self::Decimal { places } => {
                // Written out and read back, so that 0.1 + 2 × 0.1 is 0.3.
                let number = |value: &i128| {
                    let text = format!("{value}e-{places}");
                    Scalar::Number(text.parse().unwrap_or(f64::NAN))
                };
                values.iter().map(number).collect()
            }
        }
    }

    /// The same for floats, rounded to whole microseconds or twelve digits, so that 0.1 doubled
    /// three times is 0.8.
    fn write_rounded(self, values: &[f64]) -> Vec<Scalar> {
        match self {
            Self::Duration => {
                self.write(&values.iter().map(|us| us.round() as i128).collect::<Vec<_>>())
            }
            Self::Decimal { .. } => {
                let round = |value: &f64| format!("{value:.11e}").parse().unwrap_or(*value);
                let rounded: Vec<f64> = values.iter().map(round).collect();
                if rounded.iter().all(|value| value.fract() == 0.0) {
                    rounded.iter().map(|&value| Scalar::Integer(value as i64)).collect()
                } else {
                    rounded.into_iter().map(Scalar::Number).collect()
                }
            }
        }
    }
}

fn number(node: &Node) -> Option<f64> {
    match &node.tree {
        Tree::Scalar(Scalar::Integer(integer)) => Some(*integer as f64),
        Tree::Scalar(Scalar::Number(number)) => Some(*number),
        Tree::Scalar(Scalar::Bool(_) | Scalar::Text(_)) | Tree::Array(_) | Tree::Table(_) => None,
    }
}

fn duration_us(node: &Node) -> Option<u64> {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => parse_duration_us(text),
        Tree::Scalar(Scalar::Bool(_) | Scalar::Integer(_) | Scalar::Number(_))
        | Tree::Array(_)
        | Tree::Table(_) => None,
    }
}

fn never_reaches(problem: String, place: &Node) -> Fault {
    let remedy = "go towards the end of the range; by a factor, from and to positive numbers";
    Fault::at(&place.place, problem, remedy)
}

fn misses(to: &Node, around: &[Scalar]) -> Fault {
    let around: Vec<String> = around
        .iter()
        .map(|value| Node { place: 0..0, tree: Tree::Scalar(value.clone()) }.to_string())
        .collect();
    Fault::at(
        &to.place,
        format!("this range misses its end, {to}: it goes on to {}", around.join(", then ")),
        format!("end it at {}", around.join(" or at ")),
    )
}

fn too_many(node: &Node) -> Fault {
    Fault::at(
        &node.place,
        "this range has too many values",
        format!("sweep at most {POINTS_MAX} points"),
    )
}

const COUNT: Key<Whole<usize>> = Key::new(
    "count",
    "",
    "How many values, both ends among them.",
    Whole { min: 2, max: Some(POINTS_MAX), default: None },
)
.example("5")
.hint("both ends are among them");

const IS_LOGARITHMIC: Key<Word<bool>> = Key::new(
    "scale",
    "",
    "With `count`: equal distances (`\"linear\"`) or equal ratios (`\"log\"`).",
    Word::first_of(&[("linear", false), ("log", true)]),
);

/// The keys of a range.
pub(super) const RANGE: Keys = &[
    &Key::new("from", "", "The first value.", Own(forms::range_end)).required(),
    &Key::new("to", "", "The last value; a step or a factor must meet it.", Own(forms::range_end))
        .required(),
    &Key::new("step", "", "What is added from value to value.", Own(forms::range_end)),
    &Key::new(
        "factor",
        "",
        "What each value is multiplied by.",
        Own(|| json!({ "type": "number", "exclusiveMinimum": 0 })),
    ),
    &COUNT,
    &IS_LOGARITHMIC,
];
