//! Aggregates for users' queries beside SQLite's own: quantiles and spread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::{Connection, Result};

use super::functions::{one_number, wrong};

/// Registers the aggregates on this connection. Quantiles need all their values at once: all quantiles of a query share
/// room for this many values, at 8 bytes each and half as much again while growing.
pub(super) fn offer(connection: &Connection, values_max: usize) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    let room = Arc::new(Room { free: AtomicUsize::new(values_max), all: values_max });
    let median = Quantile { name: "median", fixed: Some(0.5), room: Arc::clone(&room) };
    connection.create_aggregate_function("median", 1, flags, median)?;
    let quantile = Quantile { name: "quantile", fixed: None, room };
    connection.create_aggregate_function("quantile", 2, flags, quantile)?;
    for (name, root) in [("variance", false), ("stddev", true)] {
        connection.create_aggregate_function(name, 1, flags, Spread { name, root })?;
    }
    Ok(())
}

/// The room for values that all quantiles of a query share.
struct Room {
    free: AtomicUsize,
    all: usize,
}

/// `median(x)`, or `quantile(x, q)`.
struct Quantile {
    name: &'static str,
    fixed: Option<f64>,
    room: Arc<Room>,
}

/// Values, and the room that they take.
struct Values {
    values: Vec<f64>,
    /// The requested quantile; `None` for NULL.
    share: Option<f64>,
    taken: usize,
    room: Arc<Room>,
}

impl Values {
    /// Doubles the values' room, or takes the free rest if that is less; returns whether any was free.
    fn grow(&mut self) -> bool {
        const LEAST: usize = 64;
        let wanted = self.taken.max(LEAST);
        let take = |free: usize| (free > 0).then(|| free - free.min(wanted));
        let before = self.room.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let Ok(before) = before else { return false };
        let got = before.min(wanted);
        self.taken += got;
        self.values.reserve_exact(got);
        true
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        self.room.free.fetch_add(self.taken, Ordering::Relaxed);
    }
}

impl Aggregate<Values, Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> Result<Values> {
        let room = Arc::clone(&self.room);
        Ok(Values { values: Vec::new(), share: self.fixed, taken: 0, room })
    }

    fn step(&self, context: &mut Context<'_>, held: &mut Values) -> Result<()> {
        let wrong = |problem: &str| wrong(self.name, problem);
        if self.fixed.is_none() {
            held.share = one_number(context.get_raw(1)).map_err(wrong)?;
            if held.share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                return Err(wrong("a quantile is from 0 to 1"));
            }
        }
        let Some(value) = one_number(context.get_raw(0)).map_err(wrong)? else { return Ok(()) };
        if held.values.len() == held.taken && !held.grow() {
            let most = self.room.all;
            return Err(wrong(&format!(
                "the quantiles of a query have room for {most} values at a time; group by something, \
                 or use the quantiles of the views time_per_move and time_per_depth"
            )));
        }
        held.values.push(value);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, held: Option<Values>) -> Result<Option<f64>> {
        let Some(mut held) = held else { return Ok(None) };
        let share = held.share;
        Ok(share.and_then(|share| quantile(&mut held.values, share)))
    }
}

/// Interpolates linearly between the two neighbouring values: R's type 7 and pandas' `linear` (Hyndman and Fan 1996,
/// definition 7).
fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = last as f64 * share;
    let below = (place.floor() as usize).min(last);
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let part = place - below as f64;
    if part <= 0.0 {
        return Some(low);
    }
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    // Avoids the difference of two infinities.
    Some(if low == high { low } else { low + part * (high - low) })
}

/// `variance(x)` and `stddev(x)` of a sample, by n - 1: NULL for fewer than two values.
struct Spread {
    name: &'static str,
    root: bool,
}

/// Welford 1962.
#[derive(Default)]
struct Sample {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Aggregate<Sample, Option<f64>> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<Sample> {
        Ok(Sample::default())
    }

    fn step(&self, context: &mut Context<'_>, sample: &mut Sample) -> Result<()> {
        let value = one_number(context.get_raw(0)).map_err(|problem| wrong(self.name, problem))?;
        let Some(value) = value else { return Ok(()) };
        sample.count += 1.0;
        let before = value - sample.mean;
        sample.mean += before / sample.count;
        sample.squares += before * (value - sample.mean);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sample: Option<Sample>) -> Result<Option<f64>> {
        let Some(sample) = sample.filter(|sample| sample.count >= 2.0) else { return Ok(None) };
        let variance = sample.squares / (sample.count - 1.0);
        Ok(Some(if self.root { variance.sqrt() } else { variance }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_where_it_would_be_among_all_in_order() {
        let mut values: Vec<f64> = (0..=10).map(|number| f64::from((number * 7) % 11)).collect();
        for (share, expected) in [(0.0, 0.0), (0.5, 5.0), (0.25, 2.5), (0.99, 9.9), (1.0, 10.0)] {
            assert_eq!(quantile(&mut values, share), Some(expected));
        }
        assert_eq!(quantile(&mut [], 0.5), None);
        assert_eq!(quantile(&mut [3.0], 0.9), Some(3.0));
        assert_eq!(quantile(&mut [f64::INFINITY, f64::INFINITY], 0.5), Some(f64::INFINITY));
    }

    #[test]
    fn room_comes_back() {
        let room = Arc::new(Room { free: AtomicUsize::new(100), all: 100 });
        let held = |room: &Arc<Room>| Values {
            values: Vec::new(),
            share: None,
            taken: 0,
            room: Arc::clone(room),
        };
        let (mut one, mut other) = (held(&room), held(&room));
        assert!(one.grow() && other.grow());
        assert_eq!((one.taken, other.taken), (64, 36));
        assert!(!one.grow() && !other.grow());
        drop(other);
        assert!(one.grow());
        drop(one);
        assert_eq!(room.free.load(Ordering::Relaxed), 100);
    }
}
