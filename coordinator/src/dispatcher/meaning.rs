//! Translates the scheduler's effects into answers and rows to store. Pure.

use std::collections::BTreeSet;
use std::time::Duration;

use prost::Message as _;
use spelrum_answers::lacking_text;
use spelrum_model::bounds::check_lease;
use spelrum_model::speed::ScaledTime;
use spelrum_model::withheld::{Barred, Withheld};
use spelrum_model::{
    ExperimentId, FinishedTraining, GameId, GameRange, LeaseId, PlayedGame, PlayedVerification,
    WorkerId,
};
use spelrum_proto::work::ReportedWhat;
use spelrum_proto::{game, training, v1};
use spelrum_scheduling::scheduler::{Effect, Report, Verdict};

use spelrum_store::{GameFacts, Refused};

/// The scheduler's answer to one event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// To `LeaseWanted`.
    Grant { lease: LeaseId, ranges: Vec<GameRange>, lost: Vec<GameRange>, duration: Duration },
    /// To `LeaseWanted`.
    Idle {
        retry_after: Duration,
        all_done: bool,
        withheld: Option<Withheld>,
        calibrate: Option<String>,
    },
    /// To `Heartbeat`.
    Drop(Vec<LeaseId>),
    /// To `Reported`.
    Verdict(Verdict),
}

/// Consequences of an event beside its answer; every event also expires what is due.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    /// Games settled as failed, with the message.
    pub(super) failed: Vec<(GameId, String)>,
    /// Experiments whose games are all settled.
    pub(super) finished: Vec<ExperimentId>,
    /// Newly quarantined workers, each with its faults and number of games.
    pub(super) quarantined: Vec<(WorkerId, u64, u64)>,
    /// Workers that get no more games of an engine.
    pub(super) barred: Vec<(WorkerId, Barred)>,
}

/// Splits the effects of one event into its answer, if any, and consequences.
pub(super) fn read(effects: Vec<Effect>, consequences: &mut Consequences) -> Option<Answer> {
    let mut answer = None;
    for effect in effects {
        let next = match effect {
            Effect::Grant { lease, ranges, lost, duration_ms, .. } => {
                let duration = Duration::from_millis(duration_ms);
                Answer::Grant { lease, ranges, lost, duration }
            }
            Effect::Idle { worker: _, retry_after_ms, all_done, withheld, calibrate } => {
                let retry_after = Duration::from_millis(retry_after_ms);
                Answer::Idle { retry_after, all_done, withheld, calibrate }
            }
            Effect::Drop { leases, .. } => Answer::Drop(leases),
            Effect::Verdict { verdict, .. } => Answer::Verdict(verdict),
            Effect::SettleFailed { game, message } => {
                consequences.failed.push((game, message));
                continue;
            }
            Effect::Quarantined { worker, faults, games } => {
                consequences.quarantined.push((worker, faults, games));
                continue;
            }
            Effect::Barred { worker, barred } => {
                consequences.barred.push((worker, barred));
                continue;
            }
            Effect::Finished { experiment } => {
                consequences.finished.push(experiment);
                continue;
            }
        };
        debug_assert!(answer.is_none(), "an event has one answer: {answer:?}, {next:?}");
        answer = Some(next);
    }
    answer
}

/// Whether a result is kept beside the game's own and the game replayed: its players were disturbed, or the result is
/// kept so already. `kept` are the leases under which such results of the game came in the same transaction.
pub(super) fn plays_again(
    facts: &GameFacts,
    lease: LeaseId,
    result: &ReportedWhat,
    kept: &BTreeSet<LeaseId>,
) -> bool {
    let (ReportedWhat::Played(game), Some(timed)) = (result, facts.timed) else { return false };
    let before = facts.disturbed + kept.len() as u64;
    facts.is_kept
        || kept.contains(&lease)
        || timed.needs_replay(game.game.number, &game.record.moves, before)
}

/// Rejects a result whose time limits were scaled beyond what any sweep allows.
pub(super) fn refuse_wrong_scaling(result: ReportedWhat) -> ReportedWhat {
    let ReportedWhat::Played(game) = &result else { return result };
    let Some(Err(problem)) = game.scaled.map(ScaledTime::check) else { return result };
    let engine_revision = game.engine_revision;
    let record = game::to_wire(game.clone()).encode_to_vec();
    ReportedWhat::Irregular { engine_revision, record, problem }
}

/// Rejects a result that took longer than the time since its lease was granted, if that time is known.
pub(super) fn refuse_too_long(result: ReportedWhat, since_grant: Option<Duration>) -> ReportedWhat {
    let Some(since_grant) = since_grant else { return result };
    let (wall_us, engine_revision) = match &result {
        ReportedWhat::Played(game) => (game.record.wall_us, game.engine_revision),
        ReportedWhat::Verified(verified) => {
            (verified.played.record.wall_us, verified.played.engine_revision)
        }
        ReportedWhat::Trained(trained) => (trained.wall_us, trained.engine_revision),
        ReportedWhat::Irregular { .. } | ReportedWhat::Failed { .. } => return result,
    };
    let Err(irregularity) = check_lease(wall_us, since_grant) else { return result };
    let record = match result {
        ReportedWhat::Played(game) => game::to_wire(game).encode_to_vec(),
        ReportedWhat::Verified(verified) => game::to_wire(verified.played).encode_to_vec(),
        ReportedWhat::Trained(trained) => training::to_wire(*trained).encode_to_vec(),
        ReportedWhat::Irregular { .. } | ReportedWhat::Failed { .. } => return result,
    };
    ReportedWhat::Irregular { engine_revision, record, problem: irregularity.to_string() }
}

