//! External engines: those that a worker offers, the ones that played a game, and their forfeits.

use std::sync::Arc;

use spelrum_engine::Protocol;
use spelrum_model::engines::{
    BuiltEngines, ENGINE_NAME_BYTES_MAX, EngineIdentity, FORFEIT_OUTPUT_BYTES_MAX, FailedBuild,
    Forfeit, OfferedEngine,
};

use crate::limits::{ENGINES_MAX, FAILURE_BYTES_MAX, NAME_BYTES_MAX};
use crate::wire_error::{at_most, in_range, plain_text, text, unknown_word};
use crate::{Fault, WireError, capabilities, v1};

/// A worker's engine as a message.
#[must_use]
pub fn offer_to_wire(offered: OfferedEngine) -> v1::OfferedEngine {
    let OfferedEngine { engine, protocol, at_once, identity, capabilities, build } = offered;
    let (protocol, identity) = (protocol.name().to_owned(), Some(identity_to_wire(identity)));
    let capabilities = capabilities.map(|capabilities| capabilities::to_wire(&capabilities));
    let build = build.to_vec();
    v1::OfferedEngine { engine, protocol, at_once, identity, capabilities, build }
}

/// Parses a worker's engines.
///
/// # Errors
/// If there are too many, or the first that is malformed.
pub fn offers(engines: &[v1::OfferedEngine]) -> Result<Vec<OfferedEngine>, WireError> {
    at_most("engines", engines.len(), ENGINES_MAX)?;
    let read = |(place, engine): (usize, &v1::OfferedEngine)| {
        offer(engine).map_err(|error| error.within(format_args!("engines[{place}]")))
    };
    engines.iter().enumerate().map(read).collect()
}

fn offer(offered: &v1::OfferedEngine) -> Result<OfferedEngine, WireError> {
    let engine = plain_text("engine", &offered.engine, NAME_BYTES_MAX)?.to_owned();
    let protocol = Protocol::named(&offered.protocol)
        .ok_or_else(|| WireError::new("protocol", unknown_word(&offered.protocol)))?;
    in_range("at_once", offered.at_once.into(), 1, u32::MAX.into())?;
    let identity = offered.identity.as_ref();
    let identity = identity.ok_or_else(|| WireError::new("identity", Fault::Missing))?;
    let identity = identity_from_wire(identity).map_err(|error| error.within("identity"))?;
    let capabilities = offered.capabilities.as_ref().map(capabilities::from_wire).transpose();
    let capabilities = capabilities.map_err(|error| error.within("capabilities"))?.map(Arc::new);
    let not_a_hash = |_| WireError::new("build", Fault::NotAHash { bytes: offered.build.len() });
    let build = offered.build.as_slice().try_into().map_err(not_a_hash)?;
    Ok(OfferedEngine { engine, protocol, at_once: offered.at_once, identity, capabilities, build })
}

/// Parses the engines that a worker builds from commits.
///
/// # Errors
/// If there are too many, or the first that is malformed.
pub fn built(
    engines: &[String],
    accepted: &[String],
    failed: &[v1::FailedBuild],
) -> Result<BuiltEngines, WireError> {
    at_most("built_engines", engines.len(), ENGINES_MAX)?;
    at_most("accepted_programs", accepted.len(), ENGINES_MAX)?;
    at_most("failed_builds", failed.len(), ENGINES_MAX)?;
    let names = |field, names: &[String]| {
        let name = |name: &String| Ok(plain_text(field, name, NAME_BYTES_MAX)?.to_owned());
        names.iter().map(name).collect::<Result<Vec<_>, WireError>>()
    };
    let failed_build = |failed: &v1::FailedBuild| {
        Ok(FailedBuild {
            engine: plain_text("engine", &failed.engine, NAME_BYTES_MAX)?.to_owned(),
            problem: plain_text("problem", &failed.problem, FAILURE_BYTES_MAX)?.to_owned(),
        })
    };
    Ok(BuiltEngines {
        engines: names("built_engines", engines)?,
        accepted: names("accepted_programs", accepted)?,
        failed: failed
            .iter()
            .map(failed_build)
            .collect::<Result<_, WireError>>()
            .map_err(|error| error.within("failed_builds"))?,
    })
}

/// A failed build as a message; a problem that is too long is cut.
#[must_use]
pub fn failed_build_to_wire(FailedBuild { engine, mut problem }: FailedBuild) -> v1::FailedBuild {
    problem.truncate(problem.floor_char_boundary(FAILURE_BYTES_MAX));
    problem.retain(|c| !c.is_control());
    v1::FailedBuild { engine, problem }
}

/// A program's identity as a message.
#[must_use]
pub fn identity_to_wire(identity: EngineIdentity) -> v1::EngineIdentity {
    let EngineIdentity { name, author, sha256 } = identity;
    v1::EngineIdentity { name, author, sha256: sha256.to_vec() }
}

/// Parses a program's identity.
///
/// # Errors
/// The first field that is malformed.
pub fn identity_from_wire(identity: &v1::EngineIdentity) -> Result<EngineIdentity, WireError> {
    let text_or_empty = |field: &str, value: &str| match value {
        "" => Ok(String::new()),
        _ => plain_text(field, value, ENGINE_NAME_BYTES_MAX).map(str::to_owned),
    };
    let sha256 = identity.sha256.as_slice().try_into();
    let not_a_hash = |_| WireError::new("sha256", Fault::NotAHash { bytes: identity.sha256.len() });
    Ok(EngineIdentity {
        name: text_or_empty("name", &identity.name)?,
        author: text_or_empty("author", &identity.author)?,
        sha256: sha256.map_err(not_a_hash)?,
    })
}

pub(crate) fn forfeit_to_wire(Forfeit { message, output }: Forfeit) -> v1::Forfeit {
    v1::Forfeit { message, output }
}

pub(crate) fn check_forfeit(forfeit: &v1::Forfeit) -> Result<(), WireError> {
    plain_text("message", &forfeit.message, FORFEIT_OUTPUT_BYTES_MAX)?;
    // It may have several lines, or be empty.
    let output = text("output", &forfeit.output, FORFEIT_OUTPUT_BYTES_MAX)?;
    let is_plain = output.chars().all(|char| char == '\n' || !char.is_control());
    if is_plain { Ok(()) } else { Err(WireError::new("output", Fault::NotPlainText)) }
}

pub(crate) fn forfeit_from_wire(v1::Forfeit { message, output }: v1::Forfeit) -> Forfeit {
    Forfeit { message, output }
}
