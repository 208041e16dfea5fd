//! What the views answer, against sums made by hand.

use spelrum_answers::CellMargin;
use spelrum_engine::{EndedBy, MoveRecord};
use spelrum_model::{AxisValue, PlannedAxis};
use spelrum_statistics::{GameCounts, MarginSums, PairCounts};
use spelrum_store::SqlValue;
use spelrum_store::contract::WriteTransaction as _;

use crate::fixture::{Store, add_cell_of, alpha_beta, empty_plan, game, genetic, plan, text};

/// Wins, draws and losses of who moved first: varieties 0, 1 and 2 of the fixture's games.
const WIN: u64 = 0;
const DRAW: u64 = 1;
const LOSS: u64 = 2;

#[tokio::test]
async fn results_are_for_the_cells_first_player() {
    let mut store = Store::new().await;
    let cell = store.cell(0);
    // Pairs of the first player: 2 points, 1½, 1 (both movers win), 0; and half a pair.
    let outcomes = [WIN, LOSS, DRAW, LOSS, WIN, WIN, LOSS, WIN, DRAW];
    let games: Vec<_> =
        (0..).zip(outcomes).map(|(number, outcome)| game(cell, number, outcome)).collect();
    store.store(&games).await;
    let interval = PairCounts([1, 0, 1, 1, 1]).interval();
    let row = store
        .rows(
            "SELECT axes, player, opponent, games_planned, games, wins, draws, losses, pairs,
                pairs_0, pairs_half, pairs_1, pairs_1_half, pairs_2, score, score_low, score_high
            FROM results WHERE cell_number = 0",
        )
        .await;
    let row: Vec<String> = row[0].iter().map(text).collect();
    assert_eq!(
        row,
        [
            "depth=1",
            "ab",
            "gm",
            "20",
            "9",
            "4",
            "2",
            "3",
            "4",
            "1",
            "0",
            "1",
            "1",
            "1",
            &interval.score.to_string(),
            &interval.low.to_string(),
            &interval.high.to_string(),
        ]
    );
    // A cell without a game has no figures, and is there.
    let row = store
        .rows("SELECT games, pairs, score, score_low, win_rate FROM results WHERE cell_number = 1")
        .await;
    assert_eq!(
        row,
        [[
            SqlValue::Integer(0),
            SqlValue::Integer(0),
            SqlValue::Null,
            SqlValue::Null,
            SqlValue::Null
        ]]
    );
    // Numbers 0 and 4 repeat no other: openings differ. 1 and 3 differ in opening, and so on.
    let distinct = store.integer("SELECT distinct_games FROM distinct_games").await;
    let by_hand: std::collections::BTreeSet<_> = games
        .iter()
        .map(|game| (game.moves_hash, game.opening.clone(), game.game.number % 2))
        .collect();
    assert_eq!(distinct, i64::try_from(by_hand.len()).unwrap());
}

