//! Ratings against a slow reference, cases computed by hand, and simulated tournaments.

#![expect(clippy::disallowed_methods, reason = "the twin's arithmetic is not the fit's")]

use proptest::prelude::*;
use spelrum_engine::Random;

use super::*;

fn tally(cluster: u32, first: u32, second: u32, [wins, draws, losses]: [u32; 3]) -> Tally {
    Tally { cluster, first, second, wins, draws, losses }
}

fn rated(players: usize, tallies: &[Tally]) -> Vec<Component> {
    rate(players, usize::MAX, tallies).unwrap()
}

/// The component of players that all met.
fn one(players: usize, tallies: &[Tally]) -> Component {
    let mut components = rated(players, tallies);
    assert_eq!(components.len(), 1);
    components.remove(0)
}

#[track_caller]
fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} is not {b}");
}

/// Two players, each first in half of the games, and equally good first and second: the first move is worth
/// nothing, and one equation is left. The games' excess over the expected score balances that of the virtual
/// game (half won, half lost, against a player half as far away).
#[test]
fn two_players_are_what_their_score_says() {
    for (won, lost) in [(60, 40), (500_000, 300_000), (30, 0), (1, 1)] {
        let tallies = [tally(0, 0, 1, [won, 0, lost]), tally(1, 1, 0, [lost, 0, won])];
        let both = one(2, &tallies);
        let d = both.difference(0, 1).elo / model::ELO;
        let expected = |d: f64| 1.0 / (1.0 + (-d).exp());
        let games = f64::from(won + lost);
        let beyond = 2.0 * (f64::from(won) - games * expected(d));
        near(beyond, expected(d / 2.0) - 0.5, 1e-6);
        near(both.first_move().unwrap().elo, 0.0, 1e-9);
        near(both.rating(0, &[]).elo, both.difference(0, 1).elo / 2.0, 1e-9);
        assert_eq!(both.draw_rate(), 0.0);
    }
    // With many games that is the logistic difference of the score: 400 log10(5/3) = 88.74.
    let many = [tally(0, 0, 1, [500_000, 0, 300_000]), tally(1, 1, 0, [300_000, 0, 500_000])];
    near(one(2, &many).difference(0, 1).elo, 88.739_5, 1e-5);
}

/// For any share of draws, a small difference in Elo follows from the score: 400 log10(0.502 / 0.498).
#[test]
fn elo_means_the_same_score_with_and_without_draws() {
    for draws in [0, 200_000, 500_000, 900_000] {
        let decisive = 1_000_000 - draws;
        let won = decisive / 2 + 2_000;
        let outcome = [won, draws, decisive - won];
        let tallies =
            [tally(0, 0, 1, outcome), tally(1, 1, 0, [outcome[2], outcome[1], outcome[0]])];
        let both = one(2, &tallies);
        near(both.difference(0, 1).elo, 1.389_78, 1e-3);
        near(both.draw_rate(), f64::from(draws) / 1e6, 2e-3);
    }
}

/// Equal players, with 3/4 scored by the first mover: 400 log10(3) = 190.85.
#[test]
fn the_first_move_is_told_apart_from_strength() {
    let tallies = [tally(0, 0, 1, [75_000, 0, 25_000]), tally(1, 1, 0, [75_000, 0, 25_000])];
    let both = one(2, &tallies);
    near(both.first_move().unwrap().elo, 190.848, 1e-4);
    near(both.difference(0, 1).elo, 0.0, 1e-9);
    // Games of a player against itself inform the first move equally, but not its strength.
    let alone = rated(1, &[tally(0, 0, 0, [75_000, 0, 25_000])]);
    near(alone[0].first_move().unwrap().elo, 190.848, 1e-4);
    let with_self_play = [tallies[0], tallies[1], tally(0, 0, 0, [0, 0, 100_000])];
    near(one(2, &with_self_play).difference(0, 1).elo, 0.0, 1e-9);
}

/// A player that always moves first may be stronger, or may profit from the first move: not identifiable.
#[test]
fn where_sides_are_fixed_the_first_move_is_part_of_strength() {
    let chain = [tally(0, 0, 1, [30, 0, 10]), tally(1, 1, 2, [30, 0, 10])];
    let fixed = one(3, &chain);
    assert_eq!(fixed.first_move(), None);
    assert!(fixed.difference(0, 1).elo > 150.0);
    // A game between the ends makes it identifiable: they are two steps apart, and steps allow only one.
    let closed = [chain[0], chain[1], tally(2, 0, 2, [30, 0, 10])];
    assert!(one(3, &closed).first_move().is_some());
}

