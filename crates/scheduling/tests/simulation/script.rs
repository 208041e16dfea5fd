//! Short stories for the behaviour tests: what happens on the left, what the scheduler does about
//! it on the right.
//!
//! ```text
//! submit e1 10x4            ->
//! w1 wants 2                -> lease 1: 10:0-3
//! w1 beats 1 playing 10:0   ->
//! w1 played 1/10:0-1        -> counts, counts
//! 30s pass                  ->
//! w2 wants 1                -> lease 2: 10:2-3
//! ```
//!
//! `30s stall` is time in which the coordinator stood still.
//!
//! `submit e1 10x100 to 0.2` gives its cells a stop rule; every game is a draw. `reopen 10:0-1` is
//! that settled games are to be played again. `submit e1 10x100 20x100 informative` serves the cell first
//! whose score is known least, and `submit e1 10x100 bound 4` lets workers hold four games at once.
//!
//! `10 needs 60`, before it is submitted, gives the games of a cell a need of memory;
//! `w1 wants 2 of 100` is a worker whose two slots have so much together. `10 plays fish bird` is what
//! engines its games need, `w1 wants 2 with fish fish` a worker that may run two of this one at once.
//!
//! `9 trains` makes a cell one of a training, `9 verifies w1` one of what w1 has played, `10 waits for 9` has another one wait for it, `w1 wants 2 as of old` is a
//! worker that does not train.
//!
//! `w1 disturbed 1/10:0` is a result whose players were disturbed: it counts only where the game was played again twice
//! for that before.
//!
//! `exclude w1` is that somebody does not believe a worker any more, `exclude w1 from e1` in this experiment,
//! and `readmit w1` that somebody does again.
//!
//! `e1 requires site=a gpu` and `e1 prefers gpu` say which labels the next submit of an experiment asks for, and `w1
//! wants 2 at site=a` is a worker that has some. `e1 bounds speed=1000 noise=20 period=50` says how fast and how
//! even workers must be, and how long the period of their quota may be, in thousandths of 10 ms; `w1 wants 2 knowing
//! speed=900 noise=10 age=5 period=800` is a worker with such a machine, and `w1 wants 2` one that has not measured
//! it. Timed are 100, 103 and so on.
//!
//! Each line is a transaction of its own, judged and committed. `lost: …` is one whose commit
//! fails, and `restart` builds the scheduler again. A line without `->` may have any effects.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelrum_model::demands::{Demands, Offer, Unmet};
use spelrum_model::labels::{Label, WantedLabel};
use spelrum_model::placement::Placement;
use spelrum_model::withheld::Withheld;
use spelrum_model::{
    Allocation, CellId, ExperimentId, ExperimentState, GameId, GameRange, LeaseId,
    SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{Effect, Event, Policy, Report, Verdict};
use spelrum_scheduling::stopping::Points;
use spelrum_statistics::StopRule;

use crate::desk::{Desk, Result};
use crate::engines::{need, offer};
use crate::machines::speed;

/// Plays a story under the default policy.
#[track_caller]
pub(crate) fn check(story: &str) {
    check_with(Policy::default(), story);
}

/// Plays a story.
#[track_caller]
pub(crate) fn check_with(policy: Policy, story: &str) {
    let mut stage = Stage { desk: Desk::open(policy, <_>::default(), None), now: 0, playing: 0 };
    let mut transcript = String::new();
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (command, expected) = match line.split_once("->") {
            Some((command, expected)) => (command.trim(), Some(expected.trim())),
            None => (line, None),
        };
        let effects = stage.execute(command);
        transcript += &format!("{command} -> {effects}\n");
        assert!(
            expected.is_none_or(|expected| expected == effects),
            "the story goes\n{transcript}but should have been\n{line}"
        );
    }
}

struct Stage {
    desk: Desk,
    now: u64,
    playing: u64,
}