/// Margins are recorded for who moved first, and told of the player that a row is about.
#[tokio::test]
async fn margins_are_those_of_the_player() {
    let mut store = Store::new().await;
    let cell = store.cell(0);
    // The fixture's margins of these varieties: 0 is won by 1, 2 lost by 3, 6 won by 7, 5 lost by 6; 3 has none.
    let varieties = [0, 0, 2, 2, 6, 3, 5];
    let games: Vec<_> =
        (0..).zip(varieties).map(|(number, variety)| game(cell, number, variety)).collect();
    store.store(&games).await;
    // By pairs, seen from the cell's first player: 1 − 1, −3 + 3, 7, −6.
    let mut sums = MarginSums::default();
    for (games, sum) in [(2, 0), (2, 0), (1, 7), (1, -6)] {
        sums.add(games, sum);
    }
    let mean = sums.mean().unwrap();
    let interval = mean.interval.unwrap();
    let row = store
        .rows(
            "SELECT margin_games, margin_mean, margin_low, margin_high FROM results
            WHERE cell_number = 0",
        )
        .await;
    let expected = [mean.value, interval.low, interval.high].map(SqlValue::Real);
    assert_eq!(row[0][0], SqlValue::Integer(6));
    assert_eq!(row[0][1..], expected);
    let report = store.writer.readers().report("small", <_>::default()).await.unwrap().unwrap();
    assert_eq!(report.cells[0].margin, Some(CellMargin { games: 6, mean }));
    assert_eq!(report.cells[1].margin, None, "a cell without a game");

    let players = store
        .texts(
            "SELECT group_concat(player || ' ' || coalesce(margin, 'none'), ', ') FROM (
                SELECT * FROM game_players WHERE number IN (2, 3, 5) ORDER BY number, side)
            GROUP BY number",
        )
        .await;
    assert_eq!(players, ["ab -3, gm 3", "gm -3, ab 3", "gm none, ab none"]);

    // What a course is told stays as it was told.
    let mut transaction = store.writer.begin().await.unwrap();
    let outcome = transaction.tell(cell).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!((outcome.margin_sum, outcome.swapped().margin_sum), (1, -1));
    assert_eq!(store.integer("SELECT margin_sum FROM told_cells").await, 1);

    // Another result of a game keeps its own.
    let mut other = game(cell, 0, 2);
    other.started_unix_us += 1;
    store.store(&[other]).await;
    assert_eq!(store.integer("SELECT margin FROM uncounted_games").await, -3);
    store.assert_recount().await;
}

/// Where sides are fixed the first player moves first in every game, and the game is the unit.
#[tokio::test]
async fn results_of_fixed_sides_are_over_games() {
    let mut plan = empty_plan("fixed");
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(1), genetic(1)], 1, 5);
    let mut store = Store::with(&plan).await;
    let cell = store.cell(0);
    let games: Vec<_> = (0..)
        .zip([WIN, LOSS, WIN, WIN, DRAW])
        .map(|(number, outcome)| game(cell, number, outcome))
        .collect();
    store.store(&games).await;
    let interval = GameCounts([1, 1, 3]).interval();
    let row = store
        .rows(
            "SELECT games_planned, games, wins, draws, losses, pairs, pairs_1, swap_sides, score,
                score_low, score_high
            FROM results",
        )
        .await;
    let row: Vec<String> = row[0].iter().map(text).collect();
    let figures = [interval.score, interval.low, interval.high].map(|figure| figure.to_string());
    assert_eq!(row[..8], ["5", "5", "3", "1", "1", "0", "0", "0"]);
    assert_eq!(row[8..], figures);
    assert_eq!(
        store
            .texts(
                "SELECT printf('%s %d %d %s', player, side, count(*), coalesce(pair, '-'))
                FROM game_players GROUP BY player, side, pair ORDER BY player"
            )
            .await,
        ["ab 0 5 -", "gm 1 5 -"]
    );
    let first = "SELECT count(*) FROM slowest_games
        WHERE first_player = 'ab' AND second_player = 'gm'";
    assert_eq!(store.integer(first).await, 5);
    let movers = "SELECT count(*) FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
        WHERE g.first_player_id = c.first_player_id";
    assert_eq!(store.integer(movers).await, 5);
    let moving_first = "SELECT wins_moving_first + draws_moving_first + losses_moving_first
        FROM cell_results";
    assert_eq!(store.integer(moving_first).await, 5);
    store.assert_recount().await;
}

