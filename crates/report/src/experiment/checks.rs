//! Questions that an experiment cannot answer, rejected with a remedy.

use spelrum_answers::ExperimentSummary;
use spelrum_model::{Role, Task};

use super::formats::Shown;
use crate::error::{Error, Kind, Result};

/// Rejects requests that apply only to games, for an experiment of choices.
pub(super) fn reject_game_tables(experiment: &ExperimentSummary, shown: Shown) -> Result<()> {
    let is_of_games = match shown {
        Shown::Usual | Shown::WithDepths | Shown::Phases => false,
        Shown::Ratings | Shown::Compared => true,
        Shown::Table(table) => !table.entry().has_choices,
    };
    match is_of_games {
        false => Ok(()),
        true => Err(Error::new(Kind::Input, format!("report games of {}", experiment.name))
            .because("it is of kind accuracy: its players only choose moves, so no game is won")
            .help(
                "leave the option out, or take --table accuracy, wins, plies, moves, depths or workers",
            )),
    }
}

/// Rejects what match runners do not print.
///
/// # Errors
/// If the experiment has no games, or one of its tables is to be shown.
pub(super) fn reject_other_than_matches(
    experiment: &ExperimentSummary,
    shown: Shown,
) -> Result<()> {
    let failed = Error::new(Kind::Input, format!("report {} as match runners do", experiment.name));
    if experiment.task == Task::Choice {
        return Err(failed
            .because("it is of kind accuracy: its players only choose moves, so no game is won")
            .help("leave --format match out"));
    }
    if shown != Shown::Usual {
        return Err(failed
            .because("that has scores of matches alone")
            .help("leave the option for another table out, or take another --format"));
    }
    Ok(())
}

/// Rejects an axis that the experiment lacks.
///
/// # Errors
/// If the experiment has no such axis.
pub fn check_axis(experiment: &ExperimentSummary, axes: &[String], axis: &str) -> Result<()> {
    let names =
        axes.iter().map(|name| Role::from_axis(name).map_or(&**name, |(_, parameter)| parameter));
    let names: Vec<&str> = names.collect();
    if names.contains(&axis) {
        return Ok(());
    }
    Err(Error::new(Kind::Input, "choose an axis")
        .because(format!("{} has no axis `{axis}`", experiment.name))
        .help(match &names[..] {
            [] => "it has no axes: leave --axis out".to_owned(),
            names => format!("its axes are {}", names.join(", ")),
        }))
}
