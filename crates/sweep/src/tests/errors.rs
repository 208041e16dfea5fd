//! Every error of the language, as shown to a user.

use super::{PENTAGO_DEPTH, RANDOM_PLAYERS, SweepText, plan_sweep, render, tic_tac_toe};

/// One snapshot for each.
macro_rules! errors {
    ($($name:ident: $text:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let text: String = $text.into();
                let error = plan_sweep(&SweepText::new("sweep.toml", text)).expect_err("this is an error");
                insta::assert_snapshot!(render(&error));
            }
        )*
    };
}

/// The design's example with one change.
fn pentago(old: &str, new: &str) -> String {
    assert!(PENTAGO_DEPTH.contains(old), "{old}");
    PENTAGO_DEPTH.replacen(old, new, 1)
}

fn head(line: &str) -> String {
    tic_tac_toe(line, RANDOM_PLAYERS)
}

const FOUR_CHOICES: &str = "choices = 4\npositions = { kind = \"random\", plies = 2 }";
const EXACT: &str = "[reference]\nalgorithm = \"exact\"";
const RANDOM_PLAYER: &str = "[players.a]\nalgorithm = \"random\"";

const TABLE_PLAYER: &str =
    "[players.a]\nalgorithm = \"table\"\n\n[players.b]\nalgorithm = \"random\"";

/// A sweep of chess with these openings.
fn endings(openings: &str, players: &str) -> String {
    format!("name = \"t\"\ngame = \"chess\"\ngames = 2\nopenings = {openings}\n\n{players}")
}

/// A sweep of kind `accuracy`.
fn accuracy(head: &str, reference: &str, players: &str) -> String {
    format!(
        "name = \"t\"\nkind = \"accuracy\"\ngame = \"tic-tac-toe\"\n{head}\n{reference}\n{players}"
    )
}

fn axis(line: &str) -> String {
    tic_tac_toe(
        "",
        &format!(
            "[axes]\n{line}\n\n[players.a]\nalgorithm = \"alpha-beta\"\ndepth = \"$x\"\n\n\
             [players.b]\nalgorithm = \"random\""
        ),
    )
}

fn player(lines: &str) -> String {
    tic_tac_toe("", &format!("[players.a]\n{lines}\n\n[players.b]\nalgorithm = \"random\""))
}

/// A player that uses this, with two axes of tables.
fn using(value: &str, tables: &str) -> String {
    tic_tac_toe(
        "",
        &format!(
            "[axes]\nselection = [{tables}]\nother = [{{ depth = 2 }}]\n\n\
             [players.a]\nalgorithm = \"alpha-beta\"\nuse = {value}\n\n\
             [players.b]\nalgorithm = \"alpha-beta\"\nuse = \"$other\""
        ),
    )
}

/// A sample of a grid of 4 × 3.
fn sample(value: &str) -> String {
    tic_tac_toe(
        &format!("sample = {value}"),
        "[axes]\nx = [1, 2, 3, 4]\ny = [1, 2, 3]\n\n\
         [players.a]\nalgorithm = \"alpha-beta\"\ndepth = \"$x\"\nnodes = \"$y\"\n\n\
         [players.b]\nalgorithm = \"random\"",
    )
}

/// A sweep of two axes with these lines at its end.
fn overridden(lines: &str) -> String {
    tic_tac_toe(
        "",
        &format!(
            "[axes]\nx = [1, 2, 3]\nt = [{{ ab = \"10ms\", gm = 2 }}, {{ ab = \"1s\", gm = 2 }}]\n\n\
             [players.a]\nalgorithm = \"alpha-beta\"\nshuffle = false\nvary = {{ depth = [1, 2] }}\n\n\
             [players.b]\nalgorithm = \"alpha-beta\"\ndepth = \"$x\"\nnodes = \"$t.gm\"\nmove_time = \"$t.ab\"\n\n\
             {lines}"
        ),
    )
}

