//! `[[override]]`: other numbers of games for some cells.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{SweepText, plan_sweep, planned, tic_tac_toe};

const TABLES: &str = r#"
    [axes]
    depth = [1, 2, 3]
    budget = [{ ab = "10ms", gm = 100 }, { ab = "20ms", gm = 100 }, { ab = "20ms", gm = 200 }]
    order = [[true, false], [false, true]]
    [players.a]
    algorithm = "alpha-beta"
    depth = "$depth"
    shuffle = true
    move_time = "$budget.ab"
    [players.b]
    algorithm = "alpha-beta"
    shuffle = true
    vary = { depth = [5, 6] }
    nodes = "$budget.gm"
"#;

/// The number of games of each cell, as `depth ab gm first-second`.
fn games(overrides: &str) -> BTreeMap<String, u64> {
    let tables = TABLES.replace("    order = [[true, false], [false, true]]\n", "");
    let plan = planned(&tic_tac_toe("", &format!("{tables}{overrides}")));
    let shown = |cell: &super::SpeltCell| {
        let place = cell.axes.iter().filter(|(name, _)| !name.contains('r') || name == "budget.ab");
        let place: Vec<&str> = place.map(|(_, value)| value.text.as_str()).collect();
        (format!("{} {}", place.join(" "), cell.player_names.join("-")), cell.games)
    };
    plan.cells.iter().map(shown).collect()
}

/// The cells that do not have the sweep's two games, and the number of missing ones.
fn changed(overrides: &str) -> (Vec<(String, u64)>, usize) {
    let all = games("");
    let now = games(overrides);
    let missing = all.keys().filter(|cell| !now.contains_key(*cell)).count();
    (now.into_iter().filter(|(_, games)| *games != 2).collect(), missing)
}

#[test]
fn conditions_name_values_by_meaning() {
    // `a` has 3 × 2 times and 9 points; `b` meets it in all of them, twice.
    assert_eq!(games("").len(), 18 + 2);
    let games_with = |condition: &str| {
        changed(&format!("[[override]]\nwhere = {condition}\ngames = 10")).0.len()
    };
    assert_eq!(games_with("{ depth = 1.0 }"), 6 + 2);
    assert_eq!(games_with("{ depth = [1, 2] }"), 12 + 2);
    assert_eq!(games_with("{ budget = { ab = \"0.02s\" } }"), 12 + 2);
    assert_eq!(games_with("{ budget = { ab = \"20ms\", gm = 200 } }"), 6 + 1);
    assert_eq!(games_with("{ budget = [{ ab = \"10ms\" }, { gm = 200 }] }"), 12 + 2);
    assert_eq!(games_with("{ budget = {} }"), 18 + 2);
    assert_eq!(games_with("{ player = \"a\" }"), 18);
    assert_eq!(games_with("{ player = \"b\", opponent = \"a\" }"), 18);
    assert_eq!(games_with("{ player = \"b\", opponent = \"b\" }"), 2);
    assert_eq!(games_with("{ player = \"b(depth=5)\", opponent = [\"a\"] }"), 9);
    assert_eq!(games_with("{ player = [\"b(depth=5)\", \"a\"], depth = 2 }"), 6 + 2);
}

#[test]
fn lists_on_axes_are_values() {
    let text = |wanted: &str| {
        let tables = format!(
            "[axes]\nheaps = [[1, 2], [3]]\n[players.a]\nalgorithm = \"random\"\n\
             [players.b]\nalgorithm = \"random\"\n[[override]]\nwhere = {{ heaps = {wanted} }}\ngames = 8"
        );
        tic_tac_toe("", &tables)
            .replace("\"tic-tac-toe\"", "{ name = \"nim\", heaps = \"$heaps\", misere = false }")
    };
    let games = |wanted: &str| {
        let plan = planned(&text(wanted));
        plan.cells.iter().map(|cell| cell.games).collect::<Vec<_>>()
    };
    assert_eq!(games("[1, 2]"), [8, 2]);
    assert_eq!(games("[[3]]"), [2, 8]);
    assert_eq!(games("[[1, 2], [3]]"), [8, 8]);
    assert!(plan_sweep(&SweepText::new("t", text("[2, 1]"))).is_err());
}

#[test]
fn later_overrides_win() {
    let skip = "[[override]]\nwhere = { depth = 1 }\nskip = true\n";
    let more = "[[override]]\nwhere = { player = \"a\" }\ngames = 6\n";
    // The two cells of `b` alone are at other depths too.
    assert_eq!(changed(skip), (Vec::new(), 6));
    let (cells, missing) = changed(&format!("{skip}{more}"));
    assert_eq!((cells.len(), missing), (18, 0));
    let (cells, missing) = changed(&format!("{more}{skip}"));
    assert_eq!((cells.len(), missing), (12, 6));
}

/// A skipped pairing is treated as absent: its player may even be invalid.
#[test]
fn what_is_skipped_is_not_made() {
    let tables = r#"
        [axes]
        evaluations = [10, 20]
        depth = [1, 0]
        [players.a]
        algorithm = "alpha-beta"
        evaluations = "$evaluations"
        depth = "$depth"
        [players.b]
        algorithm = "random"
        [[override]]
        where = { depth = 0 }
        skip = true
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    assert_eq!((plan.cells.len(), plan.plan.players.len()), (2, 3));
}

