//! Sweeps: new experiments, and updates of existing ones.

use std::collections::BTreeMap;

use spelrum_answers::{StatedCell, StatedClaim};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::capabilities::GameRequest;
use spelrum_model::change::{
    ALLOCATE, Change, Comparison, DroppedCell, PLACEMENT, StoredCell, StoredDefinition,
    StoredExperiment, place_mark,
};
use spelrum_model::claims::{ClaimStanding, ClaimedCell, KnownClaim, Restated, Restatement};
use spelrum_model::engines::is_deterministic;
use spelrum_model::{
    CellId, DefinitionHash, DefinitionJson, ExperimentId, ExperimentSettings, ExperimentState,
    Plan, Record,
};
use spelrum_scheduling::scheduler::CellState;

use super::{Cell, Experiment, State};
use spelrum_store::StoreError;
use spelrum_store::decisions::Needs;
use spelrum_store::decisions::Reason;
use spelrum_store::decisions::check_change;
use spelrum_store::decisions::safe;
use spelrum_store::decisions::{Candidate, awaits_builds, becomes};
use spelrum_store::{Submitted, Sweep};

impl State {
    pub(super) fn submit(&mut self, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
        let Some(found) = self.candidate(sweep) else {
            return match sweep.fills {
                Some(_) => Err(StoreError::Missing { what: "an experiment" }),
                None => self.begin(sweep),
            };
        };
        let existing = &self.experiments[&found];
        let candidate = Candidate {
            state: existing.state,
            repeated: existing.versions.contains(sweep.uuid)
                || (sweep.fills.is_some() && !awaits_builds(&existing.toml)),
            same_text: (existing.toml == sweep.toml && existing.files == *sweep.files)
                || (existing.course.is_some()
                    && sweep.asks_what_did(&existing.toml, existing.files.clone())),
            engine_revision: existing.engine_revision,
            has_course: existing.course.is_some(),
        };
        let grows = becomes(&sweep.plan.name, candidate)?;
        if grows {
            return self.grow(sweep, found);
        }
        let named = self.cells.values().filter(|cell| cell.experiment == found && cell.in_sweep);
        Ok(Submitted {
            experiment: found,
            uuid: existing.uuid.clone(),
            existed: true,
            change: None,
            tell: false,
            cells: Vec::new(),
            attempts: Vec::new(),
            games: named.map(|cell| cell.stop_number.unwrap_or(cell.games_planned)).sum(),
            claims: existing.claims.iter().map(standing).collect(),
        })
    }

    /// The experiment of a repeated submit; otherwise the newest unfinished one of the sweep's name, or else the
    /// newest.
    fn candidate(&self, sweep: Sweep<'_>) -> Option<ExperimentId> {
        let candidates = self.experiments.iter().filter(|(_, experiment)| {
            let is_meant = match sweep.fills {
                Some(uuid) => experiment.uuid == uuid,
                None => !sweep.new_experiment && experiment.name == sweep.plan.name,
            };
            experiment.versions.contains(sweep.uuid) || is_meant
        });
        candidates
            .max_by_key(|(id, experiment)| {
                (experiment.versions.contains(sweep.uuid), !experiment.is_over(), **id)
            })
            .map(|(&id, _)| id)
    }

    fn begin(&mut self, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
        let Sweep { uuid, toml, files, plan, .. } = sweep;
        safe("the sweep's seed", plan.seed)?;
        self.last_experiment += 1;
        let id = ExperimentId(self.last_experiment);
        let mut experiment = Experiment {
            uuid: uuid.to_owned(),
            name: plan.name.clone(),
            game: plan.game.clone(),
            task: plan.task(),
            state: ExperimentState::Running,
            settings: ExperimentSettings::default(),
            forfeits_after: 0,
            stopped_for: None,
            engine_revision: ENGINE_REVISION,
            toml: String::new(),
            files: BTreeMap::new(),
            versions: [uuid.to_owned()].into(),
            axes: Vec::new(),
            anchors: Vec::new(),
            is_pruned: false,
            course: None,
            notes: Vec::new(),
            claims: Vec::new(),
        };
        experiment.become_what(toml, files, plan);
        self.experiments.insert(id, experiment);
        let numbers: Vec<usize> = (0..plan.cells.len()).collect();
        let mut cells = self.add_cells(id, plan, &numbers)?;
        cells.extend(self.add_trainings(id, plan));
        let claims = self.state_claims(id, plan);
        Ok(Submitted {
            experiment: id,
            uuid: uuid.to_owned(),
            existed: false,
            change: None,
            tell: true,
            cells: self.states_of(id, &cells),
            attempts: Vec::new(),
            games: plan.games(),
            claims,
        })
    }

