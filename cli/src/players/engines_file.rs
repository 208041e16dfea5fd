//! The external engines of this machine: `--engines FILE`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use spelrum_engine::{EngineSource, SourcedEngine};
use spelrum_external::{
    Diagnosis, EngineFailure, EngineFile, EngineFileError, Guard, OptionRefused, Source,
    engines_for_files, files_for_engines, open_files, raise_open_files,
};
use spelrum_model::capabilities::Inability;
use spelrum_model::engines::{NeededEngine, can_play};
use spelrum_model::{Plan, PlannedPlayer};
use spelrum_worker::{Engines, Room, engine_options};
use tokio_util::sync::CancellationToken;

use crate::arguments::Offer;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal::notices;

/// The word that starts this program as the guard of an engine.
pub(crate) const GUARD: &str = "guard";

/// Files that a process has open beside its engines' files: a worker, or a worker with a coordinator.
pub(crate) const FILES_OF_WORKER: u64 = 80;
pub(crate) const FILES_OF_RUN: u64 = 128;

/// The engines file.
#[derive(Args, Debug)]
pub(crate) struct EnginesArguments {
    /// The engines file: a TOML file that maps the names of external engines in sweeps to programs on
    /// this machine (docs/engines.md)
    #[arg(long, value_name = "FILE")]
    engines: Option<PathBuf>,
    /// Log everything sent to and received from engines into files in this folder, one for each process
    #[arg(long, value_name = "DIR", requires = "engines")]
    engine_logs: Option<PathBuf>,
    /// The text of an engines file in this folder, if none is read.
    #[arg(skip)]
    text: Option<String>,
}

impl EnginesArguments {
    /// The same with this text for a file's.
    pub(crate) fn with_text(self, text: String) -> Self {
        Self { text: Some(text), ..self }
    }

    /// The arguments for a shell, after a space; empty if there are none.
    pub(crate) fn command_line(&self) -> String {
        self.given().map(|(name, path)| format!(" {name} {}", path.display())).collect()
    }

    /// The arguments for a process.
    pub(crate) fn process_arguments(&self) -> impl Iterator<Item = OsString> {
        self.given().flat_map(|(name, path)| [name.into(), path.into()])
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let given = [("--engines", &self.engines), ("--engine-logs", &self.engine_logs)];
        given.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }

    /// Reads the file, if one is named.
    pub(crate) fn read(&self) -> Result<Option<EngineFile>> {
        if let Some(folder) = &self.engine_logs {
            std::fs::create_dir_all(folder).map_err(|error| {
                CliError::new(Exit::Input, format!("write logs into {}", folder.display()))
                    .because(error)
                    .help("name a folder that this user may write to")
            })?;
        }
        let file = match &self.text {
            Some(text) => Some(parse(text)?),
            None => self.engines.as_deref().map(read).transpose()?,
        };
        Ok(file.map(|file| match &self.engine_logs {
            Some(folder) => file.with_logs(folder),
            None => file,
        }))
    }
}

/// External engines in a game: both players can be engines.
const ENGINES_PER_GAME: u64 = 2;

/// Raises this process's limit of open files for the engines of all slots, as many again waiting for games of other
/// cells, and `beside` files of its own. Returns the possible number of slots, with a warning if that is less
/// than `slots`.
pub(crate) fn slots_within_open_files(
    slots: NonZeroU32,
    beside: u64,
) -> (NonZeroU32, Option<String>) {
    let engines = ENGINES_PER_GAME * u64::from(slots.get());
    let files = raise_open_files(files_for_engines(2 * engines, beside));
    let fitting = engines_for_files(files, beside) / ENGINES_PER_GAME;
    let fitting = u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, slots.get());
    let fitting = NonZeroU32::new(fitting).unwrap_or(NonZeroU32::MIN);
    let warning = (fitting < slots).then(|| {
        format!(
            "playing {fitting} games at once instead of {slots}: this process may have {files} files open, and \
             external engines in all slots need {}; raise the limit: ulimit -n, or LimitNOFILE= in a systemd unit",
            files_for_engines(engines, beside)
        )
    });
    (fitting, warning)
}

/// Reads an engines file.
pub(crate) fn read(file: &Path) -> Result<EngineFile> {
    EngineFile::read(file).map_err(|error| {
        let EngineFileError { remedy, .. } = &error;
        let remedy = remedy.clone();
        CliError::new(Exit::Input, "read the engines file").because(error).help(remedy)
    })
}

