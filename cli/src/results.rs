//! Where results come from: a database file, or a coordinator that answers for one.

use spelrum_coordinator::store::{Readers, SqlValue, Table};
use spelrum_proto::v1;

use crate::arguments::SourceArguments;
use crate::causes::failed_call;
use crate::config::{self, ConfigFile, Target};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::remote::{self, Client};

/// A source of results: every question is put to both kinds in the same SQL.
pub(crate) enum ResultsSource {
    /// A results database on this machine, whether or not a coordinator has it open.
    File(Readers),
    /// A coordinator.
    Coordinator(Client),
}

impl ResultsSource {
    /// Opens what the command line, or else the environment or the config file, names.
    pub(crate) async fn open(arguments: &SourceArguments) -> Result<Self> {
        if let Some(db) = &arguments.db {
            let readers = Readers::open(db).await?;
            return Ok(Self::File(readers));
        }
        let target = coordinator(arguments, "find the results")?;
        Ok(Self::Coordinator(remote::connect_to(&target).await?))
    }

    /// Runs one read-only statement.
    pub(crate) async fn query(&self, sql: &str, rows_max: u32) -> Result<Table> {
        match self {
            Self::File(readers) => Ok(readers.query(sql, rows_max).await?),
            Self::Coordinator(client) => {
                let request = v1::QueryRequest { sql: sql.to_owned(), rows_max };
                let mut stream = client
                    .clone()
                    .query(request)
                    .await
                    .map_err(|status| failed_call("query", &status))?
                    .into_inner();
                let mut table = Table::default();
                while let Some(part) =
                    stream.message().await.map_err(|status| failed_call("query", &status))?
                {
                    if !part.columns.is_empty() {
                        table.columns = part.columns;
                    }
                    table.rows.extend(part.rows.into_iter().map(row));
                    table.truncated |= part.truncated;
                }
                Ok(table)
            }
        }
    }

    /// All experiments, or the one with this UUID or name.
    pub(crate) async fn experiments(
        &self,
        which: Option<&str>,
    ) -> Result<Vec<v1::ExperimentSummary>> {
        match self {
            Self::File(readers) => Ok(readers.experiments(which).await?),
            Self::Coordinator(client) => {
                let request =
                    v1::StatusRequest { experiment: which.unwrap_or_default().to_owned() };
                let status = client.clone().status(request).await.map_err(|status| {
                    let action = which.map_or_else(
                        || "list the experiments".to_owned(),
                        |which| format!("find experiment {which}"),
                    );
                    failed_call(&action, &status)
                })?;
                Ok(status.into_inner().experiments)
            }
        }
    }

    /// The one experiment with this UUID or name; without one, the only experiment there is.
    pub(crate) async fn experiment(&self, which: Option<&str>) -> Result<v1::ExperimentSummary> {
        let mut experiments = self.experiments(which).await?;
        match (experiments.len(), which) {
            (1, _) => Ok(experiments.remove(0)),
            (0, None) => Err(CliError::new(Exit::Input, "find an experiment")
                .because("there is none yet")
                .help("give it one: spelrum run FILE, or spelrum submit FILE")),
            (0, Some(which)) => Err(CliError::new(Exit::Input, format!("find experiment {which}"))
                .because("there is none of this name or UUID")
                .help("see what there is: spelrum list")),
            (_, _) => {
                let alike = |name: &str| experiments.iter().filter(|it| it.name == name).count();
                let names: Vec<_> = experiments
                    .iter()
                    .map(|found| match alike(&found.name) {
                        1 => found.name.clone(),
                        _ => format!("{} ({})", found.name, found.experiment_uuid),
                    })
                    .collect();
                Err(CliError::new(Exit::Input, "choose an experiment")
                    .because(format!("there are {}", names.len()))
                    .help(format!("name one of: {}", names.join(", "))))
            }
        }
    }
}

/// The coordinator that the command line, or else the environment or the config file, names, where
/// no results database is named. Without any, the action fails.
pub(crate) fn coordinator(arguments: &SourceArguments, action: &str) -> Result<Target> {
    let file = ConfigFile::read()?;
    config::target(&file, arguments.coordinator.as_ref())?.ok_or_else(|| {
        CliError::new(Exit::Usage, action)
            .because("neither --db nor --coordinator is given")
            .help("name the database that a run left behind, such as --db NAME.db")
    })
}

fn row(row: v1::Row) -> Vec<SqlValue> {
    use v1::sql_value::Value;
    row.values
        .into_iter()
        .map(|value| match value.value {
            None => SqlValue::Null,
            Some(Value::Integer(integer)) => SqlValue::Integer(integer),
            Some(Value::Real(real)) => SqlValue::Real(real),
            Some(Value::Text(text)) => SqlValue::Text(text),
            Some(Value::Blob(bytes)) => SqlValue::Blob(bytes),
        })
        .collect()
}
