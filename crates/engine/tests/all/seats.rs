//! Foreign players at the board: they play, crash, hang, cheat and exceed their time, and each game ends with
//! the right termination.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Duration;

use crate::common::{all_rules, key, player, start};
use spelrum_engine::games::{Pentago, TicTacToe};
use spelrum_engine::{
    Answer, Board, ExternalPlayer, Fault, GameRecord, Host, Outcome, Participant, PlayError,
    Player, Rules, SearchReport, Termination, TextTurn, Timeless, play_between, play_game,
    replay_moves, termination_named, terminations,
};

/// A clock that somebody moves by hand, and a wish to stop.
#[derive(Default)]
struct ByHand {
    now: Cell<Duration>,
    /// How often the thread was interrupted until now, if that is known.
    switches: Cell<Option<u64>>,
    is_unwanted: Cell<bool>,
}

impl Host for ByHand {
    fn wall(&self) -> Duration {
        self.now.get()
    }

    /// The thread is always busy.
    fn cpu(&self) -> Duration {
        self.now.get()
    }

    /// Three between any two readings of the clocks.
    fn involuntary_switches(&self) -> Option<u64> {
        self.switches.set(Some(self.switches.get()? + 3));
        self.switches.get()
    }

    fn aborted(&self) -> bool {
        self.is_unwanted.get()
    }
}

/// Plays the last legal move, until the ply where something happens.
struct Stranger<'a> {
    host: &'a ByHand,
    ply: usize,
    behaviour: Behaviour,
    time_limit: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
enum Behaviour {
    Nothing,
    Crashes,
    /// Waits for ever, looking at the clock and at whether the game is still wanted.
    Hangs,
    AnswersTooLate,
    Says(&'static str),
    GivesUp,
}

/// What a stranger's move took it.
const THINKING: Duration = Duration::from_millis(3);

impl ExternalPlayer for Stranger<'_> {
    fn choose(&mut self, turn: &TextTurn<'_>, host: &dyn Host) -> Result<Answer<String>, Fault> {
        // It is shown everything that a program at the other end of a pipe needs.
        let moves = turn.moves.iter().map(|record| record.mv.as_str());
        let positions = replay_moves(turn.rules, turn.opening, moves).unwrap();
        let position = positions.last().unwrap();
        assert_eq!(position.to_move, turn.to_move);
        let begun = host.wall();
        self.host.now.set(begun + THINKING);
        if turn.moves.len() >= self.ply {
            match self.behaviour {
                Behaviour::Nothing => {}
                Behaviour::Crashes => return Err(Fault::Crash("segmentation fault".to_owned())),
                Behaviour::Hangs => loop {
                    if host.aborted() {
                        return Err(Fault::Aborted);
                    }
                    if self.time_limit.is_some_and(|limit| host.wall() - begun >= limit) {
                        return Err(Fault::Stall("no answer".to_owned()));
                    }
                    let now = host.wall() + Duration::from_millis(1);
                    self.host.now.set(now);
                    // Somebody loses patience in the end.
                    self.host.is_unwanted.set(now > Duration::from_secs(10));
                },
                Behaviour::AnswersTooLate => {
                    self.host.now.set(host.wall() + Duration::from_secs(1));
                }
                Behaviour::GivesUp => return Err(Fault::Resignation("resign".to_owned())),
                Behaviour::Says(mv) => {
                    return Ok(Answer { mv: mv.to_owned(), search: SearchReport::UNKNOWN });
                }
            }
        }
        let mv = last_legal_move(turn.rules, &position.position);
        Ok(Answer { mv, search: SearchReport { depth: 1, nodes: 7, ..SearchReport::UNKNOWN } })
    }

    fn forfeits_after(&self) -> Option<Duration> {
        self.time_limit
    }

    /// It thinks in two threads of its own, of a system that counts interruptions, too.
    fn measured_cpu_time(&self) -> Option<Duration> {
        self.host.switches.get().map(|_| 2 * THINKING)
    }
}

