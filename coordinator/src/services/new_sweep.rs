//! Checks of sweeps with a course that are new. A sweep that is stored is not checked again, so that an experiment of an
//! earlier version plays on.

use std::collections::BTreeSet;

use spelrum_answers as results;
use spelrum_answers::WorkerSummary;
use spelrum_model::Plan;
use spelrum_model::capabilities::Inability;
use spelrum_model::course::RunSettings;
use spelrum_model::demands::Demands;
use spelrum_proto::{Reason, Refusal};

/// Refuses a course that would try what the engines of all these workers refuse: it would wait for good once it came to
/// that.
///
/// # Errors
/// What the engines cannot do.
pub(super) fn check_tried(
    plan: &Plan,
    demands: &BTreeSet<Demands>,
    here: &[&WorkerSummary],
) -> Result<(), Refusal> {
    let unable = demands.iter().find_map(|demands| results::inability_of_all(demands, here));
    match (unable, &plan.course) {
        (Some(Inability { problem, remedy }), Some(course)) => Err(Refusal::new(
            Reason::WrongState,
            format!(
                "no connected worker can play what `{}` tries: {problem}",
                course.kind().name()
            ),
            format!("{remedy}; or start a worker whose engine can"),
        )),
        (Some(_) | None, _) => Ok(()),
    }
}

/// Refuses a race with more rounds than openings, between players that repeat their games: later rounds would be
/// earlier ones again, and tell nothing new.
///
/// # Errors
/// If a race has too few openings.
pub(super) fn check_rounds(plan: &Plan) -> Result<(), Refusal> {
    let runs = plan.course.iter().flat_map(|course| &course.runs);
    for run in runs {
        let RunSettings::Race(race) = &run.settings else { continue };
        for meeting in run.meetings.iter().filter(|meeting| meeting.cell.repeats) {
            let cell = &meeting.cell;
            let (rounds, pairs) = (race.rule.rounds(), cell.games / 2);
            let openings = plan.conditions[cell.conditions].openings_count;
            let Some(openings) =
                openings.filter(|&openings| rounds.saturating_mul(pairs) > openings)
            else {
                continue;
            };
            let [first, second] = &cell.player_names;
            let possible = openings / pairs.max(1);
            let fewer = match possible {
                0 => String::new(),
                rounds => format!("write rounds = {rounds}, "),
            };
            return Err(Refusal::new(
                Reason::BadSweep,
                format!(
                    "the race would repeat games of `{first}` and `{second}`: {rounds} rounds are {} pairs of games, \
                     there are {openings} openings, and neither player draws random numbers",
                    rounds.saturating_mul(pairs)
                ),
                format!(
                    "{fewer}take more openings, such as openings = {{ kind = \"random\", plies = 4 }}, or let a \
                     player draw random numbers (shuffle = true)"
                ),
            ));
        }
    }
    Ok(())
}