#[tokio::test]
async fn both_players_see_each_game() {
    let mut store = Store::new().await;
    let cell = store.cell(1);
    let games: Vec<_> = (0..9).map(|number| game(cell, number, number * 5)).collect();
    store.store(&games).await;
    assert_eq!(store.integer("SELECT count(*) FROM game_players").await, 18);
    // Two rows of a game share one point between the two players.
    assert_eq!(
        store
            .integer(
                "SELECT count(*) FROM (
                    SELECT game_id FROM game_players GROUP BY game_id
                    HAVING sum(score) = 1 AND count(DISTINCT player) = 2
                        AND min(player) = 'ab' AND max(player) = 'gm'
                        AND group_concat(pair) IN ('0,0', '1,1', '2,2', '3,3', '4,4'))"
            )
            .await,
        9
    );
    // And each has a side of the game: in pairs both have either as often.
    assert_eq!(
        store
            .texts(
                "SELECT printf('%s %s %d', player, game_side, count(*)) FROM game_players
                GROUP BY player, game_side ORDER BY player, game_side"
            )
            .await,
        ["ab first 5", "ab second 4", "gm first 4", "gm second 5"]
    );
    let scores = "SELECT printf('%s %.1f', player, sum(score)) FROM game_players
        GROUP BY player ORDER BY player";
    let head_to_head = "SELECT printf('%s %.1f', player, score * games) FROM head_to_head
        ORDER BY player";
    let results = "SELECT printf('ab %.1f', wins + draws / 2.0) FROM results WHERE games > 0
        UNION ALL SELECT printf('gm %.1f', losses + draws / 2.0) FROM results WHERE games > 0";
    let expected = store.texts(scores).await;
    assert_eq!(store.texts(head_to_head).await, expected);
    assert_eq!(store.texts(results).await, expected);
}

#[tokio::test]
async fn an_experiments_own_views_have_its_axes() {
    let mut plan = plan("été \"x\"");
    // A name that another column has, and one that needs quotes.
    let axis = |name: &str, values: &[&str]| PlannedAxis {
        name: name.to_owned(),
        values: values
            .iter()
            .map(|&text| AxisValue { number: None, text: text.to_owned() })
            .collect(),
    };
    plan.axes.extend([axis("score", &["a", "b"]), axis("it's \"odd\"", &["odd"])]);
    for (index, cell) in plan.cells.iter_mut().enumerate() {
        cell.axes.extend([(1, index), (2, 0)]);
    }
    let mut store = Store::with(&plan).await;
    store.store(&[game(store.cell(0), 0, WIN), game(store.cell(0), 1, WIN)]).await;
    let table = store.writer.readers().query("SELECT * FROM results__t___x_", 10).await.unwrap();
    assert_eq!(table.columns[..5], ["depth", "axis_score", "it's \"odd\"", "player", "opponent"]);
    let depths: Vec<_> = table.rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(depths, [SqlValue::Integer(1), SqlValue::Integer(2)]);
    let texts: Vec<_> = table.rows.iter().map(|row| text(&row[1])).collect();
    assert_eq!(texts, ["a", "b"]);
    let times = store.writer.readers().query("SELECT * FROM times__t___x_", 10).await.unwrap();
    assert_eq!(times.columns[..4], ["depth", "axis_score", "it's \"odd\"", "player"]);
    assert_eq!(times.rows.len(), 2);
}

/// A column of an axis has one type, whatever its values are written as.
#[tokio::test]
async fn an_axis_s_values_keep_their_type() {
    let mut plan = plan("typed");
    let axis = |name: &str, values: [(Option<f64>, &str); 2]| PlannedAxis {
        name: name.to_owned(),
        values: values.map(|(number, text)| AxisValue { number, text: text.to_owned() }).into(),
    };
    plan.axes.extend([
        axis("whole", [(Some(-3.0), "-3"), (Some(9_007_199_254_740_991.0), "9007199254740991")]),
        axis("broken", [(Some(0.5), "0.5"), (Some(1.0), "1.0")]),
        axis("time", [(Some(10.0), "10ms"), (Some(0.5), "500us")]),
        axis("switch", [(Some(1.0), "true"), (Some(0.0), "false")]),
        // As they were stored before they were numbers.
        axis("old switch", [(None, "true"), (None, "false")]),
        axis("word", [(None, "3"), (None, "three")]),
    ]);
    for (index, cell) in plan.cells.iter_mut().enumerate() {
        cell.axes.extend((1..=6).map(|axis| (axis, index)));
    }
    let store = Store::with(&plan).await;
    let readers = store.writer.readers();
    let sql = "SELECT whole, broken, time, switch, \"old switch\", word FROM results_typed";
    let word = |word: &str| SqlValue::Text(word.to_owned());
    let (integer, real) = (SqlValue::Integer, SqlValue::Real);
    assert_eq!(
        readers.query(sql, 10).await.unwrap().rows,
        [
            [integer(-3), real(0.5), real(10.0), integer(1), integer(1), word("3")],
            [integer((1 << 53) - 1), real(1.0), real(0.5), integer(0), integer(0), word("three")],
        ]
    );
}

