//! Functions for users' queries beside SQLite's own (`docs/sql.md` lists them).
//!
//! Views must not use these functions, so that any SQLite can read the file. Each is a pure function of its arguments.
//! NULL in gives NULL out; without games the result is NULL too, as with `avg`.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};
use spelrum_statistics::{GameCounts, PairCounts, ScoreInterval, Strength};

/// The computed value, or the problem with an argument.
type Computed = Result<Option<f64>, &'static str>;

struct Function {
    name: &'static str,
    arguments: usize,
    compute: fn(&[f64]) -> Computed,
}

const fn function(
    name: &'static str,
    arguments: usize,
    compute: fn(&[f64]) -> Computed,
) -> Function {
    Function { name, arguments, compute }
}

/// Statistics of games by wins, draws and losses; of pairs by points from 0 to 2, as in the columns `pairs_0` …
/// `pairs_2` of the views; of successes among trials.
const STATISTICS: [Function; 15] = [
    function("elo", 3, |arguments| of_games(arguments, |strength| strength.elo)),
    function("elo_error", 3, |arguments| of_games(arguments, |strength| strength.elo_error)),
    function("score_low", 3, |arguments| interval_of_games(arguments, |interval| interval.low)),
    function("score_high", 3, |arguments| interval_of_games(arguments, |interval| interval.high)),
    function("pairs_elo", 5, |arguments| of_pairs(arguments, |strength| strength.elo)),
    function("pairs_elo_error", 5, |arguments| of_pairs(arguments, |strength| strength.elo_error)),
    function("pairs_nelo", 5, |arguments| of_pairs(arguments, |strength| strength.nelo)),
    function("pairs_nelo_error", 5, |arguments| {
        of_pairs(arguments, |strength| strength.nelo_error)
    }),
    function("pairs_los", 5, |arguments| of_pairs(arguments, |strength| strength.los)),
    function("pairs_low", 5, |arguments| interval_of_pairs(arguments, |interval| interval.low)),
    function("pairs_high", 5, |arguments| interval_of_pairs(arguments, |interval| interval.high)),
    function("wilson_low", 2, |arguments| wilson(arguments, |[low, _]| low)),
    function("wilson_high", 2, |arguments| wilson(arguments, |[_, high]| high)),
    function("elo_of_score", 1, |arguments| elo_of_score(arguments[0])),
    function("score_of_elo", 1, |arguments| {
        Ok(Some(1.0 / (1.0 + 10_f64.powf(-arguments[0] / 400.0))))
    }),
];

/// SQLite functions that our build lacks, with the same names and the same meaning for numbers
/// (sqlite.org/lang_mathfunc.html). Texts, even numeric ones, and undefined results give NULL.
const MATHEMATICS: [Function; 29] = [
    function("acos", 1, |x| number(x[0].acos())),
    function("acosh", 1, |x| number(x[0].acosh())),
    function("asin", 1, |x| number(x[0].asin())),
    function("asinh", 1, |x| number(x[0].asinh())),
    function("atan", 1, |x| number(x[0].atan())),
    function("atan2", 2, |x| number(x[0].atan2(x[1]))),
    function("atanh", 1, |x| number(x[0].atanh())),
    function("ceil", 1, |x| number(x[0].ceil())),
    function("ceiling", 1, |x| number(x[0].ceil())),
    function("cos", 1, |x| number(x[0].cos())),
    function("cosh", 1, |x| number(x[0].cosh())),
    function("degrees", 1, |x| number(x[0].to_degrees())),
    function("exp", 1, |x| number(x[0].exp())),
    function("floor", 1, |x| number(x[0].floor())),
    function("ln", 1, |x| logarithm(x[0], f64::ln)),
    function("log", 1, |x| logarithm(x[0], f64::log10)),
    function("log", 2, |x| {
        if x[0] > 0.0 { logarithm(x[1], |power| power.log(x[0])) } else { Ok(None) }
    }),
    function("log10", 1, |x| logarithm(x[0], f64::log10)),
    function("log2", 1, |x| logarithm(x[0], f64::log2)),
    function("mod", 2, |x| number(x[0] % x[1])),
    function("pow", 2, |x| number(x[0].powf(x[1]))),
    function("power", 2, |x| number(x[0].powf(x[1]))),
    function("radians", 1, |x| number(x[0].to_radians())),
    function("sin", 1, |x| number(x[0].sin())),
    function("sinh", 1, |x| number(x[0].sinh())),
    function("sqrt", 1, |x| number(x[0].sqrt())),
    function("tan", 1, |x| number(x[0].tan())),
    function("tanh", 1, |x| number(x[0].tanh())),
    function("trunc", 1, |x| number(x[0].trunc())),
];

