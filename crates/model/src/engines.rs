//! External engines that play in cells, the requirements of cells, and the machines that have them.
//!
//! Each machine defines what an engine's name means. So a cell's definition names engines, and a worker reports which
//! it has; the program that played is stored with each game.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{
    AWAITED_BUILD, EngineSource, ExternalRules, Parameters, Protocol, SourcedEngine, Value,
};

use crate::builds;
use crate::capabilities::Capabilities;
use crate::definition::DefinitionHash;

/// The longest name of an engine, in bytes, whether from an engines file or its own.
pub const ENGINE_NAME_BYTES_MAX: usize = 200;
/// Most output kept from before a forfeit, in bytes.
pub const FORFEIT_OUTPUT_BYTES_MAX: usize = 8 * 1_024;

/// The identity of an engine's program.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct EngineIdentity {
    /// Its own name: `id name` over UCI, `name` and `version` over GTP; empty if not reported.
    pub name: String,
    /// Its author as it reports; empty if not reported.
    pub author: String,
    /// The SHA-256 of its program.
    #[serde(with = "crate::definition::hash_text")]
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: [u8; 32],
}

/// An engine that a worker has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct OfferedEngine {
    /// Its name in sweeps.
    pub engine: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// The number of its processes that may run at once there.
    pub at_once: u32,
    /// Its program.
    pub identity: EngineIdentity,
    /// Its reported capabilities; `None` in answers to clients.
    #[serde(skip)]
    pub capabilities: Option<Arc<Capabilities>>,
    /// Its build, a hash of its program, its files and its options.
    #[serde(with = "crate::definition::hash_text")]
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    pub build: [u8; 32],
}

/// An engine that a cell needs: one for each player that is an external engine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeededEngine {
    /// Its name in the sweep.
    pub engine: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// Text that its own name must contain.
    pub version: Option<String>,
    /// The SHA-256 that its program must have.
    pub sha256: Option<[u8; 32]>,
    /// The beginning of its build's hash, in hexadecimal; [`AWAITED_BUILD`] if not known yet.
    pub build: Option<String>,
}

/// A worker that accepts programs under every name says so by this name.
pub const ANY_NAME: &str = "*";

/// The engines that a worker obtains when sweeps name them: built from commits, or pushed to the coordinator.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct BuiltEngines {
    /// The names of engines whose repositories its engines file has.
    pub engines: Vec<String>,
    /// The names under which it accepts pushed programs; [`ANY_NAME`] for every name.
    #[serde(default)]
    pub accepted: Vec<String>,
    /// Engines that could not be built or fetched, or do not start there.
    pub failed: Vec<FailedBuild>,
}

/// An engine that a worker could not obtain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FailedBuild {
    /// The engine with its source: see [`SourcedEngine`].
    pub engine: String,
    /// The problem.
    pub problem: String,
}

impl BuiltEngines {
    /// Whether a worker with these has no source of engines.
    #[must_use]
    pub fn has_no_source(&self) -> bool {
        self.engines.is_empty() && self.accepted.is_empty()
    }

    /// Whether a worker with these obtains this engine, and has not failed to.
    #[must_use]
    pub fn may_build(&self, name: &str) -> bool {
        let Some(SourcedEngine { engine, source }) = SourcedEngine::parse(name) else {
            return false;
        };
        let is_here = match source {
            EngineSource::Commit { .. } => self.engines.contains(&engine),
            EngineSource::Program { .. } => {
                self.accepted.iter().any(|name| name == ANY_NAME || *name == engine)
            }
        };
        is_here && self.failed.iter().all(|failed| failed.engine != name)
    }
}

/// A loss caused by a fault of an external engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forfeit {
    /// The fault, in words.
    pub message: String,
    /// The last lines exchanged: `> ` to the program, `< ` from it, `! ` on its standard error.
    pub output: String,
}

impl EngineIdentity {
    /// The SHA-256 of its program, in hexadecimal.
    #[must_use]
    pub fn sha256_hex(&self) -> String {
        DefinitionHash(self.sha256).to_string()
    }

    /// Its name, for people.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() { "unnamed" } else { &self.name }
    }

    /// Its hash, shortened for people.
    #[must_use]
    pub fn sha256_short(&self) -> String {
        self.sha256_hex().chars().take(12).collect()
    }

    /// Parses 64 hexadecimal digits.
    #[must_use]
    pub fn parse_sha256(digits: &str) -> Option<[u8; 32]> {
        digits.parse().ok().map(|DefinitionHash(bytes)| bytes)
    }
}

impl NeededEngine {
    /// The engine that a player needs.
    #[must_use]
    pub fn from_rules(rules: &ExternalRules) -> Self {
        Self {
            engine: rules.engine.clone(),
            protocol: rules.protocol,
            version: rules.version.clone(),
            sha256: rules.sha256,
            build: rules.build.clone(),
        }
    }

