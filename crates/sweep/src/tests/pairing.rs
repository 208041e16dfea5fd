//! `pairing` and `anchors`: which players meet.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{RANDOM_PLAYERS, SweepText, plan_sweep, planned, tic_tac_toe};

const THREE: &str = "
    [players.a]\nalgorithm = \"random\"
    [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 1
    [players.c]\nalgorithm = \"alpha-beta\"\ndepth = 2
";

fn pairs(head: &str, tables: &str) -> Vec<String> {
    planned(&tic_tac_toe(head, tables))
        .cells
        .iter()
        .map(|cell| cell.player_names.join("-"))
        .collect()
}

/// Two names for one player: identical games are played once, and this is reported.
#[test]
fn pairings_of_equal_players_are_merged_and_told() {
    let twins = format!("{THREE}\n[players.d]\nalgorithm = \"alpha-beta\"\ndepth = 2");
    assert_eq!(pairs("", &twins), ["a-b", "a-c", "b-c", "c-d"]);
    let merged: Vec<[String; 2]> = planned(&tic_tac_toe("", &twins))
        .merged
        .iter()
        .map(|pairing| [pairing.names.join("-"), pairing.played_as.join("-")])
        .collect();
    assert_eq!(merged, [["a-d", "a-c"], ["b-d", "b-c"]]);
    assert_eq!(planned(&tic_tac_toe("", THREE)).merged, []);
}

#[test]
fn pairings_choose_who_meets() {
    let pairs = |pairing: &str| pairs(pairing, THREE);
    let all = ["a-b", "a-c", "b-c"];
    assert_eq!(pairs(""), all);
    assert_eq!(pairs("pairing = \"round-robin\""), all);
    assert_eq!(pairs("pairing = { round_robin = [\"c\", \"a\", \"b\"] }"), all);
    assert_eq!(pairs("pairing = \"self-play\""), ["a-a", "b-b", "c-c"]);
    assert_eq!(pairs("pairing = { gauntlet = \"b\" }"), ["b-a", "b-c"]);
    assert_eq!(pairs("pairing = { gauntlet = [\"b\", \"a\"] }"), ["b-c", "a-c"]);
    assert_eq!(pairs("pairing = { between = [\"c\", \"a\", \"b\"] }"), ["c-a", "c-b", "a-b"]);
    assert_eq!(pairs("pairing = { pairs = [[\"c\", \"a\"], [\"b\", \"b\"]] }"), ["c-a", "b-b"]);
    assert_eq!(
        pairs("pairing = { gauntlet = \"b\", self_play = true }"),
        ["b-a", "b-c", "a-a", "b-b", "c-c"]
    );
    let two = "pairing = { between = [\"b\", \"a\"], self_play = false }";
    let plan = planned(&tic_tac_toe(two, RANDOM_PLAYERS));
    assert_eq!(plan.cells[0].player_names, ["b", "a"]);
}

#[test]
fn one_player_may_meet_itself() {
    let one_player = "[players.a]\nalgorithm = \"random\"";
    assert_eq!(pairs("pairing = \"self-play\"", one_player), ["a-a"]);
}

const LADDER: &str = "
    [players.ab]\nalgorithm = \"alpha-beta\"\nvary = { depth = [1, 2] }
    [players.random]\nalgorithm = \"random\"
    [players.mm]\nalgorithm = \"minimax\"\nvary = { depth = [1, 2] }
";

#[test]
fn a_name_means_all_variants() {
    let pairs = |head: &str| pairs(head, LADDER);
    let between = "pairing = { pairs = [[\"ab\", \"mm\"], [\"random\", \"random\"]] }";
    assert_eq!(
        pairs(between),
        [
            "ab(depth=1)-mm(depth=1)",
            "ab(depth=1)-mm(depth=2)",
            "ab(depth=2)-mm(depth=1)",
            "ab(depth=2)-mm(depth=2)",
            "random-random",
        ]
    );
    let itself = "pairing = { pairs = [[\"ab\", \"ab\"], [\"random\", \"mm(depth=2)\"], \
                  [\"mm(depth=1)\", \"mm(depth=2)\"]] }";
    assert_eq!(
        pairs(itself),
        [
            "ab(depth=1)-ab(depth=1)",
            "ab(depth=2)-ab(depth=2)",
            "random-mm(depth=2)",
            "mm(depth=1)-mm(depth=2)",
        ]
    );
}

/// Every playing variant meets each anchor once.
#[test]
fn anchors_meet_everybody() {
    let anchored = "pairing = { between = [\"ab\", \"mm\"] }\nanchors = [\"random\"]";
    let plan = planned(&tic_tac_toe(anchored, LADDER));
    assert_eq!(plan.anchors, ["random"]);
    assert_eq!(pairs(anchored, LADDER).len(), 4 + 4);
    assert_eq!(pairs(anchored, LADDER)[4], "ab(depth=1)-random");
    // They meet already, the anchor first.
    let heroic = "pairing = { gauntlet = \"random\" }\nanchors = [\"random\"]";
    assert_eq!(pairs(heroic, LADDER).len(), 4);
    assert_eq!(pairs(heroic, LADDER)[0], "random-ab(depth=1)");
    // Both variants are anchors, and do not meet because of that.
    let head = "pairing = { pairs = [[\"random\", \"random\"]] }\nanchors = [\"ab\", \"mm(depth=1)\", \"mm(depth=2)\"]";
    let plan = planned(&tic_tac_toe(head, LADDER));
    assert_eq!(plan.anchors, ["ab(depth=1)", "ab(depth=2)", "mm(depth=1)", "mm(depth=2)"]);
    assert_eq!(pairs(head, LADDER).len(), 1 + 4);
    assert!(planned(&tic_tac_toe("anchors = []", LADDER)).anchors.is_empty());
}

/// Players `p0`, `p1`, … with this many variants each, all different.
fn players(variants: &[usize]) -> (String, Vec<(usize, String)>) {
    let (mut text, mut names) = (String::new(), Vec::new());
    for (player, &count) in variants.iter().enumerate() {
        let nodes: Vec<usize> = (1..=count).map(|variant| 100 * player + variant).collect();
        text += &format!(
            "[players.p{player}]\nalgorithm = \"alpha-beta\"\nshuffle = true\ndepth = 1\nvary = {{ nodes = {nodes:?} }}\n"
        );
        names.extend(nodes.iter().map(|nodes| (player, format!("p{player}(nodes={nodes})"))));
    }
    (text, names)
}

proptest! {
    /// The slow reference: any two variants, and whether they meet.
    #[test]
    fn who_meets_is_as_said(
        variants in prop::collection::vec(1..4_usize, 2..5),
        chosen in prop::collection::btree_set(0..5_usize, 1..5),
        form in 0..4_usize,
        self_play in any::<bool>(),
        anchor in prop::option::of(0..5_usize),
    ) {
        let chosen: BTreeSet<usize> = chosen.into_iter().filter(|&p| p < variants.len()).collect();
        let anchor = anchor.filter(|&anchor| anchor < variants.len());
        let (text, everybody) = players(&variants);
        let listed: Vec<String> = chosen.iter().map(|player| format!("p{player}")).collect();
        let form_text = match form {
            0 => format!("round_robin = {listed:?}"),
            1 => format!("gauntlet = {listed:?}"),
            2 => format!("between = {listed:?}"),
            _ => format!("pairs = {:?}", listed.iter().map(|name| [name, name]).collect::<Vec<_>>()),
        };
        let mut head = format!("pairing = {{ {form_text}, self_play = {self_play} }}\n");
        if let Some(anchor) = anchor {
            head += &format!("anchors = [\"p{anchor}\"]\n");
        }
        let has = |player: usize| chosen.contains(&player);
        let drawn = |a: usize, b: usize| {
            let ((first, _), (second, _)) = (&everybody[a], &everybody[b]);
            match form {
                0 => a != b && has(*first) && has(*second),
                1 => has(*first) != has(*second),
                2 => first != second && has(*first) && has(*second),
                _ => a == b && has(*first),
            }
        };
        let count = everybody.len();
        let plays = |a: usize| (0..count).any(|b| drawn(a, b));
        let meets = |a: usize, b: usize| {
            let anchored = |a: usize, b: usize| {
                plays(a) && Some(everybody[a].0) != anchor && Some(everybody[b].0) == anchor
            };
            drawn(a, b) || (self_play && a == b && plays(a)) || anchored(a, b) || anchored(b, a)
        };
        let mut expected = BTreeSet::new();
        for a in 0..count {
            for b in a..count {
                if meets(a, b) {
                    expected.insert(BTreeSet::from([&everybody[a].1, &everybody[b].1]));
                }
            }
        }
        let everybody_plays = (0..count).all(|a| (0..count).any(|b| meets(a, b)));
        let plan = plan_sweep(&SweepText::new("t", tic_tac_toe(&head, &text)));
        let anchored = (0..count).any(|a| plays(a) && Some(everybody[a].0) != anchor);
        prop_assert_eq!(plan.is_ok(), everybody_plays && anchored, "{}", head);
        if let Ok(plan) = plan {
            let names: Vec<BTreeSet<String>> = plan
                .cells
                .iter()
                .map(|cell| cell.player_names.iter().map(|name| name.to_string()).collect())
                .collect();
            prop_assert_eq!(names.len(), expected.len());
            prop_assert!(names.iter().all(|names| expected.contains(&names.iter().collect())));
        }
    }

    /// Cells do not depend on the order in which the file names its players.
    #[test]
    fn cells_are_the_same_whatever_the_order_of_players(
        order in Just((0..4_usize).collect::<Vec<_>>()).prop_shuffle(),
        pairs in prop::collection::vec((0..4_usize, 0..4_usize), 1..6),
    ) {
        // Two of them are the same player at depth 2; a variant of one equals another player.
        let tables = [
            "[players.p0]\nalgorithm = \"alpha-beta\"\ndepth = \"$depth\"\n",
            "[players.p1]\nalgorithm = \"alpha-beta\"\ndepth = 2\n",
            "[players.p2]\nalgorithm = \"alpha-beta\"\nvary = { depth = [1, 3] }\n",
            "[players.p3]\nlike = \"p2\"\nvary = { depth = [3, 4] }\n",
        ];
        let plan = |head: &str, order: &[usize]| {
            let players: String = order.iter().map(|&player| tables[player]).collect();
            let axes = "[axes]\ndepth = [1, 2, 3]\n";
            planned(&tic_tac_toe(head, &format!("{axes}{players}")))
        };
        let listed: BTreeSet<(usize, usize)> = pairs.into_iter().chain([(0, 1), (2, 3)]).collect();
        let listed: Vec<[String; 2]> =
            listed.iter().map(|(a, b)| [format!("p{a}"), format!("p{b}")]).collect();
        let hashes = |order: &[usize]| {
            let plan = plan(&format!("pairing = {{ pairs = {listed:?} }}"), order);
            plan.plan.cells.iter().map(|cell| cell.definition_hash).collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(hashes(&order), hashes(&[0, 1, 2, 3]));
        // In a round-robin the first named moves first: the same pairs, some in reversed order.
        let meetings = |order: &[usize]| {
            let plan = plan("", order);
            let mut meetings = BTreeMap::<_, usize>::new();
            for cell in &plan.cells {
                let players = cell.definition.players.clone().map(|player| format!("{player:?}"));
                *meetings.entry(BTreeSet::from(players)).or_default() += 1;
            }
            meetings.into_keys().collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(meetings(&order), meetings(&[0, 1, 2, 3]));
    }
}
