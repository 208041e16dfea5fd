//! Choices against slow references, and the coverage of their intervals.

use proptest::prelude::*;
use spelrum_engine::Random;

use super::*;
use crate::student_quantile_95 as quantile;

/// The mean rank of the move over all orders of the moves by value.
fn rank_in_all_orders(values: &[i64], chosen: usize) -> f64 {
    let mut places = Vec::new();
    permute(&mut (0..values.len()).collect(), 0, &mut |order| {
        if order.is_sorted_by(|&one, &next| values[one] >= values[next]) {
            let place = order.iter().position(|&index| index == chosen).unwrap();
            places.push(place as f64 + 1.0);
        }
    });
    places.iter().sum::<f64>() / places.len() as f64
}

fn permute(order: &mut Vec<usize>, from: usize, each: &mut impl FnMut(&[usize])) {
    if from == order.len() {
        return each(order);
    }
    for other in from..order.len() {
        order.swap(from, other);
        permute(order, from + 1, each);
        order.swap(from, other);
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn values_of_moves() -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![
        prop::collection::vec(-1..=1_i64, 2..7),
        prop::collection::vec(-1_000_000..=1_000_000_i64, 2..7),
    ]
}

/// Positions with moves of differing value, and the move chosen in each.
fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let choice = (values_of_moves(), 0..1_000_usize);
    let to_choice =
        |(values, chosen): (Vec<i64>, usize)| Choice::new(&values, chosen % values.len());
    prop::collection::vec(choice.prop_filter_map("all moves are alike", to_choice), 1..40)
}

fn sums(choices: &[Choice]) -> AccuracySums {
    let mut sums = AccuracySums::default();
    for choice in choices {
        sums.add(choice, true);
    }
    sums
}

/// A ratio over a list of sums and sizes, the slow way.
struct Twin {
    list: Vec<[f64; 2]>,
    /// Its values for a perfect player and for a random one.
    ends: [f64; 2],
    /// Its possible range.
    bounds: [f64; 2],
}

impl Twin {
    fn skill(list: Vec<[f64; 2]>) -> Self {
        Self { list, ends: [1.0, 0.0], bounds: [f64::NEG_INFINITY, 1.0] }
    }

    /// The figure and the bounds of its interval.
    fn figure(&self) -> (f64, Option<[f64; 2]>) {
        let Self { list, ends: [perfect, at_random], bounds: [least, most] } = self;
        let base: f64 = list.iter().map(|[_, base]| base).sum();
        let value = list.iter().map(|[sum, _]| sum).sum::<f64>() / base;
        let count = base * base / list.iter().map(|[_, base]| base * base).sum::<f64>();
        let Some(quantile) = quantile(count - 1.0) else { return (value, None) };
        let residuals = list.iter().map(|[sum, base]| sum - value * base);
        let spread: f64 = residuals.map(|residual| residual * residual).sum();
        let between = value.max(perfect.min(*at_random)).min(perfect.max(*at_random));
        let [up, down] = [between - perfect, between - at_random];
        let added = (up * up + down * down) / (count * (count + 1.0));
        let error = quantile * (spread / (base * base) * count / (count - 1.0) + added).sqrt();
        let centre = (value * count + perfect + at_random) / (count + 2.0);
        let low = (centre - error).min(value).max(*least);
        let high = (centre + error).max(value).min(*most);
        (value, Some([low, high]))
    }
}