/// The scheduler's view of a reported result.
pub(super) fn scheduler_report(
    result: &ReportedWhat,
    plays_again: bool,
    forfeit: Option<(String, u64)>,
) -> Report {
    match result {
        ReportedWhat::Played(_) if plays_again => Report::Disturbed,
        ReportedWhat::Played(game) => Report::Played {
            wall_us: game.record.wall_us,
            points: game.record.outcome.into(),
            moves_hash: game.moves_hash,
            forfeit,
        },
        ReportedWhat::Trained(_) => Report::Trained,
        ReportedWhat::Verified(_) => Report::Verified,
        ReportedWhat::Failed { message, .. } => Report::Failed { message: message.clone() },
        ReportedWhat::Irregular { .. } => Report::Irregular,
    }
}

/// The tables for the results (invariant 4), each with its worker, and the verdicts for the workers.
#[derive(Debug, Default)]
pub(super) struct Placement {
    /// Into `games`.
    pub(super) counted: Vec<(WorkerId, PlayedGame)>,
    /// Into `uncounted_games`, as repeats, conflicts, or results of an excluded worker.
    pub(super) again: Vec<(WorkerId, PlayedGame)>,
    /// Into `uncounted_games`, as results of a cancelled experiment.
    pub(super) after_cancel: Vec<(WorkerId, PlayedGame)>,
    /// Into `uncounted_games`, as results whose games are replayed.
    pub(super) disturbed: Vec<(WorkerId, LeaseId, PlayedGame)>,
    /// Into `networks`, whatever happens to the experiment: networks are shared.
    pub(super) trained: Vec<(WorkerId, FinishedTraining)>,
    /// Into `verifications`.
    pub(super) verified: Vec<(WorkerId, PlayedVerification)>,
    /// Workers' messages about failed games that will be retried.
    pub(super) noted: Vec<(GameId, String)>,
    /// Into `refused_results`, with the reason.
    pub(super) refused: Vec<Refused>,
    /// One for each result, in order.
    pub(super) verdicts: Vec<v1::Verdict>,
}

impl Placement {
    /// Places the next result.
    pub(super) fn place(
        &mut self,
        (worker, lease, game): (WorkerId, LeaseId, GameId),
        result: ReportedWhat,
        verdict: Verdict,
    ) {
        let wire_verdict = match verdict {
            Verdict::Counts => v1::Verdict::Counted,
            Verdict::Again | Verdict::AfterCancel | Verdict::Excluded | Verdict::Disturbed => {
                v1::Verdict::Uncounted
            }
            Verdict::Noted => v1::Verdict::Noted,
            Verdict::Refused | Verdict::Rejected => v1::Verdict::Rejected,
        };
        self.verdicts.push(wire_verdict);
        match (result, verdict) {
            (ReportedWhat::Played(played), Verdict::Counts) => self.counted.push((worker, played)),
            (ReportedWhat::Played(played), Verdict::Again | Verdict::Excluded) => {
                self.again.push((worker, played));
            }
            (ReportedWhat::Played(played), Verdict::AfterCancel) => {
                self.after_cancel.push((worker, played))
            }
            (ReportedWhat::Played(played), Verdict::Disturbed) => {
                self.disturbed.push((worker, lease, played));
            }
            (ReportedWhat::Trained(trained), Verdict::Counts | Verdict::AfterCancel) => {
                self.trained.push((worker, *trained));
            }
            (ReportedWhat::Verified(verified), Verdict::Counts) => {
                self.verified.push((worker, *verified))
            }
            (ReportedWhat::Failed { message, .. }, Verdict::Noted) => {
                self.noted.push((game, message));
            }
            (ReportedWhat::Irregular { record, problem, .. }, Verdict::Refused) => {
                self.refused.push(Refused { worker, lease, game, record, problem });
            }
            (ReportedWhat::Played(_), Verdict::Noted | Verdict::Refused | Verdict::Rejected)
            | (
                ReportedWhat::Trained(_)
                | ReportedWhat::Verified(_)
                | ReportedWhat::Failed { .. }
                | ReportedWhat::Irregular { .. },
                _,
            ) => {}
        }
    }
}