    fn grow(&mut self, sweep: Sweep<'_>, id: ExperimentId) -> Result<Submitted, StoreError> {
        let plan = sweep.plan;
        let comparison = self.compare(id, plan);
        check_change(&comparison, &plan.name)?;
        let mut touched = Vec::new();
        let is_all = comparison.change.has_changed(ALLOCATE);
        for known in &comparison.known {
            safe("a cell's games", known.games)?;
            let new = &plan.cells[known.number];
            let Some(cell) = self.cells.get_mut(&known.cell) else { continue };
            cell.number = known.number as u64;
            cell.games_planned = known.games;
            cell.timed = new.timed;
            cell.player_names = new.player_names.each_ref().map(|name| name.to_string());
            cell.in_sweep = true;
            cell.superseded = false;
            cell.place = place(plan, known.number);
            if known.rule_differs {
                cell.rule = plan.stop;
                cell.decided_number = 0;
            }
            touched.extend((is_all || known.work_differs).then_some(known.cell));
        }
        for dropped in &comparison.dropped {
            if let Some(cell) = self.cells.get_mut(&dropped.cell) {
                cell.in_sweep = false;
                cell.superseded = false;
                touched.push(dropped.cell);
            }
        }
        for superseded in &comparison.superseded {
            if let Some(cell) = self.cells.get_mut(&superseded.cell.cell) {
                cell.number = superseded.number as u64;
                cell.games_planned = superseded.games();
                cell.player_names = superseded.names.clone();
                cell.superseded = true;
                cell.place = place(plan, superseded.number);
                touched.extend((!superseded.cell.is_superseded).then_some(superseded.cell.cell));
            }
        }
        if !comparison.added.is_empty() {
            touched.extend(self.add_cells(id, plan, &comparison.added)?);
            touched.extend(self.add_trainings(id, plan));
        }
        let rules_differ = comparison.rules_differ();
        let change: Change = comparison.change;
        let Some(experiment) = self.experiments.get_mut(&id) else {
            return Err(StoreError::Missing { what: "an experiment" });
        };
        experiment.become_what(sweep.toml, sweep.files, plan);
        experiment.versions.insert(sweep.uuid.to_owned());
        let claims = self.state_claims(id, plan);
        let Some(experiment) = self.experiments.get_mut(&id) else {
            return Err(StoreError::Missing { what: "an experiment" });
        };
        let was_finished = experiment.state == ExperimentState::Finished;
        let tell = !was_finished || change.games_to_play > 0 || rules_differ;
        let uuid = experiment.uuid.clone();
        let (mut cells, mut attempts) = (Vec::new(), Vec::new());
        if !was_finished {
            let is_all = change.has_changed(PLACEMENT);
            cells = if is_all { self.cell_states(id) } else { self.states_of(id, &touched) };
            // The scheduler already has their returned games.
            cells.iter_mut().for_each(|cell| cell.returned.clear());
        } else if tell {
            experiment.state = ExperimentState::Running;
            cells = self.cell_states(id);
            attempts = self.open_attempts(|experiment| experiment == id);
        }
        Ok(Submitted {
            experiment: id,
            uuid,
            existed: true,
            games: change.games_kept + change.games_to_play,
            change: Some(change),
            tell,
            cells,
            attempts,
            claims,
        })
    }