fn last_legal_move(rules: &Rules, position: &str) -> String {
    use spelrum_engine::{Game, Position, with_game};
    with_game!(rules, G => {
        let position = G::parse(rules, position).unwrap();
        position.nth_legal_move(position.legal_move_count() - 1).to_string()
    })
}

/// A game of a stranger (first or second) against random play.
fn game(
    rules: &Rules,
    is_first: bool,
    ply: usize,
    behaviour: Behaviour,
    time_limit: Option<Duration>,
) -> Result<GameRecord, PlayError> {
    let host = ByHand::default();
    let random = player(rules, r#"{"algorithm": "random"}"#);
    let mut stranger = Stranger { host: &host, ply, behaviour, time_limit };
    let ours = Participant::Player { player: &random, key: key(1) };
    let theirs = Participant::External(&mut stranger);
    let participants = if is_first { [theirs, ours] } else { [ours, theirs] };
    let board = Board { rules, opening: &start(rules), max_plies: None, adjudication: None };
    play_between(&board, participants, &host, &mut |_| ControlFlow::Continue(()))
}

const SECOND: Option<Duration> = Some(Duration::from_millis(500));

/// What the thread that asks a program uses, and what interrupts it, says nothing of the program.
#[test]
fn interruptions_and_processor_time_of_the_thread_are_those_of_players_that_think_here() {
    let rules = &all_rules()[0];
    for known in [None, Some(1 << 40)] {
        let host = ByHand { switches: Cell::new(known), ..ByHand::default() };
        let random = player(rules, r#"{"algorithm": "random"}"#);
        let mut stranger = Stranger {
            host: &host,
            ply: usize::MAX,
            behaviour: Behaviour::Nothing,
            time_limit: None,
        };
        let ours = Participant::Player { player: &random, key: key(1) };
        let participants = [ours, Participant::External(&mut stranger)];
        let board = Board { rules, opening: &start(rules), max_plies: None, adjudication: None };
        let record =
            play_between(&board, participants, &host, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(record.moves.len() > 2);
        for mv in &record.moves {
            let expected = known.filter(|_| mv.mover == 0).map(|_| 3);
            assert_eq!(mv.involuntary_switches, expected, "{mv:?}");
            let cpu_us = if known.is_some() && mv.mover == 1 { 6_000 } else { 0 };
            assert_eq!(mv.cpu_us, cpu_us, "{mv:?}");
        }
    }
}

#[test]
fn a_stranger_plays_a_whole_game_by_the_rules() {
    for rules in all_rules() {
        for is_first in [true, false] {
            let record = game(&rules, is_first, usize::MAX, Behaviour::Nothing, SECOND).unwrap();
            assert!(!Termination::OF_ARBITER.contains(&record.termination), "{record:?}");
            let opening = start(&rules);
            let moves = record.moves.iter().map(|record| record.mv.as_str());
            let positions = replay_moves(&rules, &opening, moves).unwrap();
            assert_eq!(positions.last().unwrap().ending.unwrap().termination, record.termination);
            assert_eq!(record.first_side, positions[0].to_move);
            for mv in &record.moves {
                let is_strangers = (mv.mover == 0) == is_first;
                assert_eq!(mv.search.nodes == 7, is_strangers);
                let wall_us = if is_strangers { 3_000 } else { 0 };
                assert_eq!(mv.wall_us, wall_us, "each move has its own time");
            }
        }
    }
}

#[test]
fn a_failing_player_loses_with_the_right_termination() {
    let cases: &[(Behaviour, Option<Duration>, Termination)] = &[
        (Behaviour::Crashes, None, Termination::CRASH),
        (Behaviour::Crashes, SECOND, Termination::CRASH),
        (Behaviour::Hangs, SECOND, Termination::STALL),
        (Behaviour::GivesUp, None, Termination::RESIGNATION),
        (Behaviour::AnswersTooLate, SECOND, Termination::TIME_FORFEIT),
        (Behaviour::Says("resign"), None, Termination::ILLEGAL_MOVE),
        (Behaviour::Says(""), SECOND, Termination::ILLEGAL_MOVE),
        (Behaviour::Says("a1-9x"), SECOND, Termination::ILLEGAL_MOVE),
    ];
    for rules in all_rules() {
        for &(behaviour, time_limit, termination) in cases {
            for (is_first, ply) in [(true, 0), (true, 2), (false, 0), (false, 2)] {
                let record = game(&rules, is_first, ply, behaviour, time_limit).unwrap();
                let about = format!("{rules:?} {behaviour:?} at ply {ply}: {record:?}");
                assert_eq!(record.termination, termination, "{about}");
                let outcome = if is_first { Outcome::Loss } else { Outcome::Win };
                assert_eq!(record.outcome, outcome, "{about}");
                // Its moves before that stand; the one that lost the game is not a part of it.
                let plies = ply + usize::from(is_first == (ply % 2 == 1));
                assert_eq!(record.moves.len(), plies, "{about}");
            }
        }
    }
}

/// A legal move of another position is illegal in this one.
#[test]
fn a_cell_that_is_taken_cannot_be_taken_again() {
    for (rules, taken) in [(Pentago::rules(true), "a1-4r"), (TicTacToe::rules(), "a1")] {
        let record = game(&rules, true, 0, Behaviour::Says(taken), None).unwrap();
        assert_eq!(record.termination, Termination::ILLEGAL_MOVE, "{rules:?}");
        assert!(!record.moves.is_empty(), "the first is legal");
    }
}

#[test]
fn a_late_player_without_a_limit_does_not_forfeit() {
    let rules = &all_rules()[0];
    let record = game(rules, true, 0, Behaviour::AnswersTooLate, None).unwrap();
    assert!(!Termination::OF_ARBITER.contains(&record.termination));
    assert!(record.moves[0].wall_us >= 1_000_000);
}

/// Nobody is to blame when the game is no longer wanted: it has no result.
#[test]
fn a_game_that_is_given_up_has_no_result() {
    for rules in all_rules() {
        assert_eq!(game(&rules, true, 1, Behaviour::Hangs, None), Err(PlayError::Aborted));
    }
}

/// Two of ours, seated one by one, play the game that they always play.
#[test]
fn our_players_are_one_kind_of_participant() {
    for rules in all_rules() {
        let players: [Player; 2] =
            [r#"{"algorithm": "random"}"#, r#"{"algorithm": "minimax", "depth": 1}"#]
                .map(|json| player(&rules, json));
        let opening = start(&rules);
        let board =
            Board { rules: &rules, opening: &opening, max_plies: Some(9), adjudication: None };
        let participant =
            |index: usize| Participant::Player { player: &players[index], key: key(index as u64) };
        let mut plies = 0;
        let between =
            play_between(&board, [participant(0), participant(1)], &Timeless, &mut |_| {
                plies += 1;
                ControlFlow::Continue(())
            });
        let setup = spelrum_engine::GameSetup {
            rules: &rules,
            opening: &opening,
            players: [&players[0], &players[1]],
            keys: [key(0), key(1)],
            max_plies: Some(9),
            adjudication: None,
            stops: None,
        };
        assert_eq!(between, play_game(&setup, &Timeless));
        assert_eq!(plies, between.unwrap().moves.len());
    }
}

/// Terminations are stored by name: names are distinct, and each is read back.
#[test]
fn terminations_have_names_of_their_own() {
    let mut names: Vec<&str> = terminations().map(Termination::name).collect();
    names.sort_unstable();
    insta::assert_snapshot!(names.join("\n"));
    for termination in terminations() {
        assert_eq!(termination_named(termination.name()), Some(termination));
        assert_eq!(serde_json::to_value(termination).unwrap(), termination.name());
    }
    assert_eq!(termination_named("Five_by_placement"), None);
    for game in Rules::games() {
        for (index, termination) in game.terminations.iter().enumerate() {
            assert!(!game.terminations[..index].contains(termination), "{}", game.name);
            assert!(!Termination::OF_ARBITER.contains(termination), "{}", game.name);
        }
    }
}