    /// The engine that a player with these fully spelt-out parameters needs; `None` for a built-in player.
    #[must_use]
    pub fn from_parameters(parameters: &Parameters) -> Option<Self> {
        let text = |name: &str| match parameters.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(_) | None => None,
        };
        let protocol = Protocol::named(&text("algorithm")?)?;
        let sha256 = text("program").or_else(|| text("sha256"));
        let sha256 = sha256.and_then(|digits| digits.parse().ok());
        Some(Self {
            engine: SourcedEngine::engine_name(parameters)?,
            protocol,
            version: text("version").filter(|version| !version.is_empty()),
            sha256: sha256.map(|DefinitionHash(bytes)| bytes),
            build: text("build"),
        })
    }

    /// Whether an engine meets this need.
    #[must_use]
    pub fn is_met_by(&self, offered: &OfferedEngine) -> bool {
        self.engine == offered.engine
            && self.protocol == offered.protocol
            && self.admits(&offered.identity)
            && self.admits_build(offered.build)
    }

    /// Whether a build is allowed.
    #[must_use]
    pub fn admits_build(&self, build: [u8; 32]) -> bool {
        let wanted = self.build.as_ref();
        wanted.is_none_or(|wanted| build_text(build).starts_with(wanted.as_str()))
    }

    /// The same need without a build.
    #[must_use]
    pub fn with_any_build(&self) -> Self {
        Self { build: None, ..self.clone() }
    }

    /// Whether a commit or the hash of a pushed program says which build plays.
    #[must_use]
    pub fn has_source(&self) -> bool {
        SourcedEngine::parse(&self.engine).is_some()
    }

    /// Whether a program is allowed under this name: its version and its hash are as required.
    #[must_use]
    pub fn admits(&self, identity: &EngineIdentity) -> bool {
        self.version.as_ref().is_none_or(|version| identity.name.contains(version.as_str()))
            && self.sha256.is_none_or(|sha256| sha256 == identity.sha256)
    }
}

/// A build in the form used by sweeps, definitions and people.
#[must_use]
pub fn build_text(build: [u8; 32]) -> String {
    DefinitionHash(build).to_string()
}

/// Whether a player with these fully spelt-out parameters repeats a game exactly: like
/// [`Player::is_deterministic`](spelrum_engine::Player::is_deterministic), for callers without a player.
#[must_use]
pub fn is_deterministic(parameters: &Parameters) -> bool {
    !parameters.contains_key("move_time_us")
        && !parameters.contains_key("clock")
        && parameters.get("reproducible") != Some(&Value::Bool(false))
}

/// Whether a machine with these engines can play a game with those needs: it has each, and may run as many processes of
/// it at once as the game needs.
#[must_use]
pub fn can_play(needed: &[NeededEngine], offered: &[OfferedEngine]) -> bool {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    needed.iter().all(|need| {
        let count = counts.entry(&need.engine).or_insert(0);
        *count += 1;
        offered.iter().any(|offer| need.is_met_by(offer) && *count <= offer.at_once)
    })
}

