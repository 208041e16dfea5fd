//! The exchange of the sides: rules are the same for both, seen from the other side.

use spelrum_engine::{Game, Position, Rules, Side, SideExchange};

use super::Sample;

/// Positions looked at, at most, and after the start with an exchanged one, at least.
const POSITIONS: [usize; 2] = [3_000, 5];

/// The position with what belongs to the one side given to the other, if there is such a position.
pub(super) fn exchanged<G: Game>(rules: &Rules, position: &G) -> Option<G> {
    match G::side_exchange(rules) {
        SideExchange::Letters => {
            G::parse(rules, &with_letters_exchanged::<G>(&position.to_string())).ok()
        }
        SideExchange::By(exchange) => exchange(position),
        SideExchange::Impossible => None,
    }
    .filter(|other| other.is_over() == position.is_over())
}

fn with_letters_exchanged<G: Position>(text: &str) -> String {
    let [first, second] = G::SIDES.map(|side| side.letter);
    let other = |letter| match letter {
        letter if letter == first => second,
        letter if letter == second => first,
        other => other,
    };
    text.chars().map(other).collect()
}

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    let start = &sample.games[0].positions[0];
    let mut after_the_start = 0;
    for position in sample.some_positions(POSITIONS[0]) {
        let Some(other) = exchanged(sample.rules, position) else { continue };
        let about = || {
            format!(
                "{position:?} and, with the sides exchanged, {other:?}: is Game::side_exchange right?"
            )
        };
        after_the_start += usize::from(position != start);
        assert_eq!(exchanged(sample.rules, &other).as_ref(), Some(position), "{}", about());
        assert_eq!(G::parse(sample.rules, &other.to_string()).as_ref(), Ok(&other), "{}", about());
        if other.to_move() == position.to_move() {
            // A side without a move may have lost, and the other side has moves.
            continue;
        }
        let [ending, of_other] = [position, &other].map(Position::ending);
        let mirrored = ending.map(|ending| (ending.termination, ending.winner.map(Side::other)));
        let of_other = of_other.map(|ending| (ending.termination, ending.winner));
        assert_eq!(of_other, mirrored, "{}", about());
        assert_eq!(other.margin(), position.margin().map(|margin| -margin), "{}", about());
        assert_eq!(other.legal_move_count(), position.legal_move_count(), "{}", about());
        assert_eq!(other.plies_left(), position.plies_left(), "{}", about());
    }
    let is_possible = !matches!(G::side_exchange(sample.rules), SideExchange::Impossible);
    assert!(
        !is_possible || after_the_start >= POSITIONS[1],
        "{after_the_start} positions whose sides can be exchanged: say how, in Game::side_exchange"
    );
}
