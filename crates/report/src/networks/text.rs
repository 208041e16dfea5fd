//! Trained networks as tables: a summary of each kind, and errors by epoch, by distance and by square.

use std::collections::BTreeMap;
use std::io::{self, Write};

use spelrum_engine::Side;
use spelrum_engine::network::Trained;

use super::{Kind, Outcome};
use crate::text::{Column, TextTable, count, optional};

/// What errors can be shown by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// Learning curves: errors while it learnt and over the positions to validate by
    Epoch,
    /// By plies to mate
    Distance,
    /// By where black's king is, as the network sees the board
    Square,
}

/// Explains the columns of the summary.
const MEANING: &str = "
Error: the root of the mean square of the plies by which a network is wrong, over positions that it
did not learn from; of several networks the mean. Constant: the error of who always says the mean
of what was learnt. White, black: the error where it is that side's move. Best epoch: that whose
weights were kept.
";

/// Epochs shown of a long learning curve: the first, then about six in each factor of ten.
const EPOCHS_SHOWN: [u32; 6] = [10, 15, 20, 30, 50, 70];

/// Writes a line for each kind, preceded by the differences between kinds.
pub fn write_summary(out: &mut dyn Write, kinds: &[Kind], outcomes: &[Outcome]) -> io::Result<()> {
    for (number, kind) in (1..).zip(kinds) {
        writeln!(out, "{number}: {}", kind.name)?;
    }
    writeln!(out)?;
    let mut table = TextTable::new(&[
        Column::numbers("kind"),
        Column::numbers("trained"),
        Column::numbers("learnt from"),
        Column::numbers("best epoch"),
        Column::numbers("error"),
        Column::numbers("least to most"),
        Column::numbers("constant"),
        Column::numbers("white"),
        Column::numbers("black"),
    ]);
    for (number, kind) in (1..).zip(kinds) {
        let trained = trained_of(kind, outcomes);
        let errors: Vec<f64> = trained.iter().map(|it| error_of(it)).collect();
        let of_side = |side: Side| {
            let sides = trained.iter().flat_map(|it| &it.sides).filter(|it| it.to_move == side);
            pooled(sides.map(|it| (it.positions, it.error)))
        };
        let runs = || trained.iter().flat_map(|it| &it.runs);
        let constant = pooled(runs().map(|it| (it.validation, it.constant_error)));
        let examples = trained.first().map(|it| it.runs.iter().map(|run| run.examples).sum());
        let epochs = mean(runs().map(|it| f64::from(it.best_epoch)));
        let range =
            errors.iter().copied().reduce(f64::min).zip(errors.iter().copied().reduce(f64::max));
        table.row([
            number.to_string(),
            format!("{} of {}", trained.len(), kind.recipes.len()),
            optional(examples, count),
            optional(epochs, |epochs| format!("{epochs:.0}")),
            optional(mean(errors.iter().copied()), plies),
            optional(range, |(least, most)| format!("{least:.2} to {most:.2}")),
            optional(constant, plies),
            optional(of_side(Side::First), plies),
            optional(of_side(Side::Second), plies),
        ]);
    }
    table.write(out)?;
    out.write_all(MEANING.as_bytes())?;
    for (number, kind) in (1..).zip(kinds) {
        let of = kind.recipes.len();
        for (place, recipe) in (1..).zip(&kind.recipes) {
            if let Err(error) = &outcomes[*recipe] {
                writeln!(out, "Kind {number}, {place} of {of}, could not be trained: {error}.")?;
            }
        }
    }
    Ok(())
}

/// Writes a table, or a board, for each kind.
pub fn write_by(
    out: &mut dyn Write,
    by: By,
    kinds: &[Kind],
    outcomes: &[Outcome],
) -> io::Result<()> {
    for (number, kind) in (1..).zip(kinds) {
        let trained = trained_of(kind, outcomes);
        if trained.is_empty() {
            continue;
        }
        writeln!(out, "\n{number}: {}", kind.name)?;
        match by {
            By::Epoch => write_epochs(out, &trained)?,
            By::Distance => write_distances(out, &trained)?,
            By::Square => write_squares(out, &trained)?,
        }
    }
    Ok(())
}