/// Why a worker gets no games, for display.
pub(super) fn withheld_text(why: Withheld, worker: WorkerId) -> String {
    match why {
        Withheld::Excluded => format!(
            "this worker is excluded because its results are not trusted; to readmit it: \
             spelrum worker readmit {worker}"
        ),
        // Constant while the quarantine lasts: a worker logs the text whenever it changes.
        Withheld::Quarantined { .. } => format!(
            "half of its last games or more failed here and were then played by other workers; it gets games again \
             within ten minutes, or by: spelrum worker readmit {worker}"
        ),
        Withheld::Barred(Barred { engine, forfeits, games, of_others: [others, others_games] }) => {
            format!(
                "{engine} forfeited {forfeits} of {games} games here, and {others} of {others_games} at other workers: this \
             worker gets no more of its games; mend {engine} on this machine, and let it in again: \
             spelrum worker readmit {worker} --engine {engine}"
            )
        }
        Withheld::Unmet(lacking) => lacking_text(&lacking),
    }
}

#[cfg(test)]
mod tests {
    use spelrum_engine::{GameRecord, Outcome, Side, termination_named};
    use spelrum_model::CellId;

    use super::*;

    /// A worker logs the text when it changes.
    #[test]
    fn a_quarantine_is_told_once() {
        let text = |faults, left_ms| {
            withheld_text(Withheld::Quarantined { faults, games: 20, left_ms }, WorkerId(7))
        };
        assert_eq!(text(10, 600_000), text(12, 1));
        assert!(text(10, 1).ends_with("within ten minutes, or by: spelrum worker readmit 7"));
    }

    fn game(number: u64) -> GameId {
        GameId { cell: CellId(1), number }
    }

    fn played(number: u64) -> ReportedWhat {
        let record = GameRecord {
            outcome: Outcome::Draw,
            margin: None,
            termination: termination_named("five_by_placement").unwrap(),
            first_side: Side::First,
            moves: Vec::new(),
            wall_us: 1,
        };
        ReportedWhat::Played(PlayedGame {
            game: game(number),
            engine_revision: 1,
            opening: "start".to_owned(),
            moves_hash: record.moves_hash(),
            record,
            values: Vec::new(),
            engines: [None, None],
            forfeit: None,
            scaled: None,
            started_unix_us: 1,
        })
    }

    #[test]
    fn consequences_come_with_any_answer() {
        let mut consequences = Consequences::default();
        let answer = read(
            vec![
                Effect::SettleFailed { game: game(1), message: "lost".to_owned() },
                Effect::Drop { worker: WorkerId(1), leases: vec![LeaseId(4)] },
                Effect::Finished { experiment: ExperimentId(2) },
                Effect::SettleFailed { game: game(2), message: "failed".to_owned() },
            ],
            &mut consequences,
        );
        assert_eq!(answer, Some(Answer::Drop(vec![LeaseId(4)])));
        assert_eq!(
            consequences.failed,
            [(game(1), "lost".to_owned()), (game(2), "failed".to_owned())]
        );
        assert_eq!(consequences.finished, [ExperimentId(2)]);
        assert_eq!(read(Vec::new(), &mut consequences), None);
    }

    /// Every verdict on every kind of result: stored in exactly one place or nowhere.
    #[test]
    fn a_result_is_stored_once_or_not_at_all() {
        let id = (WorkerId(4), LeaseId(1), game(9));
        let failed = || ReportedWhat::Failed { engine_revision: 1, message: "no".to_owned() };
        let irregular = || ReportedWhat::Irregular {
            engine_revision: 1,
            record: vec![4],
            problem: "no opening".to_owned(),
        };
        let mut placement = Placement::default();
        placement.place(id, played(0), Verdict::Counts);
        placement.place(id, played(1), Verdict::Again);
        placement.place(id, played(2), Verdict::AfterCancel);
        placement.place(id, played(3), Verdict::Rejected);
        placement.place(id, played(4), Verdict::Disturbed);
        placement.place(id, failed(), Verdict::Noted);
        placement.place(id, failed(), Verdict::Again);
        placement.place(id, failed(), Verdict::AfterCancel);
        placement.place(id, failed(), Verdict::Rejected);
        placement.place(id, irregular(), Verdict::Refused);
        placement.place(id, irregular(), Verdict::Rejected);
        let numbers = |games: &[(WorkerId, PlayedGame)]| {
            games.iter().map(|(worker, played)| (worker.0, played.game.number)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&placement.counted), [(4, 0)]);
        assert_eq!(numbers(&placement.again), [(4, 1)]);
        assert_eq!(numbers(&placement.after_cancel), [(4, 2)]);
        let [(WorkerId(4), LeaseId(1), disturbed)] = &placement.disturbed[..] else {
            panic!("one is disturbed")
        };
        assert_eq!(disturbed.game.number, 4);
        assert_eq!(placement.noted, [(game(9), "no".to_owned())]);
        let [refused] = &placement.refused[..] else { panic!("one is refused") };
        assert_eq!(
            (refused.game, &*refused.record, &*refused.problem),
            (game(9), &[4][..], "no opening")
        );
        assert_eq!(
            placement.verdicts,
            [
                v1::Verdict::Counted,
                v1::Verdict::Uncounted,
                v1::Verdict::Uncounted,
                v1::Verdict::Rejected,
                v1::Verdict::Uncounted,
                v1::Verdict::Noted,
                v1::Verdict::Uncounted,
                v1::Verdict::Uncounted,
                v1::Verdict::Rejected,
                v1::Verdict::Rejected,
                v1::Verdict::Rejected,
            ]
        );
    }
}
