//! `use`: tables of axes merged into players.

use proptest::prelude::*;
use spelrum_engine::Value;

use super::{axes, parameter, planned, tic_tac_toe};

/// The purpose of the feature: a parameter that exists only under one selection.
#[test]
fn a_parameter_may_exist_at_some_values_only() {
    let text = r#"
        name = "selection"
        game = "pentago"
        games = 2
        [axes]
        selection = [
            { selection = "tournament", tournament_size = 2 },
            { selection = "tournament", tournament_size = 4 },
            { selection = "roulette" },
        ]
        [players.gm]
        algorithm = "genetic-minimax"
        depth = 2
        use = "$selection"
        [players.random]
        algorithm = "random"
    "#;
    let plan = planned(text);
    let facts: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| (axes(cell), parameter(cell, 0, "tournament_size").cloned()))
        .collect();
    let (selection, size) = ("selection.selection", "selection.tournament_size");
    assert_eq!(
        facts,
        [
            (vec![(selection, "tournament"), (size, "2")], Some(Value::Integer(2))),
            (vec![(selection, "tournament"), (size, "4")], Some(Value::Integer(4))),
            (vec![(selection, "roulette")], None),
        ]
    );
}

#[test]
fn tables_win_over_the_player_and_its_model() {
    let tables = r#"
        [axes]
        limits = [{ depth = 5 }, { depth = 6, nodes = 7 }, {}]
        switches = [{ order = true }]
        [players.a]
        algorithm = "alpha-beta"
        depth = 1
        use = ["$limits", "$switches"]
        [players.b]
        like = "a"
        depth = 2
        [players.c]
        like = "a"
        use = []
        nodes = "$limits.nodes"
        [players.d]
        algorithm = "random"
    "#;
    // `$limits.nodes` needs every table to have it.
    let tables =
        tables.replace("{ depth = 5 }", "{ depth = 5, nodes = 3 }").replace("{}", "{ nodes = 4 }");
    let plan = planned(&tic_tac_toe("pairing = { gauntlet = \"d\" }", &tables));
    let facts: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            let shown = |key| parameter(cell, 1, key).map_or("-".to_owned(), Value::to_string);
            format!(
                "{} {} {} {}",
                cell.player_names[1],
                shown("depth"),
                shown("nodes"),
                shown("order")
            )
        })
        .collect();
    // If the table sets every parameter, `b` equals `a`.
    assert_eq!(
        facts,
        [
            "a 5 3 true",
            "c 1 3 false",
            "a 6 7 true",
            "c 1 7 false",
            "a 1 4 true",
            "b 2 4 true",
            "c 1 4 false",
        ]
    );
}

proptest! {
    /// The slow reference: each table as a separate sweep.
    #[test]
    fn merging_is_writing_out(
        tables in prop::collection::btree_set(
            (prop::option::of(1..5_i64), prop::option::of(1..90_i64), prop::option::of(any::<bool>())),
            1..6,
        ),
        own_nodes in prop::option::of(1..4_i64),
    ) {
        let lines = |table: &(Option<i64>, Option<i64>, Option<bool>)| {
            let entries = [
                table.0.map(|depth| format!("depth = {depth}")),
                table.1.map(|nodes| format!("nodes = {nodes}")),
                table.2.map(|order| format!("order = {order}")),
            ];
            entries.into_iter().flatten().collect::<Vec<_>>()
        };
        let random = "[players.b]\nalgorithm = \"random\"\n";
        let listed: Vec<String> = tables.iter().map(|table| format!("{{ {} }}", lines(table).join(", "))).collect();
        let own_line = own_nodes.map_or(String::new(), |nodes| format!("nodes = {nodes}\n"));
        let used = planned(&tic_tac_toe("", &format!(
            "[axes]\nt = [{}]\n[players.a]\nalgorithm = \"alpha-beta\"\nevaluations = 9\n{own_line}use = \"$t\"\n{random}",
            listed.join(", "),
        )));
        let mut expected = Vec::new();
        for table in &tables {
            let own_line = if table.1.is_some() { "" } else { &own_line };
            let plan = planned(&tic_tac_toe("", &format!(
                "[players.a]\nalgorithm = \"alpha-beta\"\nevaluations = 9\n{own_line}{}\n{random}",
                lines(table).join("\n"),
            )));
            let hash = plan.plan.cells[0].definition_hash;
            if !expected.contains(&hash) {
                expected.push(hash);
            }
        }
        let hashes: Vec<_> = used.plan.cells.iter().map(|cell| cell.definition_hash).collect();
        prop_assert_eq!(hashes, expected);
    }
}