    /// Sets an experiment's claims to those of a plan.
    fn state_claims(&mut self, id: ExperimentId, plan: &Plan) -> Vec<ClaimStanding> {
        let its: BTreeMap<DefinitionHash, CellId> = self
            .cells
            .iter()
            .filter(|(_, cell)| cell.experiment == id)
            .map(|(&cell, cell_row)| (cell_row.hash, cell))
            .collect();
        let has_settled = self
            .games
            .keys()
            .chain(
                self.uncounted
                    .iter()
                    .filter(|uncounted| {
                        matches!(uncounted.reason, Reason::Excluded | Reason::Disturbed)
                    })
                    .map(|uncounted| &uncounted.game.game),
            )
            .any(|game| self.cells.get(&game.cell).is_some_and(|cell| cell.experiment == id));
        let cells_of = |claim: usize| {
            let stated = |claimed: &ClaimedCell| {
                let cell = its[&plan.cells[claimed.cell].definition_hash];
                let games = self.cells[&cell].games_planned;
                StatedCell { cell, player: claimed.player, games }
            };
            plan.claims[claim].cells.iter().map(stated).collect::<Vec<_>>()
        };
        let stop_rule = plan.stop.map(|rule| rule.to_string());
        let before = self.experiments[&id].claims.clone();
        let known: Vec<KnownClaim> = before.iter().map(known).collect();
        let restatement = Restatement::new(plan, &known, has_settled);
        let mut now = Vec::new();
        for (mut claim, (becomes, number)) in before.into_iter().zip(&restatement.known) {
            if *becomes == Restated::Withdrawn {
                continue;
            }
            claim.in_sweep = *becomes == Restated::Again;
            if let Some(number) = number.filter(|_| !has_settled) {
                claim.stop_rule.clone_from(&stop_rule);
                claim.cells = cells_of(number);
            }
            now.push(claim);
        }
        for added in &restatement.added {
            let claim = &plan.claims[added.claim];
            now.push(StatedClaim {
                text: claim.text.clone(),
                statement: claim.statement.clone(),
                hash: added.hash,
                is_late: added.is_late,
                in_sweep: true,
                stop_rule: stop_rule.clone(),
                cells: cells_of(added.claim),
                estimates: Vec::new(),
                means: Vec::new(),
                leads: Vec::new(),
            });
        }
        let standings = restatement.standings(plan, &known);
        if let Some(experiment) = self.experiments.get_mut(&id) {
            experiment.claims = now;
        }
        standings
    }

