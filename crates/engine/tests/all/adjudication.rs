//! Games that end by their players' scores: the arbiter ends them where the rule requires, and the referee
//! reaches the same end from the record, and no other.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use crate::common::{all_rules, key, player, start};
use spelrum_engine::{
    Adjudication, Answer, Board, DrawRule, ExternalPlayer, Fault, GameRecord, GameSetup, Host,
    Outcome, Participant, Random, ResignRule, Rules, SearchReport, Side, Termination, TextTurn,
    Timeless, legal_moves, play_between, play_game, referee, replay_moves,
};

fn resign(score: u32, moves: u32, both: bool) -> Option<ResignRule> {
    let [score, moves] = [score, moves].map(|number| NonZeroU32::new(number).unwrap());
    Some(ResignRule { score, moves, both })
}

fn draw(score: u32, moves: u32, after: u32) -> Option<DrawRule> {
    Some(DrawRule { score, moves: NonZeroU32::new(moves).unwrap(), after, restart: false })
}

/// Moves by chance, and says of each move what it was told to say.
struct Scripted<'s> {
    random: Random,
    scores: &'s [Option<i32>],
}

impl ExternalPlayer for Scripted<'_> {
    fn choose(&mut self, turn: &TextTurn<'_>, _host: &dyn Host) -> Result<Answer<String>, Fault> {
        let moves = turn.moves.iter().map(|record| record.mv.as_str());
        let positions = replay_moves(turn.rules, turn.opening, moves).unwrap();
        let legal = legal_moves(turn.rules, &positions.last().unwrap().position).unwrap();
        let mv = legal[self.random.below(legal.len() as u32) as usize].clone();
        let score = self.scores[turn.moves.len() % self.scores.len()];
        Ok(Answer { mv, search: SearchReport { score, ..SearchReport::UNKNOWN } })
    }
}

