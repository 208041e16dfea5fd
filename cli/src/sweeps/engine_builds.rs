//! Engine builds of a sweep: those of this machine, or those of its experiment.

use spelrum_external::{EngineFile, hash_build};
use spelrum_model::builds;
use spelrum_model::builds::{AWAITED_BUILD, Builds, with_builds};
use spelrum_model::engines::build_text;
use spelrum_store::Readers;
use spelrum_sweep::plan_sweep;

use crate::error::Result;
use crate::sweeps::file::SweepFile;

/// Names the builds of a sweep's engines: from this machine's engines file, or, for engines missing here, from the
/// experiment in the database. The coordinator determines the rest.
pub(crate) async fn name_builds(
    sweep: &mut SweepFile,
    file: Option<&EngineFile>,
    readers: Option<&Readers>,
    new_experiment: bool,
) -> Result<()> {
    let unbuilt = sweep.plan.unbuilt();
    if unbuilt.is_empty() {
        return Ok(());
    }
    let stored = match readers.filter(|_| !new_experiment) {
        Some(readers) => readers.stored_sweep("", Some(&sweep.plan.name)).await?,
        None => None,
    };
    let stored = stored.as_ref().map(|stored| builds::split(&stored.toml));
    let here = |engine: &str| {
        let spec = file.and_then(|file| file.get(engine))?;
        // A missing engine is reported at its start.
        hash_build(spec).ok().map(build_text)
    };
    let build_of = |engine: &str| {
        let earlier = stored.as_ref().and_then(|(_, names)| names.get(engine));
        here(engine).or_else(|| earlier.cloned())
    };
    // An experiment with the same text was played by whatever builds there were, and is only read.
    let may_be_any = stored.as_ref().is_some_and(|(text, _)| *text == sweep.text.text);
    let builds: Builds = unbuilt
        .iter()
        .filter_map(|need| {
            let build = build_of(&need.engine);
            let unknown = || (!may_be_any).then(|| AWAITED_BUILD.to_owned());
            Some((need.engine.clone(), build.or_else(unknown)?))
        })
        .collect();
    if builds.is_empty() || builds.values().all(|build| build == AWAITED_BUILD) {
        return Ok(());
    }
    sweep.text.text = with_builds(&sweep.text.text, &builds);
    sweep.plan = plan_sweep(&sweep.text)?;
    Ok(())
}