proptest! {
    #[test]
    fn a_choice_is_what_counting_says(values in values_of_moves(), chosen in 0..6_usize) {
        let chosen = chosen % values.len();
        let best = *values.iter().max().unwrap();
        let worst = *values.iter().min().unwrap();
        let Some(choice) = Choice::new(&values, chosen) else {
            prop_assert_eq!(best, worst);
            return Ok(());
        };
        prop_assert!(best > worst);
        prop_assert_eq!((choice.value, choice.best, choice.worst), (values[chosen], best, worst));
        prop_assert_eq!(choice.loss, best - values[chosen]);
        prop_assert_eq!(choice.is_best(), values[chosen] == best);
        prop_assert_eq!(choice.rank, rank_in_all_orders(&values, chosen));
        // A random mover's expectations are means over all its choices.
        let all: Vec<Choice> =
            (0..values.len()).map(|chosen| Choice::new(&values, chosen).unwrap()).collect();
        let mean = |figure: &dyn Fn(&Choice) -> f64| all.iter().map(figure).sum::<f64>() / all.len() as f64;
        prop_assert!(close(choice.random_rank, mean(&|choice| choice.rank)));
        prop_assert!(close(choice.random_loss, mean(&|choice| choice.loss as f64)));
        prop_assert!(close(choice.random_best, mean(&|choice| f64::from(u8::from(choice.is_best())))));
        let least = all.iter().map(|choice| choice.rank).fold(f64::INFINITY, f64::min);
        prop_assert_eq!(choice.best_rank, least);
        prop_assert!(choice.best_rank < choice.random_rank);
        prop_assert!(choice.random_loss > 0.0 && choice.random_best < 1.0);
        // So a player that chooses all moves equally often has no skill.
        let accuracy = Accuracy::from_sums(&sums(&all)).unwrap();
        let of_wins = accuracy.wins.map(|wins| wins.skill);
        for skill in [accuracy.best_skill, accuracy.rank_skill, accuracy.loss_skill].into_iter().chain(of_wins) {
            prop_assert!(skill.value.abs() < 1e-9, "{:?}", skill);
        }
    }

    /// Means and skills against sums over the list, and errors against residuals one by one.
    #[test]
    fn figures_are_those_of_the_list(choices in choices()) {
        let accuracy = Accuracy::from_sums(&sums(&choices)).unwrap();
        prop_assert_eq!(accuracy.positions, choices.len() as u64);
        let mean = |figure: &dyn Fn(&Choice) -> f64| {
            choices.iter().map(figure).sum::<f64>() / choices.len() as f64
        };
        let best = |choice: &Choice| f64::from(u8::from(choice.is_best()));
        prop_assert!(close(accuracy.best.value, mean(&best)));
        let list = |terms: &dyn Fn(&Choice) -> [f64; 2]| choices.iter().map(terms).collect();
        let twins = [
            (
                accuracy.best_skill,
                Twin::skill(list(&|choice| [best(choice) - choice.random_best, 1.0 - choice.random_best])),
            ),
            (
                accuracy.rank_skill,
                Twin::skill(list(&|choice| [choice.random_rank - choice.rank, choice.random_rank - choice.best_rank])),
            ),
            (
                accuracy.loss_skill,
                Twin::skill(list(&|choice| [choice.random_loss - choice.loss as f64, choice.random_loss])),
            ),
            (
                accuracy.rank,
                Twin {
                    list: list(&|choice| [choice.rank, 1.0]),
                    ends: [mean(&|choice| choice.best_rank), mean(&|choice| choice.random_rank)],
                    bounds: [1.0, f64::INFINITY],
                },
            ),
            (
                accuracy.loss,
                Twin {
                    list: list(&|choice| [choice.loss as f64, 1.0]),
                    ends: [0.0, mean(&|choice| choice.random_loss)],
                    bounds: [0.0, f64::INFINITY],
                },
            ),
        ];
        for (figure, twin) in twins {
            let (value, interval) = twin.figure();
            prop_assert!(close(figure.value, value), "{:?} for {}", figure, value);
            prop_assert_eq!(figure.interval.is_some(), interval.is_some());
            if let (Some(figure), Some([low, high])) = (figure.interval, interval) {
                prop_assert!(close(figure.low, low) && close(figure.high, high), "{:?}: {} {}", figure, low, high);
            }
        }
    }

    /// Wins kept, counted in the lists of values themselves.
    #[test]
    fn wins_kept_are_those_of_the_lists(
        all in prop::collection::vec((values_of_moves(), 0..1_000_usize), 1..40),
    ) {
        let mut sums = AccuracySums::default();
        let mut scores = AccuracySums::default();
        let (mut kept, mut random, mut skill) = (Vec::new(), Vec::new(), Vec::new());
        for (values, chosen) in &all {
            let chosen = chosen % values.len();
            let choice = Choice::new(values, chosen);
            choice.iter().for_each(|choice| sums.add(choice, true));
            choice.iter().for_each(|choice| scores.add(choice, false));
            let wins = values.iter().filter(|&&value| value > 0).count();
            if wins == 0 || wins == values.len() {
                prop_assert_eq!(choice.and_then(|choice| choice.keeps_win()), None);
                continue;
            }
            let [keeps, share] = [f64::from(u8::from(values[chosen] > 0)), wins as f64 / values.len() as f64];
            kept.push(keeps);
            random.push(share);
            skill.push([keeps - share, 1.0 - share]);
        }
        prop_assert_eq!(scores.wins, WinSums::default());
        prop_assert_eq!(Accuracy::from_sums(&scores).and_then(|accuracy| accuracy.wins), None);
        let Some(wins_kept) = Accuracy::from_sums(&sums).and_then(|accuracy| accuracy.wins) else {
            prop_assert!(kept.is_empty());
            return Ok(());
        };
        let sum = |list: &[f64]| list.iter().sum::<f64>();
        let count = kept.len();
        prop_assert_eq!(wins_kept.positions, count as u64);
        prop_assert!(close(wins_kept.share.value, sum(&kept) / count as f64));
        prop_assert!(close(wins_kept.random, sum(&random) / count as f64));
        let of_games = GameCounts([count as u64 - sum(&kept) as u64, 0, sum(&kept) as u64]).interval();
        let interval = wins_kept.share.interval.map(|interval| [interval.low, interval.high]);
        prop_assert_eq!(interval, (count >= 2).then_some([of_games.low, of_games.high]));
        let (value, interval) = Twin::skill(skill).figure();
        prop_assert!(close(wins_kept.skill.value, value));
        prop_assert_eq!(wins_kept.skill.interval.is_some(), interval.is_some());
        if let (Some(skill_interval), Some([low, high])) = (wins_kept.skill.interval, interval) {
            let is_close = close(skill_interval.low, low) && close(skill_interval.high, high);
            prop_assert!(is_close, "{:?}: {} {}", skill_interval, low, high);
        }
    }

    /// Figures lie in their intervals, which stay within the possible range.
    #[test]
    fn every_interval_is_possible(choices in choices()) {
        let accuracy = Accuracy::from_sums(&sums(&choices)).unwrap();
        let infinity = f64::INFINITY;
        for (figure, least, most) in [
            (accuracy.best, 0.0, 1.0),
            (accuracy.rank, 1.0, infinity),
            (accuracy.loss, 0.0, infinity),
            (accuracy.best_skill, -infinity, 1.0),
            (accuracy.rank_skill, -infinity, 1.0),
            (accuracy.loss_skill, -infinity, 1.0),
            (accuracy.wins.map_or(accuracy.best, |wins| wins.share), 0.0, 1.0),
            (accuracy.wins.map_or(accuracy.best_skill, |wins| wins.skill), -infinity, 1.0),
        ] {
            prop_assert!(figure.value.is_finite());
            let Some(interval) = figure.interval else { continue };
            prop_assert!(least <= interval.low && interval.high <= most + 1e-9, "{:?}", figure);
            prop_assert!(interval.low <= figure.value + 1e-9 && figure.value <= interval.high + 1e-9);
            prop_assert!(interval.low < interval.high);
        }
    }
}

