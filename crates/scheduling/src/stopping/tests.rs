//! The prefix against a plain loop over the complete results.

use proptest::prelude::*;
use spelrum_statistics::{
    EloModel, GameCounts, OpeningTally, PairCounts, Precision, Sprt, StopRule, Tally,
};

use super::*;

/// The slow reference: how far a rule reads results that are complete up to the first gap, and whether it
/// is reached there.
fn read_plainly(
    how: How,
    swap_sides: bool,
    openings_count: Option<u64>,
    settled: &[Option<Settled>],
) -> (u64, Option<u64>) {
    let How { rule, repeats } = how;
    let of_unit = if swap_sides { 2 } else { 1 };
    let round = openings_count.filter(|_| repeats).map(|openings| openings as usize);
    let mut checkpoint = 25_usize;
    let mut played = Vec::new();
    let mut numbers = Vec::new();
    let mut units = 0_usize;
    for unit in settled.chunks(of_unit) {
        if Some(units) == round {
            match is_repeated(settled, units * of_unit, LOOKS as usize * of_unit) {
                None => break,
                Some(true) => return ((units * of_unit) as u64, Some((units * of_unit) as u64)),
                Some(false) => {}
            }
        }
        if unit.len() < of_unit || unit.iter().any(Option::is_none) {
            break;
        }
        units += 1;
        if unit.iter().all(|game| *game != Some(Settled::Failed)) {
            played.push(unit.to_vec());
            numbers.push(units as u64 - 1);
        }
        if let Some(rule) = rule
            && units == checkpoint
        {
            let parts = if matches!(rule, StopRule::Sprt(_)) { 100 } else { 10 };
            checkpoint += checkpoint.div_ceil(parts);
            let openings = by_opening(Some(rule), openings_count, &numbers, &played);
            if rule.is_reached(&count(swap_sides, &played), openings.as_ref()) {
                return ((units * of_unit) as u64, Some((units * of_unit) as u64));
            }
        }
    }
    ((units * of_unit) as u64, None)
}

/// Whether none of this many games after the first round differs from its original in that round; `None` before
/// all of them are settled.
fn is_repeated(settled: &[Option<Settled>], round: usize, looked: usize) -> Option<bool> {
    let games = settled.get(round..round + looked)?;
    let mut all = true;
    for (at, game) in games.iter().enumerate() {
        if let (Some(Settled::Played(_, first)), Settled::Played(_, again)) =
            (settled[at % round], (*game)?)
        {
            all &= first == again;
        }
    }
    Some(all)
}

/// How a cell is read.
#[derive(Clone, Copy, Debug)]
struct How {
    rule: Option<StopRule>,
    /// Whether its players are assumed to repeat themselves.
    repeats: bool,
}

impl How {
    fn start(self, swap_sides: bool, openings_count: Option<u64>) -> Reading {
        Reading::from_start(self.rule, swap_sides, Vec::new())
            .with_openings(openings_count)
            .with_round(openings_count.filter(|_| self.repeats).and_then(Round::new))
    }
}

fn any_how() -> impl Strategy<Value = How> {
    (prop::option::weighted(0.8, any_rule()), any::<bool>())
        .prop_map(|(rule, repeats)| How { rule, repeats })
}

/// Most games are alike, so that repeats are seen.
fn any_moves() -> impl Strategy<Value = u64> {
    prop_oneof![50 => Just(0_u64), 1 => Just(1_u64)]
}

fn points(games: &[Option<Settled>]) -> usize {
    games
        .iter()
        .map(|game| match game {
            Some(Settled::Played(Points::One, _)) => 2,
            Some(Settled::Played(Points::Half, _)) => 1,
            Some(Settled::Played(Points::Zero, _) | Settled::Failed) | None => 0,
        })
        .sum()
}