#[test]
fn every_edge_has_an_answer() {
    // No players, and a player without games.
    assert!(rated(0, &[]).is_empty());
    let idle = rated(2, &[tally(0, 0, 1, [0, 0, 0])]);
    assert_eq!(idle.iter().map(Component::players).collect::<Vec<_>>(), [[0], [1]]);
    assert_eq!(idle[0].rating(0, &[]), Estimate { elo: 0.0, error: Some(0.0) });
    assert_eq!((idle[0].first_move(), idle[0].clusters()), (None, 0));
    // One game: its winner is rated higher, by an unknown amount.
    let single = one(2, &[tally(0, 0, 1, [1, 0, 0])]);
    let difference = single.difference(0, 1);
    assert!(difference.elo > 0.0 && difference.elo < 400.0, "{difference:?}");
    assert_eq!(difference.error, None);
    // All won, over and over: finite, more so with more games, and as wide as one game makes it.
    let won = |openings: u32| {
        let game = |cluster| [tally(cluster, 0, 1, [1, 0, 0]), tally(cluster, 1, 0, [0, 0, 1])];
        one(2, &(0..openings).flat_map(game).collect::<Vec<_>>()).difference(0, 1)
    };
    let [few, some, many] = [won(5), won(50), won(5_000)];
    assert!(few.elo > 300.0 && few.elo < some.elo && some.elo < many.elo && many.elo < 2_000.0);
    for all_won in [few, some, many] {
        let error = all_won.error.unwrap();
        assert!(error > 200.0 && error < all_won.elo * 2.0, "{all_won:?}");
    }
    // All drawn: equal, and an interval that shrinks and does not collapse.
    let drawn = |openings: u32| {
        let game = |cluster| [tally(cluster, 0, 1, [0, 1, 0]), tally(cluster, 1, 0, [0, 1, 0])];
        one(2, &(0..openings).flat_map(game).collect::<Vec<_>>()).difference(0, 1)
    };
    let [few, many] = [drawn(5), drawn(500)];
    assert_eq!((few.elo, many.elo), (0.0, 0.0));
    assert!(few.error > many.error && many.error > Some(0.1), "{few:?} {many:?}");
}

/// Two players that never met, although each has met others, have no common scale.
#[test]
fn each_component_has_a_scale_of_its_own() {
    let tallies = [
        tally(0, 1, 3, [3, 1, 0]),
        tally(0, 3, 1, [0, 0, 4]),
        tally(1, 4, 2, [5, 0, 0]),
        tally(1, 2, 0, [5, 0, 1]),
        tally(2, 0, 2, [1, 1, 1]),
        tally(2, 5, 5, [1, 1, 1]),
    ];
    let components = rated(6, &tallies);
    let players: Vec<&[usize]> = components.iter().map(Component::players).collect();
    assert_eq!(players, [&[0, 2, 4][..], &[1, 3], &[5]]);
    // The ratings of one component do not depend on the others.
    let [a, b] = [tallies[0], tallies[1]].map(|tally| Tally {
        first: tally.first / 2,
        second: tally.second / 2,
        ..tally
    });
    let apart = one(2, &[a, b]);
    assert_eq!(components[1].difference(0, 1), apart.difference(0, 1));
    assert!(rate(6, 2, &tallies).is_none() && rate(6, 3, &tallies).is_some());
}

/// A zero for the scale: the mean of all, or that of the anchors.
#[test]
fn ratings_are_against_the_mean_of_the_reference() {
    let tallies = tournament(&mut Random::from_key([1; 32]), &[300.0, 0.0, -200.0], 20, 30.0, 0.0);
    let all = one(3, &tallies);
    let against = |reference: &[usize]| [0, 1, 2].map(|player| all.rating(player, reference));
    near(against(&[]).iter().map(|rating| rating.elo).sum(), 0.0, 1e-9);
    assert_eq!(against(&[1])[1], Estimate { elo: 0.0, error: Some(0.0) });
    for player in [0, 2] {
        let rating = against(&[1])[player];
        near(rating.elo, all.difference(player, 1).elo, 1e-9);
        near(rating.error.unwrap(), all.difference(player, 1).error.unwrap(), 1e-9);
    }
    let two = against(&[0, 1]);
    near(two[0].elo, -two[1].elo, 1e-9);
}

