//! `[builds]`: the build of each engine that plays.

use spelrum_model::builds::{AWAITED_BUILD, Builds};
use spelrum_toml::{Entry, Fault, Node};

/// Reads the builds of engines by their names.
pub(super) fn read(node: &Node) -> Result<Builds, Fault> {
    let table = node.table("`builds`", "[builds]")?;
    let build = |Entry { key, value, .. }: &Entry| {
        let text = value.text(&format!("the build of `{key}`"), "dev = \"0123456789abcdef\"")?;
        let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if text == AWAITED_BUILD || ((8..=64).contains(&text.len()) && text.bytes().all(is_digit)) {
            return Ok((key.clone(), text.to_owned()));
        }
        Err(Fault::at(
            &value.place,
            format!("\"{text}\" is not a build of `{key}`"),
            "remove the table: the builds that are there when the sweep is played are written into it",
        ))
    };
    table.entries.iter().map(build).collect()
}

#[cfg(test)]
mod tests {
    use spelrum_model::builds::{AWAITED_BUILD, with_builds};
    use spelrum_model::engines::NeededEngine;
    use spelrum_model::{DefinitionHash, Plan};

    use crate::{SweepText, plan_sweep};

    const SWEEP: &str = "name = \"match\"\ngame = \"chess\"\ngames = 2\n";
    const PLAYERS: &str = "[players.dev]\nalgorithm = \"uci\"\nengine = \"dev\"\ndepth = 1\n\
        [players.random]\nalgorithm = \"random\"\n";

    fn plan(text: &str) -> Plan {
        plan_sweep(&SweepText::new("t", text)).unwrap()
    }

    fn hash(plan: &Plan) -> DefinitionHash {
        plan.cells[0].definition_hash
    }

    fn sweep_with_build(build: &str) -> String {
        with_builds(&[SWEEP, PLAYERS].concat(), &[("dev".to_owned(), build.to_owned())].into())
    }

    #[test]
    fn a_build_is_part_of_what_an_engine_is_and_of_no_other_player() {
        let sweep = [SWEEP, PLAYERS].concat();
        let [any, first, second] =
            [sweep, sweep_with_build(&"ab".repeat(32)), sweep_with_build(&"cd".repeat(32))]
                .map(|text| plan(&text));
        assert!(hash(&any) != hash(&first) && hash(&first) != hash(&second));
        let needs = |plan: &Plan| {
            let players = plan.players.iter().map(|player| player.parameters());
            players
                .filter_map(|parameters| NeededEngine::from_parameters(&parameters))
                .next()
                .unwrap()
        };
        assert_eq!(needs(&any).build, None);
        assert_eq!(needs(&first).build, Some("ab".repeat(32)));
        assert_eq!(any.unbuilt().into_iter().collect::<Vec<_>>(), [needs(&any)]);
        assert!(first.unbuilt().is_empty());
        assert_eq!(any.players[1], first.players[1], "ours has none");
        // Openings come from the sweep alone.
        assert_eq!(any.conditions, first.conditions);
    }

    /// The hash is that of a release without builds.
    #[test]
    fn a_definition_without_a_build_is_what_it_was() {
        let plan = plan(&[SWEEP, PLAYERS].concat());
        let json = plan.definition(&plan.cells[0]).canonical_json();
        assert!(!json.contains("build"), "{json}");
        assert_eq!(hash(&plan).to_string(), GOLDEN_HASH);
    }

    #[test]
    fn a_sweep_of_any_build_names_none() {
        let plans = [String::new(), "any_build = true\n".to_owned()].map(|any| {
            let text = [SWEEP, &any, PLAYERS].concat();
            let named = with_builds(&text, &[("dev".to_owned(), "ab".repeat(32))].into());
            [text, named].map(|text| plan(&text))
        });
        let [[without, with], [any, any_with]] = &plans;
        assert!(any.unbuilt().is_empty() && any_with.unbuilt().is_empty());
        assert_eq!([hash(any), hash(any_with)], [hash(without); 2]);
        assert_ne!(hash(with), hash(without));
    }

    #[test]
    fn a_player_may_demand_a_build_itself() {
        let demanding = |build: &str| {
            let text = [SWEEP, PLAYERS].concat();
            text.replace("depth = 1", &format!("depth = 1\nbuild = \"{build}\""))
        };
        let plan = plan(&demanding("0123abcd"));
        assert!(plan.unbuilt().is_empty());
        for build in ["ab", "XYZ45678", "0123ABCD", ""] {
            let error = plan_sweep(&SweepText::new("t", demanding(build))).unwrap_err();
            assert_eq!(error.problem, format!("player `dev`: {build:?} is not a build"));
        }
        let awaited = plan_sweep(&SweepText::new("t", sweep_with_build(AWAITED_BUILD))).unwrap();
        assert_ne!(hash(&awaited), hash(&plan));
        let error = plan_sweep(&SweepText::new("t", sweep_with_build("ab"))).unwrap_err();
        assert_eq!(error.problem, "\"ab\" is not a build of `dev`");
    }

    const GOLDEN_HASH: &str = "6aa486fceb2ecde2bd1d74fbe5a41c8619c8570593d491390bf2dec10ebedabd";
}
