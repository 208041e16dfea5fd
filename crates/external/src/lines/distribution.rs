//! A distribution over moves, as a player writes it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

/// The most moves kept of a distribution.
pub const DISTRIBUTION_MOVES_MAX: usize = 64;

/// The probabilities of legal moves in millionths, from an object of weights: probabilities, or numbers of visits.
/// Those of at least half a millionth, and of these the [`DISTRIBUTION_MOVES_MAX`] greatest.
///
/// # Errors
/// If it is not an object from legal moves to numbers of at least 0, one of them above 0.
pub fn distribution(weights: &Value, legal: &[String]) -> Result<BTreeMap<String, u32>, String> {
    let Value::Object(weights) = weights else {
        return Err("`distribution` is not an object of moves".to_owned());
    };
    let read = weights.iter().map(|(mv, weight)| {
        if !legal.contains(mv) {
            return Err(format!("`distribution` names `{mv}`, which is not a legal move here"));
        }
        match weight.as_f64() {
            Some(weight) if weight >= 0.0 => Ok((mv, weight)),
            _ => Err(format!("`distribution` gives `{mv}` {weight}, not a number of at least 0")),
        }
    });
    let weights = read.collect::<Result<Vec<_>, _>>()?;
    // The greatest first: a sum of numbers near the greatest has no end.
    let most = weights.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    if most == 0.0 {
        return Err("`distribution` has no number above 0".to_owned());
    }
    let sum: f64 = weights.iter().map(|(_, weight)| weight / most).sum();
    let mut millionths: Vec<(&String, u32)> = weights
        .into_iter()
        .map(|(mv, weight)| (mv, (weight / most / sum * 1e6).round() as u32))
        .filter(|(_, millionths)| *millionths > 0)
        .collect();
    millionths.sort_by_key(|(_, millionths)| Reverse(*millionths));
    millionths.truncate(DISTRIBUTION_MOVES_MAX);
    Ok(millionths.into_iter().map(|(mv, millionths)| (mv.clone(), millionths)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(weights: &str) -> Result<Vec<(String, u32)>, String> {
        let legal: Vec<String> = (0..100).map(|number| format!("m{number}")).collect();
        let weights = serde_json::from_str(weights).unwrap();
        Ok(distribution(&weights, &legal)?.into_iter().collect())
    }

    #[test]
    fn weights_are_probabilities_whatever_their_scale() {
        let thirds = Ok(vec![("m1".to_owned(), 333_333), ("m2".to_owned(), 666_667)]);
        assert_eq!(read(r#"{"m1":0.1,"m2":0.2,"m3":0}"#), thirds);
        assert_eq!(read(r#"{"m2":1600,"m1":800,"m3":1e-9}"#), thirds);
        assert_eq!(read(r#"{"m2":1.6e308,"m1":0.8e308}"#), thirds);
        assert_eq!(read(r#"{"m2":4e-320,"m1":2e-320}"#), thirds);
    }

    #[test]
    fn the_greatest_are_kept() {
        let weights: Vec<String> =
            (0..100).map(|number| format!(r#""m{number}":{}"#, number + 1)).collect();
        let kept = read(&format!("{{{}}}", weights.join(","))).unwrap();
        assert_eq!(kept.len(), DISTRIBUTION_MOVES_MAX);
        assert!(kept.contains(&("m36".to_owned(), 7_327)), "{kept:?}");
        assert!(kept.iter().all(|(mv, _)| mv != "m35"), "{kept:?}");
    }

    #[test]
    fn what_is_no_distribution_is_said() {
        for (weights, problem) in [
            ("[1]", "is not an object"),
            ("{}", "no number above 0"),
            (r#"{"m1":0}"#, "no number above 0"),
            (r#"{"m1":-1,"m2":2}"#, "gives `m1` -1"),
            (r#"{"m1":"much"}"#, "gives `m1` \"much\""),
            (r#"{"e2e4":1}"#, "`e2e4`, which is not a legal move"),
        ] {
            let error = read(weights).unwrap_err();
            assert!(error.contains(problem), "{weights}: {error}");
        }
    }
}