/// A round robin in which every two players meet twice from each opening, with colours swapped. An opening has
/// its own value for the first mover, and one for each player, with these standard deviations in Elo.
fn tournament(
    random: &mut Random,
    elo: &[f64],
    openings: u32,
    of_openings: f64,
    of_players: f64,
) -> Vec<Tally> {
    let mut tallies = Vec::new();
    for cluster in 0..openings {
        let first_move = 40.0 + normal(random, of_openings);
        let here: Vec<f64> = elo.iter().map(|elo| elo + normal(random, of_players)).collect();
        for first in 0..elo.len() {
            for second in (0..elo.len()).filter(|&second| second != first) {
                let lead = (here[first] - here[second] + first_move) / model::ELO;
                let [win, draw, loss] = [(lead / 2.0).exp(), 0.5, (-lead / 2.0).exp()];
                let drawn_at = random.unit() * (win + draw + loss);
                let outcome = if drawn_at < win {
                    [1, 0, 0]
                } else if drawn_at < win + draw {
                    [0, 1, 0]
                } else {
                    [0, 0, 1]
                };
                tallies.push(tally(cluster, first as u32, second as u32, outcome));
            }
        }
    }
    tallies
}

/// The sum of twelve uniform numbers is nearly normal.
fn normal(random: &mut Random, deviation: f64) -> f64 {
    deviation * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0)
}

/// The share of simulated tournaments in which the interval of a difference holds it, over all differences.
///
/// Strengths that vary with the opening make mean scores a little more even, so that the estimated differences are
/// not quite those put in: the true ones are taken from a tournament of very many openings.
fn coverage(elo: &[f64], openings: u32, of_openings: f64, of_players: f64, rounds: u32) -> f64 {
    let random = &mut Random::from_key([7; 32]);
    let truth = one(elo.len(), &tournament(random, elo, 20_000, of_openings, of_players));
    let (mut held, mut all) = (0, 0);
    for _ in 0..rounds {
        let rated = one(elo.len(), &tournament(random, elo, openings, of_openings, of_players));
        for a in 0..elo.len() {
            for b in a + 1..elo.len() {
                let [estimated, is] = [&rated, &truth].map(|component| component.difference(a, b));
                all += 1;
                held += u32::from((estimated.elo - is.elo).abs() <= estimated.error.unwrap());
            }
        }
    }
    f64::from(held) / f64::from(all)
}

/// Holds also if openings matter much, and differently for each player.
///
/// `SPELRUM_COVERAGE_ROUNDS=1000 cargo test -p spelrum-statistics --lib -- --nocapture
/// intervals_of_differences` prints the figures of `docs/statistics.md`, in minutes.
#[test]
fn intervals_of_differences_cover() {
    let five = [250.0, 100.0, 60.0, 0.0, -150.0];
    for (openings, of_openings, of_players) in
        [(10, 0.0, 0.0), (20, 0.0, 0.0), (20, 200.0, 0.0), (12, 100.0, 200.0)]
    {
        let covered = coverage(&five, openings, of_openings, of_players, 250);
        assert!((0.93..=0.985).contains(&covered), "{openings} {of_openings}: {covered}");
    }
    let Some(rounds) = crate::coverage_rounds::asked() else { return };
    let ladder = [900.0, 700.0, 500.0, 300.0, 100.0, -100.0, -300.0, -500.0, -700.0, -900.0];
    for (name, elo) in [("two", &[60.0, 0.0][..]), ("five", &five), ("ladder", &ladder)] {
        for openings in [3, 5, 10, 20, 50] {
            for (of_openings, of_players) in [(0.0, 0.0), (200.0, 0.0), (100.0, 200.0)] {
                let covered = coverage(elo, openings, of_openings, of_players, rounds);
                println!("{name}, {openings} openings, {of_openings}, {of_players}: {covered:.3}");
                assert!(covered > 0.93, "{name} {openings} {of_openings} {of_players}");
            }
        }
    }
}

/// The slow reference: each parameter in turn is moved to the greatest likelihood, and the covariance is
/// computed from differences between likelihoods.
mod twin {
    use super::Tally;

    /// The logarithm of the likelihood of one player's virtual game, or of games, from the definition.
    fn game(lead: f64, nu: f64, [wins, draws, losses]: [f64; 3]) -> f64 {
        let chances = [(lead / 2.0).exp(), nu, (-lead / 2.0).exp()];
        let sum: f64 = chances.iter().sum();
        let counted = chances.iter().zip([wins, draws, losses]);
        counted
            .filter(|(_, games)| *games > 0.0)
            .map(|(chance, games)| games * (chance / sum).ln())
            .sum()
    }

