//! Standing of the current match, for progress lines: score, Elo and stop rule.

use spelrum_answers::{CellResult, places_text};
use spelrum_statistics::StopRule;

use crate::text::{percent, signed};

/// Describes the first open cell with games: `a 54.2 % ± 8.1, Elo +29 ± 57, SPRT LLR 0.71 of -2.94 to 2.94`. With
/// several cells its opponent and its place on the axes are named.
#[must_use]
pub fn open_match(axes: &[String], cells: &[CellResult]) -> String {
    let is_open = |cell: &&CellResult| cell.games > 0 && !cell.is_complete() && !cell.is_self_play;
    let Some(cell) = cells.iter().find(is_open) else { return String::new() };
    let Some(score) = cell.score else { return String::new() };
    let mut text = cell.player.clone();
    if cells.len() > 1 {
        text.push_str(&format!(" against {}", cell.opponent));
        if let Some(places) = places_text(axes, &cell.axes) {
            text.push_str(&format!(" ({places})"));
        }
        text.push(':');
    }
    let half_width = (score.high - score.low) * 50.0;
    text.push_str(&format!(" {} ± {half_width:.1}", percent(score.score)));
    if let Some(StopRule::Precision(precision)) = cell.stop.map(|stop| stop.rule) {
        text.push_str(&format!(" (stops at ± {:.1})", precision.points() * 100.0));
    }
    let strength = cell.strength();
    // Without an error, a difference after few games would mislead.
    if let Some((elo, error)) = strength.elo.zip(strength.elo_error) {
        text.push_str(&format!(", Elo {} ± {error:.0}", signed(elo)));
    }
    if let Some(standing) = cell.sprt() {
        let [lower, upper] = standing.bounds;
        // Adding zero makes -0.00 positive.
        let llr = standing.llr + 0.0;
        text.push_str(&format!(", SPRT LLR {llr:.2} of {lower:.2} to {upper:.2}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use spelrum_answers::CellStop;
    use spelrum_model::CellId;
    use spelrum_statistics::{EloModel, PairCounts, ScoreInterval, Sprt};

    use super::*;

    fn cell(games: u64, rule: Option<StopRule>) -> CellResult {
        CellResult {
            cell: CellId(1),
            axes: vec![Some("1".to_owned())],
            player: "engine-a".to_owned(),
            opponent: "engine-b".to_owned(),
            is_timed: false,
            swap_sides: true,
            is_self_play: false,
            openings_used: games / 2,
            games_planned: 400,
            stop: rule.map(|rule| CellStop { rule, games_max: 400, stopped_after: None }),
            is_one_round: false,
            games,
            games_failed: 0,
            wins: games / 2,
            draws: games / 4,
            losses: games / 4,
            pairs: PairCounts([2, 5, 20, 12, 11]),
            pairs_won_by_first_mover: 0,
            pairs_won_by_second_mover: 0,
            distinct_games: games,
            score: (games > 0).then_some(ScoreInterval { score: 0.625, low: 0.551, high: 0.7 }),
            sequence_units: None,
            openings: None,
            first_mover: None,
            colours: None,
            margin: None,
        }
    }

    fn axes() -> [String; 1] {
        ["depth".to_owned()]
    }

    #[test]
    fn a_match_is_shown_with_score_elo_and_stop_rule() {
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        let rules =
            [None, Some(StopRule::Sprt(sprt)), Some(StopRule::from_precision(0.03).unwrap())];
        let texts = rules.map(|rule| open_match(&axes(), &[cell(100, rule)]));
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn of_several_matches_the_first_open_one_is_named() {
        let done = CellResult { games_planned: 100, ..cell(100, None) };
        let text = open_match(&axes(), &[done, cell(0, None), cell(100, None), cell(50, None)]);
        assert!(
            text.starts_with("engine-a against engine-b (depth=1): 62.5 % ± 7.4, Elo"),
            "{text}"
        );
    }

    #[test]
    fn elo_is_shown_once_its_error_is_known() {
        let cell = CellResult {
            pairs: PairCounts([0, 0, 1, 0, 0]),
            wins: 1,
            losses: 1,
            draws: 0,
            ..cell(2, None)
        };
        let text = open_match(&axes(), &[cell]);
        assert!(text.contains("62.5 %") && !text.contains("Elo"), "{text}");
    }

    #[test]
    fn nothing_is_shown_without_a_score_or_of_self_play() {
        let itself = CellResult { is_self_play: true, ..cell(100, None) };
        assert_eq!(open_match(&axes(), &[cell(0, None)]), "");
        assert_eq!(open_match(&axes(), &[itself]), "");
        assert_eq!(open_match(&axes(), &[]), "");
    }
}
