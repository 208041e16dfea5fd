//! Whether two have one rate, looked at again and again.
//!
//! Both do what may fail, in strata in which how often it fails is another: games of cells, such as with other time
//! limits. If both have one rate in each stratum, then the likelihood of what was seen is at most that of the rates
//! that fit best; and what is bet on two different rates, by predicting each trial from those before, is a martingale
//! against the true rates. So the ratio of the two exceeds x once in x times at most, *however often it is looked at*
//! (Ville's inequality; universal inference, Wasserman, Ramdas and Balakrishnan 2020). The bets are those of
//! Krichevsky and Trofimov, for the second half on one rate of the whole and half on one in each stratum.

/// What two did under one condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stratum {
    /// What failed of the first, and of how many.
    pub first: [u64; 2],
    /// The same of the second.
    pub second: [u64; 2],
}

/// The logarithm of the evidence that the two do not have the same rate in each stratum: where they do, it is ever
/// above ln x with a probability of at most 1/x.
pub fn evidence_of_two_rates(strata: &[Stratum]) -> f64 {
    let sum = |of: fn(&Stratum) -> [u64; 2]| {
        strata
            .iter()
            .map(of)
            .fold([0, 0], |[failed, all], [more, trials]| [failed + more, all + trials])
    };
    let first = predicted(sum(|it| it.first));
    let whole = predicted(sum(|it| it.second));
    let by_stratum: f64 = strata.iter().map(|it| predicted(it.second)).sum();
    let best: f64 = strata
        .iter()
        .map(|it| best([it.first[0] + it.second[0], it.first[1] + it.second[1]]))
        .sum();
    let larger = whole.max(by_stratum);
    let mean = libm::exp(whole - larger) + libm::exp(by_stratum - larger);
    first + larger + libm::log(mean / 2.0) - best
}

/// The logarithm of the probability that the predictions gave to what was seen.
fn predicted([failed, trials]: [u64; 2]) -> f64 {
    let [failed, passed, trials] = [failed, trials - failed, trials].map(|it| it as f64);
    libm::lgamma(failed + 0.5) + libm::lgamma(passed + 0.5)
        - libm::lgamma(trials + 1.0)
        - libm::log(std::f64::consts::PI)
}

/// The logarithm of the probability of what was seen at the rate that fits best.
fn best([failed, trials]: [u64; 2]) -> f64 {
    let part = |of: u64| match of {
        0 => 0.0,
        of => of as f64 * libm::log(of as f64 / trials as f64),
    };
    part(failed) + part(trials - failed)
}

#[cfg(test)]
mod tests {
    use spelrum_engine::Random;

    use super::*;

    fn evidence(first: [u64; 2], second: [u64; 2]) -> f64 {
        libm::exp(evidence_of_two_rates(&[Stratum { first, second }]))
    }

    #[test]
    fn a_dead_engine_is_evidence_after_few_games() {
        assert!(evidence([0, 0], [0, 100]) < 1.0);
        assert!(evidence([4, 4], [0, 4]) < 100.0);
        assert!(evidence([6, 6], [0, 10]) > 1_000.0);
        assert!(evidence([64, 64], [0, 6]) > 1_000.0);
        assert!(evidence([64, 64], [14, 14]) < 1.0);
    }

    #[test]
    fn another_mixture_of_strata_is_no_evidence() {
        // The one has played where all fail, and the other where none does.
        let strata = [
            Stratum { first: [50, 50], second: [4, 4] },
            Stratum { first: [0, 4], second: [0, 50] },
        ];
        assert!(evidence_of_two_rates(&strata) < 0.0);
        let pooled = Stratum { first: [50, 54], second: [4, 54] };
        assert!(evidence_of_two_rates(&[pooled]) > libm::log(1_000.0));
        // A dead engine stands out all the same.
        let strata = [
            Stratum { first: [8, 8], second: [50, 50] },
            Stratum { first: [8, 8], second: [0, 50] },
        ];
        assert!(evidence_of_two_rates(&strata) > libm::log(1_000.0));
    }

    /// At whatever rate both fail, and however often it is looked at: fewer than one in 20 are ever evidence of 20.
    #[test]
    fn equal_rates_are_rarely_evidence() {
        const TRIALS: u64 = 400;
        for (seed, rate) in (0..).zip([5_u32, 50, 300, 900]) {
            let mut rng = Random::from_key([seed; 32]);
            let mut wrong = 0;
            for _ in 0..TRIALS {
                let mut seen = [[0, 0], [0, 0]];
                let ever = (0..300).any(|_| {
                    // The first is at it more often, the more it fails, as who fails at once is free at once.
                    let bound = if seen[0][0] > 3 { 80 } else { 50 };
                    let who = usize::from(rng.below(100) >= bound);
                    let fails = rng.below(1_000) < rate;
                    seen[who][0] += u64::from(fails);
                    seen[who][1] += 1;
                    evidence(seen[0], seen[1]) >= 20.0
                });
                wrong += u64::from(ever);
            }
            assert!(wrong * 20 < TRIALS, "{wrong} of {TRIALS} at a rate of {rate} in 1,000");
        }
    }
}
