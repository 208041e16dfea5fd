//! Scaling of time limits by the speed of workers, for people and for programs.

use serde::Serialize;
use spelrum_answers::Report;

use crate::text::count;

/// Scaling of time limits. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct ScaledLimits {
    /// Nodes per second at which limits are those of the sweep; null if it no longer scales them.
    reference_speed: Option<u64>,
    factor_max: Option<f64>,
    /// Counted games with scaled limits, and of these those whose factor was at a bound.
    games: u64,
    games_at_bound: u64,
    /// Least and greatest factor; null without such games.
    factor_least: Option<f64>,
    factor_greatest: Option<f64>,
}

/// Returns the scaling, if the sweep sets it, or there are such games.
pub(crate) fn scaled(report: &Report) -> Option<ScaledLimits> {
    let scaling = report.scaled.scaling;
    let cells = &report.scaled.cells;
    if scaling.is_none() && cells.is_empty() {
        return None;
    }
    let factor = |permille: u32| f64::from(permille) / 1_000.0;
    Some(ScaledLimits {
        reference_speed: scaling.map(|scaling| scaling.reference),
        factor_max: scaling.map(|scaling| factor(scaling.factor_max_permille)),
        games: cells.iter().map(|cell| cell.games).sum(),
        games_at_bound: cells.iter().map(|cell| cell.games_at_bound).sum(),
        factor_least: cells.iter().map(|cell| cell.factor_permille_min).min().map(factor),
        factor_greatest: cells.iter().map(|cell| cell.factor_permille_max).max().map(factor),
    })
}

/// Notes below the tables.
pub(crate) fn notes(report: &Report) -> Vec<String> {
    let Some(ScaledLimits {
        reference_speed,
        games,
        games_at_bound,
        factor_least,
        factor_greatest,
        ..
    }) = scaled(report)
    else {
        return Vec::new();
    };
    let Some((least, greatest)) = factor_least.zip(factor_greatest) else { return Vec::new() };
    let to = match reference_speed {
        Some(speed) => format!("Time limits are scaled to {} nodes a second", count(speed)),
        None => format!("Time limits of {} games were scaled", count(games)),
    };
    let mut notes = vec![
        format!("{to}: {least:.2} to {greatest:.2} times as long."),
        "By how much moves overran them: spelrum sql 'SELECT * FROM limited_moves'.".to_owned(),
    ];
    if games_at_bound > 0 {
        notes.push(format!(
            "Warning: in {} of {} games the factor was at the bound that factor_max sets. Their workers are slower\n\
             or faster than that, and searched fewer or more nodes than others (docs/timing.md).",
            count(games_at_bound),
            count(games),
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use spelrum_answers::ScaledGames;
    use spelrum_model::CellId;
    use spelrum_model::speed::Scaling;

    use super::*;
    use crate::tables::text::tests::{report, shown};

    #[test]
    fn scaled_limits_have_a_note() {
        let mut report = report();
        assert!(scaled(&report).is_none() && notes(&report).is_empty());
        let scaled_games = |cell, least, greatest, games_at_bound| ScaledGames {
            cell: CellId(cell),
            games: 20,
            games_at_bound,
            factor_permille_min: least,
            factor_permille_max: greatest,
        };
        report.scaled.cells =
            vec![scaled_games(1, 980, 1_000, 0), scaled_games(2, 1_000, 2_030, 0)];
        assert_eq!(
            notes(&report)[..1],
            ["Time limits of 40 games were scaled: 0.98 to 2.03 times as long."]
        );
        let scaling = Scaling { reference: 2_500_000, factor_max_permille: 4_000 };
        report.scaled.scaling = Some(scaling);
        let text = shown(&report);
        assert!(
            text.contains(
                "\nTime limits are scaled to 2,500,000 nodes a second: 0.98 to 2.03 times as long.\n"
            ),
            "{text}"
        );
        assert!(!text.contains("factor_max"), "{text}");
        report.scaled.cells.push(scaled_games(3, 250, 4_000, 7));
        let text = shown(&report);
        assert!(text.contains("Warning: in 7 of 60 games the factor was at the bound"), "{text}");
        let limits = scaled(&report).unwrap();
        assert_eq!(
            (limits.games, limits.factor_least, limits.factor_greatest),
            (60, Some(0.25), Some(4.0))
        );
    }
}
