//! Builds: the program behind an engine's name when a sweep was played.
//!
//! A rebuilt engine is another player. So playing a sweep appends the build of each of its engines to its text, in the
//! table `builds`: the planned, submitted and stored text keeps its meaning for ever. The definitions of cells
//! ([`CellDefinition`](crate::definition::CellDefinition)) include the builds, unless the sweep says `any_build`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
pub use spelrum_engine::AWAITED_BUILD;
use spelrum_engine::Protocol;

/// Digits of a build's hash shown to people.
const SHORT_DIGITS: usize = 8;

/// Builds by engine name; [`AWAITED_BUILD`] if not known yet.
pub type Builds = BTreeMap<String, String>;

/// The comment before the table that is appended to a sweep.
const MARK: &str = "\n# Which build of each engine plays. Written when the sweep was played, and not by its author.\n";

#[derive(Deserialize)]
struct Written {
    builds: Builds,
}

/// Splits a sweep's text into its author's text and the appended builds, if any.
#[must_use]
pub fn split(text: &str) -> (&str, Builds) {
    let Some((sweep_text, written)) = text.rsplit_once(MARK) else { return (text, Builds::new()) };
    match toml::from_str::<Written>(written) {
        Ok(Written { builds }) => (sweep_text, builds),
        // The table was edited later, on purpose.
        Err(_) => (text, Builds::new()),
    }
}

/// A sweep's own text with these builds appended.
#[must_use]
pub fn with_builds(sweep_text: &str, builds: &Builds) -> String {
    if builds.is_empty() {
        return sweep_text.to_owned();
    }
    let mut text = [sweep_text, MARK, "[builds]\n"].concat();
    for (engine, build) in builds {
        // A JSON string is also a TOML string.
        let [engine, build] = [engine, build].map(crate::seeds::canonical_json);
        text += &format!("{engine} = {build}\n");
    }
    text
}

/// A build's hash, shortened for people.
#[must_use]
pub fn short(build: &str) -> &str {
    build.get(..SHORT_DIGITS).unwrap_or(build)
}

/// The canonical JSON of a player without its build, and the build, if any.
#[must_use]
pub fn without_build(parameters_json: &str) -> (Cow<'_, str>, Option<&str>) {
    // `algorithm` and `build` are the first of its keys, and neither value has anything to escape.
    for protocol in Protocol::ALL {
        let start = format!(r#"{{"algorithm":"{}","#, protocol.name());
        let Some(rest) = parameters_json.strip_prefix(&*start) else { continue };
        let Some(rest) = rest.strip_prefix(r#""build":""#) else { continue };
        let Some((build, rest)) = rest.split_once(r#"","#) else { continue };
        return (Cow::Owned(start + rest), Some(build));
    }
    (Cow::Borrowed(parameters_json), None)
}

/// The name of a player of a former build beside the current one.
#[must_use]
pub fn former_name(name: &str, build: Option<&str>) -> String {
    format!("{name}@{}", build.map_or("unknown", short))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builds(build: &str) -> Builds {
        [("dev".to_owned(), build.to_owned()), ("a \"b\"".to_owned(), "0123".to_owned())].into()
    }

    #[test]
    fn builds_are_written_behind_a_sweep_and_read_again() {
        let sweep_text = "name = \"t\"\n[players.a]\nalgorithm = \"uci\"";
        let written = with_builds(sweep_text, &builds("ab12"));
        assert_eq!(split(&written), (sweep_text, builds("ab12")));
        assert_eq!(split(sweep_text), (sweep_text, Builds::new()));
        assert_eq!(with_builds(sweep_text, &Builds::new()), sweep_text);
        assert_eq!(with_builds(split(&written).0, &builds("cd34")).matches("[builds]").count(), 1);
        let changed = written + "games = [";
        assert_eq!(split(&changed), (&*changed, Builds::new()));
    }

    #[test]
    fn a_player_is_the_same_but_for_its_build() {
        let with = r#"{"algorithm":"uci","build":"ab12","depth":3,"engine":"dev"}"#;
        let without = r#"{"algorithm":"uci","depth":3,"engine":"dev"}"#;
        assert_eq!(without_build(with), (without.into(), Some("ab12")));
        assert_eq!(without_build(without), (without.into(), None));
        let nested = r#"{"algorithm":"gtp","engine":"dev","options":{"build":"x","y":1}}"#;
        assert_eq!(without_build(nested), (nested.into(), None));
        let ours = r#"{"algorithm":"random"}"#;
        assert_eq!(without_build(ours), (ours.into(), None));
    }

    #[test]
    fn former_builds_have_names_of_their_own() {
        assert_eq!(former_name("dev", Some(&"0123456789".repeat(6))), "dev@01234567");
        assert_eq!(former_name("dev", None), "dev@unknown");
    }
}
