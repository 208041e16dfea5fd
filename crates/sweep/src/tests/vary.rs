//! `vary`: one player for each value.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spelrum_engine::Value;

use super::{Spelt, axes, parameter, planned, tic_tac_toe};

fn names(plan: &Spelt) -> Vec<String> {
    plan.cells.iter().map(|cell| cell.player_names.join(" - ")).collect()
}

#[test]
fn a_player_becomes_one_for_each_value() {
    let tables = r#"
        [players.ab]
        algorithm = "alpha-beta"
        vary = { depth = { from = 1, to = 2, step = 1 }, order = [true, false] }
        [players.random]
        algorithm = "random"
    "#;
    let plan = planned(&tic_tac_toe("pairing = { gauntlet = \"random\" }", tables));
    assert_eq!(
        names(&plan),
        [
            "random - ab(depth=1,order=true)",
            "random - ab(depth=1,order=false)",
            "random - ab(depth=2,order=true)",
            "random - ab(depth=2,order=false)",
        ]
    );
    assert_eq!(plan.axes, ["opponent.depth", "opponent.order"]);
    let cell = &plan.cells[2];
    assert_eq!(axes(cell), [("opponent.depth", "2"), ("opponent.order", "true")]);
    assert_eq!(cell.axes[0].1.number, Some(2.0));
    assert_eq!(parameter(cell, 1, "depth"), Some(&Value::Integer(2)));
    assert_eq!(parameter(cell, 1, "order"), Some(&Value::Bool(true)));
}

#[test]
fn both_sides_have_columns_behind_those_of_the_axes() {
    let tables = r#"
        [axes]
        nodes = [100, 200]
        [players.ab]
        algorithm = "alpha-beta"
        vary = { depth = [1, 2] }
        nodes = "$nodes"
        [players.random]
        algorithm = "random"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    assert_eq!(plan.axes, ["nodes", "player.depth", "opponent.depth"]);
    assert_eq!(names(&plan)[..2], ["ab(depth=1) - ab(depth=2)", "ab(depth=1) - random"]);
    let place = |cell: usize| axes(&plan.cells[cell]);
    assert_eq!(place(0), [("nodes", "100"), ("player.depth", "1"), ("opponent.depth", "2")]);
    assert_eq!(place(1), [("nodes", "100"), ("player.depth", "1")]);
}

#[test]
fn what_varies_is_taken_over_and_overridden() {
    let tables = r#"
        [players.ab]
        algorithm = "alpha-beta"
        vary = { depth = [1, 2] }
        [players.ordered]
        like = "ab"
        order = true
        [players.deep]
        like = "ab"
        vary = { nodes = [7] }
        depth = 3
        [players.plain]
        like = "deep"
        vary = {}
        [players.again]
        like = "deep"
        vary = { depth = [4] }
    "#;
    let plan = planned(&tic_tac_toe("pairing = \"self-play\"", tables));
    let players: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            assert_eq!(cell.player_names[0], cell.player_names[1]);
            let shown =
                |key| parameter(cell, 0, key).map_or("-".to_owned(), |value| value.to_string());
            format!(
                "{} {} {} {}",
                cell.player_names[0],
                shown("depth"),
                shown("nodes"),
                shown("order")
            )
        })
        .collect();
    assert_eq!(
        players,
        [
            "ab(depth=1) 1 - false",
            "ab(depth=2) 2 - false",
            "ordered(depth=1) 1 - true",
            "ordered(depth=2) 2 - true",
            "deep(nodes=7) 3 7 false",
            "plain 3 - false",
            "again(depth=4) 4 - false",
        ]
    );
}

#[test]
fn a_model_alone_has_no_columns() {
    let tables = r#"
        [players.model]
        algorithm = "alpha-beta"
        vary = { depth = [1, 2] }
        [players.a]
        like = "model"
        vary = { nodes = [5] }
        depth = 1
        [players.b]
        algorithm = "random"
    "#;
    let plan = planned(&tic_tac_toe("pairing = { pairs = [[\"a\", \"b\"]] }", tables));
    assert_eq!(names(&plan), ["a(nodes=5) - b"]);
    assert_eq!(plan.axes, ["player.nodes"]);
}

proptest! {
    /// The slow reference: the same players written out by hand.
    #[test]
    fn varying_is_writing_out(
        depths in prop::collection::btree_set(1..9_i64, 1..4),
        orders in prop::sample::subsequence(vec![true, false], 1..=2),
        nodes in prop::collection::vec(1..50_i64, 0..3),
        self_play in any::<bool>(),
    ) {
        let nodes: BTreeSet<i64> = nodes.into_iter().collect();
        let head = if self_play { "pairing = \"self-play\"" } else { "" };
        let grid = if nodes.is_empty() {
            String::new()
        } else {
            format!("[axes]\nnodes = {:?}\n", nodes.iter().collect::<Vec<_>>())
        };
        let limit = if nodes.is_empty() { "" } else { "nodes = \"$nodes\"\n" };
        let random = "[players.random]\nalgorithm = \"random\"\n";
        let written = |players: &str| {
            let plan = planned(&tic_tac_toe(head, &format!("{grid}{players}{random}")));
            let cells = plan.cells.iter().zip(&plan.plan.cells);
            cells
                .map(|(cell, planned)| (planned.definition_hash, cell.player_names.clone()))
                .collect::<Vec<_>>()
        };
        let varied = format!(
            "[players.ab]\nalgorithm = \"alpha-beta\"\n{limit}vary = {{ depth = {:?}, order = {orders:?} }}\n",
            depths.iter().collect::<Vec<_>>(),
        );
        let mut by_hand = String::new();
        for depth in &depths {
            for order in &orders {
                by_hand += &format!(
                    "[players.ab_{depth}_{order}]\nalgorithm = \"alpha-beta\"\n{limit}depth = {depth}\norder = {order}\n"
                );
            }
        }
        let mut expected = written(&by_hand);
        for (_, names) in &mut expected {
            for name in names {
                let parts: Vec<&str> = name.split('_').collect();
                if let [ab, depth, order] = parts[..] {
                    *name = format!("{ab}(depth={depth},order={order})");
                }
            }
        }
        prop_assert_eq!(written(&varied), expected);
    }
}