/// Reads the text of an engines file, as if it were in this folder.
fn parse(text: &str) -> Result<EngineFile> {
    let failed = || CliError::new(Exit::Input, "set up the engines");
    let path = std::path::absolute("engines.toml").map_err(|error| failed().because(error))?;
    EngineFile::parse(text, &path)
        .map_err(|EngineFileError { problem, remedy, .. }| failed().because(problem).help(remedy))
}

/// Starts each engine once to identify it; engines that fail to start are reported and not offered. Skips the
/// remaining engines once asked to finish. `beside` is the number of other files this process has open.
pub(crate) async fn find(
    file: EngineFile,
    offer: Offer,
    beside: u64,
    finish: CancellationToken,
) -> Result<(Engines, Vec<EngineFailure>)> {
    let guard = Guard::from_running_program(&[GUARD]).map_err(|error| {
        CliError::new(Exit::Internal, "find this program, which guards engines").because(error)
    })?;
    let finding = tokio::task::spawn_blocking(move || {
        let engines_max = engines_for_files(open_files(), beside).max(ENGINES_PER_GAME);
        let Offer { slots, memory_bytes } = offer;
        let room = Room { slots, engines_max, memory_bytes };
        Engines::find(file, guard, room, &|| finish.is_cancelled())
    });
    finding.await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(error) => CliError::new(Exit::Internal, "start engines").because(error),
    })
}

/// Builds the commits of engines that a sweep needs.
///
/// # Errors
/// The first that cannot be built.
pub(crate) async fn build(plan: &Plan, found: &Engines, finish: &CancellationToken) -> Result<()> {
    let demands = plan.engine_demands();
    let needs = demands.iter().flat_map(|demands| &demands.engines);
    let needs = needs.filter(|need| need.has_source());
    let names: BTreeSet<String> = needs.map(|need| need.engine.clone()).collect();
    for name in names {
        notices::notify(&format!("building {name}"));
        let (engines, built, finish) = (found.clone(), name.clone(), finish.clone());
        let build = move || engines.build(&built, &|| finish.is_cancelled());
        let building = tokio::task::spawn_blocking(build);
        let failed = || CliError::new(Exit::Input, format!("build the engine {name}"));
        building.await.map_err(|error| failed().because(error))?.map_err(|error| {
            let help = "correct the commit or its `bench` in the sweep, or the engine's keys in the engines file";
            failed().because(error).help(help)
        })?;
    }
    Ok(())
}

/// The engines of the file that a sweep needs, checked against every cell.
///
/// # Errors
/// If an engine is missing, or cannot play as the sweep demands.
pub(crate) fn needed(plan: &Plan, file: Option<&EngineFile>) -> Result<Option<EngineFile>> {
    // Dry runs check the engines, too, so the message does not speak of playing.
    let failed = |problem: String, help: &str| {
        Err(CliError::new(Exit::Input, format!("set up the engines of {}", plan.name))
            .because(problem)
            .help(help))
    };
    let mut names = Vec::new();
    let planned = plan.players.iter().map(|player| (None, player.parameters()));
    let tried = plan.externals_tried().into_iter();
    let tried = tried.map(|(name, parameters, _)| (Some(name), parameters));
    // A placeholder of a course is no player of a cell, and has no name.
    for (name, parameters) in tried.chain(planned) {
        let Some(need) = NeededEngine::from_parameters(&parameters) else { continue };
        let Some(file) = file else {
            return failed(
                format!("the sweep needs the external engine {need}"),
                "say what it is on this machine in an engines file, and name that: --engines FILE; \
                 docs/engines.md has an example",
            );
        };
        let (engine, spec) = match SourcedEngine::parse(&need.engine) {
            Some(SourcedEngine { source: EngineSource::Program { .. }, .. }) => {
                return failed(
                    format!("the sweep needs {need}, a program that is pushed to a coordinator"),
                    "submit the sweep to that coordinator, or write the program in the engines file and leave out \
                     `program`",
                );
            }
            Some(SourcedEngine { engine, .. }) => {
                let spec = file.source(&engine).map(Source::unbuilt);
                (engine, spec)
            }
            None => (need.engine.clone(), file.get(&need.engine)),
        };
        let Some(spec) = spec else {
            if file.source(&engine).is_some() {
                return failed(
                    format!(
                        "the engines file builds the engine {engine} from commits, and the sweep names none"
                    ),
                    "write the commit of each of its players in the sweep: commit = \"…\", 40 digits",
                );
            }
            let listed: Vec<_> = file.iter().map(|spec| spec.name.as_str()).collect();
            return failed(
                format!(
                    "the sweep needs the engine {need}, and the engines file has {}",
                    if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
                ),
                "add it to the file, or write one of those names in the sweep",
            );
        };
        if let Err(OptionRefused { problem, remedy }) =
            spec.check_options(&engine_options(&parameters))
        {
            let name =
                name.map_or_else(|| name_of(plan, &PlannedPlayer::new(&parameters)), str::to_owned);
            return failed(format!("player `{name}`: {problem}"), &remedy);
        }
        names.push(engine);
    }
    let is_needed = |name: &str| names.iter().any(|needed| needed == name);
    let of_file = file.filter(|_| !names.is_empty());
    Ok(of_file.map(|file| file.clone().with_only(is_needed)))
}

