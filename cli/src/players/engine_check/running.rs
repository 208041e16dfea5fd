//! Checking engines one after the other, with progress, until interrupted.

use indicatif::ProgressBar;
use spelrum_external::{EngineFile, EngineSpec, Guard};
use spelrum_model::Plan;
use spelrum_model::capabilities::EngineRequest;
use tokio_util::sync::CancellationToken;

use super::Checked;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::players::engines_file::GUARD;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices;
use crate::terminal::progress;

/// The demands of a sweep's players on their engines, without duplicates.
pub(crate) fn requests(plan: &Plan) -> Vec<EngineRequest> {
    let demands = plan.engine_demands();
    let mut requests: Vec<_> = demands.into_iter().flat_map(|demands| demands.requests).collect();
    requests.sort_unstable();
    requests.dedup();
    requests
}

/// Checks the engines of a file that a sweep needs.
pub(crate) async fn check_for(
    plan: &Plan,
    file: &EngineFile,
    interrupts: &Interrupts,
) -> Result<Vec<Checked>> {
    let requests = requests(plan);
    let mut names: Vec<String> = requests.iter().map(|request| request.engine.clone()).collect();
    names.dedup();
    let specs = if names.is_empty() { Vec::new() } else { named(file, &names)? };
    check_all(specs, Some(requests), interrupts.finish.clone()).await
}

/// Checks engines of a file, one at a time to avoid disturbance. When asked to `finish`, ends the current engine and
/// starts no more.
pub(crate) async fn check_all(
    specs: Vec<EngineSpec>,
    requests: Option<Vec<EngineRequest>>,
    finish: CancellationToken,
) -> Result<Vec<Checked>> {
    let guard = Guard::from_running_program(&[GUARD]).map_err(|error| {
        CliError::new(Exit::Internal, "find this program, which guards engines").because(error)
    })?;
    let checking = tokio::task::spawn_blocking(move || {
        let bar = progress::spinner();
        let all = specs.len();
        let mut checked = Vec::new();
        for (place, spec) in (1..).zip(&specs) {
            if finish.is_cancelled() {
                break;
            }
            let about = format!("checking {} ({place} of {all})", spec.name);
            if bar.is_hidden() {
                notices::notify(&about);
            }
            checked.push(check_one(spec, &guard, requests.as_deref(), &about, &bar, &finish));
        }
        bar.finish_and_clear();
        checked
    });
    checking.await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => CliError::new(Exit::Internal, "check engines").because(error),
    })
}

fn check_one(
    spec: &EngineSpec,
    guard: &Guard,
    requests: Option<&[EngineRequest]>,
    about: &str,
    bar: &ProgressBar,
    finish: &CancellationToken,
) -> Checked {
    let own_requests = requests.map(|requests| {
        let own_requests = requests.iter().filter(|request| request.engine == spec.name);
        own_requests.cloned().collect::<Vec<_>>()
    });
    let step = |action: &str| bar.set_message(format!("{about}: {action}"));
    super::check(spec, guard, own_requests.as_deref(), &|| finish.is_cancelled(), &step)
}

/// The engines of a file with these names; all engines if there are none.
///
/// # Errors
/// If the file lacks a name.
pub(crate) fn named(file: &EngineFile, names: &[String]) -> Result<Vec<EngineSpec>> {
    if names.is_empty() {
        return Ok(file.iter().cloned().collect());
    }
    let spec = |name: &String| {
        file.get(name).cloned().ok_or_else(|| {
            if file.source(name).is_some() {
                return CliError::new(Exit::Input, format!("check the engine {name}"))
                    .because("it is built when a sweep names one of its commits")
                    .help("play a sweep of two games with its commit: spelrum run FILE --engines FILE");
            }
            let names: Vec<&str> = file.iter().map(|spec| spec.name.as_str()).collect();
            CliError::new(Exit::Input, format!("check the engine {name}"))
                .because(format!(
                    "the engines file has no engine of this name; it has {}",
                    names.join(", ")
                ))
                .help("write one of those names, or add the engine to the file")
        })
    };
    names.iter().map(spec).collect()
}
