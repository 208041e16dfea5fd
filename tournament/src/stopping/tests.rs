//! The prefix against a plain loop over the complete results.

use proptest::prelude::*;

use super::*;
use crate::statistics::{EloModel, GameCounts, PairCounts, Sprt};

/// The slow twin: how far a rule reads results that are all there up to the first gap, and whether it
/// is reached there.
fn read_plainly(
    rule: StopRule,
    swap_sides: bool,
    openings_count: Option<u64>,
    settled: &[Option<Settled>],
) -> (u64, Option<u64>) {
    let of_unit = if swap_sides { 2 } else { 1 };
    let mut checkpoint = 25_usize;
    let mut played = Vec::new();
    let mut numbers = Vec::new();
    let mut units = 0_usize;
    for unit in settled.chunks(of_unit) {
        if unit.len() < of_unit || unit.iter().any(Option::is_none) {
            break;
        }
        units += 1;
        if unit.iter().all(|game| *game != Some(Settled::Failed)) {
            played.push(unit.to_vec());
            numbers.push(units as u64 - 1);
        }
        if units == checkpoint {
            let parts = if matches!(rule, StopRule::Sprt(_)) { 100 } else { 10 };
            checkpoint += checkpoint.div_ceil(parts);
            let openings = by_opening(rule, openings_count, &numbers, &played);
            if rule.is_reached(&count(swap_sides, &played), openings.as_ref()) {
                return ((units * of_unit) as u64, Some((units * of_unit) as u64));
            }
        }
    }
    ((units * of_unit) as u64, None)
}

fn points(of: &[Option<Settled>]) -> usize {
    of.iter()
        .map(|game| match game {
            Some(Settled::Played(Points::One)) => 2,
            Some(Settled::Played(Points::Half)) => 1,
            Some(Settled::Played(Points::Zero) | Settled::Failed) | None => 0,
        })
        .sum()
}

/// These units, which have these numbers, by opening.
fn by_opening(
    rule: StopRule,
    openings_count: Option<u64>,
    numbers: &[u64],
    played: &[Vec<Option<Settled>>],
) -> Option<OpeningTally> {
    let mut openings = OpeningTally::new(openings_count).filter(|_| rule.minds_openings())?;
    for opening in 0..openings_count? {
        let its =
            || (0..played.len()).filter(|&at| numbers[at] % openings_count.unwrap() == opening);
        let half_points: usize = its().map(|at| points(&played[at])).sum();
        openings.add(opening, its().count() as u64, half_points as u64);
    }
    Some(openings)
}

fn count(swap_sides: bool, played: &[Vec<Option<Settled>>]) -> Tally {
    let with =
        |half_points| played.iter().filter(|unit| points(unit) == half_points).count() as u64;
    if swap_sides {
        Tally::Pairs(PairCounts([with(0), with(1), with(2), with(3), with(4)]))
    } else {
        Tally::Games(GameCounts([with(0), with(1), with(2)]))
    }
}

fn any_settled() -> impl Strategy<Value = Settled> {
    prop_oneof![
        8 => Just(Settled::Played(Points::One)),
        4 => Just(Settled::Played(Points::Half)),
        4 => Just(Settled::Played(Points::Zero)),
        1 => Just(Settled::Failed),
    ]
}

fn any_openings() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(1_u64..60)
}

fn any_rule() -> impl Strategy<Value = StopRule> {
    prop_oneof![
        (1_u32..25).prop_map(|hundredths| {
            StopRule::of_precision(f64::from(hundredths) / 100.0).expect("in range")
        }),
        (1_u32..25).prop_map(|hundredths| {
            let precision = Precision::new(f64::from(hundredths) / 100.0).expect("in range");
            StopRule::Precision(precision.over_pairs())
        }),
        (-100_i32..0, 20_i32..100).prop_map(|(elo0, elo1)| {
            let sprt = Sprt::new(elo0.into(), elo1.into(), 0.1, 0.1, EloModel::Normalized);
            StopRule::Sprt(sprt.expect("in range"))
        }),
    ]
}

/// Told in an order that `keys` gives, with a restart after each of those that are multiples of 7.
fn read(
    rule: StopRule,
    swap_sides: bool,
    openings_count: Option<u64>,
    settled: &[Option<Settled>],
    keys: &[u16],
) -> Prefix {
    let mut order: Vec<usize> = (0..settled.len()).collect();
    order.sort_by_key(|&number| keys[number]);
    let reading = Reading::from_start(rule, swap_sides, Vec::new());
    let mut prefix = Prefix::from(reading.with_openings(openings_count));
    let mut told: Vec<(u64, Settled)> = Vec::new();
    for number in order {
        let Some(game) = settled[number] else { continue };
        told.push((number as u64, game));
        prefix.tell(number as u64, game);
        if keys[number].is_multiple_of(7) {
            prefix = restarted(&prefix, swap_sides, openings_count, &told);
        }
    }
    prefix
}