#[test]
fn what_leaves_nothing_to_choose_is_no_choice() {
    assert_eq!(Choice::new(&[], 0), None);
    assert_eq!(Choice::new(&[7], 0), None);
    assert_eq!(Choice::new(&[0, 0, 0], 1), None);
    assert_eq!(Choice::new(&[0, 1], 2), None);
    assert_eq!(Accuracy::from_sums(&AccuracySums::default()), None);
}

/// A win, two draws and a loss.
const FOUR: [i64; 4] = [0, 1, 0, -1];

#[test]
fn ranks_of_equal_moves_are_shared() {
    let choice = |chosen| Choice::new(&FOUR, chosen).unwrap();
    assert_eq!([0, 1, 2, 3].map(|chosen| choice(chosen).rank), [2.5, 1.0, 2.5, 4.0]);
    assert_eq!([0, 1, 2, 3].map(|chosen| choice(chosen).loss), [1, 0, 1, 2]);
    let expected = Choice {
        value: 0,
        best: 1,
        worst: -1,
        legal_moves: 4,
        best_moves: 1,
        winning_moves: 1,
        rank: 2.5,
        loss: 1,
        random_rank: 2.5,
        random_loss: 1.0,
        random_best: 0.25,
        best_rank: 1.0,
    };
    assert_eq!(choice(0), expected);
    // The greatest possible distance does not overflow.
    assert_eq!(Choice::new(&[i64::MAX, i64::MIN], 1).unwrap().loss, i64::MAX);
}