/// What players vary is a column for the cell's first player and one for its second; where each
/// player has rows of its own, for the player of the row and the one it meets.
#[tokio::test]
async fn what_players_vary_is_the_rows_own() {
    let varied = |name: &str, values: [i32; 2]| PlannedAxis {
        name: name.to_owned(),
        values: values
            .iter()
            .map(|&value| AxisValue { number: Some(value.into()), text: value.to_string() })
            .collect(),
    };
    let mut plan = plan("ladder");
    plan.axes.extend([
        varied("player.nodes", [10, 20]),
        varied("opponent.nodes", [30, 40]),
        varied("opponent.rate", [5, 6]),
    ]);
    // The second player of the second cell varies nothing.
    plan.cells[0].axes.extend([(1, 0), (2, 1), (3, 0)]);
    plan.cells[1].axes.extend([(1, 1)]);
    let mut store = Store::with(&plan).await;
    for cell in 0..2 {
        let cell = store.cell(cell);
        store.store(&[game(cell, 0, WIN), game(cell, 1, WIN)]).await;
    }
    let results = "SELECT printf('%s-%s %s %s %s', player, opponent, \"player.nodes\",
        \"opponent.nodes\", \"opponent.rate\") FROM results_ladder";
    assert_eq!(store.texts(results).await, ["ab-gm 10 40 5", "ab-gm 20  "]);
    let times = "SELECT printf('%s %s %s %s %s %s', depth, player, \"player.nodes\",
        \"opponent.nodes\", \"player.rate\", \"opponent.rate\") AS text
        FROM times_ladder ORDER BY depth, player";
    assert_eq!(
        store.texts(times).await,
        ["1 ab 10 40  5", "1 gm 40 10 5 ", "2 ab 20   ", "2 gm  20  "]
    );
    // Pooled over the cells that share a value, each from its first player's side.
    let pooled = "SELECT printf('%s=%s %s-%s %d', axis, value_text, player, opponent, games)
        FROM axis_results WHERE axis LIKE '%.nodes' ORDER BY axis, value_number";
    assert_eq!(
        store.texts(pooled).await,
        ["opponent.nodes=40 ab-gm 2", "player.nodes=10 ab-gm 2", "player.nodes=20 ab-gm 2"]
    );
}

