//! `spelrum share`: a results database moves from a file to a PostgreSQL server.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::arguments::{Database, DatabaseArgument};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;
use crate::terminal::notices::notify;

const EXAMPLES: &str = "\
The PostgreSQL database must exist and may be empty; its tables are created. No coordinator may have the file open. The \
file keeps what it has (opening brings it to this release's schema), and coordinators write to the server from then on, \
not to the file. \
The password comes from PGPASSWORD or PGPASSFILE.

The way back is spelrum backup --db postgres://…; docs/operating.md explains both.

Examples:
  spelrum share results.db postgres://spelrum@db.example.org/spelrum
  spelrum coordinator --db postgres://spelrum@db.example.org/spelrum
  spelrum backup results.db --db postgres://spelrum@db.example.org/spelrum";

/// Put a results database on a PostgreSQL server, for several coordinators
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Share {
    /// The results database: a file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where to put it: postgres://USER@HOST:PORT/DATABASE
    #[arg(value_name = "ADDRESS")]
    server: DatabaseArgument,
}

impl Share {
    /// Puts the file on the server.
    pub(crate) async fn run(self) -> Result<Exit> {
        let Database::Shared(server) = self.server.read()? else {
            return Err(CliError::new(Exit::Usage, "share the database")
                .because("the second argument is not the address of a PostgreSQL database")
                .help("write it like postgres://spelrum@db.example.org/spelrum"));
        };
        notify(&format!("copying {} to {server}", self.file.display()));
        spelrum_journal::share(&server, &self.file).await?;
        writeln!(
            terminal::stdout(),
            "{} is on the server; start coordinators there: spelrum coordinator --db {server}",
            self.file.display()
        )?;
        Ok(Exit::Success)
    }
}
