//! Results in the words of match runners: the block that authors of engines paste into a pull request.

use std::io::{self, Write};

use spelrum_answers::{CellResult, Report, places_text};
use spelrum_statistics::{StopRule, Tally};

const RULE: &str = "--------------------------------------------------";

/// Writes a block for each match that has a score. Self-play has none.
///
/// # Errors
/// If the output cannot be written.
pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let blocks = report.cells.iter().filter_map(|cell| block(&report.axes, cell));
    let mut first = true;
    for block in blocks {
        if std::mem::take(&mut first) {
            writeln!(out, "{RULE}")?;
        }
        writeln!(out, "{block}{RULE}")?;
    }
    if first {
        writeln!(out, "no match has a score yet")?;
    }
    Ok(())
}

fn block(axes: &[String], cell: &CellResult) -> Option<String> {
    if cell.is_self_play || cell.score.is_none() {
        return None;
    }
    let CellResult { player, opponent, wins, draws, losses, games, .. } = cell;
    let places = places_text(axes, &cell.axes).map(|places| format!(" ({places})"));
    let tally = cell.tally();
    let strength = tally.strength();
    // Adding zero makes -0.00 positive.
    let [elo, elo_error, nelo, nelo_error] =
        [strength.elo, strength.elo_error, strength.nelo, strength.nelo_error]
            .map(|figure| format!("{:.2}", figure + 0.0));
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of as f64;
    let by_pair = match &tally {
        Tally::Pairs(pairs) => {
            let [lost, behind, even, ahead, won] = pairs.0;
            let ratio = (ahead + won) as f64 / (lost + behind) as f64;
            [
                format!("{:.2} %, PairsRatio: {ratio:.2}", percent(even, pairs.pairs())),
                format!(
                    "Ptnml(0-2): [{lost}, {behind}, {even}, {ahead}, {won}]{}\n",
                    even_pairs(cell, &pairs.0).unwrap_or_default()
                ),
            ]
        }
        Tally::Games(_) => [format!("{:.2} %", percent(*draws, *games)), String::new()],
    };
    let [draw_ratio, pentanomial] = by_pair;
    let points = *wins as f64 + *draws as f64 / 2.0;
    Some(format!(
        "Results of {player} vs {opponent}{}:\n\
         Elo: {elo} +/- {elo_error}, nElo: {nelo} +/- {nelo_error}\n\
         LOS: {:.2} %, DrawRatio: {draw_ratio}\n\
         Games: {games}, Wins: {wins}, Losses: {losses}, Draws: {draws}, Points: {points:.1} ({:.2} %)\n\
         {pentanomial}{}",
        places.unwrap_or_default(),
        100.0 * strength.los,
        100.0 * points / *games as f64,
        test(cell).unwrap_or_default(),
    ))
}

/// How the even pairs came about: a win and a loss, or two draws. The counts of pairs do not have it, but the number of
/// wins does, as soon as all games are in pairs.
fn even_pairs(CellResult { wins, games, .. }: &CellResult, pairs: &[u64; 5]) -> Option<String> {
    let [_, _, even, ahead, won] = pairs;
    if *games != 2 * pairs.iter().sum::<u64>() {
        return None;
    }
    let decided = wins.checked_sub(2 * won + ahead)?;
    let drawn = even.checked_sub(decided)?;
    Some(format!(", WL/DD Ratio: {:.2}", decided as f64 / drawn as f64))
}

/// The line of its SPRT.
fn test(cell: &CellResult) -> Option<String> {
    let StopRule::Sprt(rule) = cell.stop?.rule else { return None };
    let standing = cell.sprt()?;
    let [lower, upper] = standing.bounds;
    let llr = standing.llr + 0.0;
    let fraction = if llr < 0.0 { -llr / lower } else { llr / upper };
    Some(format!(
        "LLR: {llr:.2} ({:.1}%) ({lower:.2}, {upper:.2}) [{:.2}, {:.2}]\n",
        100.0 * fraction,
        rule.elo0(),
        rule.elo1(),
    ))
}