#[tokio::test]
async fn times_are_those_of_the_searched_moves() {
    let mut store = Store::new().await;
    let cell = store.cell(0);
    let games: Vec<_> = (0..20).map(|number| game(cell, number, number % 7)).collect();
    store.store(&games).await;
    // The slow and obvious twin: all searched moves of the cell's first player.
    let mut times: Vec<u64> = games
        .iter()
        .flat_map(|game| {
            let side = u8::from(game.game.number % 2 == 1);
            let is_searched =
                move |mv: &&MoveRecord| mv.mover == side && mv.search.ended_by != EndedBy::OnlyMove;
            game.record.moves.iter().filter(is_searched)
        })
        .map(|mv| mv.wall_us)
        .collect();
    times.sort_unstable();
    let count = f64::from(u32::try_from(times.len()).unwrap());
    let real = |time: &u64| f64::from(u32::try_from(*time).unwrap());
    let mean = times.iter().map(real).sum::<f64>() / count;
    let variance =
        times.iter().map(|time| (real(time) - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let row = store
        .rows(
            "SELECT searched_moves, wall_us_mean, wall_us_variance, wall_us_median, wall_us_p90,
                wall_us_p99, (SELECT sum(searched_moves) FROM time_per_depth WHERE player = 'ab')
            FROM time_per_move WHERE player = 'ab'",
        )
        .await;
    let row: Vec<f64> = row[0].iter().map(|value| text(value).parse().unwrap()).collect();
    let near = |found: f64, expected: f64, error: f64| {
        assert!((found - expected).abs() <= error * expected, "{found} {expected}");
    };
    near(row[0], count, 0.0);
    near(row[1], mean, 1e-12);
    near(row[2], variance, 1e-9);
    for (found, percent) in [(row[3], 50), (row[4], 90), (row[5], 99)] {
        let index = (times.len() * percent).div_ceil(100) - 1;
        near(found, real(&times[index]), 0.0625);
    }
    near(row[6], count, 0.0);
}

#[tokio::test]
async fn the_views_agree_with_the_moves() {
    let mut store = Store::new().await;
    for cell in 0..2 {
        let mut games: Vec<_> =
            (0..20).map(|number| game(store.cell(cell), number, number % 11)).collect();
        // Cut off before a depth was completed: the evaluations were made, but are no share of
        // any full tree.
        let searched = |mv: &&mut MoveRecord| mv.search.ended_by == EndedBy::Depth;
        let cut_off = games[4..8].iter_mut().flat_map(|game| &mut game.record.moves);
        for MoveRecord { search, .. } in cut_off.filter(searched) {
            (search.depth, search.full_tree_leaves, search.ended_by) = (0, 0, EndedBy::Time);
            search.evaluations *= 100;
        }
        store.store(&games).await;
    }
    let twin = "SELECT printf('%d %d %d %.6f %.6f %.6f', g.cell_id, m.player_id, count(*),
            avg(m.nodes), avg(m.evaluations),
            sum(iif(m.depth > 0, m.evaluations, 0)) * 1.0 / sum(m.full_tree_leaves))
        FROM moves AS m JOIN games AS g ON g.game_id = m.game_id
        WHERE m.ended_by <> 'only_move' GROUP BY g.cell_id, m.player_id ORDER BY 1";
    let view = "SELECT printf('%d %d %d %.6f %.6f %.6f', cell_id, player_id, searched_moves,
            nodes_mean, evaluations_mean, full_tree_share) FROM time_per_move ORDER BY 1";
    assert_eq!(store.texts(view).await, store.texts(twin).await);
    let twin = "SELECT printf('%d %d %d %d', m.player_id, m.depth, count(*), sum(m.wall_us))
        FROM moves AS m WHERE m.ended_by <> 'only_move' GROUP BY m.player_id, m.depth ORDER BY 1";
    let view = "SELECT printf('%d %d %d %.0f', player_id, depth, sum(searched_moves),
            sum(wall_us_mean * searched_moves)) FROM time_per_depth
        GROUP BY player_id, depth ORDER BY 1";
    assert_eq!(store.texts(view).await, store.texts(twin).await);
}

#[tokio::test]
async fn axes_and_workers_have_their_sums() {
    let mut store = Store::new().await;
    for cell in 0..2 {
        let games: Vec<_> = (0..4).map(|number| game(store.cell(cell), number, WIN)).collect();
        store.store(&games).await;
    }
    assert_eq!(
        store
            .texts(
                "SELECT printf('%s=%s %d %d %d %.1f', axis, value_text, games, wins, losses, score)
                FROM axis_results ORDER BY value_number"
            )
            .await,
        ["depth=1 4 2 2 0.5", "depth=2 4 2 2 0.5"]
    );
    assert_eq!(
        store
            .texts(
                "SELECT printf('%s %d %d %.0f', worker, games, plies, playing_wall_us)
                FROM worker_productivity"
            )
            .await,
        ["name of worker-1 8 16 40000"]
    );
    assert_eq!(store.integer("SELECT count(*) FROM slowest_games").await, 8);
    assert_eq!(
        store.texts("SELECT parameters FROM player_descriptions ORDER BY player_id").await,
        [
            "depth=1 shuffle=true",
            "depth=1 mutation=0.25",
            "depth=2 shuffle=true",
            "depth=2 mutation=0.25"
        ]
    );
}