impl Stage {
    /// Plays a line, and says what the scheduler did.
    fn execute(&mut self, line: &str) -> String {
        let (line, committed) = match line.strip_prefix("lost: ") {
            Some(line) => (line, false),
            None => (line, true),
        };
        let effects = self.act(line);
        if committed {
            self.desk.commit();
        } else {
            self.desk.restart(self.now);
        }
        effects.iter().map(describe).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn act(&mut self, line: &str) -> Vec<Effect> {
        let words: Vec<_> = line.split_whitespace().collect();
        let event = match *words.as_slice() {
            ["restart"] => {
                self.desk.restart(self.now);
                return Vec::new();
            }
            [time, "pass" | "passes"] => {
                self.now += milliseconds(time);
                Event::Tick
            }
            [time, "stall"] => {
                self.now += milliseconds(time);
                self.desk.begin_turn(self.now, milliseconds(time));
                Event::Tick
            }
            ["submit", experiment, ref cells @ ..] => {
                let mut settings = SchedulingSettings::default();
                let (rule, cells) = match *cells {
                    [ref cells @ .., "to", precision] => (precision.parse().ok(), cells),
                    [ref cells @ .., "priority", priority] => {
                        settings.priority = priority.parse().unwrap();
                        (None, cells)
                    }
                    [ref cells @ .., "bound", games] => {
                        settings.games_at_once = games.parse().ok();
                        (None, cells)
                    }
                    [ref cells @ .., "informative"] => {
                        settings.allocation = Allocation::Informative;
                        (None, cells)
                    }
                    _ => (None, cells),
                };
                let rule = rule.and_then(StopRule::from_precision);
                let cells: Vec<_> = cells.iter().map(|text| cell_and_games(text)).collect();
                self.desk.drain();
                self.desk.staged_mut().submit(experiment_id(experiment), settings, &cells, rule)
            }
            [how @ ("pause" | "resume" | "cancel"), experiment] => {
                let state = match how {
                    "pause" => ExperimentState::Paused,
                    "resume" => ExperimentState::Running,
                    _ => ExperimentState::Cancelled,
                };
                self.desk.staged_mut().steer(experiment_id(experiment), state)
            }
            ["prioritize", experiment, priority] => {
                let priority = priority.parse().unwrap();
                self.desk.staged_mut().prioritize(experiment_id(experiment), priority)
            }
            ["reopen", games] => {
                let games: Vec<_> = self::games(games).collect();
                self.desk.drain();
                let experiment = self.desk.staged().cells[&games[0].cell].0;
                self.desk.staged_mut().reopen(experiment, |game, _| games.contains(&game))
            }
            ["exclude", worker, "from", experiment] => {
                self.desk.exclude(worker_id(worker), Some(experiment_id(experiment)), self.now);
                return Vec::new();
            }
            ["exclude", worker] => {
                self.desk.exclude(worker_id(worker), None, self.now);
                return Vec::new();
            }
            ["readmit", worker] => self.desk.staged_mut().readmit(worker_id(worker)),
            ["delete", experiment] => self.desk.staged_mut().delete(experiment_id(experiment)),
            [cell, "needs", bytes] => {
                let cell = CellId(cell.parse().unwrap());
                self.desk.staged_mut().needs.insert(cell, bytes.parse().unwrap());
                return Vec::new();
            }
            [cell, "plays", ref engines @ ..] => {
                let cell = CellId(cell.parse().unwrap());
                let engines = engines.iter().map(|engine| need(engine, None)).collect();
                let demands = Arc::new(Demands { engines, ..Demands::default() });
                self.desk.staged_mut().demands.insert(cell, demands);
                return Vec::new();
            }
            [experiment, how @ ("requires" | "prefers"), ref labels @ ..] => {
                let labels = labels.iter().map(|text| WantedLabel::parse(text).unwrap()).collect();
                let placement = match how {
                    "requires" => Placement { require: labels, ..Placement::default() },
                    _ => Placement { prefer: labels, ..Placement::default() },
                };
                self.desk.staged_mut().placements.insert(experiment_id(experiment), placement);
                return Vec::new();
            }
            [experiment, "bounds", ref bounds @ ..] => {
                let mut placement = Placement::default();
                for (name, number) in bounds.iter().map(|bound| numbered(bound)) {
                    match name {
                        "speed" => placement.speed_min = Some(number),
                        "noise" => placement.noise_max_permille = number.try_into().ok(),
                        _ => placement.quota_period_max_permille = number.try_into().ok(),
                    }
                }
                self.desk.staged_mut().placements.insert(experiment_id(experiment), placement);
                return Vec::new();
            }
            [cell, "trains"] => {
                let cell = CellId(cell.parse().unwrap());
                self.desk.staged_mut().trainings.insert(cell);
                return Vec::new();
            }
            [cell, "verifies", player] => {
                let cell = CellId(cell.parse().unwrap());
                self.desk.staged_mut().verified.insert(cell, worker_id(player));
                return Vec::new();
            }
            [cell, "waits", "for", ref cells @ ..] => {
                let id = |text: &&str| CellId(text.parse().unwrap());
                let (cell, cells) = (id(&cell), cells.iter().map(id).collect());
                self.desk.staged_mut().after.insert(cell, cells);
                return Vec::new();
            }
            [worker, "verified", leased] => {
                return self.report(worker, leased, &Report::Verified, false);
            }
            [worker, "trained", leased] => {
                return self.report(worker, leased, &Report::Trained, false);
            }
            [worker, "wants", slots, "as", "of", "old"] => {
                let mut wanted = wants(worker, slots, None, &[]);
                if let Event::LeaseWanted { trains, verifies, .. } = &mut wanted {
                    (*trains, *verifies) = (false, false);
                }
                wanted
            }
            [worker, "wants", slots, "at", ref labels @ ..] => {
                let mut wanted = wants(worker, slots, None, &[]);
                if let Event::LeaseWanted { offer, .. } = &mut wanted {
                    offer.labels = labels.iter().map(|text| Label::parse(text).unwrap()).collect();
                }
                wanted
            }
            [worker, "wants", slots, "knowing", ref reported @ ..] => {
                let mut wanted = wants(worker, slots, None, &[]);
                if let Event::LeaseWanted { offer, .. } = &mut wanted {
                    let mut its = speed(0, 0);
                    for (name, number) in reported.iter().map(|bound| numbered(bound)) {
                        match name {
                            "speed" => its.nodes_per_second = number,
                            "noise" => its.noise_permille = number.try_into().unwrap(),
                            "age" => its.age_ms = number,
                            _ => offer.quota_period_us = Some(number),
                        }
                    }
                    offer.speeds.extend((its.nodes_per_second > 0).then_some(its));
                }
                wanted
            }
            [worker, "wants", slots] => wants(worker, slots, None, &[]),
            [worker, "wants", slots, "of", bytes] => {
                wants(worker, slots, Some(bytes.parse().unwrap()), &[])
            }
            [worker, "wants", slots, "with", ref engines @ ..] => {
                wants(worker, slots, None, engines)
            }
            [worker, "beats", ref leases @ .., "playing", playing] => Event::Heartbeat {
                worker: worker_id(worker),
                leases: leases.iter().map(|text| lease_id(text)).collect(),
                playing: games(playing).collect(),
            },
            [worker, "beats", ref leases @ ..] => Event::Heartbeat {
                worker: worker_id(worker),
                leases: leases.iter().map(|text| lease_id(text)).collect(),
                playing: Vec::new(),
            },
            [worker, "returns", lease] => {
                Event::GivenBack { worker: worker_id(worker), lease: lease_id(lease) }
            }
            [worker, "failed", leased] => {
                let report = Report::Failed { message: "boom".into() };
                return self.report(worker, leased, &report, false);
            }
            [worker, "played", leased] => {
                return self.report(worker, leased, &played(1_000), false);
            }
            [worker, "disturbed", leased] => {
                return self.report(worker, leased, &played(1_000), true);
            }
            [worker, "played", leased, "in", time] => {
                let wall_us = microseconds(time);
                return self.report(worker, leased, &played(wall_us), false);
            }
            _ => panic!("nobody understands {line:?}"),
        };
        self.desk.handle(event, self.now)
    }

    /// `leased` is the lease and its games, such as `3/10:0-5`.
    fn report(
        &mut self,
        worker: &str,
        leased: &str,
        report: &Report,
        disturbed: bool,
    ) -> Vec<Effect> {
        let (lease, range) = leased.split_once('/').unwrap();
        let mut effects = Vec::new();
        for game in games(range) {
            self.playing += 1;
            let (playing, report) = (self.playing, report.clone());
            let result = Result { lease: lease_id(lease), game, playing, report, disturbed };
            effects.extend(self.desk.report(worker_id(worker), &result, false, self.now));
        }
        effects
    }
}

fn wants(worker: &str, slots: &str, memory_bytes: Option<u64>, engines: &[&str]) -> Event {
    let names: BTreeSet<&str> = engines.iter().copied().collect();
    let at_once =
        |name| u32::try_from(engines.iter().filter(|engine| **engine == name).count()).unwrap();
    let engines = names.into_iter().map(|name| offer(name, "1", at_once(name))).collect();
    Event::LeaseWanted {
        worker: worker_id(worker),
        slots: slots.parse().unwrap(),
        quiet_slots: 0,
        memory_bytes,
        offer: Offer { engines, ..Offer::default() },
        trains: true,
        verifies: true,
    }
}

fn describe_lack(lack: &Unmet) -> String {
    match lack {
        Unmet::Engines => "engines".to_owned(),
        Unmet::Label(label) => label.to_string(),
        Unmet::QuotaPeriod { .. } => "period".to_owned(),
        Unmet::Speed { .. } => "speed".to_owned(),
        Unmet::Noise { .. } => "quiet".to_owned(),
        Unmet::Measured(_) => "measurement".to_owned(),
    }
}

/// `speed=1000`.
fn numbered(text: &str) -> (&str, u64) {
    let (name, number) = text.split_once('=').unwrap();
    (name, number.parse().unwrap())
}

/// A draw.
const fn played(wall_us: u64) -> Report {
    Report::Played { wall_us, points: Points::Half, moves_hash: 0, forfeit: None }
}

fn describe(effect: &Effect) -> String {
    match effect {
        Effect::Grant { lease, ranges, .. } => {
            let ranges: Vec<_> = ranges.iter().map(describe_range).collect();
            format!("lease {lease}: {}", ranges.join(" "))
        }
        Effect::Idle { calibrate: Some(_), .. } => "measure".into(),
        Effect::Idle { all_done: true, withheld: None, .. } => "done".into(),
        Effect::Idle { withheld: Some(Withheld::Excluded), .. } => "excluded".into(),
        Effect::Idle { withheld: Some(Withheld::Quarantined { .. }), .. } => "quarantined".into(),
        Effect::Idle { withheld: Some(Withheld::Unmet(lacking)), .. } => {
            let lacks: Vec<String> = lacking.iter().map(describe_lack).collect();
            format!("lacks {}", lacks.join(" "))
        }
        Effect::Quarantined { worker, faults, games } => {
            format!("quarantine w{worker} ({faults} of {games})")
        }
        Effect::Barred { worker, barred } => format!("bar w{worker} from {}", barred.engine),
        Effect::Idle { withheld: Some(Withheld::Barred(_)), .. } => "barred".into(),
        Effect::Idle { all_done: false, .. } => "wait".into(),
        Effect::Drop { leases, .. } if leases.is_empty() => String::new(),
        Effect::Drop { leases, .. } => {
            let leases: Vec<_> = leases.iter().map(ToString::to_string).collect();
            format!("drop {}", leases.join(" "))
        }
        Effect::Verdict { verdict, .. } => match verdict {
            Verdict::Counts => "counts",
            Verdict::Noted => "noted",
            Verdict::Again => "again",
            Verdict::AfterCancel => "after cancel",
            Verdict::Excluded => "excluded",
            Verdict::Disturbed => "disturbed",
            Verdict::Refused => "refused",
            Verdict::Rejected => "rejected",
        }
        .into(),
        Effect::SettleFailed { game, message } => {
            format!("give up {}:{} ({message})", game.cell, game.number)
        }
        Effect::Finished { experiment } => format!("e{experiment} finished"),
    }
}

fn describe_range(range: &GameRange) -> String {
    let GameRange { cell, first, count } = range;
    if *count == 1 {
        format!("{cell}:{first}")
    } else {
        format!("{cell}:{first}-{}", range.end() - 1)
    }
}

/// `10:3` or `10:3-5`.
fn games(text: &str) -> impl Iterator<Item = GameId> {
    let (cell, numbers) = text.split_once(':').unwrap();
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let cell = CellId(cell.parse().unwrap());
    let numbers = first.parse().unwrap()..=last.parse().unwrap();
    numbers.map(move |number| GameId { cell, number })
}

/// `10x4`.
fn cell_and_games(text: &str) -> (CellId, u64) {
    let (cell, games) = text.split_once('x').unwrap();
    (CellId(cell.parse().unwrap()), games.parse().unwrap())
}

/// `30s` or `20ms`.
fn milliseconds(text: &str) -> u64 {
    match text.strip_suffix("ms") {
        Some(milliseconds) => milliseconds.parse().unwrap(),
        None => 1_000 * text.strip_suffix('s').unwrap().parse::<u64>().unwrap(),
    }
}

/// `50us`, or as [`milliseconds`].
fn microseconds(text: &str) -> u64 {
    match text.strip_suffix("us") {
        Some(microseconds) => microseconds.parse().unwrap(),
        None => 1_000 * milliseconds(text),
    }
}

fn experiment_id(text: &str) -> ExperimentId {
    ExperimentId(text.strip_prefix('e').unwrap().parse().unwrap())
}

fn worker_id(text: &str) -> WorkerId {
    WorkerId(text.strip_prefix('w').unwrap().parse().unwrap())
}

fn lease_id(text: &str) -> LeaseId {
    LeaseId(text.parse().unwrap())
}