/// A cell shared by several points gets the most games of any, and points that skip it do not
/// count.
#[test]
fn shared_cells_get_the_most_games() {
    let tables = r#"
        [axes]
        x = [1, 2, 3]
        [players.a]
        algorithm = "random"
        [players.b]
        algorithm = "alpha-beta"
        depth = "$x"
        [players.c]
        algorithm = "alpha-beta"
        shuffle = true
        depth = 7
        [[override]]
        where = { x = 1 }
        games = 8
        [[override]]
        where = { x = 2 }
        games = 20
        [[override]]
        where = { x = [2, 3], player = "c", opponent = "a" }
        skip = true
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    let shared: Vec<_> = plan
        .cells
        .iter()
        .filter(|cell| cell.player_names == ["a", "c"])
        .map(|cell| (cell.games, super::axes(cell)))
        .collect();
    // Only x = 1 has it, so that is its place.
    assert_eq!(shared, [(8, vec![("x", "1")])]);
}

#[derive(Clone, Debug)]
struct Given {
    depths: Vec<i64>,
    nodes: Option<i64>,
    player: Option<&'static str>,
    opponent: Option<&'static str>,
    games: Option<u64>,
}

const NAMES: [&str; 5] = ["a", "v", "v(order=true)", "v(order=false)", "r"];

fn given() -> impl Strategy<Value = Given> {
    let depths = prop::sample::subsequence(vec![1, 2, 3], 0..=3);
    let name = || prop::option::of(prop::sample::select(&NAMES[..]));
    let games = prop::option::of((1..9_u64).prop_map(|pairs| 2 * pairs));
    (depths, prop::option::of(1..3_i64), name(), name(), games).prop_map(
        |(depths, nodes, player, opponent, games)| {
            let opponent = player.and(opponent);
            Given { depths, nodes, player, opponent, games }
        },
    )
}

impl Given {
    fn text(&self) -> String {
        let mut conditions = Vec::new();
        if !self.depths.is_empty() {
            conditions.push(format!("depth = {:?}", self.depths));
        }
        conditions.extend(self.nodes.map(|nodes| format!("nodes = {nodes}")));
        conditions.extend(self.player.map(|name| format!("player = \"{name}\"")));
        conditions.extend(self.opponent.map(|name| format!("opponent = \"{name}\"")));
        let effect =
            self.games.map_or("skip = true".to_owned(), |games| format!("games = {games}"));
        format!("[[override]]\nwhere = {{ {} }}\n{effect}\n", conditions.join(", "))
    }

    fn is_empty(&self) -> bool {
        self.depths.is_empty() && self.nodes.is_none() && self.player.is_none()
    }

    fn matches(&self, depth: i64, nodes: i64, first: &str, second: &str) -> bool {
        let is = |wanted: Option<&str>, name: &str| {
            wanted.is_none_or(|wanted| name == wanted || name.split('(').next() == Some(wanted))
        };
        (self.depths.is_empty() || self.depths.contains(&depth))
            && self.nodes.is_none_or(|wanted| wanted == nodes)
            && ((is(self.player, first) && is(self.opponent, second))
                || (is(self.player, second) && is(self.opponent, first)))
    }
}

proptest! {
    /// The slow reference: every point and pairing as a separate sweep, with its number of games.
    #[test]
    fn overrides_are_what_each_point_and_pairing_gets(
        given in prop::collection::vec(given(), 1..5)
            .prop_filter("overrides of everything are refused", |given| !given.iter().any(Given::is_empty)),
    ) {
        let sweep = |depths: &[i64], nodes: &[i64], head: &str, tail: &str| {
            tic_tac_toe(head, &format!(
                "[axes]\ndepth = {depths:?}\nnodes = {nodes:?}\n\
                 [players.a]\nalgorithm = \"alpha-beta\"\nshuffle = true\ndepth = \"$depth\"\nnodes = \"$nodes\"\n\
                 [players.v]\nalgorithm = \"alpha-beta\"\nshuffle = true\ndepth = 2\nvary = {{ order = [true, false] }}\n\
                 [players.r]\nalgorithm = \"random\"\n{tail}"
            ))
        };
        let names = ["a", "v(order=true)", "v(order=false)", "r"];
        let mut expected = BTreeMap::new();
        let mut matched = vec![false; given.len()];
        for depth in [1, 2, 3] {
            for nodes in [1, 2] {
                let alone = planned(&sweep(&[depth], &[nodes], "", ""));
                for cell in &alone.plan.cells {
                    let [first, second] = &cell.player_names;
                    assert!(names.contains(&&**first) && names.contains(&&**second));
                    let mut games = Some(2);
                    for (given, matched) in given.iter().zip(&mut matched) {
                        if given.matches(depth, nodes, first, second) {
                            *matched = true;
                            games = given.games;
                        }
                    }
                    if let Some(games) = games {
                        let most = expected.entry(cell.definition_hash).or_insert(games);
                        *most = games.max(*most);
                    }
                }
            }
        }
        let tail: String = given.iter().map(Given::text).collect();
        let plan = plan_sweep(&SweepText::new("t", sweep(&[1, 2, 3], &[1, 2], "", &tail)));
        let possible = matched.iter().all(|matched| *matched) && !expected.is_empty();
        prop_assert_eq!(plan.is_ok(), possible, "{}", tail);
        if let Ok(plan) = plan {
            let cells = plan.cells.iter().map(|cell| (cell.definition_hash, cell.games));
            prop_assert_eq!(cells.collect::<BTreeMap<_, _>>(), expected);
            prop_assert_eq!(plan.games(), plan.cells.iter().map(|cell| cell.games).sum::<u64>());
        }
    }
}
