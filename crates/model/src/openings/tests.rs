use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};

use super::*;

mod ending;

static PENTAGO: LazyLock<Rules> = LazyLock::new(|| Pentago::rules(true));
static TIC_TAC_TOE: LazyLock<Rules> = LazyLock::new(TicTacToe::rules);

fn nim(heaps: &[u32], misere: bool) -> Rules {
    Nim::rules(heaps, misere).unwrap()
}

fn random(plies: u32) -> OpeningsRule {
    OpeningsRule::Random { plies }
}

fn all(plies: u32) -> OpeningsRule {
    OpeningsRule::All { plies }
}

fn listed(positions: &[&str]) -> OpeningsRule {
    OpeningsRule::Listed { positions: positions.iter().map(|&text| text.to_owned()).collect() }
}

fn openings(seed: u64, rules: &Rules, rule: &OpeningsRule) -> Openings {
    Openings::new(seed, rules, rule).unwrap()
}

fn first(openings: &Openings, count: u64) -> Vec<Arc<str>> {
    (0..count).map(|pair| openings.opening(pair)).collect()
}

/// The slow reference: every sequence of moves, one at a time, and every ending of each.
fn keys_by_brute_force<G: Game>(rules: &Rules, plies: u32) -> BTreeSet<u64> {
    fn walk<G: Game>(position: &G, plies: u32, keys: &mut BTreeSet<u64>) {
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        let after = |mv| {
            let mut next = position.clone();
            next.play_unchecked(mv);
            next
        };
        if plies == 0 {
            let mover_wins =
                |mv| after(mv).ending().and_then(|e| e.winner) == Some(position.to_move());
            if position.ending().is_none() && !moves.iter().any(|&mv| mover_wins(mv)) {
                keys.insert(position.canonical_key());
            }
            return;
        }
        moves.into_iter().for_each(|mv| walk(&after(mv), plies - 1, keys));
    }
    let mut keys = BTreeSet::new();
    walk(&G::start(rules).unwrap(), plies, &mut keys);
    keys
}

fn keys<G: Game>(rules: &Rules, openings: &[Arc<str>]) -> Vec<u64> {
    openings.iter().map(|text| G::parse(rules, text).unwrap().canonical_key()).collect()
}

fn check_whole_set<G: Game>(rules: &Rules, plies: u32) {
    let expected = keys_by_brute_force::<G>(rules, plies);
    for rule in [random(plies), all(plies)] {
        if expected.is_empty() {
            let error = Openings::new(7, rules, &rule).unwrap_err();
            assert_eq!(error, OpeningsError::None { plies }, "{rules:?}");
            continue;
        }
        let openings = openings(7, rules, &rule);
        let count = openings.distinct(u64::MAX);
        assert_eq!(count, expected.len() as u64, "{rules:?} {rule:?}");
        let images = keys::<G>(rules, &first(&openings, count));
        assert_eq!(images.iter().copied().collect::<BTreeSet<_>>(), expected, "{rules:?} {rule:?}");
        // Then it starts again.
        assert_eq!(openings.opening(count), openings.opening(0));
        assert_eq!(openings.opening(3 * count + 1), openings.opening(1 % count));
        // 2^64 - 1 pairs do not exist, but must not hurt.
        let _ = openings.opening(u64::MAX);
    }
}

/// Invariant 1: distinct up to symmetry, not over, not won in one move, and all of them.
#[test]
fn small_games_give_every_opening_once() {
    (0..=6).for_each(|plies| check_whole_set::<TicTacToe>(&TIC_TAC_TOE, plies));
    for misere in [false, true] {
        for heaps in [&[3, 4, 5][..], &[1], &[2, 2]] {
            let rules = nim(heaps, misere);
            (0..=4).for_each(|plies| check_whole_set::<Nim>(&rules, plies));
        }
    }
    (0..=2).for_each(|plies| check_whole_set::<Pentago>(&PENTAGO, plies));
}

#[test]
fn start_is_the_start() {
    for rules in [PENTAGO.clone(), TIC_TAC_TOE.clone(), nim(&[3, 4, 5], false)] {
        let openings = openings(1, &rules, &OpeningsRule::Start {});
        assert_eq!(openings.distinct(u64::MAX), 1);
        let start = with_game!(&rules, G => G::start(&rules).unwrap().to_string());
        assert_eq!(&*openings.opening(5), start);
    }
}

#[test]
fn listed_positions_keep_their_order_and_are_normalized() {
    let played = {
        let mut position = Pentago::start(&PENTAGO).unwrap();
        let mv = position.nth_legal_move(100);
        position.play_unchecked(mv);
        position.to_string()
    };
    let start = Pentago::start(&PENTAGO).unwrap().to_string();
    let spelt_out = ".".repeat(36);
    let rule = listed(&[&played, &spelt_out]);
    let openings = openings(1, &PENTAGO, &rule);
    assert_eq!((&*openings.opening(0), &*openings.opening(1)), (&*played, &*start));
    assert_eq!(openings.opening(2), openings.opening(0));
    assert_eq!(openings.normalized(&rule), listed(&[&played, &start]));
    assert_eq!(openings.normalized(&random(3)), random(3));
}

