//! Minimax and alpha-beta on invented trees in which the same side may move twice, games end
//! anywhere and values tie often: no assumption that sides alternate survives here.

use std::fmt;

use crate::common::brute_force::{minimax, minimax_of_move};
use crate::common::key;
use proptest::prelude::*;
use spelrum_engine::Knowledge;
use spelrum_engine::search::alpha_beta::{self, AlphaBeta};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Evaluate, LastPly, Limits, Search, Stop};
use spelrum_engine::{
    EndedBy, Ending, Line, Position, Problem, Random, Side, SideName, Termination, Timeless,
};

/// A tree made up by hashing the moves made so far: who moves, how many moves there are, whether
/// the game is over and who has won are all read from the hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Relay {
    hash: u64,
    plies_left: u32,
    width_max: u64,
    /// Whether the game knows of wins at once and the evaluation of the last ply: a game may, and
    /// yet not know which moves lose to a reply.
    knows_wins: bool,
}

impl Relay {
    /// The first tree from this seed on whose root has something to choose.
    fn new(seed: u64, plies: u32, width_max: u64, knows_wins: bool) -> Self {
        (seed..)
            .map(|seed| Self { hash: mixed(seed), plies_left: plies, width_max, knows_wins })
            .find(|root| root.legal_move_count() >= 2)
            .unwrap()
    }

    fn part(&self, index: u32, bound: u64) -> u64 {
        (self.hash >> (8 * index) & 0xff) % bound
    }
}

/// One step of the hash: the multiplication and shift of MurmurHash3's finaliser (Appleby 2011).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 33).wrapping_add(1).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

impl Position for Relay {
    type Move = u8;

    const SIDES: [SideName; 2] =
        [SideName { word: "first", letter: 'f' }, SideName { word: "second", letter: 's' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        if self.part(0, 2) == 0 { Side::First } else { Side::Second }
    }

    fn ending(&self) -> Option<Ending> {
        let winners = [None, Some(Side::First), Some(Side::Second)];
        let ending = Ending {
            winner: winners[self.part(1, 3) as usize],
            termination: Termination::FULL_BOARD,
        };
        (self.plies_left == 0 || self.part(2, 8) == 0).then_some(ending)
    }

    fn legal_moves(&self, moves: &mut Vec<u8>) {
        moves.extend(0..self.legal_move_count() as u8);
    }

    fn legal_move_count(&self) -> u32 {
        if self.is_over() { 0 } else { 1 + self.part(3, self.width_max) as u32 }
    }

    fn nth_legal_move(&self, index: u32) -> u8 {
        index as u8
    }

    fn is_legal(&self, mv: u8) -> bool {
        u32::from(mv) < self.legal_move_count()
    }

    fn play_unchecked(&mut self, mv: u8) {
        self.hash = mixed(self.hash ^ u64::from(mv));
        self.plies_left -= 1;
    }

    fn canonical_key(&self) -> u64 {
        self.hash >> 11
    }

    fn board(&self) -> String {
        self.to_string()
    }

    fn parse_move(&self, text: &str) -> Result<u8, Problem> {
        let error = |_| Problem::new(text.to_owned(), "a number");
        text.parse().map_err(error)
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}/{}", self.hash, self.plies_left)
    }
}

/// Few values, so that many tie.
#[derive(Clone, Copy, Debug)]
struct Hunch;

impl Evaluate<Relay> for Hunch {
    fn is_symmetric(&self) -> bool {
        true
    }

    fn evaluate(&self, position: &Relay) -> i32 {
        assert!(!position.is_over(), "a position that is over has no static value");
        position.part(4, 7) as i32 - 3
    }

    /// By making every move, as tables would have it.
    fn last_ply(
        &self,
        position: &Relay,
        LastPly { lost, lost_to_reply, .. }: LastPly,
        budget: &mut Budget<'_>,
    ) -> Option<Result<i32, Stop>> {
        assert_eq!(lost_to_reply, None, "nothing here looks beyond the last ply");
        position.knows_wins.then(|| {
            assert_eq!(position.winning_move(), None, "only for positions without a win at once");
            budget.enter_many(position.legal_move_count())?;
            let values = (0..position.legal_move_count()).map(|index| {
                let mut child = position.clone();
                child.play_unchecked(position.nth_legal_move(index));
                match child.ending() {
                    Some(ending) => Ok(if ending.winner.is_none() { 0 } else { lost }),
                    None => budget.evaluate().map(|()| {
                        let value = self.evaluate(&child);
                        if child.to_move() == position.to_move() { value } else { -value }
                    }),
                }
            });
            values
                .collect::<Result<Vec<i32>, Stop>>()
                .map(|values| values.into_iter().max().unwrap())
        })
    }
}

impl Knowledge for Relay {
    const MOVE_CODES: usize = 256;

    type Orientation = ();

    fn move_code(mv: u8) -> u16 {
        u16::from(mv)
    }

    fn table_key(&self) -> u64 {
        self.canonical_key()
    }

    fn can_win_at_once(&self) -> bool {
        self.knows_wins && self.winning_move().is_some()
    }

    fn plies_left(&self) -> u32 {
        self.plies_left
    }
}

