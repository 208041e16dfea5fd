use spelrum_model::{ExperimentId, ExperimentState};

use super::*;

fn experiment() -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: String::new(),
        name: "ladder".to_owned(),
        game: "nim".to_owned(),
        task: spelrum_model::Task::Game,
        state: ExperimentState::Running,
        priority: 0,
        cells: 0,
        games_planned: 0,
        games_settled: 0,
        games_failed: 0,
        submitted_unix_us: 0,
    }
}

/// Cells by their values, players and successive results, the player moving first in even games; every two games
/// share an opening.
fn games(axes: &[&str], by: Clusters, cells: &[(&[&str], &str, &str, &str)]) -> GamesToRate {
    let axes: Vec<String> = axes.iter().map(|&axis| axis.to_owned()).collect();
    let mut games = GamesToRate::on(&axes, by);
    for (place, player, opponent, outcomes) in cells {
        let place: Vec<_> = place.iter().map(|&v| (v != "-").then(|| v.to_owned())).collect();
        games.cell(&place, (*player).to_owned(), (*opponent).to_owned());
        for (number, outcome) in outcomes.chars().enumerate() {
            let outcome = match outcome {
                'w' => Outcome::Win,
                'd' => Outcome::Draw,
                _ => Outcome::Loss,
            };
            games.game(number as i64 / 2 + 70, number % 2 == 0, outcome);
        }
    }
    games
}

fn rated(games: GamesToRate, anchors: &[&str]) -> Ratings {
    games.rate(experiment(), &anchors.iter().map(|&name| name.to_owned()).collect()).unwrap()
}

fn names(group: &RatedGroup) -> Vec<&str> {
    group.players.iter().map(|player| player.name.as_str()).collect()
}

#[test]
fn a_cell_belongs_to_every_point_that_it_is_like() {
    let cells: [(&[&str], &str, &str, &str); 5] = [
        (&["1", "9", "-"], "a", "b", "wwdl"),
        (&["2", "9", "-"], "a", "b", "llll"),
        (&["1", "9", "5"], "a", "c", "wl"),
        // No axis of the grid applies to it.
        (&["-", "9", "-"], "b", "c", "wlwl"),
        (&["1", "9", "6"], "a", "c", "ww"),
    ];
    let rated = rated(games(&["depth", "player.nodes", "time"], Clusters::Openings, &cells), &[]);
    assert_eq!(rated.axes, ["depth", "time"]);
    let some = |value: &str| Some(value.to_owned());
    let points: Vec<_> =
        rated.groups.iter().map(|group| (group.point.clone(), group.games)).collect();
    let expected = [
        // The first cell is within both points of its depth, and none of its own.
        (vec![some("2"), None], 8),
        (vec![some("1"), some("5")], 10),
        (vec![some("1"), some("6")], 10),
    ];
    assert_eq!(points, expected);
    assert!(rated.groups.iter().all(|group| group.players.len() == 3));
}

#[test]
fn groups_are_told_from_the_strongest_down() {
    let cells: [(&[&str], &str, &str, &str); 4] = [
        (&[], "weak", "strong", "lwlwlw"),
        (&[], "middle", "strong", "lwwllw"),
        (&[], "middle", "middle", "wdl"),
        (&[], "else", "where", "ld"),
    ];
    let rated = rated(games(&[], Clusters::Openings, &cells), &["middle"]);
    let [three, two] = &rated.groups[..] else { panic!("{rated:?}") };
    assert_eq!(names(three), ["strong", "middle", "weak"]);
    assert_eq!(three.players[1].rating, Some(Estimate { elo: 0.0, error: Some(0.0) }));
    assert!(three.players[1].is_anchor && !three.players[0].is_anchor);
    assert_eq!((three.games, three.self_play_games, three.clusters), (15, 3, 3));
    let counts = |place: usize| {
        let player = &three.players[place];
        (player.games, player.wins, player.draws, player.losses)
    };
    // Outcomes are the first mover's: the cell's player in even games.
    assert_eq!([counts(0), counts(1), counts(2)], [(12, 10, 0, 2), (6, 2, 0, 4), (6, 0, 0, 6)]);
    let meeting =
        |player, opponent, wins, losses| Meeting { player, opponent, wins, draws: 0, losses };
    assert_eq!(three.meetings, [meeting(0, 1, 4, 2), meeting(0, 2, 6, 0)]);
    // Differences are stored once for both orders.
    assert_eq!(three.difference_errors.len(), 3);
    let [down, up] = [three.difference(0, 2).unwrap(), three.difference(2, 0).unwrap()];
    assert!(
        down.elo > 0.0 && down.elo == -up.elo && down.error == up.error && down.error > Some(0.0)
    );
    assert_eq!(three.difference(0, 1).unwrap().error, three.players[0].rating.unwrap().error);
    assert_eq!(three.difference(0, 3), None);
    assert_eq!(names(two), ["where", "else"]);
    assert!(two.players.iter().all(|player| !player.is_anchor));
}

#[test]
fn cells_do_not_share_pairs() {
    let cells: [(&[&str], &str, &str, &str); 2] =
        [(&[], "a", "b", "wlwl"), (&[], "a", "c", "wlwlwd")];
    assert_eq!(rated(games(&[], Clusters::Openings, &cells), &[]).groups[0].clusters, 3);
    let mut by_pairs = games(&[], Clusters::Pairs, &[]);
    for (player, pairs) in [("b", 2), ("c", 3)] {
        by_pairs.cell(&[], "a".to_owned(), player.to_owned());
        for number in 0..2 * pairs {
            by_pairs.game(number / 2, number % 2 == 0, Outcome::Win);
        }
    }
    let group = &rated(by_pairs, &[]).groups[0];
    assert_eq!((group.clusters, group.clusters_are), (5, Clusters::Pairs));
}

#[test]
fn nobody_and_nothing_have_an_answer() {
    assert!(rated(games(&[], Clusters::Openings, &[]), &[]).groups.is_empty());
    let idle = rated(games(&[], Clusters::Openings, &[(&[], "a", "b", "")]), &["a"]);
    assert_eq!(idle.groups.len(), 2, "nobody has met anybody");
    for group in &idle.groups {
        assert_eq!((group.players[0].rating, group.games, group.first_move), (None, 0, None));
        assert_eq!(group.players[0].score(), None);
    }
}

#[test]
fn too_many_players_are_refused() {
    let star = |players: usize| {
        let mut games = games(&[], Clusters::Openings, &[]);
        for player in 1..players {
            games.cell(&[], "hub".to_owned(), player.to_string());
            games.game(0, true, Outcome::Draw);
        }
        games.rate(experiment(), &BTreeSet::new())
    };
    assert_eq!(star(RATED_PLAYERS_MAX + 1), Err(RatingsLimit::Players));
    assert_eq!(star(12).unwrap().groups[0].players.len(), 12);
}
