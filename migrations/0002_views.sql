-- Views that answer the usual questions. Every statistic reads counted = 1, directly or through the
-- rollups.
--
-- SQLite keeps the comments inside of a view: `.schema` shows them, and the tables of docs/sql.md are made from
-- them. The one below a view's name says what a row is. The one above a column, four spaces in, is of this column
-- and of those below it up to the next such comment; remarks for readers of the SQL are further in.

CREATE VIEW cell_definitions AS
-- All that decides a cell's games, as workers get it.
SELECT
    -- The cell.
    c.cell_id,
    c.definition_hash,
    -- Its definition in canonical JSON; SHA-256 of it is the hash.
    CASE WHEN v.cell_id IS NULL THEN '' ELSE '{"format":1,"verification":[' END
        || k.definition_prefix || f.parameters_json || ',' || s.parameters_json || ']}'
        || CASE WHEN v.cell_id IS NULL THEN ''
            ELSE ',' || v.number || ',' || v.stops_json || ',' || v.ordered_before || ']}' END
        AS definition_json
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN players AS f ON f.player_id = c.first_player_id
JOIN players AS s ON s.player_id = c.second_player_id
LEFT JOIN verifications AS v ON v.cell_id = c.cell_id;

CREATE VIEW cell_rules AS
-- The game's rules in a cell, such as `win_before_rotation`.
SELECT
    -- Key.
    c.cell_id,
    r.rule,
    -- As in `player_parameters`.
    r.value_number,
    r.value_text
FROM cells AS c JOIN condition_rules AS r ON r.conditions_id = c.conditions_id;

CREATE VIEW player_parameters AS
-- Every parameter of each player, defaults spelt out. A limit that is off has no row.
SELECT
    -- Key.
    p.player_id,
    j.key AS parameter,
    -- A number; 1 and 0 for a switch; NULL for a word.
    CASE j.type WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 WHEN 'text' THEN NULL
        ELSE CAST(j.atom AS REAL) END AS value_number,
    -- The value as text.
    CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
        -- Digits as the JSON has them, which SQLite would round: the same value twice in a list gives
        -- [TEXT,TEXT].
        WHEN 'real' THEN (
            SELECT CASE WHEN q.text LIKE '%.0' THEN substr(q.text, 1, length(q.text) - 2)
                ELSE q.text END
            FROM (
                SELECT substr(t.twice, 2, length(t.twice) / 2 - 1) AS text
                FROM (SELECT json_extract(p.parameters_json, j.fullkey, j.fullkey) AS twice) AS t)
            AS q)
        ELSE CAST(j.atom AS TEXT) END AS value_text
FROM players AS p, json_each(p.parameters_json) AS j;

CREATE VIEW player_descriptions AS
-- Each player in a line.
SELECT
    -- As in `players`.
    p.player_id,
    p.algorithm,
    -- Every other parameter, in a line.
    (SELECT group_concat(q.text, ' ') FROM (
        SELECT pp.parameter || '=' || pp.value_text AS text
        FROM player_parameters AS pp
        WHERE pp.player_id = p.player_id AND pp.parameter <> 'algorithm'
        ORDER BY pp.parameter) AS q) AS parameters
FROM players AS p;

