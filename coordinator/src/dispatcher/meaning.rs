//! What the scheduler's effects mean: which answer goes out, and what is stored where. Pure.

use std::time::Duration;

use spelrum_proto::v1;
use spelrum_proto::work::ReportedWhat;
use spelrum_tournament::scheduler::{Effect, Report, Verdict};
use spelrum_tournament::stopping::Points;
use spelrum_tournament::{ExperimentId, GameId, GameRange, LeaseId};

use crate::store::Refused;

/// The scheduler's answer to one event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// To `LeaseWanted`.
    Grant { lease: LeaseId, ranges: Vec<GameRange>, duration: Duration },
    /// To `LeaseWanted`.
    Idle { retry_after: Duration, all_done: bool },
    /// To `Heartbeat`.
    Drop(Vec<LeaseId>),
    /// To `Reported`.
    Verdict(Verdict),
}

/// What any event may bring beside its answer, since every event also expires what is due.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    /// Games that are settled as failed, with the message.
    pub(super) failed: Vec<(GameId, String)>,
    /// Experiments whose every game is settled.
    pub(super) finished: Vec<ExperimentId>,
}

/// Splits the effects of one event into its answer, if the event has one, and consequences.
pub(super) fn read(effects: Vec<Effect>, consequences: &mut Consequences) -> Option<Answer> {
    let mut answer = None;
    for effect in effects {
        let found = match effect {
            Effect::Grant { lease, ranges, duration_ms, .. } => {
                Answer::Grant { lease, ranges, duration: Duration::from_millis(duration_ms) }
            }
            Effect::Idle { retry_after_ms, all_done, .. } => {
                Answer::Idle { retry_after: Duration::from_millis(retry_after_ms), all_done }
            }
            Effect::Drop { leases, .. } => Answer::Drop(leases),
            Effect::Verdict { verdict, .. } => Answer::Verdict(verdict),
            Effect::SettleFailed { game, message } => {
                consequences.failed.push((game, message));
                continue;
            }
            Effect::Finished { experiment } => {
                consequences.finished.push(experiment);
                continue;
            }
        };
        debug_assert!(answer.is_none(), "an event has one answer: {answer:?}, {found:?}");
        answer = Some(found);
    }
    answer
}

/// What the scheduler must know of a reported result.
pub(super) fn report_of(what: &ReportedWhat) -> Report {
    match what {
        ReportedWhat::Played(game) => {
            let points = match game.outcome() {
                v1::Outcome::Win => Points::One,
                v1::Outcome::Draw => Points::Half,
                // None at all is refused when it is stored.
                v1::Outcome::Loss | v1::Outcome::Unspecified => Points::Zero,
            };
            Report::Played { wall_us: game.wall_us, points }
        }
        ReportedWhat::Failed { message, .. } => Report::Failed { message: message.clone() },
        ReportedWhat::Irregular { .. } => Report::Irregular,
    }
}

/// Where the results of one report go (invariant 4), and what their worker is told.
#[derive(Debug, Default)]
pub(super) struct Placement {
    /// Into `games`.
    pub(super) counted: Vec<v1::Game>,
    /// Into `uncounted_games`, as repeats or conflicts.
    pub(super) again: Vec<v1::Game>,
    /// Into `uncounted_games`, as results of a cancelled experiment.
    pub(super) after_cancel: Vec<v1::Game>,
    /// What workers said of games that failed and will be tried again.
    pub(super) noted: Vec<(GameId, String)>,
    /// Into `refused_results`, with what is wrong.
    pub(super) refused: Vec<Refused>,
    /// One for each result, in order.
    pub(super) verdicts: Vec<v1::Verdict>,
}

impl Placement {
    /// Places the next result.
    pub(super) fn place(
        &mut self,
        lease: LeaseId,
        game: GameId,
        what: ReportedWhat,
        verdict: Verdict,
    ) {
        let told = match verdict {
            Verdict::Counts => v1::Verdict::Counted,
            Verdict::Again | Verdict::AfterCancel => v1::Verdict::Uncounted,
            Verdict::Noted => v1::Verdict::Noted,
            Verdict::Refused | Verdict::Rejected => v1::Verdict::Rejected,
        };
        self.verdicts.push(told);
        match (what, verdict) {
            (ReportedWhat::Played(game), Verdict::Counts) => self.counted.push(game),
            (ReportedWhat::Played(game), Verdict::Again) => self.again.push(game),
            (ReportedWhat::Played(game), Verdict::AfterCancel) => self.after_cancel.push(game),
            (ReportedWhat::Failed { message, .. }, Verdict::Noted) => {
                self.noted.push((game, message));
            }
            (ReportedWhat::Irregular { game, problem }, Verdict::Refused) => {
                self.refused.push(Refused { lease, game, problem });
            }
            (ReportedWhat::Played(_), Verdict::Noted | Verdict::Refused | Verdict::Rejected)
            | (ReportedWhat::Failed { .. } | ReportedWhat::Irregular { .. }, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use spelrum_tournament::{CellId, WorkerId};

    use super::*;

    fn game(number: u64) -> GameId {
        GameId { cell: CellId(1), number }
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
        let played = |number| ReportedWhat::Played(v1::Game { number, ..v1::Game::default() });
        let failed = || ReportedWhat::Failed { engine_revision: 1, message: "no".to_owned() };
        let mut placement = Placement::default();
        placement.place(LeaseId(1), game(9), played(0), Verdict::Counts);
        placement.place(LeaseId(1), game(9), played(1), Verdict::Again);
        placement.place(LeaseId(1), game(9), played(2), Verdict::AfterCancel);
        placement.place(LeaseId(1), game(9), played(3), Verdict::Rejected);
        placement.place(LeaseId(1), game(9), failed(), Verdict::Noted);
        placement.place(LeaseId(1), game(9), failed(), Verdict::Again);
        placement.place(LeaseId(1), game(9), failed(), Verdict::AfterCancel);
        placement.place(LeaseId(1), game(9), failed(), Verdict::Rejected);
        let irregular = || {
            let game = v1::Game { number: 4, ..v1::Game::default() };
            ReportedWhat::Irregular { game, problem: "no opening".to_owned() }
        };
        placement.place(LeaseId(1), game(9), irregular(), Verdict::Refused);
        placement.place(LeaseId(1), game(9), irregular(), Verdict::Rejected);
        let numbers = |games: &[v1::Game]| games.iter().map(|it| it.number).collect::<Vec<_>>();
        assert_eq!(numbers(&placement.counted), [0]);
        assert_eq!(numbers(&placement.again), [1]);
        assert_eq!(numbers(&placement.after_cancel), [2]);
        assert_eq!(placement.noted, [(game(9), "no".to_owned())]);
        let [refused] = &placement.refused[..] else { panic!("one is refused") };
        assert_eq!((refused.game.number, &*refused.problem), (4, "no opening"));
        assert_eq!(
            placement.verdicts,
            [
                v1::Verdict::Counted,
                v1::Verdict::Uncounted,
                v1::Verdict::Uncounted,
                v1::Verdict::Rejected,
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
