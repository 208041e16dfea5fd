//! Finding the results database and the experiment of a command line that does not name them.

use std::path::{Path, PathBuf};

use spelrum_answers::ExperimentSummary;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A results database, and the experiment in it if the command line names one.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) db: PathBuf,
    pub(super) experiment: Option<String>,
}

/// The database for an argument that names a file in place of an experiment: a database itself, or a sweep, for which
/// `spelrum run` makes one. `None` if the file does not exist.
pub(super) fn from_file(argument: &str) -> Option<Result<Located>> {
    let path = Path::new(argument);
    let extension = path.extension()?.to_str()?;
    if !path.is_file() {
        return None;
    }
    match extension {
        "db" => Some(Ok(Located { db: path.to_owned(), experiment: None })),
        "toml" => Some(from_sweep(path)),
        _ => None,
    }
}

fn from_sweep(path: &Path) -> Result<Located> {
    let failed = |problem: String| {
        CliError::new(Exit::Input, format!("find the results of {}", path.display()))
            .because(problem)
            .help("name the database: --db NAME.db")
    };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let sweep = spelrum_toml::parse(&text, "").map_err(|fault| failed(fault.problem))?;
    let name = sweep.value("name").and_then(|name| name.text("", "").ok());
    let name = name.ok_or_else(|| failed("the file has no `name`".to_owned()))?;
    Ok(Located { db: PathBuf::from(format!("{name}.db")), experiment: Some(name.to_owned()) })
}

/// The only `.db` file in the current directory. Without exactly one, the action fails.
pub(super) fn only_database(action: &str) -> Result<PathBuf> {
    let mut databases: Vec<PathBuf> = std::fs::read_dir(".")?
        .filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())))
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "db") && path.is_file()
        })
        .collect();
    databases.sort();
    if databases.len() == 1 {
        return Ok(databases.remove(0));
    }
    let failed = CliError::new(Exit::Usage, action);
    let Some(first) = databases.first() else {
        return Err(failed
            .because(
                "neither --db nor --coordinator is given, and no database is in this directory",
            )
            .help("name the database that a run left behind, such as --db NAME.db"));
    };
    let names: Vec<_> = databases.iter().map(|path| path.display().to_string()).collect();
    Err(failed
        .because(format!("there are several databases in this directory: {}", names.join(", ")))
        .help(format!("name one, such as --db {}", first.display())))
}

/// The only experiment.
pub(super) fn only_experiment(
    mut experiments: Vec<ExperimentSummary>,
) -> Result<ExperimentSummary> {
    match experiments.len() {
        1 => Ok(experiments.remove(0)),
        0 => Err(CliError::new(Exit::Input, "find an experiment")
            .because("there are no experiments yet")
            .help("add one: spelrum run FILE, or spelrum submit FILE")),
        several => {
            let alike = |name: &str| {
                experiments.iter().filter(|experiment| experiment.name == name).count()
            };
            let names: Vec<_> = experiments
                .iter()
                .map(|found| match alike(&found.name) {
                    1 => found.name.clone(),
                    _ => format!("{} ({})", found.name, found.uuid),
                })
                .collect();
            Err(CliError::new(Exit::Input, "choose an experiment")
                .because(format!("there are {several}"))
                .help(format!("name one of: {}", names.join(", "))))
        }
    }
}