    fn compare<'p>(&self, id: ExperimentId, plan: &'p Plan) -> Comparison<'p> {
        let its: BTreeMap<DefinitionHash, (CellId, &Cell)> = self
            .cells
            .iter()
            .filter(|(_, cell)| cell.experiment == id)
            .map(|(&id, cell)| (cell.hash, (id, cell)))
            .collect();
        let mut comparison = Comparison::new(plan);
        comparison.see(plan.cells.iter().map(|cell| {
            let (id, there) = its.get(&cell.definition_hash)?;
            Some(StoredCell {
                cell: *id,
                number: there.number,
                games_planned: there.games_planned,
                next_number: there.next_number,
                in_sweep: there.in_sweep && !there.superseded,
                timed: there.timed,
                player_names: there.player_names.clone(),
                games_settled: self.settled_below_stop(*id),
                place: place_mark(there.place.iter().map(|(axis, value)| (&**axis, value))),
                stop_number: there.stop_number,
                has_plans_rule: there.rule == plan.stop,
            })
        }));
        let named = its.values().filter(|(_, cell)| cell.in_sweep);
        let superseded = named.clone().filter(|(_, cell)| cell.superseded).count() as u64;
        let still_named = named.clone().count() as u64 - superseded;
        if comparison.count(its.len() as u64, still_named, superseded) {
            let mut named: Vec<_> = named.collect();
            named.sort_by_key(|(id, cell)| (cell.number, *id));
            let named = named
                .into_iter()
                .map(|(id, cell)| DroppedCell {
                    cell: *id,
                    games: cell.games_planned,
                    next_number: cell.next_number,
                    games_settled: self.settled_below_stop(*id),
                    swap_sides: cell.swap_sides,
                    timed: cell.timed,
                    is_superseded: cell.superseded,
                    engines: Some(StoredDefinition {
                        prefix: cell.definition_prefix.clone(),
                        players: cell.players.clone(),
                    }),
                })
                .collect();
            comparison.drop_all_but_known(named);
            let axes = &self.experiments[&id].axes;
            for dropped in comparison.dropped_examples() {
                let cell = &self.cells[&dropped];
                comparison.name_dropped(dropped, cell.axes_text(axes), cell.player_names.clone());
            }
        }
        let experiment = &self.experiments[&id];
        comparison.see_settings(&StoredExperiment {
            settings: experiment.settings.clone(),
            axes: experiment.axes.clone(),
            anchors: experiment.anchors.clone(),
            definition_prefixes: its
                .values()
                .filter(|(_, cell)| cell.in_sweep)
                .map(|(_, cell)| cell.definition_prefix.clone())
                .collect(),
        });
        comparison
    }

    pub(super) fn add_cells(
        &mut self,
        experiment: ExperimentId,
        plan: &Plan,
        numbers: &[usize],
    ) -> Result<Vec<CellId>, StoreError> {
        let mut ids = Vec::new();
        for &number in numbers {
            let planned = &plan.cells[number];
            let conditions = &plan.conditions[planned.conditions];
            let players = planned.players.each_ref().map(|player| &player.parameters_json);
            let needs = players.map(|json| Needs::from_parameters(json));
            let definition = DefinitionJson::new(conditions);
            let cell = Cell {
                experiment,
                number: number as u64,
                hash: planned.definition_hash,
                definition_prefix: definition.prefix().to_owned(),
                definition_json: definition.with_players(players[0], players[1]),
                players: players.map(Clone::clone),
                place: place(plan, number),
                player_names: planned.player_names.each_ref().map(|name| name.to_string()),
                swap_sides: conditions.swap_sides,
                openings_count: conditions.openings_count,
                timed: planned.timed,
                repeats: planned.repeats,
                games_planned: safe("a cell's games", planned.games)?.unsigned_abs(),
                in_sweep: true,
                superseded: false,
                next_number: 0,
                returned: Vec::new(),
                rule: plan.stop,
                decided_number: 0,
                stop_number: None,
                chess960: GameRequest::from_rules(&conditions.rules).chess960,
                needs: needs[0].together(&needs[1]),
                is_deterministic: players.iter().all(|json| {
                    serde_json::from_str(json).is_ok_and(|parameters| is_deterministic(&parameters))
                }),
                asked_after: None,
                outcome: None,
                is_training: false,
                verifies: None,
            };
            self.last_cell += 1;
            let id = CellId(self.last_cell);
            self.cells.insert(id, cell);
            ids.push(id);
        }
        Ok(ids)
    }

    /// The states of some of an experiment's cells, in the given order.
    pub(super) fn states_of(&self, id: ExperimentId, cells: &[CellId]) -> Vec<CellState> {
        let states: BTreeMap<CellId, CellState> =
            self.cell_states(id).into_iter().map(|state| (state.cell, state)).collect();
        cells.iter().filter_map(|cell| states.get(cell).cloned()).collect()
    }
}

impl Experiment {
    fn become_what(&mut self, toml: &str, files: &BTreeMap<String, String>, plan: &Plan) {
        toml.clone_into(&mut self.toml);
        self.files.clone_from(files);
        self.settings.clone_from(&plan.settings);
        if self.is_pruned {
            // An experiment whose moves were deleted stores no further moves.
            self.settings.record = Record::Games;
        }
        self.axes = plan.axes.iter().map(|axis| axis.name.clone()).collect();
        self.anchors.clone_from(&plan.anchors);
    }
}

impl Cell {
    /// The cell's place on these axes, as text for people.
    fn axes_text(&self, axes: &[String]) -> String {
        let axis_text = |axis: &String| {
            let (_, value) = self.place.iter().find(|(name, _)| name == axis)?;
            Some(format!("{axis}={}", value.text))
        };
        axes.iter().filter_map(axis_text).collect::<Vec<_>>().join(", ")
    }
}

fn known(claim: &StatedClaim) -> KnownClaim {
    KnownClaim {
        text: claim.text.clone(),
        hash: claim.hash,
        is_late: claim.is_late,
        in_sweep: claim.in_sweep,
    }
}

fn standing(claim: &StatedClaim) -> ClaimStanding {
    known(claim).into()
}

fn place(plan: &Plan, number: usize) -> Vec<(String, spelrum_model::AxisValue)> {
    let place = plan.place(&plan.cells[number]);
    place.map(|(axis, value)| (axis.to_owned(), value.clone())).collect()
}