#[test]
fn skill_goes_from_a_random_mover_to_a_perfect_one() {
    let accuracy = |chosen: &[usize]| {
        let choices: Vec<Choice> =
            chosen.iter().map(|&chosen| Choice::new(&FOUR, chosen).unwrap()).collect();
        Accuracy::from_sums(&sums(&choices)).unwrap()
    };
    let mixed = accuracy(&[1, 1, 0, 1]);
    assert_eq!((mixed.positions, mixed.best.value, mixed.random_best), (4, 0.75, 0.25));
    assert_eq!((mixed.rank.value, mixed.random_rank), (1.375, 2.5));
    assert_eq!((mixed.loss.value, mixed.random_loss), (0.25, 1.0));
    assert!(close(mixed.best_skill.value, 2.0 / 3.0));
    assert_eq!((mixed.rank_skill.value, mixed.loss_skill.value), (0.75, 0.75));

    let worst = accuracy(&[3, 3, 3]);
    assert!(close(worst.best_skill.value, -1.0 / 3.0));
    assert_eq!((worst.rank_skill.value, worst.loss_skill.value), (-1.0, -1.0));

    // Equal choices leave doubt, which shrinks with their number.
    let mut widths = Vec::new();
    for count in [2, 10, 100] {
        let perfect = accuracy(&vec![1; count]);
        for skill in [perfect.best_skill, perfect.rank_skill, perfect.loss_skill] {
            let interval = skill.interval.unwrap();
            assert!(skill.value == 1.0 && interval.low < 1.0 && interval.high == 1.0, "{skill:?}");
            widths.push(1.0 - interval.low);
        }
        assert!(
            perfect.loss.interval.unwrap().high > 0.0 && perfect.rank.interval.unwrap().high > 1.0
        );
        assert_eq!(perfect.loss.interval.unwrap().low, 0.0);
    }
    assert!(widths[0] > 2.0 && widths[3] > 0.1 && widths[6] < 0.04, "{widths:?}");

    let alone = accuracy(&[0]);
    assert_eq!((alone.best.interval, alone.rank_skill.interval), (None, None));
}

/// Six positions by a table: wins are 256 minus the plies to mate.
#[test]
fn wins_are_kept_or_given_away() {
    let positions: [(&[i64], usize); 6] = [
        // Kept by a slower mate; 2 moves of 4 win.
        (&[255, 0, 251, 0], 2),
        // Lost to a draw; 1 of 4 wins.
        (&[0, 253, 0, 0], 0),
        // Kept; 2 of 4.
        (&[249, -254, 247, 0], 0),
        // Every move wins: there is nothing to keep.
        (&[255, 253, 251], 2),
        // No move wins, so no win is lost.
        (&[0, -252], 1),
        // All moves are alike.
        (&[255, 255], 0),
    ];
    let mut sums = AccuracySums::default();
    for (values, chosen) in positions {
        if let Some(choice) = Choice::new(values, chosen) {
            sums.add(&choice, true);
        }
    }
    let accuracy = Accuracy::from_sums(&sums).unwrap();
    assert_eq!(accuracy.positions, 5);
    let WinsKept { positions, share, random, skill } = accuracy.wins.unwrap();
    assert_eq!((positions, share.value), (3, 2.0 / 3.0));
    // 1/2, 1/4 and 1/2.
    assert!(close(random, 1.25 / 3.0));
    // Gained: 1/2, -1/4 and 1/2, of 1/2, 3/4 and 1/2.
    assert!(close(skill.value, 0.75 / 1.75));
    let interval = skill.interval.unwrap();
    assert!(interval.low < 0.0 && interval.high == 1.0, "{interval:?}");

    // Won positions in which no move errs, or that are lost, have no such figure.
    let wins = |values: &[i64], chosen| {
        let mut sums = AccuracySums::default();
        sums.add(&Choice::new(values, chosen).unwrap(), true);
        Accuracy::from_sums(&sums).unwrap().wins
    };
    assert_eq!(wins(&[255, 253, 251], 2), None);
    assert_eq!(wins(&[0, -252], 0), None);
    let alone = wins(&[255, 0], 1).unwrap();
    assert_eq!((alone.share, alone.random), (Estimate { value: 0.0, interval: None }, 0.5));
    assert_eq!((alone.skill.value, alone.skill.interval), (-1.0, None));
}