/// These units, with these numbers, grouped by opening.
fn by_opening(
    rule: Option<StopRule>,
    openings_count: Option<u64>,
    numbers: &[u64],
    played: &[Vec<Option<Settled>>],
) -> Option<OpeningTally> {
    let mut openings = OpeningTally::new(openings_count)
        .filter(|_| rule.is_some_and(|rule| rule.depends_on_openings()))?;
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
        8 => any_moves().prop_map(|moves| Settled::Played(Points::One, moves)),
        4 => any_moves().prop_map(|moves| Settled::Played(Points::Half, moves)),
        4 => any_moves().prop_map(|moves| Settled::Played(Points::Zero, moves)),
        1 => Just(Settled::Failed),
    ]
}

fn any_openings() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(1_u64..60)
}

fn any_rule() -> impl Strategy<Value = StopRule> {
    prop_oneof![
        (1_u32..25).prop_map(|hundredths| {
            StopRule::from_precision(f64::from(hundredths) / 100.0).expect("in range")
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

/// Passes results in the order given by `keys`, with a restart after each key that is a multiple of 7.
fn read(
    how: How,
    swap_sides: bool,
    openings_count: Option<u64>,
    settled: &[Option<Settled>],
    keys: &[u16],
) -> Prefix {
    let mut order: Vec<usize> = (0..settled.len()).collect();
    order.sort_by_key(|&number| keys[number]);
    let mut prefix = Prefix::from(how.start(swap_sides, openings_count));
    let mut settled_games: Vec<(u64, Settled)> = Vec::new();
    for number in order {
        let Some(game) = settled[number] else { continue };
        settled_games.push((number as u64, game));
        prefix.tell(number as u64, game);
        if keys[number].is_multiple_of(7) {
            prefix = restarted(how, &prefix, swap_sides, openings_count, &settled_games);
        }
    }
    prefix
}

/// As a store restores it: the units below the durable number counted, and the results beyond it.
fn restarted(
    how: How,
    prefix: &Prefix,
    swap_sides: bool,
    openings_count: Option<u64>,
    settled_games: &[(u64, Settled)],
) -> Prefix {
    let decided_number = prefix.decided_number();
    let mut below = vec![None; usize::try_from(decided_number).unwrap()];
    let (read, beyond): (Vec<_>, Vec<_>) =
        settled_games.iter().copied().partition(|(number, _)| *number < decided_number);
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
    let mut round = how.start(swap_sides, openings_count).round;
    for (number, game) in (0..).zip(&below) {
        if let (Some(round), Some(Settled::Played(_, moves_hash))) = (&mut round, game) {
            round.note(number, tally.games_of_unit(), *moves_hash);
        }
    }
    Prefix::from(Reading { rule: prefix.rule(), decided_number, tally, openings, round, beyond })
}

proptest! {
    /// In any order, in pieces, with restarts, with gaps: the same as the plain loop.
    #[test]
    fn a_prefix_reads_what_a_plain_loop_reads(
        how in any_how(),
        swap_sides: bool,
        openings in any_openings(),
        games in prop::collection::vec((prop::option::weighted(0.995, any_settled()), any::<u16>()), 0..400),
    ) {
        let (settled, keys): (Vec<_>, Vec<_>) = games.into_iter().unzip();
        let prefix = read(how, swap_sides, openings, &settled, &keys);
        let expected = read_plainly(how, swap_sides, openings, &settled);
        prop_assert_eq!((prefix.decided_number(), prefix.stop_number()), expected);
    }

    /// A changed rule reads the same results as if it had always applied.
    #[test]
    fn another_rule_is_read_from_the_first_unit(
        [before, after] in [any_how(), any_how()],
        swap_sides: bool,
        openings in any_openings(),
        games in prop::collection::vec((any_settled().prop_map(Some), any::<u16>()), 0..300),
    ) {
        let (settled, keys): (Vec<_>, Vec<_>) = games.into_iter().unzip();
        let _ = read(before, swap_sides, openings, &settled, &keys);
        let all = (0..).zip(settled.iter().flatten().copied()).collect();
        let again = Reading { beyond: all, ..after.start(swap_sides, openings) };
        let again = Prefix::from(again);
        let always = read(after, swap_sides, openings, &settled, &keys);
        prop_assert_eq!(again.decided_number(), always.decided_number());
        prop_assert_eq!(again.stop_number(), always.stop_number());
    }

    /// Only results that wait for an earlier gap are kept, and none beyond a stop (invariant 9).
    #[test]
    fn what_is_kept_is_beyond_a_gap(
        how in any_how(),
        games in prop::collection::vec((prop::option::weighted(0.99, any_settled()), any::<u16>()), 0..300),
    ) {
        let (settled, keys): (Vec<_>, Vec<_>) = games.into_iter().unzip();
        let prefix = read(how, false, None, &settled, &keys);
        let decided = usize::try_from(prefix.decided_number()).unwrap();
        let beyond = settled.iter().skip(decided).flatten().count();
        prop_assert_eq!(prefix.kept(), if prefix.stop_number().is_some() { 0 } else { beyond });
    }
}

#[test]
fn equal_pairs_reach_a_coarse_rule_at_the_first_checkpoint() {
    let rule = StopRule::from_precision(0.2).unwrap();
    let won = (0..1_000).map(|number| (number, Settled::Played(Points::One, 0))).collect();
    let prefix = Prefix::from(Reading::from_start(rule, true, won));
    assert_eq!(prefix.stop_number(), Some(50));
}

#[test]
fn failed_units_have_their_place_and_no_say() {
    let rule = StopRule::from_precision(0.2).unwrap();
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

/// A book of 200 openings whose games are repeated: repeated pairs add no evidence.
#[test]
fn repeated_games_are_no_evidence() {
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
    let half_points = |pair: u64| [2, 2, 3, 1, 2, 4, 2, 1, 3, 2][(pair % 200 * 7 % 10) as usize];
    let (mut tally, mut openings) = (Tally::new(true), OpeningTally::new(Some(200)).unwrap());
    let mut ratios = Vec::new();
    for pair in 0..2_900_u64 {
        tally.add(half_points(pair));
        openings.add(pair, 1, half_points(pair) as u64);
        if [200, 800, 1_600, 2_900].contains(&(pair + 1)) {
            ratios.push([tally.llr(&sprt), tally.llr_over(&sprt, Some(&openings))]);
        }
    }
    let [once, _] = ratios[0];
    // In the first round it equals the test over pairs, to the last bit.
    assert_eq!(ratios[0][0].to_bits(), ratios[0][1].to_bits());
    for ([over_pairs, over_openings], rounds) in ratios.iter().zip([1.0_f64, 4.0, 8.0, 14.5]) {
        println!("{rounds} rounds: {over_pairs:.3} over pairs, {over_openings:.3} over openings");
        assert!((over_pairs / once - rounds).abs() < 0.01);
        assert!(*over_openings > 0.0 && *over_openings <= once, "{over_openings} of {once}");
    }
}

/// Players that repeat themselves end with their openings, whatever else is handed out; others go on.
#[test]
fn a_round_ends_a_cell_whose_games_come_again() {
    let reading = |repeats: bool, failed: Option<u64>| {
        let hash =
            move |number: u64| if repeats || number != 2 * 30 + 9 { number % 60 } else { 99 };
        let settled = (0..200).map(|number| match failed == Some(number) {
            true => (number, Settled::Failed),
            false => (number, Settled::Played(Points::One, hash(number))),
        });
        Reading::from_start(None::<StopRule>, true, settled.collect()).with_round(Round::new(30))
    };
    let prefix = |repeats, failed| Prefix::from(reading(repeats, failed));
    assert_eq!((prefix(true, None).stop_number(), prefix(true, None).end(200)), (Some(60), 60));
    assert_eq!((prefix(false, None).stop_number(), prefix(false, None).end(200)), (None, 200));
    // A failed game differs from nothing.
    assert_eq!(prefix(false, Some(2 * 30 + 9)).stop_number(), Some(60));
    // Until all compared games are settled, none beyond them is handed out.
    let mut open = reading(true, None);
    open.beyond.retain(|(number, _)| *number != 2 * 30 + 9);
    let mut open = Prefix::from(open);
    assert_eq!((open.stop_number(), open.end(200), open.end(70)), (None, 76, 70));
    open.tell(69, Settled::Played(Points::One, 9));
    assert_eq!((open.stop_number(), open.end(200)), (Some(60), 60));
}