#[test]
fn impossible_openings_are_errors() {
    let error = |rules: &Rules, rule| Openings::new(1, rules, &rule).unwrap_err();
    assert_eq!(error(&TIC_TAC_TOE, random(9)), OpeningsError::None { plies: 9 });
    assert_eq!(error(&TIC_TAC_TOE, random(200)), OpeningsError::None { plies: 200 });
    assert_eq!(error(&TIC_TAC_TOE, random(201)), OpeningsError::Far { plies: 201 });
    assert_eq!(error(&PENTAGO, all(6)), OpeningsError::Many { plies: 6 });
    assert_eq!(error(&PENTAGO, random(40)), OpeningsError::None { plies: 40 });
    assert_eq!(error(&PENTAGO, listed(&[])), OpeningsError::Empty);
    assert!(matches!(
        error(&PENTAGO, listed(&[&".".repeat(36), "nonsense"])),
        OpeningsError::Notation { number: 2, .. }
    ));
    let start = TicTacToe::start(&TIC_TAC_TOE).unwrap();
    let corners = [0, 8].map(|index| {
        let mut position = start;
        position.play_unchecked(position.nth_legal_move(index));
        position.to_string()
    });
    let [corner, mirrored] = &corners;
    assert_eq!(
        error(&TIC_TAC_TOE, listed(&[corner, mirrored])),
        OpeningsError::Repeated { number: 2, first: 1 }
    );
}

/// If there are too many to enumerate: the same guarantees, on a long prefix.
#[test]
fn drawn_openings_are_distinct_and_undecided() {
    for plies in [5, 12] {
        let openings = openings(2014, &PENTAGO, &random(plies));
        assert!(matches!(openings.sequence, Sequence::Drawn(_)));
        assert_eq!(openings.distinct(300), 300);
        let mut moves = Vec::new();
        let mut seen = BTreeSet::new();
        for text in first(&openings, 300) {
            let position = Pentago::parse(&PENTAGO, &text).unwrap();
            assert!(is_opening(&position, &mut moves), "{text}");
            assert!(seen.insert(position.canonical_key()), "{text} is there twice");
            assert_eq!(text.chars().filter(|c| "wb".contains(*c)).count() as u32, plies, "{text}");
        }
    }
}

/// Invariant 1: the order of requests for pairs, and the number of threads, are not inputs.
#[test]
fn drawn_openings_do_not_depend_on_who_asks_when() {
    let rule = random(6);
    let forwards = first(&openings(3, &PENTAGO, &rule), 60);

    let other = openings(3, &PENTAGO, &rule);
    let mut backwards: Vec<_> = (0..60).rev().map(|pair| other.opening(pair)).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);

    let shared = openings(3, &PENTAGO, &rule);
    let taken: BTreeMap<u64, Arc<str>> = std::thread::scope(|scope| {
        let slots: Vec<_> = (0..4)
            .map(|slot| {
                let shared = &shared;
                scope.spawn(move || {
                    let pairs = (0..60).filter(move |pair| pair % 4 == slot);
                    pairs.map(|pair| (pair, shared.opening(pair))).collect::<Vec<_>>()
                })
            })
            .collect();
        slots.into_iter().flat_map(|slot| slot.join().unwrap()).collect()
    });
    assert_eq!(forwards, taken.into_values().collect::<Vec<_>>());
}

/// A sequence that comes to its end: Pentago so late that few positions are undecided.
#[test]
fn drawn_openings_end_and_start_again() {
    let start = TicTacToe::start(&TIC_TAC_TOE).unwrap();
    let mut drawn = Drawn::new(&start, 2, [9; 32]).unwrap();
    drawn.extend(&start, usize::MAX, u64::MAX);
    assert!(drawn.is_complete());
    let all_keys = keys_by_brute_force::<TicTacToe>(&TIC_TAC_TOE, 2);
    assert_eq!(drawn.openings().len(), all_keys.len());

    let count = drawn.openings().len() as u64;
    let openings = Openings {
        rules: TIC_TAC_TOE.clone(),
        sequence: Sequence::Drawn(RwLock::new(drawn)),
        played: 0,
    };
    assert_eq!(openings.distinct(u64::MAX), count);
    assert_eq!(openings.opening(count + 2), openings.opening(2));

    assert!(Drawn::new(&start, 9, [9; 32]).is_none());
}

#[test]
fn seeds_rules_and_plies_choose_other_openings() {
    let pentago = |seed, plies| first(&openings(seed, &PENTAGO, &random(plies)), 8);
    assert_eq!(pentago(1, 2), pentago(1, 2));
    assert_ne!(pentago(1, 2), pentago(2, 2));
    let other_rules = Pentago::rules(false);
    assert_ne!(pentago(1, 2), first(&openings(1, &other_rules, &random(2)), 8));
}