/// Rounding errors of equal choices are not a variance: the same choices added in another number of parts have
/// the same interval.
#[test]
fn rounding_is_not_a_variance() {
    // 1/3 and 7/3 have no end in binary.
    let choice = Choice::new(&[7, 3, 0], 1).unwrap();
    for count in [1_000, 1_000_000] {
        let accuracy = Accuracy::from_sums(&sums(&vec![choice; count])).unwrap();
        let n = count as f64;
        for figure in [accuracy.rank_skill, accuracy.loss_skill, accuracy.loss] {
            let interval = figure.interval.unwrap();
            let room = if figure == accuracy.loss { accuracy.random_loss } else { 1.0 };
            let skill =
                if figure == accuracy.loss { accuracy.loss_skill.value } else { figure.value };
            let skill = skill.clamp(0.0, 1.0);
            let added = (skill * skill + (1.0 - skill) * (1.0 - skill)) / (n * (n + 1.0));
            let error = quantile(n - 1.0).unwrap() * added.sqrt() * room;
            assert!(
                ((interval.high - interval.low) / 2.0 / error - 1.0).abs() < 1e-4,
                "{figure:?}"
            );
        }
    }
}

/// The coverage of the intervals of the four skills, for a player that knows a best move with this probability,
/// and otherwise moves at random.
fn coverage(knows: f64, positions: usize, rounds: u32) -> [f64; 4] {
    let kinds: [&[i64]; 5] = [
        &[1, 0, 0, -1],
        &[1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
        &[0, 0, 0, -1, -1],
        &[1, 1, 1, 1, 1, 1, 0],
        &[1, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1],
    ];
    let mut random = Random::from_key([7; 32]);
    let mut held = [0; 4];
    for _ in 0..rounds {
        let mut sums = AccuracySums::default();
        for _ in 0..positions {
            let values = kinds[random.below(5) as usize];
            let chosen = match f64::from(random.below(1_000)) < 1_000.0 * knows {
                true => values.iter().position(|value| Some(value) == values.iter().max()).unwrap(),
                false => random.below(values.len() as u32) as usize,
            };
            sums.add(&Choice::new(values, chosen).unwrap(), true);
        }
        let accuracy = Accuracy::from_sums(&sums).unwrap();
        // A player that knows a best move with this probability has that skill, by every measure.
        let skills = [
            accuracy.best_skill,
            accuracy.rank_skill,
            accuracy.loss_skill,
            accuracy.wins.unwrap().skill,
        ];
        for (held, skill) in held.iter_mut().zip(skills) {
            // Without an interval there is no statement.
            let holds = |interval: Interval| interval.low <= knows && knows <= interval.high;
            *held += u32::from(skill.interval.is_none_or(holds));
        }
    }
    held.map(|held| f64::from(held) / f64::from(rounds))
}

/// The figures of docs/statistics.md, which used many more rounds (`SPELRUM_COVERAGE_ROUNDS`).
#[test]
fn intervals_of_skill_cover_the_truth() {
    let rounds = crate::coverage_rounds::rounds_or(1_000);
    // Three standard deviations of this many rounds below 94.8%. Wins can be kept in four of five positions: with
    // 100 positions and 0.95 known, 93.9% was observed.
    let least = [0.948, 0.948, 0.948, 0.938]
        .map(|share: f64| share - 3.0 * (share * (1.0 - share) / f64::from(rounds)).sqrt());
    for knows in [0.0, 0.3, 0.7, 0.95] {
        for positions in [10, 30, 100, 1_000] {
            let covered = coverage(knows, positions, rounds);
            println!("{knows} of {positions}: {covered:?}");
            let is_covered = covered.iter().zip(least).all(|(&share, least)| share > least);
            assert!(is_covered, "{knows} {positions}: {covered:?}");
        }
    }
}