CREATE VIEW experiment_progress AS
-- Each experiment's progress, except experiments that are being deleted.
SELECT
    -- As in `experiments`.
    e.experiment_id,
    e.uuid,
    e.name,
    e.game,
    e.state,
    e.priority,
    e.submitted_unix_us,
    e.finished_unix_us,
    -- What the sweep plans; for a cell that its stop rule has ended, the games up to there.
    (SELECT count(*) FROM cells AS c
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS cells,
    (SELECT coalesce(sum(coalesce(c.stop_number, c.games_planned)), 0) FROM cells AS c
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS games_planned,
    -- Games with a result, or given up.
    (SELECT coalesce(sum(r.games + r.games_failed), 0) FROM cells AS c
        JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS games_settled,
    -- Games given up.
    (SELECT coalesce(sum(r.games_failed), 0) FROM cells AS c
        JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.experiment_id = e.experiment_id AND c.in_sweep = 1) AS games_failed
FROM experiments AS e
WHERE NOT EXISTS (
    SELECT 1 FROM removals AS r
    WHERE r.experiment_id = e.experiment_id AND r.what = 'everything');

CREATE VIEW results AS
-- Each cell's result, for its first player against its second. A cell without a game has no figures.
SELECT
    -- The cell and its experiment.
    c.cell_id,
    c.experiment_id,
    -- The experiment's name.
    e.name AS experiment,
    -- The cell's place in the grid.
    c.number AS cell_number,
    -- Its place on each axis, in words: `depth=3, time=10ms`.
    (SELECT group_concat(a.text, ', ') FROM (
        SELECT x.axis || '=' || ca.value_text AS text
        FROM experiment_axes AS x
        JOIN cell_axes AS ca ON ca.cell_id = c.cell_id AND ca.axis = x.axis
        WHERE x.experiment_id = c.experiment_id
        ORDER BY x.number) AS a) AS axes,
    -- The cell's first and second player, by their names in the sweep.
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    -- How many games it gets: those up to where its stop rule has ended it, or all.
    coalesce(c.stop_number, c.games_planned) AS games_planned,
    -- The most games that the sweep gives it: `games`.
    c.games_planned AS games_max,
    -- Half the width of the score's interval at which it ends; NULL without such a rule.
    s.precision AS stop_precision,
    -- The games after which its stop rule has ended it; NULL: not yet, or never.
    c.stop_number AS stopped_after,
    -- Counted games.
    coalesce(r.games, 0) AS games,
    -- Games that finally failed; they do not count.
    coalesce(r.games_failed, 0) AS games_failed,
    -- Games that `player` won, drew and lost.
    coalesce(r.wins, 0) AS wins,
    coalesce(r.draws, 0) AS draws,
    coalesce(r.losses, 0) AS losses,
    -- The same, divided by `games`.
    1.0 * r.wins / nullif(r.games, 0) AS win_rate,
    1.0 * r.draws / nullif(r.games, 0) AS draw_rate,
    1.0 * r.losses / nullif(r.games, 0) AS loss_rate,
    -- Mean score of `player`, over the pairs; over the games if `swap_sides` is 0.
    CASE WHEN p.pairs > 0 OR r.games > 0 AND c.swap_sides = 0 THEN r.score END AS score,
    -- Its 95% confidence interval, over the same; over the openings where openings repeat.
    CASE WHEN p.pairs > 0 OR r.games > 0 AND c.swap_sides = 0 THEN r.score_low END AS score_low,
    CASE WHEN p.pairs > 0 OR r.games > 0 AND c.swap_sides = 0 THEN r.score_high END AS score_high,
    -- Pairs with both games counted.
    coalesce(p.pairs, 0) AS pairs,
    -- Pairs that gave `player` 0, ½, 1, 1½ and 2 points.
    coalesce(r.pairs_0, 0) AS pairs_0,
    coalesce(r.pairs_half, 0) AS pairs_half,
    coalesce(r.pairs_1, 0) AS pairs_1,
    coalesce(r.pairs_1_half, 0) AS pairs_1_half,
    coalesce(r.pairs_2, 0) AS pairs_2,
    -- Games that differ in opening, moves or the player that moved first.
    coalesce(r.distinct_games, 0) AS distinct_games,
    -- Mean length of a game, in plies.
    1.0 * r.plies / nullif(r.games, 0) AS plies_mean,
    -- Mean duration of a game, in microseconds.
    r.wall_us / nullif(r.games, 0) AS game_wall_us_mean,
    -- The players.
    c.first_player_id AS player_id,
    c.second_player_id AS opponent_id,
    -- 1 if the result depends on time, or the sweep measures it.
    c.timed,
    -- As in `cells`: 0 if `player` moves first in every game, so that there are no pairs.
    c.swap_sides,
    -- Its stop rule in words; NULL without one.
    s.rule AS stop_rule,
    -- Its stop rule: `stop_rules`.
    c.stop_rule_id,
    -- The number of openings from which its pairs started, or its games if `swap_sides` is 0.
    min(CASE c.swap_sides WHEN 1 THEN coalesce(p.pairs, 0) ELSE coalesce(r.games, 0) END,
        coalesce(k.openings_count, 9223372036854775807)) AS openings_used,
    -- Where openings repeat, the number of equally weighted openings that they are worth: the interval is
    -- over openings ([statistics](statistics.md#scores)); else NULL.
    r.openings_effective,
    -- Then the variance of their scores.
    r.openings_variance,
    -- Pairs in which the player that moved first from the opening won both games, and in which the other
    -- did.
    coalesce(r.pairs_won_by_first_mover, 0) AS pairs_won_by_first_mover,
    coalesce(r.pairs_won_by_second_mover, 0) AS pairs_won_by_second_mover,
    -- Mean score of the player that moved first from the opening, over all games.
    1.0 * (r.wins_moving_first + r.losses - r.losses_moving_first + 0.5 * r.draws)
        / nullif(r.games, 0) AS first_mover_score,
    -- Results of `player` in the games in which it moved first.
    coalesce(r.wins_moving_first, 0) AS wins_moving_first,
    coalesce(r.draws_moving_first, 0) AS draws_moving_first,
    coalesce(r.losses_moving_first, 0) AS losses_moving_first,
    -- Its mean score in these, and in the others.
    (r.wins_moving_first + 0.5 * r.draws_moving_first)
        / nullif(r.wins_moving_first + r.draws_moving_first + r.losses_moving_first, 0)
        AS score_moving_first,
    (r.wins - r.wins_moving_first + 0.5 * (r.draws - r.draws_moving_first))
        / nullif(r.games - r.wins_moving_first - r.draws_moving_first - r.losses_moving_first, 0)
        AS score_moving_second,
    -- Counted games that have a margin: in a game that counts something beside winning, such as Othello's
    -- discs, those that its own rules ended.
    coalesce(r.margin_games, 0) AS margin_games,
    -- Mean of how far `player` was ahead at their end, with its 95% interval over the same as that of the
    -- score; NULL without such a game, and low and high with only one unit
    -- ([statistics.md](statistics.md)).
    1.0 * r.margin_sum / nullif(r.margin_games, 0) AS margin_mean,
    r.margin_low,
    r.margin_high
FROM cells AS c
JOIN conditions AS k ON k.conditions_id = c.conditions_id
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN stop_rules AS s ON s.stop_rule_id = c.stop_rule_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN (
    SELECT cell_id, pairs_0 + pairs_half + pairs_1 + pairs_1_half + pairs_2 AS pairs
    FROM cell_results) AS p ON p.cell_id = c.cell_id
WHERE c.in_sweep = 1;

CREATE VIEW axis_results AS
-- Results pooled over all cells that share a value of one axis. No interval: cells differ.
SELECT
    -- The experiment and its name.
    c.experiment_id,
    e.name AS experiment,
    -- The axis.
    a.axis,
    -- The value as the sweep has it, and as a number, if it is one.
    a.value_text,
    a.value_number,
    -- The players' names.
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    -- How many cells.
    count(*) AS cells,
    -- Counted games, and their results for `player`.
    coalesce(sum(r.games), 0) AS games,
    coalesce(sum(r.wins), 0) AS wins,
    coalesce(sum(r.draws), 0) AS draws,
    coalesce(sum(r.losses), 0) AS losses,
    -- Mean score of `player` over the games.
    (sum(r.wins) + 0.5 * sum(r.draws)) / nullif(sum(r.games), 0) AS score,
    -- As in `results`.
    coalesce(sum(r.pairs_0), 0) AS pairs_0,
    coalesce(sum(r.pairs_half), 0) AS pairs_half,
    coalesce(sum(r.pairs_1), 0) AS pairs_1,
    coalesce(sum(r.pairs_1_half), 0) AS pairs_1_half,
    coalesce(sum(r.pairs_2), 0) AS pairs_2
FROM cell_axes AS a
JOIN cells AS c ON c.cell_id = a.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
GROUP BY c.experiment_id, a.axis, a.value_text, a.value_number,
    c.first_player_name, c.second_player_name;

CREATE VIEW head_to_head AS
-- Every two players of an experiment that met, over all cells, once from each side. Games of a player
-- against itself are in no row.
WITH met (experiment_id, player, opponent, games, wins, draws, losses) AS (
    SELECT c.experiment_id, c.first_player_name, c.second_player_name,
        r.games, r.wins, r.draws, r.losses
    FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE c.in_sweep = 1 AND c.first_player_id <> c.second_player_id
    UNION ALL
    SELECT c.experiment_id, c.second_player_name, c.first_player_name,
        r.games, r.losses, r.draws, r.wins
    FROM cells AS c JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE c.in_sweep = 1 AND c.first_player_id <> c.second_player_id)
SELECT
    -- The experiment and its name.
    m.experiment_id,
    e.name AS experiment,
    -- The players' names.
    m.player,
    m.opponent,
    -- Counted games, and their results for `player`.
    sum(m.games) AS games,
    sum(m.wins) AS wins,
    sum(m.draws) AS draws,
    sum(m.losses) AS losses,
    -- Mean score of `player` over the games.
    (sum(m.wins) + 0.5 * sum(m.draws)) / nullif(sum(m.games), 0) AS score
FROM met AS m
JOIN experiments AS e ON e.experiment_id = m.experiment_id
GROUP BY m.experiment_id, m.player, m.opponent;

CREATE VIEW game_players AS
-- Two rows for each counted game: each player's own view of it. Reads `games`.
SELECT
    -- The game.
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    -- Its pair: number / 2; NULL where sides are fixed.
    CASE c.swap_sides WHEN 1 THEN g.number / 2 END AS pair,
    -- The position it started from.
    g.opening_id,
    -- 0 for the player that moved first from the opening, 1 for the other.
    0 AS side,
    -- The side of the game that the player had: `first` (white, x), which moves first from the start of the
    -- game, or `second`.
    g.first_side AS game_side,
    -- The players and their names.
    g.first_player_id AS player_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    g.second_player_id AS opponent_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
        ELSE c.first_player_name END AS opponent,
    -- Points of `player`: 1, 0.5 or 0.
    CASE g.outcome WHEN 'win' THEN 1.0 WHEN 'draw' THEN 0.5 ELSE 0.0 END AS score,
    -- As in `games`.
    g.termination,
    g.plies,
    g.moves_hash,
    g.worker_id,
    g.engine_revision,
    g.wall_us,
    -- How far `player` was ahead at the end; NULL for a game without a margin.
    g.margin
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
WHERE g.counted = 1
UNION ALL
SELECT
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    CASE c.swap_sides WHEN 1 THEN g.number / 2 END,
    g.opening_id,
    1,
    CASE g.first_side WHEN 'first' THEN 'second' WHEN 'second' THEN 'first' END,
    g.second_player_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
        ELSE c.first_player_name END,
    g.first_player_id,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END,
    CASE g.outcome WHEN 'win' THEN 0.0 WHEN 'draw' THEN 0.5 ELSE 1.0 END,
    g.termination,
    g.plies,
    g.moves_hash,
    g.worker_id,
    g.engine_revision,
    g.wall_us,
    -g.margin
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
WHERE g.counted = 1;

CREATE VIEW distinct_games AS
-- How many of a cell's games repeat another: between players that draw no random numbers, a repeated
-- opening gives the same game again, and adds no information.
SELECT
    -- As in `results`.
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    -- Counted games.
    r.games,
    -- Games that differ from all others; the rest.
    r.distinct_games,
    r.games - r.distinct_games AS repeated_games,
    -- Distinct games divided by games.
    1.0 * r.distinct_games / nullif(r.games, 0) AS distinct_share
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN cell_results AS r ON r.cell_id = c.cell_id
WHERE c.in_sweep = 1;

CREATE VIEW slowest_games AS
-- The hundred counted games that took longest. Reads `games`.
SELECT
    -- The game.
    g.game_id,
    c.experiment_id,
    g.cell_id,
    g.number,
    -- As in `games`.
    g.wall_us,
    g.plies,
    g.termination,
    -- Names of the players that moved first and second.
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS first_player,
    CASE g.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_name
        ELSE c.first_player_name END AS second_player,
    -- The worker's name.
    w.name AS worker,
    -- As in `games`.
    g.started_unix_us
FROM (
    SELECT t.game_id FROM games AS t JOIN cells AS n ON n.cell_id = t.cell_id
    WHERE t.counted = 1 AND n.in_sweep = 1
    ORDER BY t.wall_us DESC, t.game_id LIMIT 100) AS s
JOIN games AS g ON g.game_id = s.game_id
JOIN cells AS c ON c.cell_id = g.cell_id
LEFT JOIN workers AS w ON w.worker_id = g.worker_id
ORDER BY g.wall_us DESC, g.game_id;

CREATE VIEW failures AS
-- Games that failed, or that a worker lost while it played them.
SELECT
    -- The game, and the cell's players.
    c.experiment_id,
    e.name AS experiment,
    a.cell_id,
    a.number,
    c.first_player_name AS player,
    c.second_player_name AS opponent,
    -- As in `attempts`.
    a.lost,
    a.lost_alone,
    a.failed,
    -- 1 if it has a result by now, or was given up.
    g.game_id IS NOT NULL AS settled,
    -- 1 if it was given up.
    g.failure IS NOT NULL AS finally_failed,
    -- The last message about it.
    coalesce(g.failure, a.last_message) AS message
FROM attempts AS a
JOIN cells AS c ON c.cell_id = a.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN games AS g ON g.cell_id = a.cell_id AND g.number = a.number;

CREATE VIEW mates AS
-- Every counted game from an opening that was drawn from an ending, beside the values of the ending's
-- table.
SELECT
    -- The game.
    g.game_id,
    c.experiment_id,
    e.name AS experiment,
    g.cell_id,
    g.number,
    -- Where it begins.
    o.position,
    -- The player that can mate there by the table, and the other, by their names in the sweep.
    CASE (g.number * c.swap_sides + o.plies_to_mate) % 2
        -- An odd number is a win for the player that moves first.
        WHEN 1 THEN c.first_player_name
        ELSE c.second_player_name END AS attacker,
    CASE (g.number * c.swap_sides + o.plies_to_mate) % 2 WHEN 1 THEN c.second_player_name
        ELSE c.first_player_name END AS defender,
    -- The table's number, and the same in moves of the attacker.
    o.plies_to_mate,
    (o.plies_to_mate + 1) / 2 AS moves_to_mate,
    -- 1 if the attacker won.
    g.outcome = CASE o.plies_to_mate % 2 WHEN 1 THEN 'win' ELSE 'loss' END AS mated,
    -- Length of the game.
    g.plies,
    -- How many plies more than the table's the attacker took; NULL where it did not win.
    CASE g.outcome WHEN CASE o.plies_to_mate % 2 WHEN 1 THEN 'win' ELSE 'loss' END
        THEN g.plies - o.plies_to_mate END AS plies_more,
    -- How the game ended.
    g.termination
FROM games AS g
JOIN openings AS o ON o.opening_id = g.opening_id AND o.plies_to_mate IS NOT NULL
JOIN cells AS c ON c.cell_id = g.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
WHERE g.counted = 1;

CREATE VIEW choices AS
-- Every counted choice in a position that has something to choose ([sweeps.md](sweeps.md#accuracy)). Reads
-- `games`, `moves` and `move_values`.
SELECT
    -- As in `accuracy`.
    c.experiment_id,
    e.name AS experiment,
    g.cell_id,
    c.first_player_name AS player,
    c.second_player_name AS reference,
    -- The choice, which is stored as a game of one ply.
    g.game_id,
    g.number,
    -- Where it was made, and how many plies of random play lead there; NULL where it was listed.
    o.position,
    p.plies,
    -- The chosen move, its value, and that of a best move.
    m.move,
    v.value,
    p.best_value,
    -- The chosen move's rank and loss; 1 if no move is worth more.
    v.rank,
    p.best_value - v.value AS loss,
    v.value = p.best_value AS is_best,
    -- As in `valued_positions`.
    p.legal_moves,
    p.best_moves,
    p.best_rank,
    p.random_rank,
    p.random_loss,
    p.random_best,
    -- 1 if the chosen move wins, 0 if not; NULL where no move wins, where every move does, and where the
    -- reference does not show who wins: `exact` and `table` do, minimax's scores do not.
    CASE WHEN r.algorithm IN ('exact', 'table') AND p.best_value > 0 AND p.worst_value <= 0
        THEN v.value > 0 END AS keeps_win,
    -- The share of legal moves that win; NULL where `keeps_win` is. Counted from `move_values` at every
    -- reading.
    CASE WHEN r.algorithm IN ('exact', 'table') AND p.best_value > 0 AND p.worst_value <= 0
        THEN (SELECT 1.0 * count(*) FROM move_values AS w
            WHERE w.valued_position_id = p.valued_position_id AND w.value > 0) / p.legal_moves
        END AS random_keeps_win,
    -- Of the search, as in `moves`.
    m.depth,
    m.nodes,
    m.evaluations,
    m.wall_us,
    -- As in `valued_positions`.
    p.valued_position_id
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN players AS r ON r.player_id = c.second_player_id
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN valued_positions AS p ON p.conditions_id = c.conditions_id
    AND p.reference_player_id = c.second_player_id AND p.opening_id = g.opening_id
    AND p.engine_revision = g.engine_revision AND p.best_value > p.worst_value
JOIN moves AS m ON m.game_id = g.game_id AND m.ply = 0
JOIN move_values AS v ON v.valued_position_id = p.valued_position_id AND v.move = m.move
JOIN openings AS o ON o.opening_id = g.opening_id
WHERE c.in_sweep = 1;

CREATE VIEW accuracy AS
-- For experiments of kind `accuracy`: how well each cell's player chooses, over the positions that have
-- something to choose. A skill is 0 for a random mover and 1 for a player that never errs. Reads `games`,
-- `moves` and `move_values`.
SELECT
    -- As in `results`.
    c.cell_id,
    c.experiment_id,
    e.name AS experiment,
    c.number AS cell_number,
    (SELECT group_concat(a.text, ', ') FROM (
        SELECT x.axis || '=' || ca.value_text AS text
        FROM experiment_axes AS x
        JOIN cell_axes AS ca ON ca.cell_id = c.cell_id AND ca.axis = x.axis
        WHERE x.experiment_id = c.experiment_id
        ORDER BY x.number) AS a) AS axes,
    c.first_player_name AS player,
    -- The player that values moves: the cell's second player.
    c.second_player_name AS reference,
    -- Choices that the sweep asks for, that count, and that were given up.
    c.games_planned AS choices_planned,
    coalesce(r.games, 0) AS choices,
    coalesce(r.games_failed, 0) AS choices_failed,
    -- Counted choices in positions whose moves differ in value; the rest is over these.
    count(h.game_id) AS positions,
    -- The share of best moves, and its expected value for a random mover.
    avg(h.is_best) AS best,
    avg(h.random_best) AS random_best,
    -- (best - random_best) / (1 - random_best).
    (avg(h.is_best) - avg(h.random_best)) / (1.0 - avg(h.random_best)) AS best_skill,
    -- The mean rank of the chosen moves, 1 the best, and its expected value for a random mover; moves of
    -- equal value share the mean of their ranks.
    avg(h.rank) AS rank,
    avg(h.random_rank) AS random_rank,
    -- (random_rank - rank) / (random_rank - the mean rank of best moves).
    (avg(h.random_rank) - avg(h.rank)) / (avg(h.random_rank) - avg(h.best_rank)) AS rank_skill,
    -- By how much the chosen moves are worth less than the best, in the reference's unit, and its expected
    -- value for a random mover.
    avg(h.loss) AS loss,
    avg(h.random_loss) AS random_loss,
    -- 1 - loss / random_loss.
    1.0 - avg(h.loss) / avg(h.random_loss) AS loss_skill,
    -- Of these positions, those in which some move wins and some move does not, by the values of the
    -- reference `exact` or `table`; NULL with another reference, whose scores do not show who wins.
    CASE WHEN p.algorithm IN ('exact', 'table') THEN count(h.keeps_win) END AS winnable,
    -- Over these: the share of chosen moves that win, and its expected value for a random mover; NULL where
    -- there are none.
    avg(h.keeps_win) AS keeps_win,
    avg(h.random_keeps_win) AS random_keeps_win,
    -- (keeps_win - random_keeps_win) / (1 - random_keeps_win).
    (avg(h.keeps_win) - avg(h.random_keeps_win)) / (1.0 - avg(h.random_keeps_win)) AS keeps_win_skill,
    -- As in `results`.
    c.first_player_id AS player_id,
    -- The reference's player.
    c.second_player_id AS reference_id,
    -- As in `results`.
    c.timed
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id AND e.kind = 'accuracy'
JOIN players AS p ON p.player_id = c.second_player_id
LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
LEFT JOIN choices AS h ON h.cell_id = c.cell_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id;

CREATE VIEW time_per_depth AS
-- The cost of a searched move, as in `time_per_move`, by the depth that its search completed.
SELECT
    -- As in `time_per_move`.
    c.experiment_id,
    d.cell_id,
    d.player_id,
    CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    -- The depth completed, in plies.
    d.depth,
    -- As in `time_per_move`.
    d.searched_moves,
    d.wall_us / d.searched_moves AS wall_us_mean,
    max(0.0, d.wall_us_squared - d.wall_us * d.wall_us / d.searched_moves)
        / nullif(d.searched_moves - 1, 0) AS wall_us_variance,
    q.wall_us_median,
    q.wall_us_p90,
    q.wall_us_p99,
    d.cpu_us / d.searched_moves AS cpu_us_mean,
    d.nodes / d.searched_moves AS nodes_mean,
    d.evaluations / d.searched_moves AS evaluations_mean,
    d.evaluations / nullif(d.full_tree_leaves, 0.0) AS full_tree_share,
    1e6 * d.nodes / nullif(d.wall_us, 0.0) AS nodes_per_second
FROM cell_depths AS d
JOIN cells AS c ON c.cell_id = d.cell_id AND c.in_sweep = 1
JOIN (
    SELECT
        s.cell_id, s.player_id, s.depth,
        min(CASE WHEN 100 * s.so_far >= 50 * s.total THEN s.middle_us END) AS wall_us_median,
        min(CASE WHEN 100 * s.so_far >= 90 * s.total THEN s.middle_us END) AS wall_us_p90,
        min(CASE WHEN 100 * s.so_far >= 99 * s.total THEN s.middle_us END) AS wall_us_p99
    FROM (
        SELECT
            t.cell_id, t.player_id, t.depth,
            (b.from_us + b.below_us - 1) / 2.0 AS middle_us,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id, t.depth
                ORDER BY t.time_bucket_id) AS so_far,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id, t.depth) AS total
        FROM cell_move_times AS t
        JOIN time_buckets AS b ON b.time_bucket_id = t.time_bucket_id) AS s
    GROUP BY s.cell_id, s.player_id, s.depth) AS q
    ON q.cell_id = d.cell_id AND q.player_id = d.player_id AND q.depth = d.depth;

CREATE VIEW time_per_move AS
-- The cost of a searched move (not the only legal one) for each player of a cell. In self-play both sides
-- are one player. Quantiles are the middles of their buckets (`time_buckets`), right to 6.25%; `spelrum
-- report` finds their place in the bucket by the mean ([statistics.md](statistics.md#times)).
SELECT
    -- As in `results`.
    c.experiment_id,
    e.name AS experiment,
    d.cell_id,
    (SELECT group_concat(a.text, ', ') FROM (
        SELECT x.axis || '=' || ca.value_text AS text
        FROM experiment_axes AS x
        JOIN cell_axes AS ca ON ca.cell_id = c.cell_id AND ca.axis = x.axis
        WHERE x.experiment_id = c.experiment_id
        ORDER BY x.number) AS a) AS axes,
    -- The player, and its name.
    d.player_id,
    CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    -- How many moves.
    d.searched_moves,
    -- Mean and variance of the time of a move.
    d.wall_us / d.searched_moves AS wall_us_mean,
    max(0.0, d.wall_us_squared - d.wall_us * d.wall_us / d.searched_moves)
        / nullif(d.searched_moves - 1, 0) AS wall_us_variance,
    -- Its quantiles: 50%, 90%, 99%.
    q.wall_us_median,
    q.wall_us_p90,
    q.wall_us_p99,
    -- Mean processor time.
    d.cpu_us / d.searched_moves AS cpu_us_mean,
    -- Mean depth completed, in plies.
    d.depth_sum / d.searched_moves AS depth_mean,
    -- Mean number of positions made in the search.
    d.nodes / d.searched_moves AS nodes_mean,
    -- Mean number of static evaluations.
    d.evaluations / d.searched_moves AS evaluations_mean,
    -- Evaluations divided by the leaves of the full tree of the depth completed, a ratio of sums over the
    -- searches that completed one; NULL if none did. It is meaningful for players that search to one depth
    -- only: a search that deepens ply by ply also evaluates the trees before, and the depth of `mcts` is
    -- the length of a line. `spelrum report` leaves it out there.
    d.completed_evaluations / nullif(d.full_tree_leaves, 0.0) AS full_tree_share,
    -- Nodes per second of wall time.
    1e6 * d.nodes / nullif(d.wall_us, 0.0) AS nodes_per_second
FROM (
    SELECT
        cell_id, player_id,
        sum(searched_moves) AS searched_moves,
        sum(wall_us) AS wall_us,
        sum(cpu_us) AS cpu_us,
        sum(1.0 * depth * searched_moves) AS depth_sum,
        sum(nodes) AS nodes,
        sum(evaluations) AS evaluations,
        -- A search that a limit cut off before it completed a depth has no full tree to be a share of.
        total(CASE WHEN depth > 0 THEN evaluations END) AS completed_evaluations,
        sum(full_tree_leaves) AS full_tree_leaves,
        sum(wall_us_squared) AS wall_us_squared
    FROM cell_depths
    GROUP BY cell_id, player_id) AS d
JOIN cells AS c ON c.cell_id = d.cell_id AND c.in_sweep = 1
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN (
    SELECT
        s.cell_id, s.player_id,
        min(CASE WHEN 100 * s.so_far >= 50 * s.total THEN s.middle_us END) AS wall_us_median,
        min(CASE WHEN 100 * s.so_far >= 90 * s.total THEN s.middle_us END) AS wall_us_p90,
        min(CASE WHEN 100 * s.so_far >= 99 * s.total THEN s.middle_us END) AS wall_us_p99
    FROM (
        SELECT
            t.cell_id, t.player_id,
            (b.from_us + b.below_us - 1) / 2.0 AS middle_us,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id
                ORDER BY t.time_bucket_id) AS so_far,
            sum(t.searched_moves) OVER (PARTITION BY t.cell_id, t.player_id) AS total
        FROM (
            SELECT cell_id, player_id, time_bucket_id, sum(searched_moves) AS searched_moves
            FROM cell_move_times
            GROUP BY cell_id, player_id, time_bucket_id) AS t
        JOIN time_buckets AS b ON b.time_bucket_id = t.time_bucket_id) AS s
    GROUP BY s.cell_id, s.player_id) AS q
    ON q.cell_id = d.cell_id AND q.player_id = d.player_id;

CREATE VIEW limited_moves AS
-- The moves of counted games by players that have a time limit for each move (`move_time_us`): what each
-- took, and by how much it overran the limit. Reads `moves`.
SELECT
    -- The move.
    experiment_id,
    experiment,
    cell_id,
    number,
    game_id,
    ply,
    -- The player that made it.
    player_id,
    player,
    -- The limit that the sweep states.
    move_time_us,
    -- How many times as long the limit was in this game ([timing.md](timing.md#limits-that-are-scaled));
    -- NULL: as the sweep states.
    time_factor,
    -- The limit that the move had.
    limit_us,
    -- As in `moves`.
    wall_us,
    -- `wall_us` less `limit_us`: negative for a move that took less than its limit.
    wall_us - limit_us AS overrun_us,
    -- As in `moves`.
    cpu_us,
    involuntary_switches,
    nodes,
    ended_by
FROM (
    SELECT
        c.experiment_id,
        e.name AS experiment,
        g.cell_id,
        g.number,
        m.game_id,
        m.ply,
        m.player_id,
        CASE (g.number % 2 * c.swap_sides + m.side) % 2 WHEN 0 THEN c.first_player_name
            ELSE c.second_player_name END AS player,
        p.parameters_json ->> '$.move_time_us' AS move_time_us,
        g.time_factor,
        -- As the engine rounds it.
        CASE WHEN g.time_factor IS NULL THEN p.parameters_json ->> '$.move_time_us'
            ELSE max(1, ((p.parameters_json ->> '$.move_time_us')
                * CAST(round(g.time_factor * 1000) AS INTEGER) + 500) / 1000) END AS limit_us,
        m.wall_us,
        m.cpu_us,
        m.involuntary_switches,
        m.nodes,
        m.ended_by
    FROM cells AS c
    JOIN experiments AS e ON e.experiment_id = c.experiment_id
    JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
    JOIN moves AS m ON m.game_id = g.game_id
    JOIN players AS p ON p.player_id = m.player_id
    WHERE c.in_sweep = 1 AND p.parameters_json ->> '$.move_time_us' IS NOT NULL
);

CREATE VIEW engines_used AS
-- The [external engines](engines.md) that played as each player in each cell, over counted games. Reads the
-- games of those cells. Two rows for one player of one cell: its results are of two programs.
SELECT
    -- The cell.
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    c.number AS cell_number,
    -- The player that the engine played as, and its name in the sweep.
    CASE x.side WHEN 0 THEN g.first_player_id ELSE g.second_player_id END AS player_id,
    CASE (g.number % 2 * c.swap_sides + x.side) % 2 WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    -- The program, as in `engines`.
    n.engine_id,
    n.name AS engine,
    n.author,
    n.sha256,
    -- Counted games.
    count(
        -- In self-play one program has both sides of a game.
        DISTINCT g.game_id) AS games
FROM cells AS c
JOIN experiments AS e ON e.experiment_id = c.experiment_id
JOIN games AS g ON g.cell_id = c.cell_id AND g.counted = 1
JOIN game_engines AS x ON x.game_id = g.game_id
JOIN engines AS n ON n.engine_id = x.engine_id
WHERE c.in_sweep = 1
GROUP BY c.experiment_id, c.cell_id, 5, 6, n.engine_id;

CREATE VIEW builds AS
-- The [builds](engines.md#builds) of each engine that an experiment's sweep names or named before it was
-- rebuilt, in the order in which they came, with the results of their games.
WITH sides AS (
    SELECT c.experiment_id, c.cell_id, c.superseded, p.parameters_json ->> '$.engine' AS engine,
        p.parameters_json ->> '$.build' AS build, coalesce(r.games, 0) AS games,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.wins ELSE r.losses END, 0) AS wins,
        coalesce(r.draws, 0) AS draws,
        coalesce(CASE p.player_id WHEN c.first_player_id THEN r.losses ELSE r.wins END, 0) AS losses
    FROM players AS p
    JOIN cells AS c ON p.player_id IN (c.first_player_id, c.second_player_id)
    LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
    WHERE p.algorithm IN ('uci', 'gtp') AND c.in_sweep = 1
)
SELECT
    -- The experiment.
    s.experiment_id,
    e.name AS experiment,
    -- The engine's name in the sweep.
    s.engine,
    -- Its builds in order: 1 came first.
    row_number() OVER (PARTITION BY s.experiment_id, s.engine ORDER BY min(s.cell_id)) AS number,
    -- Its hash, in hexadecimal; NULL: unknown.
    s.build,
    -- 1: it plays now; 0: another build took its place.
    min(s.superseded) = 0 AS is_current,
    -- Cells in which it plays, and counted games of these.
    count(*) AS cells,
    sum(s.games) AS games,
    -- The engine's results in these games; cells against different opponents are added up, so compare
    -- builds that met the same opponents.
    sum(s.wins) AS wins,
    sum(s.draws) AS draws,
    sum(s.losses) AS losses,
    (sum(s.wins) + 0.5 * sum(s.draws)) / nullif(sum(s.games), 0) AS score
FROM sides AS s JOIN experiments AS e ON e.experiment_id = s.experiment_id
WHERE NOT EXISTS (
    SELECT 1 FROM removals AS x
    WHERE x.experiment_id = e.experiment_id AND x.what = 'everything')
GROUP BY s.experiment_id, s.engine, s.build
ORDER BY s.experiment_id, s.engine, number;

CREATE VIEW forfeited AS
-- Counted games that a player [forfeited](engines.md#forfeits): by a crash, a stall, an illegal move or too
-- much time.
SELECT
    -- The game.
    c.experiment_id,
    e.name AS experiment,
    c.cell_id,
    g.game_id,
    g.number,
    -- The player that forfeited it, by its name in the sweep.
    CASE (g.number % 2 * c.swap_sides + (g.outcome = 'win')) % 2 WHEN 0 THEN c.first_player_name
        ELSE c.second_player_name END AS player,
    -- `crash`, `stall`, `illegal_move` or `time_forfeit`.
    g.termination AS kind,
    -- After how many plies.
    g.plies,
    -- Where it was played.
    w.worker_id,
    w.name AS worker,
    w.host,
    -- What the program did, and the last lines exchanged, as in `forfeits`.
    f.message,
    f.output
FROM games AS g
JOIN cells AS c ON c.cell_id = g.cell_id
JOIN experiments AS e ON e.experiment_id = c.experiment_id
LEFT JOIN workers AS w ON w.worker_id = g.worker_id
LEFT JOIN forfeits AS f ON f.game_id = g.game_id
WHERE g.counted = 1 AND g.termination IN ('crash', 'stall', 'illegal_move', 'time_forfeit') AND c.in_sweep = 1;

CREATE VIEW barred AS
-- Workers that get no games of an engine, since the engine [forfeits them there and not
-- elsewhere](engines.md#forfeits).
SELECT
    -- The worker.
    x.worker_id,
    w.name AS worker,
    w.host,
    -- The engine, by its name in sweeps.
    x.engine,
    -- How many games it had forfeited there when the worker was barred, and of how many.
    x.forfeits,
    x.engine_games AS games,
    -- The same for all other workers.
    x.forfeits_of_others,
    x.engine_games_of_others AS games_of_others,
    -- When the worker was barred.
    x.requested_unix_us AS barred_unix_us,
    -- Its results that are in `uncounted_games` now.
    x.games_done AS games_taken_out,
    -- How the engine forfeited the last of them, and its output before.
    x.message,
    x.output
FROM exclusions AS x
JOIN workers AS w ON w.worker_id = x.worker_id
WHERE x.engine IS NOT NULL AND x.readmitted_unix_us IS NULL;

CREATE VIEW worker_productivity AS
-- Each worker's counted games of each experiment, also in cells that the sweep no longer names.
SELECT
    -- The worker, as in `workers`.
    w.worker_id,
    w.name AS worker,
    w.host,
    w.slots,
    w.engine_revision,
    w.version,
    -- The experiment; NULL for a worker that has played no game.
    r.experiment_id,
    e.name AS experiment,
    -- Its counted games, and their plies.
    r.games,
    r.plies,
    -- Time its slots spent playing, together.
    r.wall_us AS playing_wall_us,
    -- Mean duration of a game; NULL if none of its games counts.
    r.wall_us / nullif(r.games, 0) AS game_wall_us_mean,
    -- When its first and last game began, whether or not it counts, by its own clock.
    r.first_started_unix_us,
    r.last_started_unix_us,
    -- Its machine and build, as in `workers`.
    w.cpu_model,
    w.logical_cores,
    w.operating_system,
    w.build_commit,
    w.build_profile,
    w.cores,
    w.quiet_slots,
    -- Its limit of CPU time, in hardware threads, and the limit's period; NULL without one.
    CAST(w.cpu_quota_us AS REAL) / w.cpu_period_us AS cpu_quota,
    w.cpu_period_us AS cpu_quota_period_us,
    -- As in `workers`.
    w.credential
FROM workers AS w
LEFT JOIN worker_results AS r ON r.worker_id = w.worker_id
LEFT JOIN experiments AS e ON e.experiment_id = r.experiment_id;

CREATE VIEW runs AS
-- The runs of experiments that depend on their own results ([sweeps.md](sweeps.md#find)).
SELECT
    -- The experiment and its name.
    n.experiment_id,
    e.name AS experiment,
    -- The run, from 0 in the order of the grid.
    n.run,
    -- `find`, `tune` or `evolve`.
    n.note ->> 'kind' AS kind,
    -- The player that it decides about, and a JSON list of the players that it meets.
    n.note ->> 'player' AS player,
    n.note -> 'opponents' AS opponents,
    -- Its place on the grid's axes: a JSON object of texts.
    (
        SELECT json_group_object(a.value ->> 'axis', a.value ->> 'text')
        FROM json_each(n.note, '$.axes') AS a
    ) AS axes,
    -- 1 if it is done.
    EXISTS (
        SELECT 1 FROM course_notes AS x
        WHERE x.experiment_id = n.experiment_id AND x.run = n.run AND x.kind = 'ended'
    ) AS ended
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
WHERE n.kind = 'begun';

CREATE VIEW run_cells AS
-- The run and step of `[find]` or `[tune]` that each cell belongs to. Those of `[evolve]` are in
-- [`individual_cells`](#individual_cells).
SELECT
    -- The cell.
    c.experiment_id,
    c.cell_id,
    -- Its run and step.
    CAST(r.value_number AS INTEGER) AS run,
    CAST(s.value_number AS INTEGER) AS step
FROM cells AS c
CROSS JOIN cell_axes AS r ON r.cell_id = c.cell_id AND r.axis = 'run'
CROSS JOIN cell_axes AS s ON s.cell_id = c.cell_id AND s.axis = 'step'
WHERE c.asked_after IS NOT NULL;

CREATE VIEW trials AS
-- Settings that runs tried, a row for each parameter.
SELECT
    -- The trial.
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step,
    n.trial,
    -- The parameter's name in sweeps.
    s.value ->> 'parameter' AS parameter,
    -- Its value as a number (durations in milliseconds), and as a sweep has it.
    s.value ->> 'number' AS value_number,
    s.value ->> 'text' AS value_text
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
CROSS JOIN json_each(n.note, '$.settings') AS s
WHERE n.kind = 'tried';

CREATE VIEW estimates AS
-- Best settings known to runs after each step, a row for each parameter.
SELECT
    -- The step.
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step,
    -- As in `trials`.
    s.value ->> 'parameter' AS parameter,
    s.value ->> 'number' AS value_number,
    s.value ->> 'text' AS value_text,
    -- 1 if there is a 95% interval.
    s.value -> 'interval' IS NOT NULL AS has_interval,
    -- Its ends; NULL where an end lies beyond the values tried.
    s.value ->> '$.interval.low.number' AS low_number,
    s.value ->> '$.interval.low.text' AS low_text,
    s.value ->> '$.interval.high.number' AS high_number,
    s.value ->> '$.interval.high.text' AS high_text
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
CROSS JOIN json_each(n.note, '$.estimates') AS s
WHERE n.kind = 'estimated';

CREATE VIEW individuals AS
-- Every individual that was bred ([sweeps.md](sweeps.md#evolve)).
SELECT
    -- The run.
    n.experiment_id,
    e.name AS experiment,
    n.run,
    -- Its generation, and its number there, from 0.
    n.step AS generation,
    n.trial AS individual,
    -- Its formula, and the same simplified.
    n.note ->> 'formula' AS formula,
    n.note ->> 'simplified' AS simplified,
    -- Its nodes, and the edges from its root to its farthest leaf.
    n.note ->> 'size' AS size,
    n.note ->> 'depth' AS depth,
    -- How it was made: `random`, `elite`, `crossover` or `mutation`.
    n.note ->> 'operator' AS operator,
    -- Its parents among the individuals of the previous generation, the parent of its root first; NULL
    -- without a parent.
    n.note ->> '$.parents[0]' AS first_parent,
    n.note ->> '$.parents[1]' AS second_parent,
    -- Its fitness; NULL while its generation is not measured, or if one of its games failed.
    s.note ->> 'fitness' AS fitness,
    -- Its place in the order of its generation, from 0.
    s.note ->> 'rank' AS rank,
    -- Results of its games; NULL while its generation is not measured, as in the columns below.
    s.note ->> 'games' AS games,
    s.note ->> 'games_failed' AS games_failed,
    s.note ->> 'wins' AS wins,
    s.note ->> 'draws' AS draws,
    s.note ->> 'losses' AS losses,
    -- The sum of the margins of its games.
    s.note ->> 'margin' AS margin,
    -- How many rounds of a knock-out it survived.
    s.note ->> 'rounds' AS rounds,
    -- 1 if it played no games of its own, and keeps the results of an equal individual.
    s.note ->> 'kept' AS kept
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
LEFT JOIN course_notes AS s
    ON s.experiment_id = n.experiment_id AND s.run = n.run AND s.kind = 'scored' AND s.step = n.step
    AND s.trial = n.trial
WHERE n.kind = 'individual';

CREATE VIEW generations AS
-- The generations that are measured. Figures of fitness are over the individuals that have one.
SELECT
    -- The generation.
    n.experiment_id,
    e.name AS experiment,
    n.run,
    n.step AS generation,
    -- How many individuals it has, and how many of them have a fitness.
    n.note ->> 'individuals' AS individuals,
    n.note ->> 'measured' AS measured,
    -- The first in its order, and that individual's fitness.
    n.note ->> 'best_individual' AS best_individual,
    n.note ->> 'best' AS best,
    -- Mean, least and standard deviation of fitness.
    n.note ->> 'mean' AS mean,
    n.note ->> 'least' AS least,
    n.note ->> 'sd' AS sd,
    -- How many different simplified formulas there are.
    n.note ->> 'distinct' AS distinct_forms,
    -- Means over the formulas.
    n.note ->> 'mean_size' AS mean_size,
    n.note ->> 'mean_depth' AS mean_depth
FROM course_notes AS n
JOIN experiments AS e ON e.experiment_id = n.experiment_id
WHERE n.kind = 'generation';

CREATE VIEW individual_cells AS
-- The individual that each cell measures.
SELECT
    -- The cell.
    c.experiment_id,
    c.cell_id,
    -- The individual that it measures.
    CAST(r.value_number AS INTEGER) AS run,
    CAST(g.value_number AS INTEGER) AS generation,
    CAST(i.value_number AS INTEGER) AS individual,
    -- The individual of the same generation that it meets, and measures, too; NULL if it meets another
    -- player.
    CAST(m.value_number AS INTEGER) AS meets
FROM cells AS c
CROSS JOIN cell_axes AS r ON r.cell_id = c.cell_id AND r.axis = 'run'
CROSS JOIN cell_axes AS g ON g.cell_id = c.cell_id AND g.axis = 'generation'
CROSS JOIN cell_axes AS i ON i.cell_id = c.cell_id AND i.axis = 'individual'
LEFT JOIN cell_axes AS m ON m.cell_id = c.cell_id AND m.axis = 'meets'
WHERE c.asked_after IS NOT NULL;
