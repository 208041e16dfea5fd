//! Names of players in PGN: rating programs treat equal names as one player, so players that differ need different
//! names.

use std::collections::BTreeMap;

use serde_json::Value;
use spelrum_engine::parse_duration_us;
use spelrum_model::{Role, builds};

/// Names assigned so far, by name in the sweep and parameters.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: BTreeMap<[String; 2], String>,
}

impl Names {
    /// Returns the name for a player with these parameters (canonical JSON) in a cell at these places on the axes:
    /// `fish (depth=3, build 1a2b3c4d)`, with the axes whose value is one of its parameters. The same parameters keep
    /// their name. Where two players would share one, the later gets a number.
    pub(super) fn name(
        &mut self,
        player: &str,
        parameters: &str,
        axes: &[String],
        places: &[Option<String>],
    ) -> String {
        let key = [player, parameters].map(ToOwned::to_owned);
        if let Some(name) = self.given.get(&key) {
            return name.clone();
        }
        let parameters = serde_json::from_str(parameters).unwrap_or(Value::Null);
        let mut marks: Vec<String> = axes
            .iter()
            .zip(places)
            // Parameters that players vary are in their names already.
            .filter(|(axis, _)| Role::from_axis(axis).is_none())
            .filter_map(|(axis, value)| Some((axis, value.as_ref()?)))
            .filter(|(_, value)| has_value(&parameters, value))
            .map(|(axis, value)| format!("{axis}={value}"))
            .collect();
        if let Some(build) = parameters.get("build").and_then(Value::as_str) {
            marks.push(format!("build {}", builds::short(build)));
        }
        let name = match marks.is_empty() {
            true => player.to_owned(),
            false => format!("{player} ({})", marks.join(", ")),
        };
        let numbered = (2_u64..).map(|number| format!("{name} #{number}"));
        let is_free = |name: &String| !self.given.values().any(|given| given == name);
        // There are fewer names than numbers.
        let name = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name);
        self.given.insert(key, name.clone());
        name
    }
}

/// Whether parameters contain an axis's value.
fn has_value(parameters: &Value, value: &str) -> bool {
    match parameters {
        Value::Null => false,
        Value::Bool(switch) => value == if *switch { "true" } else { "false" },
        Value::Number(number) => {
            let is_equal = |candidate: f64| number.as_f64() == Some(candidate);
            value.replace('_', "").parse().is_ok_and(is_equal)
                || parse_duration_us(value).is_some_and(|us| is_equal(us as f64))
        }
        Value::String(text) => text == value,
        Value::Array(all) => all.iter().any(|element| has_value(element, value)),
        Value::Object(all) => all.values().any(|element| has_value(element, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_that_differ_have_names_that_differ() {
        let mut names = Names::default();
        let axes = ["depth", "time", "opening", "player.nodes"].map(str::to_owned);
        let places = |values: [&str; 4]| values.map(|value| Some(value.to_owned()));
        let here = places(["2", "10ms", "e4", "2"]);
        let mut name = |player: &str, parameters: &str, places: &[Option<String>]| {
            names.name(player, parameters, &axes, places)
        };
        let two = r#"{"algorithm":"alpha-beta","depth":2}"#;
        assert_eq!(name("ab", two, &here), "ab (depth=2)");
        assert_eq!(name("ab", two, &places(["2", "20ms", "d4", "-"])), "ab (depth=2)");
        let three = r#"{"algorithm":"alpha-beta","depth":3,"move_time_us":10000}"#;
        assert_eq!(name("ab", three, &places(["3", "10ms", "e4", "-"])), "ab (depth=3, time=10ms)");
        assert_eq!(name("random", r#"{"algorithm":"random"}"#, &here), "random");
        let build = |build: &str| format!(r#"{{"algorithm":"uci","build":"{build}"}}"#);
        let [old, new] =
            ["1a2b3c4d5e6f7081", "9a2b3c4d5e6f7081"].map(|hash| name("fish", &build(hash), &[]));
        assert!(old.starts_with("fish (build 1a2b3c4d") && new.starts_with("fish (build 9a2b3c4d"));
        // Players that no axis distinguishes get numbers, and keep them.
        let [first, second] = [r#"{"nodes":7}"#, r#"{"nodes":8}"#];
        assert_eq!([name("x", first, &[]), name("x", second, &[])], ["x", "x #2"]);
        assert_eq!([name("x", first, &[]), name("x", second, &[])], ["x", "x #2"]);
        assert_eq!(name("ab (depth=2)", r#"{"depth":9}"#, &[]), "ab (depth=2) #2");
    }
}