/// A remark on the engines that a sweep needs, and that a dry run without an engines file cannot check.
pub(crate) fn unchecked(plan: &Plan) -> Option<String> {
    let demands = plan.engine_demands();
    let needed: BTreeSet<&str> =
        demands.iter().flat_map(|demands| &demands.engines).map(|need| &*need.engine).collect();
    let names = needed.into_iter().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "note: not checked without an engines file: whether {names} can play this sweep, with its options and \
             limits; give --engines FILE"
        )
    })
}

/// A player's name in its sweep: the first, if it has several.
fn name_of(plan: &Plan, player: &PlannedPlayer) -> String {
    let plan = plan.foreseen();
    let mut named = plan.cells.iter().flat_map(|cell| cell.players.iter().zip(&cell.player_names));
    let name =
        named.find(|(candidate, _)| ***candidate == *player).map(|(_, name)| name.to_string());
    name.unwrap_or_else(|| player.algorithm.clone())
}

/// Checks that the engines found can play every cell of a sweep.
///
/// # Errors
/// The first demand that cannot be met.
pub(crate) fn check_found(
    plan: &Plan,
    file: &EngineFile,
    found: &Engines,
    failures: &[EngineFailure],
) -> Result<()> {
    if let Some(failure) = failures.first() {
        let (problem, remedy) = diagnosed(file, failure);
        return Err(CliError::new(Exit::Input, format!("start the engine {}", failure.engine))
            .because(problem)
            .help(format!("{remedy}; {}", check_command(&failure.engine))));
    }
    let failed = || CliError::new(Exit::Input, format!("play {} here", plan.name));
    let offered = found.offered();
    for demands in plan.engine_demands() {
        if let Some(Inability { problem, remedy }) = demands.inability(&offered) {
            return Err(failed().because(problem).help(remedy));
        }
        if can_play(&demands.engines, &offered) {
            continue;
        }
        let needs: Vec<_> = demands.engines.iter().map(ToString::to_string).collect();
        let here: Vec<_> = offered
            .iter()
            .map(|offer| {
                format!("{} is {}, {} at once", offer.engine, offer.identity.name, offer.at_once)
            })
            .collect();
        return Err(failed()
            .because(format!("a cell needs {}; here {}", needs.join(" and "), here.join("; ")))
            .help("change what the sweep demands, `at_once` in the engines file, or the program"));
    }
    Ok(())
}

/// Reports demands of a sweep that the engines found cannot meet: those games are left to workers.
pub(crate) fn report_inabilities(plan: &Plan, found: &Engines) {
    let offered = found.offered();
    let demands = plan.engine_demands();
    let unable: BTreeSet<Inability> =
        demands.iter().filter_map(|demands| demands.inability(&offered)).collect();
    for inability in unable {
        notices::notify(&format!("{inability}: other workers play such games"));
    }
}

/// The problem with an engine that failed to start, and a remedy.
fn diagnosed(file: &EngineFile, failure: &EngineFailure) -> (String, String) {
    match file.get(&failure.engine) {
        Some(spec) => {
            let Diagnosis { problem, remedy } = failure.diagnose(spec);
            (problem, remedy)
        }
        None => (failure.to_string(), "correct the engines file".to_owned()),
    }
}

fn check_command(engine: &str) -> String {
    format!("`spelrum engine check {engine} --engines FILE` tries more")
}

/// Reports engines that failed to start.
pub(crate) fn report_failures(file: &EngineFile, failures: &[EngineFailure]) {
    for failure in failures {
        notices::notify(&not_offered(file, failure));
    }
}

/// The reason why an engine is not offered.
pub(crate) fn not_offered(file: &EngineFile, failure: &EngineFailure) -> String {
    let (problem, remedy) = diagnosed(file, failure);
    format!("{}: {problem}: it is not offered until it starts; {remedy}", failure.engine)
}
