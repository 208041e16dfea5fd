//! Experiments with a course.

use spelrum_engine::Outcome;
use spelrum_model::course::Noted;
use spelrum_model::{CellId, ExperimentId, GameId, Plan};
use spelrum_scheduling::course::{CellOutcome, NewCell, StoredCell};
use spelrum_scheduling::scheduler::CellState;

use super::{Cell, CourseState, Settled, State};
use spelrum_store::OpenCourse;
use spelrum_store::StoreError;

impl State {
    pub(super) fn set_course(&mut self, experiment: ExperimentId, course: CourseState) {
        if let Some(experiment_row) = self.experiments.get_mut(&experiment) {
            experiment_row.course = Some(course);
        }
    }

    pub(super) fn note(&mut self, experiment: ExperimentId, notes: &[Noted]) {
        let Some(experiment_row) = self.experiments.get_mut(&experiment) else { return };
        for new in notes {
            let place = |noted: &Noted| (noted.run, noted.note.kind(), noted.note.place());
            if !experiment_row.notes.iter().any(|there| place(there) == place(new)) {
                experiment_row.notes.push(new.clone());
            }
        }
    }

    pub(super) fn extend(
        &mut self,
        experiment: ExperimentId,
        plan: &Plan,
        results_before: u64,
    ) -> Result<Option<Vec<CellState>>, StoreError> {
        let there = self.course_cells(experiment);
        let is_there = |hash| there.iter().any(|(_, cell)| cell.hash == hash);
        if plan.cells.iter().any(|cell| is_there(cell.definition_hash)) {
            return Ok(None);
        }
        let next = there.last().map_or(0, |(_, cell)| cell.number + 1);
        let numbers: Vec<usize> = (0..plan.cells.len()).collect();
        let mut cells = self.add_cells(experiment, plan, &numbers)?;
        for id in &cells {
            let Some(cell) = self.cells.get_mut(id) else { continue };
            cell.number += next;
            cell.asked_after = Some(results_before);
        }
        cells.extend(self.add_trainings(experiment, plan));
        Ok(Some(self.states_of(experiment, &cells)))
    }

    pub(super) fn tell(&mut self, id: CellId) -> Result<CellOutcome, StoreError> {
        let outcome = self.outcome(id);
        match self.cells.get_mut(&id) {
            Some(cell) if cell.outcome.is_none() => cell.outcome = Some(outcome.clone()),
            Some(_) | None => return Err(StoreError::Missing { what: "a cell" }),
        }
        Ok(outcome)
    }

    /// The results of a cell's games, up to where the cell ends.
    fn outcome(&self, id: CellId) -> CellOutcome {
        let Some(cell) = self.cells.get(&id) else { return CellOutcome::default() };
        let mut outcome = CellOutcome { number: cell.number, ..CellOutcome::default() };
        let end = cell.stop_number.unwrap_or(u64::MAX);
        let half_points = |number| match self.games.get(&GameId { cell: id, number })? {
            Settled::Failed { .. } => None,
            Settled::Played { game, .. } => {
                let first = match game.record.outcome {
                    Outcome::Win => 2,
                    Outcome::Draw => 1,
                    Outcome::Loss => 0_usize,
                };
                Some(if cell.swap_sides && number % 2 == 1 { 2 - first } else { first })
            }
        };
        for (game, settled) in self.settled_of(id).filter(|(game, _)| game.number < end) {
            if matches!(settled, Settled::Failed { .. }) {
                outcome.games_failed += 1;
                continue;
            }
            let points = half_points(game.number);
            if let Settled::Played { game, .. } = settled {
                outcome.margin_sum += cell.margin(game).unwrap_or(0);
            }
            outcome.games += 1;
            outcome.wins += u64::from(points == Some(2));
            outcome.draws += u64::from(points == Some(1));
            outcome.losses += u64::from(points == Some(0));
            let is_second = cell.swap_sides && game.number % 2 == 1;
            if let Some((first, second)) =
                half_points(game.number.saturating_sub(1)).zip(points).filter(|_| is_second)
            {
                outcome.pairs.0[first + second] += 1;
            }
        }
        outcome
    }

    pub(super) fn open_courses(&self) -> Result<Vec<OpenCourse>, StoreError> {
        let open = self.experiments.iter().filter(|(_, experiment_row)| {
            experiment_row.course == Some(CourseState::Open) && !experiment_row.is_over()
        });
        let courses = open.map(|(&experiment, experiment_row)| {
            let cells = self.course_cells(experiment).into_iter();
            Ok(OpenCourse {
                experiment,
                name: experiment_row.name.clone(),
                toml: experiment_row.toml.clone(),
                files: experiment_row.files.clone(),
                cells: cells
                    .map(|cell| stored(&experiment_row.axes, cell))
                    .collect::<Result<_, _>>()?,
            })
        });
        courses.collect()
    }

    fn course_cells(&self, experiment: ExperimentId) -> Vec<(CellId, &Cell)> {
        let is_its = |cell: &Cell| cell.experiment == experiment && cell.has_games();
        let its = self.cells.iter().filter(|(_, cell)| is_its(cell));
        let mut cells: Vec<_> = its.map(|(&id, cell)| (id, cell)).collect();
        cells.sort_by_key(|(id, cell)| (cell.number, *id));
        cells
    }
}

fn stored(axes: &[String], (id, cell): (CellId, &Cell)) -> Result<StoredCell, StoreError> {
    let value = |axis: &String| cell.place.iter().find(|(name, _)| name == axis).cloned();
    let added = cell.asked_after.map(|after| {
        let definition = serde_json::from_str(&cell.definition_json)
            .map_err(|_| StoreError::Missing { what: "a definition" })?;
        let new = NewCell {
            definition,
            player_names: cell.player_names.clone(),
            axes: axes.iter().filter_map(value).collect(),
            games: cell.games_planned,
            timed: cell.timed,
            repeats: cell.repeats,
            openings_count: cell.openings_count,
        };
        Ok::<_, StoreError>((after, new))
    });
    // With the cell's current number: a changed sweep may have given it another one.
    let outcome =
        cell.outcome.clone().map(|outcome| CellOutcome { number: cell.number, ..outcome });
    Ok(StoredCell { cell: id, added: added.transpose()?, outcome })
}