fn write_epochs(out: &mut dyn Write, trained: &[&Trained]) -> io::Result<()> {
    // By network, then epoch: networks still learning in it.
    let mut epochs = BTreeMap::<(u32, u32), Vec<(f64, f64)>>::new();
    for epoch in trained.iter().flat_map(|it| &it.epochs) {
        let errors = (epoch.training_error, epoch.validation_error);
        epochs.entry((epoch.network, epoch.epoch)).or_default().push(errors);
    }
    let parts = epochs.keys().map(|(network, _)| network + 1).max().unwrap_or(1);
    let of_part = |part: u32, what: &str| match parts {
        1 => what.to_owned(),
        _ => format!("{}: {what}", ["white", "black"][part as usize % 2]),
    };
    let mut columns = vec![Column::numbers("epoch"), Column::numbers("learning")];
    for part in 0..parts {
        columns.push(Column::numbers(of_part(part, "training")));
        columns.push(Column::numbers(of_part(part, "validation")));
    }
    let mut table = TextTable::new(&columns);
    let last = epochs.keys().map(|(_, epoch)| *epoch).max().unwrap_or(0);
    for epoch in (1..=last).filter(|epoch| is_shown(*epoch) || *epoch == last) {
        let learning = (0..parts).filter_map(|part| Some(epochs.get(&(part, epoch))?.len())).max();
        let mut row = vec![epoch.to_string(), optional(learning, |it| it.to_string())];
        for part in 0..parts {
            let errors = epochs.get(&(part, epoch));
            let of = |error: fn(&(f64, f64)) -> f64| mean(errors?.iter().map(error));
            row.extend([of(|it| it.0), of(|it| it.1)].map(|it| optional(it, plies)));
        }
        table.row(row);
    }
    table.write(out)
}

/// 1 to 10 and 15, 20, 30, 50, 70, 100, 150, 200 and so on.
pub(super) fn is_shown(epoch: u32) -> bool {
    let mut shown = epoch;
    while shown >= 100 && shown.is_multiple_of(10) {
        shown /= 10;
    }
    shown <= 10 || EPOCHS_SHOWN.contains(&shown)
}

fn write_distances(out: &mut dyn Write, trained: &[&Trained]) -> io::Result<()> {
    let mut distances = BTreeMap::<u32, Vec<(u64, f64, f64)>>::new();
    for it in trained.iter().flat_map(|it| &it.distances) {
        distances.entry(it.plies).or_default().push((it.positions, it.error, it.nearer));
    }
    let mut table = TextTable::new(&[
        Column::numbers("plies to mate"),
        Column::words("to move"),
        Column::numbers("positions"),
        Column::numbers("error"),
        Column::numbers("takes it for nearer by"),
    ]);
    for (distance, of) in distances {
        let positions: u64 = of.iter().map(|it| it.0).sum();
        let nearer = of.iter().map(|it| it.0 as f64 * it.2).sum::<f64>() / positions as f64;
        table.row([
            distance.to_string(),
            if distance % 2 == 1 { "white" } else { "black" }.to_owned(),
            count(positions),
            optional(pooled(of.iter().map(|it| (it.0, it.1))), plies),
            format!("{nearer:.2}"),
        ]);
    }
    table.write(out)
}

/// Returns the error by the square of black's king, from a1 and b1 to h8, where there are positions.
pub(super) fn by_square(trained: &[&Trained]) -> [Option<f64>; 64] {
    let mut squares = BTreeMap::<usize, Vec<(u64, f64)>>::new();
    for it in trained.iter().flat_map(|it| &it.squares) {
        squares.entry(it.square.into()).or_default().push((it.positions, it.error));
    }
    std::array::from_fn(|square| pooled(squares.get(&square)?.iter().copied()))
}

fn write_squares(out: &mut dyn Write, trained: &[&Trained]) -> io::Result<()> {
    let errors = by_square(trained);
    for rank in (0..8).rev() {
        write!(out, "{}", rank + 1)?;
        for file in 0..8 {
            write!(out, " {:>6}", errors[8 * rank + file].map_or_else(|| "·".to_owned(), plies))?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "{}",
        ('a'..='h').map(|file| format!(" {file:>6}")).fold(" ".to_owned(), |a, b| a + &b)
    )
}

pub(super) fn trained_of<'o>(kind: &Kind, outcomes: &'o [Outcome]) -> Vec<&'o Trained> {
    kind.recipes.iter().filter_map(|number| outcomes[*number].as_ref().ok()).collect()
}

/// Returns the error of a network over all validation positions of its parts.
fn error_of(trained: &Trained) -> f64 {
    pooled(trained.runs.iter().map(|it| (it.validation, it.validation_error))).unwrap_or(f64::NAN)
}

/// The error over several groups of positions.
pub(super) fn pooled(groups: impl Iterator<Item = (u64, f64)>) -> Option<f64> {
    let (positions, squares) = groups.fold((0, 0.0), |(positions, squares), (count, error)| {
        (positions + count, squares + count as f64 * error * error)
    });
    (positions > 0).then(|| (squares / positions as f64).sqrt())
}

pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = numbers.fold((0_u64, 0.0), |(count, sum), it| (count + 1, sum + it));
    (count > 0).then(|| sum / count as f64)
}

pub(super) fn plies(error: f64) -> String {
    format!("{error:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned_out() {
        let shown: Vec<u32> = (1..=2_000).filter(|epoch| is_shown(*epoch)).collect();
        let first: Vec<u32> = (1..=10).collect();
        assert_eq!(shown[..10], first);
        let more = [15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000];
        assert_eq!(shown[10..], more);
    }

    #[test]
    fn errors_of_groups_are_those_of_all() {
        let pooled = pooled([(1, 3.0), (3, 1.0)].into_iter()).unwrap();
        assert!((pooled - 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(super::pooled(std::iter::empty()), None);
    }
}
