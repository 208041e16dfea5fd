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
        let trained = trained_networks(kind, outcomes);
        let errors: Vec<f64> = trained.iter().map(|network| validation_error(network)).collect();
        let of_side = |side: Side| {
            let sides =
                trained.iter().flat_map(|network| &network.sides).filter(|row| row.to_move == side);
            pooled(sides.map(|row| (row.positions, row.error)))
        };
        let runs = || trained.iter().flat_map(|network| &network.runs);
        let constant = pooled(runs().map(|run| (run.validation, run.constant_error)));
        let examples =
            trained.first().map(|network| network.runs.iter().map(|run| run.examples).sum());
        let epochs = mean(runs().map(|run| f64::from(run.best_epoch)));
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
        let total = kind.recipes.len();
        for (place, recipe) in (1..).zip(&kind.recipes) {
            if let Err(error) = &outcomes[*recipe] {
                writeln!(out, "Kind {number}, {place} of {total}, could not be trained: {error}.")?;
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
        let trained = trained_networks(kind, outcomes);
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
    for epoch in trained.iter().flat_map(|network| &network.epochs) {
        let errors = (epoch.training_error, epoch.validation_error);
        epochs.entry((epoch.network, epoch.epoch)).or_default().push(errors);
    }
    let parts = epochs.keys().map(|(network, _)| network + 1).max().unwrap_or(1);
    let part_heading = |part: u32, heading: &str| {
        let name = trained.first().map(|trained| trained.network.part_name(part as usize));
        match name.filter(|name| !name.is_empty()) {
            None => heading.to_owned(),
            Some(name) => format!("{name}: {heading}"),
        }
    };
    let mut columns = vec![Column::numbers("epoch"), Column::numbers("learning")];
    for part in 0..parts {
        columns.push(Column::numbers(part_heading(part, "training")));
        columns.push(Column::numbers(part_heading(part, "validation")));
    }
    let mut table = TextTable::new(&columns);
    let last = epochs.keys().map(|(_, epoch)| *epoch).max().unwrap_or(0);
    for epoch in (1..=last).filter(|epoch| is_shown(*epoch) || *epoch == last) {
        let learning = (0..parts).filter_map(|part| Some(epochs.get(&(part, epoch))?.len())).max();
        let mut row = vec![epoch.to_string(), optional(learning, |number| number.to_string())];
        for part in 0..parts {
            let errors = epochs.get(&(part, epoch));
            let mean_error = |error: fn(&(f64, f64)) -> f64| mean(errors?.iter().map(error));
            let means = [mean_error(|errors| errors.0), mean_error(|errors| errors.1)];
            row.extend(means.map(|error| optional(error, plies)));
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
    for distance in trained.iter().flat_map(|network| &network.distances) {
        distances.entry(distance.plies).or_default().push((
            distance.positions,
            distance.error,
            distance.nearer,
        ));
    }
    let mut table = TextTable::new(&[
        Column::numbers("plies to mate"),
        Column::words("to move"),
        Column::numbers("positions"),
        Column::numbers("error"),
        Column::numbers("takes it for nearer by"),
    ]);
    for (distance, groups) in distances {
        let positions: u64 = groups.iter().map(|group| group.0).sum();
        let nearer =
            groups.iter().map(|group| group.0 as f64 * group.2).sum::<f64>() / positions as f64;
        table.row([
            distance.to_string(),
            if distance % 2 == 1 { "white" } else { "black" }.to_owned(),
            count(positions),
            optional(pooled(groups.iter().map(|group| (group.0, group.1))), plies),
            format!("{nearer:.2}"),
        ]);
    }
    table.write(out)
}

/// Returns the error by the square of black's king, from a1 and b1 to h8, where there are positions.
pub(super) fn by_square(trained: &[&Trained]) -> [Option<f64>; 64] {
    let mut squares = BTreeMap::<usize, Vec<(u64, f64)>>::new();
    for square in trained.iter().flat_map(|network| &network.squares) {
        squares.entry(square.square.into()).or_default().push((square.positions, square.error));
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

pub(super) fn trained_networks<'o>(kind: &Kind, outcomes: &'o [Outcome]) -> Vec<&'o Trained> {
    kind.recipes.iter().filter_map(|number| outcomes[*number].as_ref().ok()).collect()
}

/// Returns the error of a network over all validation positions of its parts.
fn validation_error(trained: &Trained) -> f64 {
    pooled(trained.runs.iter().map(|run| (run.validation, run.validation_error)))
        .unwrap_or(f64::NAN)
}

/// The error over several groups of positions.
pub(super) fn pooled(groups: impl Iterator<Item = (u64, f64)>) -> Option<f64> {
    let (positions, squares) = groups.fold((0, 0.0), |(positions, squares), (count, error)| {
        (positions + count, squares + count as f64 * error * error)
    });
    (positions > 0).then(|| (squares / positions as f64).sqrt())
}

pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = numbers.fold((0_u64, 0.0), |(count, sum), number| (count + 1, sum + number));
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