/// Any combination of alpha-beta's switches.
fn options() -> impl Strategy<Value = alpha_beta::Options> {
    (any::<[bool; 14]>(), 0..8_u32).prop_map(|(on, half_width)| {
        let [iterative, order, shuffle, pvs, table, rest @ ..] = on;
        let [table_symmetry, killers, history, combined, distinct, threats, distance, last_ply, _] =
            rest;
        alpha_beta::Options {
            depth: None,
            iterative,
            order,
            shuffle,
            pvs,
            aspiration: if iterative { half_width } else { 0 },
            table_mib: table.then_some(1),
            table_symmetry: table && table_symmetry,
            killers,
            history,
            combined,
            distinct,
            threats,
            distance,
            last_ply,
            ..alpha_beta::Options::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_search_finds_the_twins_value(
        seed in any::<u64>(),
        plies in 1..=7_u32,
        width_max in 2..=6_u64,
        depth in prop::option::of(1..=7_u32),
        knows_wins: bool,
        options in options(),
    ) {
        let root = Relay::new(seed, plies, width_max, knows_wins);
        let value = minimax(&root, depth.unwrap_or(plies), 0, &Hunch);
        let mut searches: [Box<dyn Search<Relay>>; 2] = [
            Box::new(Minimax::new(minimax::Options { depth, shuffle: options.shuffle }, Hunch)),
            Box::new(AlphaBeta::new(alpha_beta::Options { depth, ..options }, Hunch)),
        ];
        for search in &mut searches {
            // A search that has run before finds the same again: nothing is left over in it.
            for _ in 0..2 {
                let mut budget = Budget::new(&Limits::default(), &Timeless);
                let mut random = Random::from_key(key(seed));
                let found = search.search(Line::from_start(&root), &mut budget, &mut random).unwrap();
                prop_assert_eq!(found.score, Some(value));
                prop_assert!(matches!(found.ended_by, EndedBy::Depth | EndedBy::Proven));
                let depth = depth.unwrap_or(plies);
                prop_assert_eq!(minimax_of_move(&root, found.mv, depth, &Hunch), value);
            }
        }
    }

    /// A search that was cut off at any place leaves nothing behind that changes what the next one
    /// finds; and, if it keeps nothing on purpose, what it costs.
    #[test]
    fn a_search_that_was_cut_off_can_be_used_again(
        seed in any::<u64>(),
        nodes in 0..200_u64,
        knows_wins: bool,
        options in options(),
    ) {
        let root = Relay::new(seed, 6, 5, knows_wins);
        let options = alpha_beta::Options { depth: Some(5), ..options };
        let mut used = AlphaBeta::new(options, Hunch);
        let mut fresh = AlphaBeta::new(options, Hunch);
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let find = |search: &mut AlphaBeta<Relay, Hunch>, limits: &Limits| {
            let mut budget = Budget::new(limits, &Timeless);
            let found = search.search(Line::from_start(&root), &mut budget, &mut Random::from_key(key(seed)));
            (found, budget.nodes(), budget.evaluations())
        };
        prop_assert!(find(&mut used, &limits).0.is_ok());
        let again = find(&mut used, &Limits::default());
        let once = find(&mut fresh, &Limits::default());
        if options.table_mib.is_none() && !options.history && !options.combined {
            prop_assert_eq!(again, once);
        } else {
            prop_assert_eq!(again.0.unwrap().score, once.0.unwrap().score);
        }
    }

    /// What iterative deepening plays when it is cut off: the last completed iteration's move, or
    /// one that the unfinished iteration knows to be better.
    #[test]
    fn an_unfinished_iteration_only_improves_the_move(
        seed in any::<u64>(),
        nodes in 1..400_u64,
        knows_wins: bool,
        options in options(),
    ) {
        let root = Relay::new(seed, 8, 6, knows_wins);
        let options = alpha_beta::Options { iterative: true, ..options };
        let find = |depth, nodes| {
            let options = alpha_beta::Options { depth, ..options };
            let mut budget = Budget::new(&Limits { nodes, ..Limits::default() }, &Timeless);
            let mut random = Random::from_key(key(seed));
            AlphaBeta::new(options, Hunch).search(Line::from_start(&root), &mut budget, &mut random).unwrap()
        };
        let cut = find(None, Some(nodes));
        if cut.ended_by != EndedBy::Nodes || cut.depth == 0 {
            return Ok(());
        }
        let value_at = |mv, depth| minimax_of_move(&root, mv, depth, &Hunch);
        let completed = find(Some(cut.depth), None);
        let score = cut.score.unwrap();
        if cut.mv == completed.mv {
            let values = [cut.depth, cut.depth + 1].map(|depth| value_at(cut.mv, depth));
            let is_bound = options.aspiration > 0 && score < values[1];
            prop_assert!(values.contains(&score) || is_bound, "{score} is none of {values:?}");
        } else {
            // A value above an aspiration window is known only to be as great as that.
            let value = value_at(cut.mv, cut.depth + 1);
            prop_assert!(score == value || (options.aspiration > 0 && score < value));
            prop_assert!(score > value_at(completed.mv, cut.depth + 1));
        }
    }
}