/// As a store finds it: the units below the durable number counted, and what lies beyond.
fn restarted(
    prefix: &Prefix,
    swap_sides: bool,
    openings_count: Option<u64>,
    told: &[(u64, Settled)],
) -> Prefix {
    let decided_number = prefix.decided_number();
    let mut below = vec![None; usize::try_from(decided_number).unwrap()];
    let (read, beyond): (Vec<_>, Vec<_>) =
        told.iter().copied().partition(|(number, _)| *number < decided_number);
    for (number, game) in read {
        below[usize::try_from(number).unwrap()] = Some(game);
    }
    let units = below.chunks(if swap_sides { 2 } else { 1 });
    let (numbers, played): (Vec<u64>, Vec<Vec<Option<Settled>>>) = (0..)
        .zip(units)
        .filter(|(_, unit)| unit.iter().all(|game| *game != Some(Settled::Failed)))
        .map(|(number, unit)| (number, unit.to_vec()))
        .unzip();
    let tally = count(swap_sides, &played);
    let openings = by_opening(prefix.rule(), openings_count, &numbers, &played);
    Prefix::from(Reading { rule: prefix.rule(), decided_number, tally, openings, beyond })
}

proptest! {
    /// In any order, in pieces, with restarts, with gaps: the same as the plain loop.
    #[test]
    fn a_prefix_reads_what_a_plain_loop_reads(
        rule in any_rule(),
        swap_sides: bool,
        openings in any_openings(),
        games in prop::collection::vec((prop::option::weighted(0.995, any_settled()), any::<u16>()), 0..400),
    ) {
        let (settled, keys): (Vec<_>, Vec<_>) = games.into_iter().unzip();
        let prefix = read(rule, swap_sides, openings, &settled, &keys);
        let expected = read_plainly(rule, swap_sides, openings, &settled);
        prop_assert_eq!((prefix.decided_number(), prefix.stop_number()), expected);
    }

    /// Another rule is read over the same results as if it had always been there.
    #[test]
    fn another_rule_is_read_from_the_first_unit(
        [before, after] in [any_rule(), any_rule()],
        swap_sides: bool,
        openings in any_openings(),
        games in prop::collection::vec((any_settled().prop_map(Some), any::<u16>()), 0..300),
    ) {
        let (settled, keys): (Vec<_>, Vec<_>) = games.into_iter().unzip();
        let _ = read(before, swap_sides, openings, &settled, &keys);
        let all = (0..).zip(settled.iter().flatten().copied()).collect();
        let again = Reading::from_start(after, swap_sides, all).with_openings(openings);
        let again = Prefix::from(again);
        let always = read(after, swap_sides, openings, &settled, &keys);
        prop_assert_eq!(again.decided_number(), always.decided_number());
        prop_assert_eq!(again.stop_number(), always.stop_number());
    }

    /// Only what waits for a gap before it is kept, and nothing beyond a stop (invariant 9).
    #[test]
    fn what_is_kept_is_beyond_a_gap(
        rule in any_rule(),
        games in prop::collection::vec((prop::option::weighted(0.99, any_settled()), any::<u16>()), 0..300),
    ) {
        let (settled, keys): (Vec<_>, Vec<_>) = games.into_iter().unzip();
        let prefix = read(rule, false, None, &settled, &keys);
        let decided = usize::try_from(prefix.decided_number()).unwrap();
        let beyond = settled.iter().skip(decided).flatten().count();
        prop_assert_eq!(prefix.kept(), if prefix.stop_number().is_some() { 0 } else { beyond });
    }
}

#[test]
fn equal_pairs_reach_a_coarse_rule_at_the_first_checkpoint() {
    let rule = StopRule::of_precision(0.2).unwrap();
    let won = (0..1_000).map(|number| (number, Settled::Played(Points::One))).collect();
    let prefix = Prefix::from(Reading::from_start(rule, true, won));
    assert_eq!(prefix.stop_number(), Some(50));
}

#[test]
fn failed_units_have_their_place_and_no_say() {
    let rule = StopRule::of_precision(0.2).unwrap();
    let failed = (0..1_000).map(|number| (number, Settled::Failed)).collect();
    let prefix = Prefix::from(Reading::from_start(rule, true, failed));
    assert_eq!((prefix.decided_number(), prefix.stop_number()), (1_000, None));
}

#[test]
fn points_of_both_players_are_one() {
    for points in [Points::Zero, Points::Half, Points::One] {
        assert_eq!(points.half_points() + points.swapped().half_points(), 2);
    }
}