    /// Strengths, then the first move, then the logarithm of nu.
    pub(super) struct Twin<'a> {
        pub(super) players: usize,
        pub(super) tallies: &'a [Tally],
    }

    impl Twin<'_> {
        pub(super) fn played(&self, at: &[f64], is_included: impl Fn(&Tally) -> bool) -> f64 {
            let [first_move, nu] = [at[self.players], at[self.players + 1].exp()];
            let logarithm = |tally: &Tally| {
                let lead = at[tally.first as usize] - at[tally.second as usize] + first_move;
                game(lead, nu, [tally.wins, tally.draws, tally.losses].map(f64::from))
            };
            self.tallies.iter().filter(|tally| is_included(tally)).map(logarithm).sum()
        }

        /// The virtual games that inform `of`, with points for a win and a loss.
        fn imagined(&self, at: &[f64], player: usize, [wins, losses]: [f64; 2]) -> f64 {
            game(at[player], at[self.players + 1].exp(), [wins, 0.0, losses])
        }

        pub(super) fn value(&self, at: &[f64]) -> f64 {
            let imagined = (0..=self.players).map(|player| self.imagined(at, player, [0.5, 0.5]));
            self.played(at, |_| true) + imagined.sum::<f64>()
        }

        pub(super) fn maximum(&self) -> Vec<f64> {
            let mut at = vec![0.0; self.players + 2];
            for _ in 0..400 {
                for parameter in 0..at.len() {
                    let (mut low, mut high) = (at[parameter] - 3.0, at[parameter] + 3.0);
                    for _ in 0..80 {
                        let third = (high - low) / 3.0;
                        let mut with = |value| {
                            at[parameter] = value;
                            self.value(&at)
                        };
                        if with(low + third) < with(high - third) {
                            low += third;
                        } else {
                            high -= third;
                        }
                    }
                    at[parameter] = f64::midpoint(low, high);
                }
            }
            at
        }

        fn gradient(&self, at: &[f64], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
            let step = 1e-5;
            let moved = |parameter: usize, by: f64| {
                let mut at = at.to_vec();
                at[parameter] += by;
                value(&at)
            };
            (0..at.len())
                .map(|parameter| (moved(parameter, step) - moved(parameter, -step)) / (2.0 * step))
                .collect()
        }

        /// The variance of a figure: its gradient through the inverse curvature, from both sides, with the
        /// squares of the clusters' gradients between.
        pub(super) fn variance(
            &self,
            at: &[f64],
            figure: impl Fn(&[f64]) -> f64,
            clusters: u32,
        ) -> f64 {
            let step = 1e-4;
            let curvature: Vec<Vec<f64>> = (0..at.len())
                .map(|row| {
                    let [up, down] = [step, -step].map(|by| {
                        let mut at = at.to_vec();
                        at[row] += by;
                        self.gradient(&at, |at| self.value(at))
                    });
                    up.iter().zip(down).map(|(up, down)| (down - up) / (2.0 * step)).collect()
                })
                .collect();
            let weights = solve(curvature, self.gradient(at, figure));
            let square = |gradient: Vec<f64>| -> f64 {
                let sum: f64 = gradient.iter().zip(&weights).map(|(a, b)| a * b).sum();
                sum * sum
            };
            let of_cluster = |cluster| {
                square(self.gradient(at, |at| self.played(at, |tally| tally.cluster == cluster)))
            };
            let played: f64 = (0..clusters).map(of_cluster).sum();
            let half = |player: usize, counts: [f64; 2]| {
                square(self.gradient(at, |at| self.imagined(at, player, counts))) / 2.0
            };
            let imagined: f64 = (0..=self.players)
                .map(|player| half(player, [1.0, 0.0]) + half(player, [0.0, 1.0]))
                .sum();
            let clusters = f64::from(clusters);
            clusters / (clusters - 1.0) * played + imagined
        }
    }

    /// Gauss and Jordan.
    fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
        let size = right.len();
        for pivot in 0..size {
            let by = matrix[pivot][pivot];
            let above = matrix[pivot].clone();
            for row in (0..size).filter(|&row| row != pivot) {
                let times = matrix[row][pivot] / by;
                for (value, above) in matrix[row].iter_mut().zip(&above) {
                    *value -= times * above;
                }
                right[row] -= times * right[pivot];
            }
        }
        (0..size).map(|row| right[row] / matrix[row][row]).collect()
    }
}