/// A game of moves by chance with these scores, ply by ply, from the beginning again after the last.
fn game(board: &Board<'_>, scores: &[Option<i32>], seed: u64) -> GameRecord {
    let scripted = |seed| Scripted { random: Random::from_key(key(seed)), scores };
    let (mut first, mut second) = (scripted(seed), scripted(seed + 1));
    let participants = [Participant::External(&mut first), Participant::External(&mut second)];
    play_between(board, participants, &Timeless, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn judge(board: &Board<'_>, record: &GameRecord) -> Result<(), String> {
    referee(board, record).map_err(|error| error.to_string())
}

fn pentago() -> Rules {
    Rules::from_name("pentago").unwrap()
}

/// Where a game of Pentago with these scores ends: after how many plies, for whom, why.
fn end(adjudication: Adjudication, scores: &[i32]) -> (usize, Outcome, Termination) {
    let rules = pentago();
    let opening = start(&rules);
    // No side has five in a row before the ninth ply.
    let max_plies = Some(8);
    let board =
        Board { rules: &rules, opening: &opening, max_plies, adjudication: Some(adjudication) };
    let scores: Vec<Option<i32>> = scores.iter().copied().map(Some).collect();
    let record = game(&board, &scores, 1);
    assert_eq!(judge(&board, &record), Ok(()));
    (record.moves.len(), record.outcome, record.termination)
}

#[test]
fn a_side_that_says_so_often_enough_has_lost() {
    let (first_lost, second_lost) = ([-600, 600], [700, -700]);
    let (win, loss) = (Outcome::Win, Outcome::Loss);
    let (by_scores, by_length) = (Termination::RESIGN_RULE, Termination::MAX_PLIES);
    let after = |rule, scores: &[i32]| {
        end(Adjudication { resign: rule, ..Adjudication::default() }, scores)
    };
    // Both agree after the other's third move, whoever has lost.
    assert_eq!(after(resign(600, 3, true), &first_lost), (6, loss, by_scores));
    assert_eq!(after(resign(600, 3, true), &second_lost), (6, win, by_scores));
    // The loser alone says it after three moves of its own.
    assert_eq!(after(resign(600, 3, false), &first_lost), (5, loss, by_scores));
    assert_eq!(after(resign(600, 3, false), &second_lost), (6, win, by_scores));
    assert_eq!(after(resign(600, 1, false), &first_lost), (1, loss, by_scores));
    // A point less is not enough, and neither is a winner who does not agree.
    assert_eq!(after(resign(601, 3, false), &first_lost), (8, Outcome::Draw, by_length));
    assert_eq!(after(resign(600, 3, true), &[-600, 599]), (8, Outcome::Draw, by_length));
    assert_eq!(after(resign(600, 3, true), &[-600, -600]), (8, Outcome::Draw, by_length));
    assert_eq!(after(resign(600, 3, false), &[600, 600]), (8, Outcome::Draw, by_length));
}

#[test]
fn a_game_that_both_call_level_is_drawn() {
    let (drawn, by_length) = (Termination::DRAW_RULE, Termination::MAX_PLIES);
    let after = |rule, scores: &[i32]| {
        let (plies, outcome, termination) =
            end(Adjudication { draw: rule, ..Adjudication::default() }, scores);
        assert_eq!(outcome, Outcome::Draw);
        (plies, termination)
    };
    assert_eq!(after(draw(10, 2, 0), &[10, -10]), (4, drawn));
    assert_eq!(after(draw(10, 1, 0), &[10, -10]), (2, drawn));
    assert_eq!(after(draw(0, 1, 0), &[0]), (2, drawn));
    // Scores before the rule begins to look are not forgotten.
    assert_eq!(after(draw(10, 2, 3), &[10, -10]), (6, drawn));
    assert_eq!(after(draw(10, 2, 5), &[10, -10]), (8, by_length));
    assert_eq!(after(draw(10, 2, 0), &[10, -11]), (8, by_length));
    // A game that is both is lost.
    let both = Adjudication {
        resign: resign(1, 2, true),
        draw: draw(10, 2, 0),
        ..Adjudication::default()
    };
    assert_eq!(end(both, &[-5, 5]), (4, Outcome::Loss, Termination::RESIGN_RULE));
}

/// On its last ply a game is drawn or lost by scores, and not by its length.
#[test]
fn scores_come_before_the_greatest_number_of_plies() {
    let rule = Adjudication { resign: resign(600, 4, true), ..Adjudication::default() };
    assert_eq!(end(rule, &[600, -600]), (8, Outcome::Win, Termination::RESIGN_RULE));
}

/// What the rule says of all scores of a game so far, in which turns alternate.
fn ending(rule: Adjudication, scores: &[Option<i32>]) -> Option<(Option<usize>, Termination)> {
    let last = |side: usize, moves: NonZeroU32, is: &dyn Fn(i32) -> bool| {
        let own: Vec<_> = scores.iter().skip(side).step_by(2).collect();
        let moves = moves.get() as usize;
        own.len() >= moves && own[own.len() - moves..].iter().all(|score| score.is_some_and(is))
    };
    if let Some(ResignRule { score, moves, both }) = rule.resign {
        let score = score.get() as i32;
        for side in [0, 1] {
            if last(side, moves, &|mover_score| mover_score <= -score)
                && (!both || last(1 - side, moves, &|mover_score| mover_score >= score))
            {
                return Some((Some(1 - side), Termination::RESIGN_RULE));
            }
        }
    }
    let DrawRule { score, moves, after, restart: _ } = rule.draw?;
    let is_level = |side| last(side, moves, &|mover_score| mover_score.unsigned_abs() <= score);
    (scores.len() >= 2 * after as usize && is_level(0) && is_level(1))
        .then_some((None, Termination::DRAW_RULE))
}

/// Whole games of every kind with scores by chance: each ends where the rule first holds, or before that by
/// its position; the referee agrees, and with no record that is cut, goes on, or has other scores.
#[test]
fn games_end_where_the_rule_says_and_nowhere_else() {
    let mut random = Random::from_key(key(7));
    let mut adjudicated = 0;
    for rules in all_rules() {
        let opening = start(&rules);
        for seed in 0..60 {
            let rule = Adjudication {
                resign: (random.below(3) > 0)
                    .then(|| resign(1 + random.below(2), 1 + random.below(3), random.below(2) == 0))
                    .flatten(),
                draw: draw(random.below(3), 1 + random.below(3), random.below(4)),
                ..Adjudication::default()
            };
            let scores: Vec<Option<i32>> = (0..40)
                .map(|_| (random.below(8) > 0).then(|| random.below(6) as i32 - 3))
                .collect();
            let board = Board {
                rules: &rules,
                opening: &opening,
                max_plies: Some(40),
                adjudication: Some(rule),
            };
            let record = game(&board, &scores, 2 * seed);
            let reported: Vec<Option<i32>> =
                record.moves.iter().map(|mv| mv.search.score).collect();
            for plies in 1..reported.len() {
                assert_eq!(
                    ending(rule, &reported[..plies]),
                    None,
                    "{rule} {reported:?} at {plies}"
                );
            }
            assert_eq!(judge(&board, &record), Ok(()), "{rule} {reported:?}");
            if record.termination != Termination::RESIGN_RULE
                && record.termination != Termination::DRAW_RULE
            {
                continue;
            }
            adjudicated += 1;
            let (winner, termination) = ending(rule, &reported).unwrap();
            let outcome = match winner {
                None => Outcome::Draw,
                Some(0) => Outcome::Win,
                Some(_) => Outcome::Loss,
            };
            assert_eq!((record.outcome, record.termination), (outcome, termination));
            assert_lies_are_found(&board, &record);
        }
    }
    assert!(adjudicated > 100, "{adjudicated}");
}

/// Of an honest record of a game that scores ended.
fn assert_lies_are_found(board: &Board<'_>, record: &GameRecord) {
    // The scores that would have ended it are not there.
    let mut silent = record.clone();
    silent.moves.iter_mut().for_each(|mv| mv.search.score = None);
    let problem = judge(board, &silent).unwrap_err();
    assert!(problem.starts_with("the game is not over after its "), "{problem}");
    let mut last = record.clone();
    last.moves.last_mut().unwrap().search.score = None;
    assert!(judge(board, &last).is_err());
    // It is not over yet.
    let mut shorter = record.clone();
    shorter.moves.pop();
    assert!(judge(board, &shorter).is_err());
    // It was played on.
    let played_on = Board { adjudication: None, ..*board };
    let scores: Vec<Option<i32>> = record.moves.iter().map(|mv| mv.search.score).collect();
    let mut longer = record.clone();
    longer.moves.push(record.moves[0].clone());
    let problem = judge(board, &longer).unwrap_err();
    assert!(problem.contains("comes after the end of the game"), "{problem} {scores:?}");
    // Somebody else won, or it ended otherwise.
    let mut other = record.clone();
    other.outcome = if record.outcome == Outcome::Win { Outcome::Loss } else { Outcome::Win };
    assert!(judge(board, &other).unwrap_err().starts_with("the outcome is"));
    for termination in [Termination::MAX_PLIES, Termination::CRASH, Termination::RESIGNATION] {
        let mut other = record.clone();
        other.termination = termination;
        assert!(judge(board, &other).unwrap_err().starts_with("the termination is"));
    }
    // Of a board without the rule it is not a game.
    assert!(judge(&played_on, record).is_err());
}

/// A position that is over has its own end, whatever was said.
#[test]
fn the_position_comes_first() {
    let rules = Rules::from_name("tic-tac-toe").unwrap();
    let board =
        |adjudication| Board { rules: &rules, opening: "xx.oo....", max_plies: None, adjudication };
    let rule = Adjudication { draw: draw(0, 1, 0), ..Adjudication::default() };
    let mut decided = 0;
    for seed in 0..40 {
        let free = game(&board(None), &[Some(0)], seed);
        let ruled = game(&board(Some(rule)), &[Some(0)], seed);
        // After two plies both have called it level.
        if free.moves.len() <= 2 {
            assert_eq!(ruled, free);
            decided += 1;
        } else {
            assert_eq!((ruled.moves.len(), ruled.termination), (2, Termination::DRAW_RULE));
            assert_eq!(ruled.moves[..], free.moves[..2]);
        }
    }
    assert!(decided > 0);
}

/// Of games of chess by chance, all of whose scores are level, those that restart the count end as many moves after the
/// last capture or pawn move, that one included, as the rule asks for. The referee agrees.
#[test]
fn captures_and_pawn_moves_restart_the_count_where_the_rule_says_so() {
    let rules = Rules::from_name("chess").unwrap();
    let opening = start(&rules);
    let mut later = 0;
    for seed in 0..20 {
        let end = |restart| {
            let rule = draw(0, 3, 0).map(|rule| DrawRule { restart, ..rule });
            let board = Board {
                rules: &rules,
                opening: &opening,
                max_plies: Some(400),
                adjudication: Some(Adjudication { draw: rule, ..Adjudication::default() }),
            };
            let record = game(&board, &[Some(0)], 2 * seed);
            assert_eq!(judge(&board, &record), Ok(()));
            record
        };
        let (at_once, record) = (end(false), end(true));
        assert_eq!((at_once.moves.len(), at_once.termination), (6, Termination::DRAW_RULE));
        if record.termination != Termination::DRAW_RULE {
            continue;
        }
        let moves = record.moves.iter().map(|record| record.mv.as_str());
        let positions = replay_moves(&rules, &opening, moves).unwrap();
        let clocks: Vec<u32> = positions
            .iter()
            .map(|replayed| replayed.position.split(' ').nth(4).unwrap().parse().unwrap())
            .collect();
        let (since, last) =
            (clocks[1..].iter().rposition(|&clock| clock == 0), record.moves.len() - 1);
        assert_eq!(last - since.unwrap_or(0), 5, "{clocks:?}");
        later += u32::from(last > 5);
    }
    assert!(later > 10, "{later}");
}

/// Our players' scores end their games, from either side, and the same game comes again.
#[test]
fn games_of_our_players_end_by_their_scores() {
    let rules = Rules::from_name("connect-four").unwrap();
    let searching = player(&rules, r#"{"algorithm": "alpha-beta", "depth": 5}"#);
    let opening = start(&rules);
    let rule = Adjudication { resign: resign(900_000, 1, false), ..Adjudication::default() };
    let setup = |adjudication| GameSetup {
        rules: &rules,
        opening: &opening,
        players: [&searching, &searching],
        keys: [key(1), key(2)],
        max_plies: None,
        adjudication,
        stops: None,
    };
    let free = play_game(&setup(None), &Timeless).unwrap();
    let ruled = play_game(&setup(Some(rule)), &Timeless).unwrap();
    assert_eq!(ruled, play_game(&setup(Some(rule)), &Timeless).unwrap());
    assert_eq!(ruled.moves[..], free.moves[..ruled.moves.len()]);
    assert_eq!(ruled.first_side, Side::First);
    assert_ne!(free.outcome, Outcome::Draw);
    assert_eq!((ruled.outcome, ruled.termination), (free.outcome, Termination::RESIGN_RULE));
    assert!(ruled.moves.len() < free.moves.len());
    // Who does not search says nothing, and plays on.
    let random = player(&rules, r#"{"algorithm": "random"}"#);
    let players = [&random, &random];
    let silent =
        |adjudication| play_game(&GameSetup { players, ..setup(adjudication) }, &Timeless).unwrap();
    assert_eq!(silent(None), silent(Some(rule)));
}
