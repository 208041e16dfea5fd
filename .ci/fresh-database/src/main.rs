//! Makes an empty database from a directory of migrations: `spelrum-fresh-database MIGRATIONS FILE`.
//!
//! `.ci/check-queries` checks the store's queries against it. It cannot ask the store
//! itself for a database: a store with a wrong query does not compile.

use std::error::Error;
use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(migrations), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: spelrum-fresh-database MIGRATIONS FILE".into());
    };
    let migrator = Migrator::new(Path::new(&migrations)).await?;
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut connection = options.connect().await?;
    migrator.run(&mut connection).await?;
    connection.close().await?;
    Ok(())
}