/// Registers the functions on this connection.
pub(super) fn offer(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    for Function { name, arguments, compute } in STATISTICS {
        connection.create_scalar_function(name, arguments as i32, flags, move |asked| {
            let computed = numbers(asked)
                .and_then(|values| values.map_or(Ok(None), |values| compute(&values)));
            // Drops the sign of a negative zero.
            computed
                .map(|number| number.map(|number| number + 0.0))
                .map_err(|problem| wrong(name, problem))
        })?;
    }
    for Function { name, arguments, compute } in MATHEMATICS {
        connection.create_scalar_function(name, arguments as i32, flags, move |asked| {
            // As in SQLite's own functions.
            let Ok(Some(values)) = numbers(asked) else { return Ok(None) };
            compute(&values).map_err(|problem| wrong(name, problem))
        })?;
    }
    let pi = |_: &Context<'_>| Ok(core::f64::consts::PI);
    connection.create_scalar_function("pi", 0, flags, pi)
}

/// A function's error in SQLite's format.
pub(super) fn wrong(function: &str, problem: &str) -> Error {
    Error::UserFunctionError(format!("{function}: {problem}").into())
}

/// Reads a number; `None` for NULL.
pub(super) fn one_number(value: ValueRef<'_>) -> Result<Option<f64>, &'static str> {
    match value {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(integer) => Ok(Some(integer as f64)),
        ValueRef::Real(real) => Ok(Some(real)),
        ValueRef::Text(_) | ValueRef::Blob(_) => Err("a number is wanted, not a text or a blob"),
    }
}

/// Reads all arguments; `None` if any is NULL.
fn numbers(context: &Context<'_>) -> Result<Option<Vec<f64>>, &'static str> {
    (0..context.len()).map(|index| one_number(context.get_raw(index))).collect()
}

/// Below this, counts are exact in a double, and sums of a few of them fit 64 bits.
const COUNT_MAX: f64 = 9_007_199_254_740_992.0;

fn count(number: f64) -> Result<u64, &'static str> {
    if (0.0..COUNT_MAX).contains(&number) && number.fract() == 0.0 {
        Ok(number as u64)
    } else {
        Err("a count is a whole number from 0 to 9007199254740991")
    }
}

/// Reorders counts for `GameCounts`, which starts with losses.
fn games(values: &[f64]) -> Result<GameCounts, &'static str> {
    Ok(GameCounts([count(values[2])?, count(values[1])?, count(values[0])?]))
}

fn pairs(values: &[f64]) -> Result<PairCounts, &'static str> {
    let mut counts = PairCounts::default();
    for (to, &from) in counts.0.iter_mut().zip(values) {
        *to = count(from)?;
    }
    Ok(counts)
}

fn of_games(values: &[f64], figure: fn(Strength) -> f64) -> Computed {
    let games = games(values)?;
    Ok((games.0 != [0; 3]).then(|| figure(games.strength())))
}

fn interval_of_games(values: &[f64], figure: fn(ScoreInterval) -> f64) -> Computed {
    let games = games(values)?;
    Ok((games.0 != [0; 3]).then(|| figure(games.interval())))
}

fn of_pairs(values: &[f64], figure: fn(Strength) -> f64) -> Computed {
    let pairs = pairs(values)?;
    Ok((pairs.0 != [0; 5]).then(|| figure(pairs.strength())))
}

fn interval_of_pairs(values: &[f64], figure: fn(ScoreInterval) -> f64) -> Computed {
    let pairs = pairs(values)?;
    Ok((pairs.0 != [0; 5]).then(|| figure(pairs.interval())))
}

/// The 95% score interval of a proportion (Wilson 1927; Brown, Cai and DasGupta 2001, section 3.1.1).
fn wilson(values: &[f64], bound: fn([f64; 2]) -> f64) -> Computed {
    let (successes, all) = (count(values[0])?, count(values[1])?);
    if successes > all {
        return Err("there are more successes than there were tries");
    }
    if all == 0 {
        return Ok(None);
    }
    let (n, z) = (all as f64, 1.959_963_984_540_054);
    let share = successes as f64 / n;
    let z2 = z * z / n;
    let centre = (share + z2 / 2.0) / (1.0 + z2);
    let half = z * (share * (1.0 - share) / n + z2 / (4.0 * n)).sqrt() / (1.0 + z2);
    // The clamps only catch rounding.
    Ok(Some(bound([(centre - half).clamp(0.0, share), (centre + half).clamp(share, 1.0)])))
}

fn elo_of_score(score: f64) -> Computed {
    if (0.0..=1.0).contains(&score) {
        // Infinite at both ends.
        Ok(Some(-400.0 * (1.0 / score - 1.0).log10()))
    } else {
        Err("a score is from 0 to 1")
    }
}

/// SQLite turns NaN into NULL.
#[expect(clippy::unnecessary_wraps, reason = "as a function computes")]
fn number(value: f64) -> Computed {
    Ok((!value.is_nan()).then_some(value))
}

fn logarithm(value: f64, logarithm: impl FnOnce(f64) -> f64) -> Computed {
    if value > 0.0 { number(logarithm(value)) } else { Ok(None) }
}
