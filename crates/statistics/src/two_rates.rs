//! A test of whether two parties have one failure rate, valid under repeated looks.
//!
//! Both parties make trials that may fail, in strata with different failure rates, such as games of cells with
//! different time limits. If both have one rate in each stratum, the likelihood of the observations is at most that of
//! the best fitting rates; a bet on two different rates, predicting each trial from the earlier ones, is a martingale
//! against the true rates. So the ratio of the two exceeds x at most once in x times, *however often it is examined*
//! (Ville's inequality; universal inference, Wasserman, Ramdas and Balakrishnan 2020). The bets are those of Krichevsky
//! and Trofimov: for the first party on one overall rate; for the second half on one overall rate, and half on one rate
//! in each stratum.

/// The trials of two parties under one condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stratum {
    /// The first party's failures and trials.
    pub first: [u64; 2],
    /// The second party's failures and trials.
    pub second: [u64; 2],
}

/// The logarithm of the evidence that the two do not have the same rate in each stratum: if they do, it ever exceeds ln
/// x with a probability of at most 1/x.
pub fn evidence_of_two_rates(strata: &[Stratum]) -> f64 {
    let sum = |counts: fn(&Stratum) -> [u64; 2]| {
        strata
            .iter()
            .map(counts)
            .fold([0, 0], |[failed, all], [more, trials]| [failed + more, all + trials])
    };
    let first = predicted(sum(|stratum| stratum.first));
    let whole = predicted(sum(|stratum| stratum.second));
    let by_stratum: f64 = strata.iter().map(|stratum| predicted(stratum.second)).sum();
    let best: f64 = strata
        .iter()
        .map(|stratum| {
            best([stratum.first[0] + stratum.second[0], stratum.first[1] + stratum.second[1]])
        })
        .sum();
    let larger = whole.max(by_stratum);
    let mean = libm::exp(whole - larger) + libm::exp(by_stratum - larger);
    first + larger + libm::log(mean / 2.0) - best
}

/// The logarithm of the probability that the predictions gave to the observations.
fn predicted([failed, trials]: [u64; 2]) -> f64 {
    let [failed, passed, trials] = [failed, trials - failed, trials].map(|count| count as f64);
    libm::lgamma(failed + 0.5) + libm::lgamma(passed + 0.5)
        - libm::lgamma(trials + 1.0)
        - libm::log(std::f64::consts::PI)
}

/// The logarithm of the probability of the observations at the best fitting rate.
fn best([failed, trials]: [u64; 2]) -> f64 {
    let part = |observed: u64| match observed {
        0 => 0.0,
        observed => observed as f64 * libm::log(observed as f64 / trials as f64),
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
        // One party played where all trials fail, the other where none does.
        let strata = [
            Stratum { first: [50, 50], second: [4, 4] },
            Stratum { first: [0, 4], second: [0, 50] },
        ];
        assert!(evidence_of_two_rates(&strata) < 0.0);
        let pooled = Stratum { first: [50, 54], second: [4, 54] };
        assert!(evidence_of_two_rates(&[pooled]) > libm::log(1_000.0));
        // A dead engine still stands out.
        let strata = [
            Stratum { first: [8, 8], second: [50, 50] },
            Stratum { first: [8, 8], second: [0, 50] },
        ];
        assert!(evidence_of_two_rates(&strata) > libm::log(1_000.0));
    }

    /// For any common rate and any number of looks, fewer than one in 20 ever reach evidence of 20.
    #[test]
    fn equal_rates_are_rarely_evidence() {
        const TRIALS: u64 = 400;
        for (seed, rate) in (0..).zip([5_u32, 50, 300, 900]) {
            let mut rng = Random::from_key([seed; 32]);
            let mut wrong = 0;
            for _ in 0..TRIALS {
                let mut seen = [[0, 0], [0, 0]];
                let ever = (0..300).any(|_| {
                    // The more the first party fails, the more trials it gets, since a failed trial frees it at once.
                    let bound = if seen[0][0] > 3 { 80 } else { 50 };
                    let party = usize::from(rng.below(100) >= bound);
                    let fails = rng.below(1_000) < rate;
                    seen[party][0] += u64::from(fails);
                    seen[party][1] += 1;
                    evidence(seen[0], seen[1]) >= 20.0
                });
                wrong += u64::from(ever);
            }
            assert!(wrong * 20 < TRIALS, "{wrong} of {TRIALS} at a rate of {rate} in 1,000");
        }
    }
}