#[test]
fn ratings_agree_with_the_slow_twin() {
    let random = &mut Random::from_key([3; 32]);
    for (elo, openings) in
        [(&[200.0, 0.0, -100.0, 90.0][..], 8), (&[0.0, 30.0], 3), (&[600.0, 0.0, -500.0], 5)]
    {
        let mut tallies = tournament(random, elo, openings, 100.0, 50.0);
        // Games of a player against itself, equally many from each opening.
        tallies.extend((0..openings).map(|cluster| tally(cluster, 1, 1, [2, 1, cluster % 2])));
        let players = elo.len();
        let rated = one(players, &tallies);
        let twin = twin::Twin { players, tallies: &tallies };
        let at = twin.maximum();
        let scale = |at: &[f64]| model::ELO * 2.0 / (2.0 + at[players + 1].exp());
        near(rated.draw_rate(), 1.0 - scale(&at) / model::ELO, 1e-5);
        let t = crate::student::student_quantile(f64::from(openings) - 1.0);
        for a in 0..players {
            for b in 0..a {
                let elo = |at: &[f64]| scale(at) * (at[a] - at[b]);
                let difference = rated.difference(a, b);
                near(difference.elo, elo(&at), 1e-4);
                let error = t * twin.variance(&at, elo, openings).sqrt();
                near(difference.error.unwrap(), error, 1e-3);
            }
        }
        let first_move = rated.first_move().unwrap();
        let elo = |at: &[f64]| scale(at) * at[players];
        near(first_move.elo, elo(&at), 1e-4);
        // Nearly equal numbers of games from each opening: the effective number of clusters is a little less.
        let error = t * twin.variance(&at, elo, openings).sqrt();
        near(first_move.error.unwrap(), error, 0.1);
    }
}

/// Games of up to six players from up to five openings.
fn any_tallies() -> impl Strategy<Value = Vec<Tally>> {
    let fields = (0_u32..5, 0_u32..6, 0_u32..6, [0_u32..4, 0_u32..3, 0_u32..4]);
    let tallies =
        fields.prop_map(|(cluster, first, second, counts)| tally(cluster, first, second, counts));
    prop::collection::vec(tallies, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// For any games, every figure is finite and independent of the players' numbers and of the order of
    /// games.
    #[test]
    fn names_and_order_do_not_matter(tallies in any_tallies(), seed in any::<[u8; 32]>()) {
        let mut named: Vec<u32> = (0..6).collect();
        Random::from_key(seed).shuffle(&mut named);
        let mut renamed: Vec<Tally> = tallies
            .iter()
            .map(|tally| Tally {
                first: named[tally.first as usize],
                second: named[tally.second as usize],
                cluster: 7 - tally.cluster,
                ..*tally
            })
            .collect();
        Random::from_key(seed).shuffle(&mut renamed);
        let (rated, renamed_components) = (rated(6, &tallies), rated(6, &renamed));
        prop_assert_eq!(rated.len(), renamed_components.len());
        for component in &rated {
            let same = |player: usize| {
                let player = named[player] as usize;
                let component =
                    renamed_components.iter().find(|candidate| candidate.players().contains(&player)).unwrap();
                (component, component.players().iter().position(|&other| other == player).unwrap())
            };
            for (a, &player) in component.players().iter().enumerate() {
                for (b, &other) in component.players().iter().enumerate() {
                    let ((renamed_component, at), (_, before)) = (same(player), same(other));
                    let difference = component.difference(a, b);
                    let again = renamed_component.difference(at, before);
                    prop_assert!((difference.elo - again.elo).abs() < 1e-6, "{difference:?} {again:?}");
                    prop_assert!(difference.elo.abs() < 3_000.0);
                    prop_assert_eq!(difference.error.is_some(), again.error.is_some());
                    for (error, again) in difference.error.iter().zip(again.error) {
                        prop_assert!((error - again).abs() < 1e-5 * (1.0 + again), "{error} {again}");
                        prop_assert!(*error > 0.0 || a == b);
                    }
                }
            }
        }
    }

    /// Another win never makes a player weaker against any other, nor another loss stronger.
    #[test]
    fn a_win_never_harms(tallies in any_tallies(), first in 0_u32..6, second in 0_u32..6) {
        prop_assume!(first != second);
        // Both moved first once, so only a win changes.
        let other = tally(0, second, first, [0, 1, 1]);
        let more = |outcome| {
            rated(6, &[&tallies[..], &[tally(0, first, second, outcome), other]].concat())
        };
        let (before, after) = (more([0, 1, 1]), more([1, 1, 0]));
        let lead = |components: &[Component]| {
            let has_first = |component: &&Component| component.players().contains(&(first as usize));
            let component = components.iter().find(has_first).unwrap();
            let at = |player: u32| component.players().iter().position(|&other| other == player as usize).unwrap();
            component.difference(at(first), at(second)).elo
        };
        prop_assert!(lead(&after) > lead(&before) - 1e-9, "{} {}", lead(&after), lead(&before));
    }
}