/// Part of the recorded data: these never change.
#[test]
fn golden_openings() {
    let lines = [
        (PENTAGO.clone(), random(2)),
        (PENTAGO.clone(), random(8)),
        (TIC_TAC_TOE.clone(), random(2)),
        (nim(&[3, 4, 5], false), all(2)),
    ]
    .map(|(rules, rule)| {
        let openings = openings(2014, &rules, &rule);
        let count = openings.distinct(1_000);
        let four: Vec<_> = first(&openings, 4.min(count));
        format!("{} {rule:?} of {count}: {}", rules.name(), four.join(" "))
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn caches_share_what_is_in_use() {
    let cache = OpeningsCache::default();
    let first = cache.get(1, &TIC_TAC_TOE, &random(2)).unwrap();
    assert!(Arc::ptr_eq(&first, &cache.get(1, &TIC_TAC_TOE, &random(2)).unwrap()));
    assert!(!Arc::ptr_eq(&first, &cache.get(2, &TIC_TAC_TOE, &random(2)).unwrap()));
    assert!(!Arc::ptr_eq(&first, &cache.get(1, &TIC_TAC_TOE, &random(1)).unwrap()));
    assert!(cache.get(1, &TIC_TAC_TOE, &random(9)).is_err());
    drop(first);
    cache.get(3, &TIC_TAC_TOE, &random(2)).unwrap();
    assert_eq!(cache.in_use.lock().unwrap().len(), 1, "what nobody uses is forgotten");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_seed_gives_the_whole_set_in_some_order(seed in 0..seeds::SEED_END) {
        let openings = openings(seed, &TIC_TAC_TOE, &random(2));
        let expected = keys_by_brute_force::<TicTacToe>(&TIC_TAC_TOE, 2);
        let images = keys::<TicTacToe>(&TIC_TAC_TOE, &first(&openings, openings.distinct(99)));
        prop_assert_eq!(images.len(), expected.len());
        prop_assert_eq!(images.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

fn strata(plies: &[u32]) -> OpeningsRule {
    OpeningsRule::Strata { plies: plies.into() }
}

/// Each stratum has the openings that it would have alone, for any other strata.
#[test]
fn strata_take_turns() {
    for rules in [&*PENTAGO, &*TIC_TAC_TOE] {
        let strata_openings = openings(7, rules, &strata(&[3, 1, 2]));
        let alone = [3, 1, 2].map(|plies| openings(7, rules, &random(plies)));
        for number in 0..9_u64 {
            let (stratum, within) = ((number % 3) as usize, number / 3);
            assert_eq!(strata_openings.opening(number), alone[stratum].opening(within), "{number}");
        }
    }
    let error = Openings::new(7, &PENTAGO, &strata(&[2, 201])).unwrap_err();
    assert_eq!(error, OpeningsError::Far { plies: 201 });
    assert_eq!(Openings::new(7, &PENTAGO, &strata(&[])).unwrap_err(), OpeningsError::Empty);
}

/// The distinct openings are those before the first repeats, as counted by the slow reference.
#[test]
fn strata_end_with_the_first_that_comes_again() {
    for plies in [[1, 2], [2, 1], [1, 4], [3, 2]] {
        let strata_openings = openings(7, &TIC_TAC_TOE, &strata(&plies));
        let mut seen = BTreeSet::new();
        let expected = (0..).find(|&number| !seen.insert(strata_openings.opening(number))).unwrap();
        assert_eq!(strata_openings.distinct(u64::MAX), expected, "{plies:?}");
        for wanted in 0..=expected + 2 {
            assert_eq!(
                strata_openings.distinct(wanted),
                wanted.min(expected),
                "{plies:?} {wanted}"
            );
        }
        assert_eq!(strata_openings.distinct_within(u64::MAX, u64::MAX), Some(expected));
        assert_eq!(strata_openings.count(), None);
    }
    let strata_openings = openings(7, &PENTAGO, &strata(&[20, 24]));
    assert_eq!(strata_openings.distinct(40), 40);
    assert_eq!(
        strata_openings.distinct_within(1_000, 100),
        None,
        "it would take more than a hundred moves"
    );
}

/// In Nim a position may have several distances from the start; it belongs to the first that has it.
#[test]
fn no_opening_is_of_two_strata() {
    let rules = nim(&[3, 4, 5], false);
    let all = |rule: &OpeningsRule| {
        let openings = openings(7, &rules, rule);
        keys::<Nim>(&rules, &first(&openings, openings.distinct(u64::MAX)))
    };
    let images = all(&strata(&[2, 4, 3]));
    assert_eq!(images.iter().copied().collect::<BTreeSet<_>>().len(), images.len());
    let [two, four] = [2, 4].map(|plies| all(&random(plies)).into_iter().collect::<BTreeSet<_>>());
    assert!(two.intersection(&four).count() > 0);
}
