//! Engine builds of a sweep: those of this machine, or those of its experiment.

use spelrum_external::{EngineFile, hash_build};
use spelrum_model::builds;
use spelrum_model::builds::{AWAITED_BUILD, Builds, short, with_builds};
use spelrum_model::change::{BuildChange, Change};
use spelrum_model::engines::build_text;
use spelrum_report::text::count;
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

/// Remarks about engines whose builds have changed.
pub(crate) fn remarks(change: &Change) -> Vec<String> {
    let remark = |build: &BuildChange| {
        let engine = &build.engine;
        let games = match build.games {
            1 => "the game".to_owned(),
            games => format!("the {} games", count(games)),
        };
        let cells = "new cells, beside the old ones";
        match (
            build.before.as_deref().unwrap_or_default(),
            build.now.as_deref().unwrap_or_default(),
        ) {
            ("", now) => format!(
                "{engine} is build {}, and which it was in {games} before is not known: {cells}",
                short(now)
            ),
            (before, "") => format!(
                "{engine} may be any program from here on, and was build {} in {games} before: {cells}",
                short(before)
            ),
            (before, now) => format!(
                "{engine} is another program than in {games} before ({} instead of {}): {cells}",
                short(now),
                short(before)
            ),
        }
    };
    change.builds_changed.iter().map(remark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_build_is_told_with_the_games_of_the_one_before() {
        let change = |before: &str, now: &str, games| BuildChange {
            engine: "dev".to_owned(),
            before: Some(before.to_owned()),
            now: Some(now.to_owned()),
            games,
        };
        let (old, new) = ("0123456789ab", "cdef01234567");
        let builds_changed = vec![change(old, new, 20), change("", new, 1), change(old, "", 2_000)];
        let text = remarks(&Change { builds_changed, ..Default::default() }).join("\n");
        insta::assert_snapshot!(text, @"
        dev is another program than in the 20 games before (cdef0123 instead of 01234567): new cells, beside the old ones
        dev is build cdef0123, and which it was in the game before is not known: new cells, beside the old ones
        dev may be any program from here on, and was build 01234567 in the 2,000 games before: new cells, beside the old ones
        ");
    }
}