impl fmt::Display for NeededEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.engine, self.protocol.name())?;
        if let Some(version) = &self.version {
            write!(f, ", version {version:?}")?;
        }
        if let Some([first, second, third, fourth, ..]) = self.sha256 {
            write!(f, ", SHA-256 {first:02x}{second:02x}{third:02x}{fourth:02x}…")?;
        }
        if let Some(build) = self.build.as_deref().filter(|&build| build != AWAITED_BUILD) {
            write!(f, ", build {}", builds::short(build))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(engine: &str, at_once: u32) -> OfferedEngine {
        let identity =
            EngineIdentity { name: "Fish 15.1".to_owned(), author: String::new(), sha256: [7; 32] };
        OfferedEngine {
            engine: engine.to_owned(),
            protocol: Protocol::Uci,
            at_once,
            identity,
            capabilities: None,
            build: [0xab; 32],
        }
    }

    fn needed(engine: &str) -> NeededEngine {
        let engine = engine.to_owned();
        NeededEngine { engine, protocol: Protocol::Uci, version: None, sha256: None, build: None }
    }

    #[test]
    fn a_game_needs_all_its_engines_at_once() {
        let (fish, two) = (offered("fish", 1), offered("bird", 2));
        let machine = [fish, two];
        assert!(can_play(&[], &[]));
        assert!(can_play(&[needed("fish"), needed("bird")], &machine));
        assert!(can_play(&[needed("bird"), needed("bird")], &machine));
        assert!(!can_play(&[needed("fish"), needed("fish")], &machine));
        assert!(!can_play(&[needed("fish"), needed("cat")], &machine));
        assert!(!can_play(&[needed("fish")], &[]));
        let gtp = NeededEngine { protocol: Protocol::Gtp, ..needed("fish") };
        assert!(!can_play(&[gtp], &machine));
    }

    #[test]
    fn versions_and_hashes_are_demanded() {
        let fish = offered("fish", 1);
        let version =
            |version: &str| NeededEngine { version: Some(version.to_owned()), ..needed("fish") };
        assert!(version("15.1").is_met_by(&fish));
        assert!(!version("16").is_met_by(&fish));
        let sha256 = |byte| NeededEngine { sha256: Some([byte; 32]), ..needed("fish") };
        assert!(sha256(7).is_met_by(&fish) && !sha256(8).is_met_by(&fish));
        assert_eq!(sha256(8).to_string(), "fish (uci), SHA-256 08080808…");
        assert_eq!(version("16").to_string(), "fish (uci), version \"16\"");
    }

    #[test]
    fn a_build_is_demanded_by_how_it_begins() {
        let fish = offered("fish", 1);
        let build = |build: &str| NeededEngine { build: Some(build.to_owned()), ..needed("fish") };
        assert!(build(&"ab".repeat(32)).is_met_by(&fish) && build("abababab").is_met_by(&fish));
        assert!(!build("abababac").is_met_by(&fish));
        assert!(needed("fish").is_met_by(&fish) && !build(AWAITED_BUILD).is_met_by(&fish));
        assert_eq!(build(&"ab".repeat(32)).to_string(), "fish (uci), build abababab");
        assert_eq!(build(AWAITED_BUILD).to_string(), "fish (uci)");
        assert!(build(AWAITED_BUILD).with_any_build().is_met_by(&fish));
    }

    #[test]
    fn a_commit_is_part_of_the_name() {
        let commit = "0123456789abcdef".repeat(3)[..40].to_owned();
        let need = |more: &str| {
            let json = format!(r#"{{"algorithm":"uci",{more}"engine":"dev","nodes":9}}"#);
            NeededEngine::from_parameters(&serde_json::from_str(&json).unwrap()).unwrap()
        };
        let plain = need(&format!(r#""commit":"{commit}","#));
        let counted = need(&format!(r#""bench":77,"commit":"{commit}","#));
        assert_eq!(plain.engine, format!("dev@{commit}"));
        assert_eq!(counted.engine, format!("dev@{commit}:77"));
        assert!(plain.has_source() && counted.has_source() && !need("").has_source());
        let engines = vec!["dev".to_owned()];
        let failed = FailedBuild { engine: counted.engine.clone(), problem: String::new() };
        let built = BuiltEngines { engines, failed: vec![failed], accepted: Vec::new() };
        assert!(built.may_build(&plain.engine) && !built.may_build(&counted.engine));
        for name in [
            format!("base@{commit}"),
            "dev".to_owned(),
            "dev@0123".to_owned(),
            format!("dev@{}", commit.to_uppercase()),
            format!("dev@{commit}:"),
            format!("dev@{commit}:007"),
            format!("dev@{commit}:-1"),
            format!("dev@{commit}/../x"),
        ] {
            assert!(!built.may_build(&name), "{name}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_hash() {
        let sha256 = "07".repeat(32);
        let json =
            format!(r#"{{"algorithm":"uci","engine":"dev","nodes":9,"program":"{sha256}"}}"#);
        let need = NeededEngine::from_parameters(&serde_json::from_str(&json).unwrap()).unwrap();
        assert_eq!(need.engine, format!("dev@{sha256}"));
        assert!(need.has_source() && need.sha256 == Some([7; 32]));
        let accepting = |name: &str| BuiltEngines {
            accepted: vec![name.to_owned()],
            engines: vec!["base".to_owned()],
            failed: Vec::new(),
        };
        assert!(accepting("dev").may_build(&need.engine) && accepting("*").may_build(&need.engine));
        assert!(!accepting("base").may_build(&need.engine));
        let commit = "0123456789abcdef".repeat(3)[..40].to_owned();
        assert!(!accepting("*").may_build(&format!("dev@{commit}")), "another source");
        assert!(!accepting("*").may_build(&format!("dev@{}", sha256.to_uppercase() + "A")));
    }

    #[test]
    fn needs_stand_in_parameters() {
        let json = format!(
            r#"{{"algorithm":"uci","depth":3,"engine":"fish","sha256":"{}","version":"15"}}"#,
            "07".repeat(32)
        );
        let parameters: Parameters = serde_json::from_str(&json).unwrap();
        let need = NeededEngine::from_parameters(&parameters).unwrap();
        let version = Some("15".to_owned());
        assert_eq!(need, NeededEngine { version, sha256: Some([7; 32]), ..needed("fish") });
        let ours = Parameters::from([("algorithm".to_owned(), Value::Text("random".to_owned()))]);
        assert_eq!(NeededEngine::from_parameters(&ours), None);
    }
}
