//! Starting engines once, to learn what they are.

use std::sync::Arc;

use spelrum_external::{Conditions, EngineFailure, FailureKind, Options, Phase, Pool};
use spelrum_model::capabilities::{Capabilities, EngineOption, OptionKind, THREADS_OPTION};
use spelrum_model::engines::OfferedEngine;

use super::capabilities::capabilities;
use super::seat;

/// Identifies an engine.
pub(super) fn offer(
    pool: &Pool,
    name: &str,
    aborted: &dyn Fn() -> bool,
) -> Result<OfferedEngine, EngineFailure> {
    let mut room = pool.reserve(&[name], aborted).map_err(|no_room| EngineFailure {
        engine: name.to_owned(),
        kind: FailureKind::Unsupported(no_room.to_string()),
        during: Phase::Start,
        transcript: String::new(),
    })?;
    let mut engine = room.take(name, &Options::new(), &Conditions::default(), aborted)?;
    let spec = engine.spec();
    let (protocol, at_once) = (seat::protocol(spec.protocol), spec.at_once);
    let (engine_name, build) = (name.to_owned(), engine.identity().build);
    let identity = seat::identity(engine.identity());
    let mut capabilities = capabilities(&mut engine, aborted);
    settle_defaults(&mut capabilities, &engine.spec().set);
    let capabilities = Some(Arc::new(capabilities));
    Ok(OfferedEngine { engine: engine_name, protocol, at_once, identity, capabilities, build })
}

/// Sets the defaults of an engine's options, which apply unless a sweep sets them: the values of the engines
/// file, and one thread if the file does not set the number.
fn settle_defaults(capabilities: &mut Capabilities, set: &Options) {
    for EngineOption { name, kind } in capabilities.declared.iter_mut().flatten() {
        let OptionKind::Spin { default, min, max } = kind else { continue };
        let is_it = |(option, _): &(&String, _)| option.eq_ignore_ascii_case(name);
        if let Some((_, value)) = set.iter().find(is_it) {
            *default = value.to_string();
        } else if name.eq_ignore_ascii_case(THREADS_OPTION) && (*min..=*max).contains(&1) {
            "1".clone_into(default);
        }
    }
}