errors! {
    // The text.
    toml_syntax: "name = \"x\ngame = 1";
    toml_twice: "name = \"x\"\nname = \"y\"";
    toml_not_at_all: "Dear coordinator,\nplease play some games.";
    date: head("seed = 2014-01-01");
    number_too_large: head("seed = 99999999999999999999");
    number_not_finite: head("seed = inf");
    text_too_long: format!("#{}", " ".repeat(1 << 20));

    // The keys of the file.
    empty: "";
    key_unknown: pentago("openings =", "opening =");
    key_unknown_and_unlike: head("colour = \"red\"");
    key_missing: pentago("games = 100", "");
    type_wrong: pentago("games = 100", "games = \"100\"");
    type_wrong_table: "name = \"x\"\ngame = \"pentago\"\ngames = 2\nplayers = 3";
    name_with_bad_characters: pentago("name = \"pentago-depth\"", "name = \"../pentago depth\"");
    games_zero: pentago("games = 100", "games = 0");
    games_negative: pentago("games = 100", "games = -2");
    games_odd: pentago("games = 100", "games = 101");
    games_one: pentago("games = 100", "games = 1");
    games_too_many: pentago("games = 100", "games = 9007199254740990");
    seed_negative: pentago("seed = 2014", "seed = -1");
    seed_too_large: pentago("seed = 2014", "seed = 9007199254740992");
    measure_unknown: pentago("measure = \"time\"", "measure = \"tim\"");
    record_unknown: head("record = \"everything\"");
    max_plies_zero: head("max_plies = 0");
    max_plies_text: head("max_plies = \"none\"");
    adjudication_of_wrong_type: head("adjudication = true");
    adjudication_of_nothing: head("adjudication = {}");
    adjudication_key_misspelt: head("adjudication = { resing = { score = 600 } }");
    adjudication_by_an_axis: head("adjudication = { resign = { score = \"$x\" } }");
    adjudication_resign_of_wrong_type: head("adjudication = { resign = 600 }");
    adjudication_resign_without_score: head("adjudication = { resign = { moves = 3 } }");
    adjudication_resign_by_zero: head("adjudication = { resign = { score = 0 } }");
    adjudication_resign_beyond_a_win: head("adjudication = { resign = { score = 1000001 } }");
    adjudication_resign_after_no_move: head("adjudication = { resign = { score = 600, moves = 0 } }");
    adjudication_resign_both_of_wrong_type: head("adjudication = { resign = { score = 600, both = 2 } }");
    adjudication_draw_without_score: head("adjudication = { draw = {} }");
    adjudication_draw_key_misspelt: head("adjudication = { draw = { score = 10, afer = 40 } }");
    adjudication_draw_negative: head("adjudication = { draw = { score = -10 } }");
    adjudication_tables_of_wrong_type: endings("\"start\"\nadjudication = { tables = 1 }", TABLE_PLAYER);
    adjudication_tables_of_another_game: head("adjudication = { tables = true }");
    adjudication_syzygy_of_too_many: endings("\"start\"\nadjudication = { syzygy = 8 }", TABLE_PLAYER);
    adjudication_syzygy_without_pieces: endings("\"start\"\nadjudication = { syzygy = {} }", TABLE_PLAYER);
    adjudication_syzygy_of_another_game: head("adjudication = { syzygy = 5 }");
    adjudication_tables_of_endings: endings("{ kind = \"ending\", ending = \"KRK\" }\nadjudication.tables = true", TABLE_PLAYER);
    adjudication_restart_of_another_game: head("adjudication = { draw = { score = 10, restart = true } }");
    adjudication_draw_too_late: head("adjudication = { draw = { score = 10, after = 5001 } }");
    game_timeout_without_unit: head("game_timeout = \"10\"");
    game_timeout_of_wrong_type: head("game_timeout = 600");
    game_timeout_of_two_units: head("game_timeout = \"10mm\"");
    game_timeout_zero: head("game_timeout = \"0s\"");
    game_timeout_too_fine: head("game_timeout = \"500us\"");
    game_timeout_too_long: head("game_timeout = \"10001h\"");
    game_timeout_over_the_top: head("game_timeout = \"99999999999999999h\"");
    timing_of_wrong_type: head("timing = 0.05");
    timing_key_misspelt: head("timing = { disturbed_over = 0.05 }");
    timing_share_of_wrong_type: head("timing = { disturbed_above = \"5%\" }");
    timing_share_of_more_than_all: head("timing = { disturbed_above = 5 }");
    timing_of_disturbed_unknown: head("timing = { disturbed = \"reply\" }");
    timing_replays_where_they_count: head("timing = { replays_max = 2 }");
    timing_replays_zero: head("timing = { disturbed = \"replay\", replays_max = 0 }");
    timing_replays_too_many: head("timing = { disturbed = \"replay\", replays_max = 11 }");
    timing_speed_of_nothing: head("timing = { reference_speed = 0 }");
    timing_speed_of_wrong_type: head("timing = { reference_speed = \"2.5M\" }");
    timing_speed_beyond_all: head("timing = { reference_speed = 1_000_000_000_001 }");
    timing_factor_without_speed: head("timing = { factor_max = 2 }");
    timing_factor_too_small: head("timing = { reference_speed = 2_500_000, factor_max = 0.5 }");
    timing_factor_too_great: head("timing = { reference_speed = 2_500_000, factor_max = 101 }");
    placement_of_wrong_type: head("placement = [\"site=lab2\"]");
    placement_key_misspelt: head("placement = { requires = [\"site=lab2\"] }");
    placement_labels_of_wrong_type: head("placement = { require = \"site=lab2\" }");
    placement_label_of_wrong_type: head("placement = { require = [2] }");
    placement_label_misspelt: head("placement = { prefer = [\"site: lab2\"] }");
    placement_label_without_name: head("placement = { require = [\"=lab2\"] }");
    placement_speed_of_nothing: head("placement = { speed_min = 0 }");
    placement_noise_above_all: head("placement = { noise_max = 1.5 }");
    placement_period_negative: head("placement = { quota_period_max = -0.1 }");
    placement_period_of_wrong_type: head("placement = { quota_period_max = \"10ms\" }");
    placement_of_two_values: head("placement = { require = [\"site=a\", \"site=b\"] }");
    timing_share_negative: head("timing = { disturbed_above = -0.01 }");
    stop_of_wrong_type: head("stop = 0.03");
    stop_without_precision: head("stop = {}");
    stop_key_misspelt: head("stop = { precison = 0.03 }");
    stop_precision_of_wrong_type: head("stop = { precision = \"3%\" }");
    stop_precision_zero: head("stop = { precision = 0 }");
    stop_precision_too_large: head("stop = { precision = 0.5 }");
    stop_of_two_kinds: head("stop = { precision = 0.03, sprt = { elo0 = 0, elo1 = 20 } }");
    stop_sprt_of_wrong_type: head("stop = { sprt = [0, 20] }");
    stop_sprt_without_elo1: head("stop = { sprt = { elo0 = 0 } }");
    stop_sprt_key_misspelt: head("stop = { sprt = { elo0 = 0, elo1 = 20, aplha = 0.01 } }");
    stop_sprt_turned_round: head("stop = { sprt = { elo0 = 20, elo1 = 0 } }");
    stop_sprt_too_far: head("stop = { sprt = { elo0 = 0, elo1 = 900 } }");
    stop_sprt_alpha_too_large: head("stop = { sprt = { elo0 = 0, elo1 = 20, alpha = 0.5 } }");
    stop_sprt_beta_of_wrong_type: head("stop = { sprt = { elo0 = 0, elo1 = 20, beta = \"5%\" } }");
    stop_sprt_model_unknown: head("stop = { sprt = { elo0 = 0, elo1 = 20, model = \"normalised\" } }");
    priority_too_large: head("priority = 3000000000");
    games_at_once_less_than_a_pair: head("games_at_once = 1");
    games_at_once_of_wrong_type: head("games_at_once = true");
    replicates_of_wrong_type: head("replicates = 5");
    replicates_of_no_axis: head("replicates = \"seed\"");

    monotone_of_wrong_type: head("monotone = 5");
    monotone_of_no_axis: head("monotone = \"nodes\"");
    monotone_of_another_axis: axis("x = [1, 2, 3, 4]").replacen("\n", "\nmonotone = [\"x\", \"y\"]\n", 1);
    monotone_of_a_table: axis("x = [{ ab = 1 }, { ab = 2 }]").replace("$x", "$x.ab").replacen("\n", "\nmonotone = \"x\"\n", 1);

    // The game.
    game_misspelt: pentago("game = \"pentago\"", "game = \"pentagon\"");
    game_without_name: pentago("game = \"pentago\"", "game = { win_before_rotation = true }");
    game_rule_unknown: pentago("game = \"pentago\"", "game = { name = \"pentago\", win_before_rotate = true }");
    game_rule_of_wrong_type: pentago("game = \"pentago\"", "game = { name = \"pentago\", win_before_rotation = 1 }");
    game_rule_impossible: pentago("game = \"pentago\"", "game = { name = \"nim\", heaps = [] }");

    // Axes.
    axis_unused: pentago("depth = [1, 2, 3, 4]", "depth = [1, 2, 3, 4]\nwidth = [1]");
    axis_undefined: pentago("depth = \"$depth\"", "depth = \"$dept\"");
    axis_undefined_without_axes: player("algorithm = \"alpha-beta\"\ndepth = \"$depth\"");
    axis_empty: axis("x = []");
    axis_scalar: axis("x = 3");
    axis_with_equal_values: axis("x = [1, 2, 1]");
    axis_with_bad_name: axis("\"x y\" = [1]");
    axis_twice_but_for_case: axis("x = [1]\nX = [2]");
    axis_of_tables_without_key: axis("x = [{ ab = 1 }, { ab = 2 }]");
    axis_of_scalars_with_key: axis("x = [1]").replace("$x", "$x.ab");
    axis_of_tables_that_lack_the_key: axis("x = [{ ab = 1 }, { gm = 2 }]").replace("$x", "$x.ab");
    axis_of_tables_with_unused_key: axis("x = [{ ab = 1, gm = 2 }]").replace("$x", "$x.ab");
    axis_of_tables_misspelt_key: axis("x = [{ ab = 1, gm = 2 }]").replace("$x", "$x.abc");
    axis_value_that_no_player_takes: axis("x = [1, 2, 0]");

    range_misses_its_end: axis("x = { from = 1, to = 10, step = 2 }");
    range_of_durations_misses_its_end: axis("x = { from = \"10ms\", to = \"600ms\", factor = 2 }");
    range_away_from_its_end: axis("x = { from = 1, to = 10, step = -1 }");
    range_that_stands_still: axis("x = { from = 1, to = 10, step = 0 }");
    range_by_a_bad_factor: axis("x = { from = 1, to = 8, factor = 0.5 }");
    range_without_end: axis("x = { from = 1, step = 1 }");
    range_without_step: axis("x = { from = 1, to = 3 }");
    range_with_unknown_key: axis("x = { from = 1, to = 3, steps = 1 }");
    range_of_mixed_kinds: axis("x = { from = 1, to = \"3ms\", step = 1 }");
    range_of_lists: axis("x = { from = [1], to = 2, step = 1 }");
    range_too_long: axis("x = { from = 1, to = 1000000, step = 1 }");
    range_by_count_and_step: axis("x = { from = 1, to = 5, count = 5, step = 1 }");
    range_of_one_value: axis("x = { from = 1, to = 5, count = 1 }");
    range_of_a_fractional_count: axis("x = { from = 1, to = 5, count = 2.5 }");
    range_of_too_large_a_count: axis("x = { from = 1, to = 5, count = 1_000_000 }");
    range_of_more_values_than_microseconds: axis("x = { from = \"1us\", to = \"3us\", count = 4 }");
    range_of_equal_ends: axis("x = { from = 4, to = 4, count = 2 }");
    range_on_an_unknown_scale: axis("x = { from = 1, to = 5, count = 5, scale = \"logs\" }");
    range_on_a_scale_by_step: axis("x = { from = 1, to = 5, step = 1, scale = \"log\" }");
    range_on_a_logarithmic_scale_from_zero: axis("x = { from = 0, to = 5, count = 5, scale = \"log\" }");
    range_with_too_many_digits: axis("x = { from = 1e-30, to = 1, step = 1 }");
    grid_too_large: tic_tac_toe("", "[axes]
x = { from = 1, to = 1000, step = 1 }
y = { from = 1, to = 101, step = 1 }

[players.a]
algorithm = \"alpha-beta\"
nodes = \"$x\"
evaluations = \"$y\"

[players.b]
algorithm = \"random\"");

    // Sides.
    swap_sides_that_is_a_number: head("swap_sides = 0");
    no_games_with_fixed_sides: tic_tac_toe("swap_sides = false", RANDOM_PLAYERS).replace("games = 2", "games = 0");
    too_few_openings_for_fixed_sides: "name = \"x\"\ngame = \"tic-tac-toe\"\ngames = 4\nswap_sides = false\nopenings = { kind = \"random\", plies = 1 }\n[players.a]\nalgorithm = \"minimax\"\ndepth = 1\nshuffle = false\n[players.b]\nalgorithm = \"minimax\"\ndepth = 2\nshuffle = false";

    // Endings.
    ending_without_name: endings("{ kind = \"ending\" }", TABLE_PLAYER);
    ending_of_wrong_type: endings("{ kind = \"ending\", ending = 3 }", TABLE_PLAYER);
    ending_unknown: endings("{ kind = \"ending\", ending = \"rook\" }", TABLE_PLAYER);
    ending_of_too_many_pieces: endings("{ kind = \"ending\", ending = \"KBBKN\" }", TABLE_PLAYER);
    ending_that_nobody_wins: endings("{ kind = \"ending\", ending = \"KNK\" }", TABLE_PLAYER);
    ending_that_black_wins: endings("{ kind = \"ending\", ending = \"KKR\" }", TABLE_PLAYER);
    ending_that_black_never_loses: endings("{ kind = \"ending\", ending = \"KNNK\", to_move = \"black\" }", TABLE_PLAYER);
    ending_with_an_unknown_key: endings("{ kind = \"ending\", ending = \"KRK\", distances = [1, 2] }", TABLE_PLAYER);
    ending_with_nobody_to_move: endings("{ kind = \"ending\", ending = \"KRK\", to_move = \"blue\" }", TABLE_PLAYER);
    ending_stratified_by_a_number: endings("{ kind = \"ending\", ending = \"KRK\", stratified = 1 }", TABLE_PLAYER);
    ending_of_one_distance: endings("{ kind = \"ending\", ending = \"KRK\", distance = 5 }", TABLE_PLAYER);
    ending_of_three_distances: endings("{ kind = \"ending\", ending = \"KRK\", distance = [1, 2, 3] }", TABLE_PLAYER);
    ending_of_a_distance_turned_round: endings("{ kind = \"ending\", ending = \"KRK\", distance = [9, 5] }", TABLE_PLAYER);
    ending_of_no_moves: endings("{ kind = \"ending\", ending = \"KRK\", distance = [0, 5] }", TABLE_PLAYER);
    ending_of_too_far_a_distance: endings("{ kind = \"ending\", ending = \"KRK\", distance = [17, 20] }", TABLE_PLAYER);
    ending_in_another_game: head("openings = { kind = \"ending\", ending = \"KRK\" }");
    ending_in_chess960: endings("{ kind = \"ending\", ending = \"KRK\" }", TABLE_PLAYER).replace("game = \"chess\"", "game = { name = \"chess\", chess960 = true }");
    ending_of_too_few_openings: endings("{ kind = \"ending\", ending = \"KRK\", distance = [1, 1], stratified = false }", "[players.a]\nalgorithm = \"table\"\nshuffle = false").replace("games = 2", "games = 100_000\npairing = \"self-play\"");
    ending_to_choose_in_too_often: endings("{ kind = \"ending\", ending = \"KRK\", distance = [1, 1] }", RANDOM_PLAYER).replace("games = 2", "kind = \"accuracy\"\nchoices = 100_000").replace("openings", "positions") + "\n[reference]\nalgorithm = \"table\"";

    // Players of tables.
    options_of_our_own_player: player("algorithm = \"alpha-beta\"\ndepth = 1\noptions = { Hash = 8 }");
    algorithm_in_capitals: player("algorithm = \"UCI\"\nengine = \"x\"\noptions = { Hash = 1 }");
    table_in_another_game: player("algorithm = \"table\"");
    table_from_the_start: endings("\"start\"", TABLE_PLAYER);
    table_after_random_play: endings("{ kind = \"random\", plies = 200 }", TABLE_PLAYER);
    table_from_a_list_with_pawns: endings("[\"8/8/8/8/8/2k5/1R6/K7 w - - 0 1\", \"8/8/8/8/8/2k5/5PPP/K7 w - - 0 1\"]", TABLE_PLAYER);
    table_with_a_depth: endings("{ kind = \"ending\", ending = \"KRK\" }", &TABLE_PLAYER.replace("\"table\"", "\"table\"\ndepth = 3"));
    table_as_a_reference_from_the_start: endings("\"start\"", RANDOM_PLAYER).replace("games = 2", "kind = \"accuracy\"\nchoices = 1").replace("openings", "positions") + "\n[reference]\nalgorithm = \"table\"";

    // Accuracy.
    kind_misspelt: head("kind = \"accurate\"");
    accuracy_without_positions: accuracy("choices = 4", EXACT, RANDOM_PLAYER);
    accuracy_without_choices: accuracy("positions = \"start\"", EXACT, RANDOM_PLAYER);
    accuracy_without_reference: accuracy(FOUR_CHOICES, "", RANDOM_PLAYER);
    accuracy_with_games: accuracy("games = 4\npositions = \"start\"", EXACT, RANDOM_PLAYER);
    accuracy_with_adjudication: accuracy(&format!("{FOUR_CHOICES}\nadjudication.draw = {{ score = 10 }}"), EXACT, RANDOM_PLAYER);
    accuracy_with_pairing: accuracy(&format!("{FOUR_CHOICES}\npairing = \"self-play\""), EXACT, RANDOM_PLAYER);
    accuracy_of_no_choice: accuracy("choices = 0\npositions = \"start\"", EXACT, RANDOM_PLAYER);
    accuracy_of_more_choices_than_positions: accuracy("choices = 900\npositions = { kind = \"random\", plies = [2, 3] }", EXACT, RANDOM_PLAYER);
    accuracy_of_one_position_twice: accuracy("choices = 2\npositions = \"start\"", EXACT, RANDOM_PLAYER);
    accuracy_with_a_player_called_reference: accuracy(FOUR_CHOICES, EXACT, "[players.reference]\nalgorithm = \"random\"");
    accuracy_with_two_references: accuracy(FOUR_CHOICES, "[reference]\nalgorithm = \"minimax\"\nvary = { depth = [1, 2] }", RANDOM_PLAYER);
    accuracy_by_alpha_beta: accuracy(FOUR_CHOICES, "[reference]\nalgorithm = \"alpha-beta\"\ndepth = 3", RANDOM_PLAYER);
    accuracy_by_a_reference_with_a_clock: accuracy(FOUR_CHOICES, "[reference]\nalgorithm = \"minimax\"\ndepth = 3\nclock = \"5s\"", RANDOM_PLAYER);
    accuracy_by_a_reference_in_a_hurry: accuracy(FOUR_CHOICES, "[reference]\nalgorithm = \"minimax\"\ndepth = 3\nmove_time = \"5ms\"", RANDOM_PLAYER);
    accuracy_with_other_numbers_of_choices: accuracy(FOUR_CHOICES, EXACT, &format!("{RANDOM_PLAYER}\n[[override]]\nwhere = {{ player = \"a\" }}\ngames = 2"));
    accuracy_of_an_unknown_player: accuracy(FOUR_CHOICES, EXACT, "");
    positions_that_are_not_so_far: accuracy("choices = 4\npositions = { kind = \"random\", plies = [2, 9] }", EXACT, RANDOM_PLAYER);
    positions_of_no_plies: accuracy("choices = 4\npositions = { kind = \"random\", plies = [] }", EXACT, RANDOM_PLAYER);
    positions_of_equal_plies: accuracy("choices = 4\npositions = { kind = \"random\", plies = [2, 2] }", EXACT, RANDOM_PLAYER);
    positions_of_all_plies: accuracy("choices = 4\npositions = { kind = \"all\", plies = [2, 3] }", EXACT, RANDOM_PLAYER);
    games_with_positions: head("positions = \"start\"");
    games_with_a_reference: head("[reference]\nalgorithm = \"exact\"");

    // Players.
    players_missing: "name = \"x\"\ngame = \"pentago\"\ngames = 2";
    players_none: "name = \"x\"\ngame = \"pentago\"\ngames = 2\n[players]";
    players_none_in_self_play: "name = \"x\"\ngame = \"pentago\"\ngames = 2\npairing = \"self-play\"\n[players]";
    players_none_in_braces: "name = \"x\"\ngame = \"pentago\"\ngames = 2\npairing = \"self-play\"\nplayers = {}";
    players_only_one: tic_tac_toe("", "[players.a]\nalgorithm = \"random\"");
    player_with_bad_name: tic_tac_toe("", "[players.\"a b\"]\nalgorithm = \"random\"");
    player_without_algorithm: player("depth = 3");
    player_of_misspelt_algorithm: pentago("\"alpha-beta\"", "\"alphabeta\"");
    player_of_algorithm_that_is_a_number: player("algorithm = 3");
    player_with_unknown_key: pentago("evaluation = \"runs\"", "evalution = \"runs\"");
    player_with_unknown_evaluation: pentago("\"runs\"", "\"rums\"");
    player_with_evaluation_of_another_game: player("algorithm = \"alpha-beta\"\ndepth = 2\nevaluation = \"runs\"");
    player_with_wrong_type: pentago("depth = \"$depth\"", "depth = \"deep\"");
    player_with_a_list: pentago("depth = \"$depth\"", "depth = [1, 2]");
    clock_of_a_player_without_a_search: player("algorithm = \"random\"\nclock = \"8+0.08\"");
    clock_beside_a_move_time: player("algorithm = \"mcts\"\nclock = \"8+0.08\"\nmove_time = \"1s\"");
    clock_that_is_none: player("algorithm = \"mcts\"\nclock = \"soon\"");
    margin_without_a_clock: player("algorithm = \"mcts\"\nmove_time = \"1s\"\nmargin = \"1s\"");
    player_unbounded: player("algorithm = \"alpha-beta\"\nmove_time = \"unlimited\"");
    player_like_nobody: pentago("[players.genetic]\nalgorithm = \"genetic-minimax\"", "[players.genetic]\nlike = \"alphabet\"");
    player_like_itself: tic_tac_toe("", "[players.a]\nlike = \"b\"\n\n[players.b]\nlike = \"a\"");

    // Variants.
    vary_of_no_table: player("algorithm = \"alpha-beta\"\nvary = [1, 2]");
    vary_by_one_value: player("algorithm = \"alpha-beta\"\nvary = { depth = 3 }");
    vary_by_nothing: player("algorithm = \"alpha-beta\"\nvary = { depth = [] }");
    vary_by_an_axis: player("algorithm = \"alpha-beta\"\nvary = { depth = \"$depth\" }");
    vary_by_a_list_of_axes: player("algorithm = \"alpha-beta\"\nvary = { depth = [1, \"$depth\"] }");
    vary_by_lists: player("algorithm = \"alpha-beta\"\nvary = { depth = [[1, 2], [3]] }");
    vary_by_a_value_twice: player("algorithm = \"alpha-beta\"\ndepth = 2\nvary = { move_time = [\"1s\", \"1000ms\"] }");
    vary_by_a_range_that_misses: player("algorithm = \"alpha-beta\"\nvary = { depth = { from = 1, to = 4, step = 2 } }");
    vary_of_what_is_set: player("algorithm = \"alpha-beta\"\ndepth = 2\nvary = { depth = [1, 2] }");
    vary_of_what_a_like_player_sets: player("algorithm = \"alpha-beta\"\nvary = { depth = [1, 2] }\n[players.c]\nlike = \"a\"\ndepth = 3");
    vary_of_like: player("algorithm = \"alpha-beta\"\nvary = { like = [\"b\"] }");
    vary_of_an_unknown_parameter: player("algorithm = \"alpha-beta\"\ndepth = 2\nvary = { dept = [1, 2] }");
    vary_by_a_value_that_cannot_be: player("algorithm = \"alpha-beta\"\nvary = { depth = [1, 0] }");
    vary_into_too_many_players: player("algorithm = \"alpha-beta\"\nvary = { depth = { from = 1, to = 16, step = 1 }, order = [true, false], nodes = { from = 1, to = 8, step = 1 } }");
    vary_into_long_names: player(&format!("algorithm = \"alpha-beta\"\nvary = {{ evaluation = [\"{}\"] }}", "x".repeat(300)));
    vary_into_too_many_columns: player(&format!(
        "algorithm = \"alpha-beta\"\n[players.a.vary]\n{}",
        (1..=33).map(|key| format!("x{key} = [1]\n")).collect::<String>(),
    ));
    axes_of_too_many_values: axis("x = { from = 1, to = 60000, step = 1 }\ny = { from = 1, to = 60000, step = 1 }");
    axis_named_as_a_side: axis("x = [1]\nPlayer = [1]");

    // Samples.
    sample_of_no_table: sample("8");
    sample_without_method: sample("{ points = 4 }");
    sample_without_points: sample("{ method = \"random\" }");
    sample_by_an_unknown_method: sample("{ method = \"latin-hypercubes\", points = 4 }");
    sample_with_an_unknown_key: sample("{ method = \"random\", point = 4 }");
    sample_of_no_points: sample("{ method = \"random\", points = 0 }");
    sample_of_more_points_than_the_grid: sample("{ method = \"latin-hypercube\", points = 13 }");
    sample_of_more_points_than_its_axes: sample("{ method = \"random\", points = 5, axes = [\"x\"] }");
    sample_of_an_unknown_axis: sample("{ method = \"random\", points = 2, axes = [\"z\"] }");
    sample_of_an_axis_twice: sample("{ method = \"random\", points = 2, axes = [\"x\", \"x\"] }");
    sample_of_no_axes: sample("{ method = \"random\", points = 2, axes = [] }");
    sample_without_axes: head("sample = { method = \"random\", points = 2 }");
    sample_of_too_many_cells: sample("{ method = \"random\", points = 400, axes = [\"x\"] }")
        .replace("x = [1, 2, 3, 4]", "x = { from = 1, to = 400, step = 1 }")
        .replace("y = [1, 2, 3]", "y = { from = 1, to = 300, step = 1 }");
    sample_of_too_large_a_grid: sample("{ method = \"random\", points = 4 }").replace(
        "x = [1, 2, 3, 4]",
        &(0..26).map(|axis| format!("x{axis} = {{ from = 1, to = 1000, step = 1 }}\n")).collect::<String>(),
    );

    // Overrides.
    override_of_no_list: overridden("[override]\nwhere = { x = 1 }\nskip = true");
    override_without_where: overridden("[[override]]\nskip = true");
    override_where_of_no_table: overridden("[[override]]\nwhere = \"x = 1\"\nskip = true");
    override_of_everything: overridden("[[override]]\nwhere = {}\ngames = 4");
    override_without_effect: overridden("[[override]]\nwhere = { x = 1 }");
    override_of_both_effects: overridden("[[override]]\nwhere = { x = 1 }\ngames = 4\nskip = true");
    override_that_does_not_skip: overridden("[[override]]\nwhere = { x = 1 }\nskip = false");
    override_with_unknown_key: overridden("[[override]]\nwere = { x = 1 }\nskip = true");
    override_of_odd_games: overridden("[[override]]\nwhere = { x = 1 }\ngames = 3");
    override_of_too_many_games: overridden("[[override]]\nwhere = { x = 1 }\ngames = 9007199254740990");
    override_of_unknown_axis: overridden("[[override]]\nwhere = { z = 1 }\nskip = true");
    override_of_what_a_player_varies: overridden("[[override]]\nwhere = { depth = 1 }\nskip = true");
    override_of_unknown_value: overridden("[[override]]\nwhere = { x = [1, 7] }\nskip = true");
    override_of_unknown_entry: overridden("[[override]]\nwhere = { t = { ab = \"20ms\" } }\nskip = true");
    override_of_no_value: overridden("[[override]]\nwhere = { x = [] }\nskip = true");
    override_of_unknown_player: overridden("[[override]]\nwhere = { player = \"c\" }\nskip = true");
    override_of_a_player_number: overridden("[[override]]\nwhere = { player = 1 }\nskip = true");
    override_of_an_opponent_alone: overridden("[[override]]\nwhere = { opponent = \"a\" }\nskip = true");
    override_of_those_who_do_not_meet: overridden("[[override]]\nwhere = { player = \"b\", opponent = \"b\" }\nskip = true");
    override_outside_of_the_sample: overridden(
        "[[override]]\nwhere = { x = 1 }\nskip = true\n[[override]]\nwhere = { x = 2 }\nskip = true\n\
         [[override]]\nwhere = { x = 3 }\nskip = true",
    ).replace("[axes]", "sample = { method = \"random\", points = 1 }\n[axes]");
    override_of_all_cells: overridden("[[override]]\nwhere = { x = [1, 2, 3] }\nskip = true");
    override_of_more_pairs_than_openings: overridden("[[override]]\nwhere = { player = \"a(depth=1)\", opponent = \"a(depth=2)\" }\ngames = 100");
    overrides_too_many: overridden(&"[[override]]\nwhere = { x = 1 }\nskip = true\n".repeat(1001));
    overrides_of_too_many_tables: overridden(&"[[override]]\nwhere = { t = { ab = \"10ms\" } }\nskip = true\n".repeat(1000)).replace(
        "t = [",
        &format!("t = [{}", (2..4000).map(|ab| format!("{{ ab = \"{ab}s\", gm = 1 }},\n")).collect::<String>()),
    );

    // Tables that players use.
    use_of_a_name: using("\"selection\"", "{ depth = 1 }");
    use_of_a_part: using("\"$selection.depth\"", "{ depth = 1 }");
    use_of_a_number: using("1", "{ depth = 1 }");
    use_of_an_unknown_axis: using("\"$selecton\"", "{ depth = 1 }");
    use_without_axes: player("algorithm = \"alpha-beta\"\nuse = \"$selection\"");
    use_of_what_is_no_table: using("\"$selection\"", "{ depth = 1 }, 2");
    use_of_a_key_twice: using("[\"$selection\", \"$other\"]", "{ depth = 1 }");
    use_of_a_varied_key: using("\"$selection\"\nvary = { order = [true] }", "{ depth = 1, order = false }");
    use_of_like: using("\"$selection\"", "{ depth = 1, like = \"b\" }");
    use_of_an_unknown_parameter: using("\"$selection\"", "{ depth = 1 }, { dept = 1 }");
    use_of_a_value_that_cannot_be: using("\"$selection\"", "{ depth = 1 }, { depth = 0 }");
    use_that_leaves_a_search_unbounded: using("\"$selection\"", "{ depth = 1 }, { order = true }");

    // Pairing.
    pairing_unknown: head("pairing = \"swiss\"");
    pairing_of_two_forms: head("pairing = { gauntlet = \"a\", between = [\"a\", \"b\"] }");
    pairing_of_unknown_form: head("pairing = { gantlet = \"a\" }");
    pairing_of_unknown_player: head("pairing = { gauntlet = \"alpha\" }");
    pairing_of_three: head("pairing = { pairs = [[\"a\", \"b\", \"a\"]] }");
    pairing_between_one_and_itself: head("pairing = { between = [\"a\", \"b\", \"a\"] }");
    pairing_between_one: head("pairing = { between = [\"a\"] }");
    pairing_between_a_name: head("pairing = { between = \"a\" }");
    pairing_of_no_form: head("pairing = { self_play = true }");
    pairing_with_self_play_of_whom: head("pairing = { gauntlet = \"a\", self_play = \"b\" }");
    pairing_round_robin_of_one: head("pairing = { round_robin = [\"a\"] }");
    pairing_gauntlet_of_everybody: head("pairing = { gauntlet = [\"a\", \"b\"] }");
    pairing_gauntlet_of_a_number: head("pairing = { gauntlet = 1 }");
    pairing_of_unknown_variant: tic_tac_toe(
        "pairing = { pairs = [[\"a(depth=3)\", \"b\"]] }",
        "[players.a]\nalgorithm = \"alpha-beta\"\nvary = { depth = [1, 2] }\n\n\
         [players.b]\nalgorithm = \"random\"",
    );
    pairing_that_leaves_a_variant_out: tic_tac_toe(
        "pairing = { pairs = [[\"a(depth=1)\", \"b\"]] }",
        "[players.a]\nalgorithm = \"alpha-beta\"\nvary = { depth = [1, 2] }\n\n\
         [players.b]\nalgorithm = \"random\"",
    );
    pairing_of_more_cells_than_fit: tic_tac_toe(
        "",
        "[axes]\nx = [1, 2, 3, 4]\n\n[players.a]\nalgorithm = \"alpha-beta\"\ndepth = \"$x\"\n\
         vary.nodes = { from = 1, to = 256, step = 1 }",
    );

    // Anchors.
    anchor_unknown: head("anchors = [\"c\"]");
    anchors_in_a_text: head("anchors = \"a\"");
    anchor_twice: head("anchors = [\"a\", \"a\"]");
    anchors_only: head("anchors = [\"a\", \"b\"]");
    pairing_twice: head("pairing = { pairs = [[\"a\", \"b\"], [\"a\", \"b\"]] }");
    pairing_of_nobody: head("pairing = { pairs = [] }");
    pairing_that_leaves_one_out: head("pairing = { pairs = [[\"a\", \"a\"]] }");

    // Openings.
    openings_unknown: head("openings = \"begin\"");
    openings_without_plies: head("openings = \"random\"");
    openings_without_plies_in_a_table: head("openings = { kind = \"all\" }");
    openings_with_unknown_key: head("openings = { kind = \"random\", plys = 2 }");
    openings_without_kind: head("openings = { plies = 2 }");
    openings_too_far: head("openings = { kind = \"random\", plies = 1000 }");
    openings_that_do_not_exist: head("openings = { kind = \"random\", plies = 9 }");
    openings_too_many: pentago("kind = \"random\", plies = 2", "kind = \"all\", plies = 6");
    openings_of_an_empty_list: head("openings = []");
    openings_that_are_no_position: head("openings = [\"...\"]");
    openings_that_are_over: head("openings = [\"xxxoo....\"]");
    openings_twice: head("openings = [\"x........\", \"..x......\"]");
    openings_listed_nowhere: head("openings = { kind = \"listed\" }");
    openings_listed_with_unknown_key: head("openings = { kind = \"listed\", fil = \"openings.txt\" }");
    openings_listed_twice: head("openings = { kind = \"listed\", positions = [\".........\"], file = \"openings.txt\" }");
    openings_in_a_file_that_did_not_come: head("openings = { kind = \"listed\", file = \"openings.txt\" }");
    openings_in_a_file_without_a_name: head("openings = { kind = \"listed\", file = 3 }");
    openings_fewer_than_pairs: tic_tac_toe(
        "openings = { kind = \"random\", plies = 2 }",
        "[players.a]\nalgorithm = \"minimax\"\ndepth = 2\nshuffle = false\n\n\
         [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 2\nshuffle = false",
    ).replace("games = 2", "games = 100");
    openings_fewer_than_pairs_from_the_start: tic_tac_toe(
        "",
        "[players.a]\nalgorithm = \"minimax\"\ndepth = 2\nshuffle = false\n\n\
         [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 2\nshuffle = false",
    ).replace("games = 2", "games = 100");
}

/// One snapshot for each text of `openings.txt`.
macro_rules! errors_in_the_file {
    ($($name:ident: $text:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let sweep = sweep_with_file("openings.txt", $text);
                insta::assert_snapshot!(render(&plan_sweep(&sweep).unwrap_err()));
            }
        )*
    };
}

fn sweep_with_file(name: &str, text: &str) -> SweepText {
    let sweep = head("openings = { kind = \"listed\", file = \"openings.txt\" }");
    let files = [(name.to_owned(), text.to_owned())].into();
    SweepText { files, ..SweepText::new("sweep.toml", sweep) }
}

errors_in_the_file! {
    file_with_what_is_no_position: "# Two centres\n....x....\n\n  ....xo... # and a corner\n  xo  # too short\n";
    file_with_a_game_that_is_over: ".........\r\nxxxoo....\r\n";
    file_with_a_position_twice: "x........\n..x......";
    file_without_positions: "# Nothing yet\n\n";
    file_that_is_too_long: &"#".repeat(3 << 20);
}

#[test]
fn a_file_of_another_name() {
    let sweep = sweep_with_file("opening.txt", ".........");
    insta::assert_snapshot!(render(&plan_sweep(&sweep).unwrap_err()));
}
