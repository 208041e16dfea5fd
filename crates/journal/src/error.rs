//! Errors and their remedies.

use std::io::ErrorKind;
use std::path::PathBuf;

use spelrum_store::{BackupError, StoreError};

/// The oldest server that suits, by its major version.
pub(crate) const VERSION_MIN: i32 = 13;

/// Why a shared database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The address cannot be understood.
    #[error("failed to understand the address of the database: {problem}")]
    Address {
        /// What is wrong with it.
        problem: String,
    },
    /// The server cannot be reached.
    #[error("failed to reach the PostgreSQL server at {server}: {problem}")]
    Unreachable {
        /// Its host and port.
        server: String,
        /// The cause.
        problem: String,
    },
    /// The server refused the login.
    #[error("failed to log in to the PostgreSQL server at {server} as {user}: {problem}")]
    Login {
        /// Its host and port.
        server: String,
        /// The user's name.
        user: String,
        /// The server's message.
        problem: String,
    },
    /// The server has no database of this name.
    #[error(
        "failed to open the database \"{database}\" at {server}: the server has no database of this name"
    )]
    MissingDatabase {
        /// The server's host and port.
        server: String,
        /// The database.
        database: String,
        /// The command that creates it.
        create: String,
    },
    /// The server is too old.
    #[error(
        "failed to use the PostgreSQL server at {server}: its version is {version}, and at least {VERSION_MIN} is needed"
    )]
    OldServer {
        /// Its host and port.
        server: String,
        /// Its version.
        version: i32,
    },
    /// The database has another encoding than UTF-8.
    #[error("failed to use the database \"{database}\": its encoding is {encoding}, not UTF8")]
    Encoding {
        /// The database.
        database: String,
        /// Its encoding.
        encoding: String,
        /// A command that creates another one.
        create: String,
    },
    /// The server accepts no writes.
    #[error("failed to use the PostgreSQL server at {server}: it is read-only (a standby)")]
    ReadOnly {
        /// Its host and port.
        server: String,
    },
    /// The role lacks rights.
    #[error(
        "failed to use the database \"{database}\": the role {user} lacks the right to {right}"
    )]
    Rights {
        /// The database.
        database: String,
        /// The role.
        user: String,
        /// What it may not do.
        right: String,
        /// The kind of what the right is granted on.
        object: &'static str,
        /// The statement that grants it.
        grant: String,
    },
    /// Tables of another application have the journal's names.
    #[error("failed to use the database \"{database}\": its table {table} is not Spelrum's")]
    ForeignTables {
        /// The database.
        database: String,
        /// The first such table.
        table: String,
    },
    /// A newer release keeps the journal in another way.
    #[error(
        "failed to use the journal: its format is {format}, and this release knows formats up to {known}"
    )]
    NewerFormat {
        /// The journal's format.
        format: i32,
        /// The newest known one.
        known: i32,
    },
    /// A newer release has migrated the database.
    #[error(
        "failed to use the shared database: its schema is {schema}, and this release knows schemas up to {known}"
    )]
    NewerSchema {
        /// The database's last migration.
        schema: i64,
        /// The last known one.
        known: i64,
    },
    /// The file is not a copy of the shared database.
    #[error("failed to use {} as the copy: it is not a copy of the database in the journal", path.display())]
    OtherDatabase {
        /// The file.
        path: PathBuf,
    },
    /// The journal is empty, and this coordinator has a copy of an earlier one.
    #[error(
        "failed to use the journal: the database at this address is empty, and {} is a copy of an earlier one",
        path.display()
    )]
    EmptyJournal {
        /// The copy.
        path: PathBuf,
    },
    /// There is a database in the journal already.
    #[error("failed to share {}: the server has a shared database already", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is no database in the journal.
    #[error("failed to read the shared database: the server has none yet")]
    NoDatabase,
    /// Another coordinator has taken the database over.
    #[error(
        "failed to write to the journal: a coordinator with term {term} took the database over from {own}"
    )]
    TakenOver {
        /// The present term.
        term: i64,
        /// This coordinator's.
        own: i64,
    },
    /// The server has lost changes that it had acknowledged.
    #[error(
        "failed to use the journal: the server has lost acknowledged changes: it has them up to {last}, and this \
         coordinator wrote them up to {own}"
    )]
    ChangesLost {
        /// The last one that it has.
        last: i64,
        /// The last one that it acknowledged.
        own: i64,
    },
    /// The base in the journal is damaged.
    #[error("failed to read the shared database: the base in the journal is damaged: {problem}")]
    DamagedBase {
        /// What is wrong with it.
        problem: String,
    },
    /// The server refuses changes without a reason.
    #[error("failed to write to the journal: the server does not take the change")]
    Refused,
    /// The server failed, or does not answer.
    #[error("failed to use the PostgreSQL server at {server}: {problem}")]
    Server {
        /// Its host and port.
        server: String,
        /// Its message, or that of the connection.
        problem: String,
        /// The SQLSTATE code of its message.
        code: Option<String>,
    },
    /// The copy cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The copy cannot be copied.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A file beside the copy cannot be read or written.
    #[error("failed to use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl JournalError {
    /// How to fix the error, as a sentence without a final period.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Address { .. } => "write postgres://user@host:port/database".to_owned(),
            Self::Unreachable { .. } => {
                "check the host and the port, that the server runs and listens there \
                (listen_addresses), and that no firewall is between"
                    .to_owned()
            }
            Self::Login { .. } => {
                "check the user, the password (PGPASSWORD, or a password file named by PGPASSFILE) \
                and the server's pg_hba.conf"
                    .to_owned()
            }
            Self::MissingDatabase { create, .. } => format!("create it: {create}"),
            Self::OldServer { .. } => "upgrade the server".to_owned(),
            Self::Encoding { create, .. } => format!("create another database: {create}"),
            Self::ReadOnly { .. } => "name the primary server, or promote this one".to_owned(),
            Self::Rights { object, grant, .. } => {
                format!("let the owner of the {object}, or a superuser, run: {grant}")
            }
            Self::ForeignTables { .. } => {
                "name another database, or a schema of its own: ALTER ROLE … SET search_path"
                    .to_owned()
            }
            Self::NewerFormat { .. } | Self::NewerSchema { .. } => {
                "upgrade this coordinator to the release of the others".to_owned()
            }
            Self::OtherDatabase { .. } => {
                "name another file with --copy; to share the database in this file, \
                `spelrum share` puts it on a server that has none; the file was left as it is"
                    .to_owned()
            }
            Self::EmptyJournal { path } => format!(
                "check the address; if the server has lost its data: spelrum backup rescued.db --db {}, then \
                 spelrum share rescued.db ADDRESS",
                path.display()
            ),
            Self::InUse { .. } => {
                "if a coordinator has just created it empty, stop all coordinators and run \
                DROP TABLE spelrum_owner, spelrum_changes, spelrum_bases; otherwise name another database. \
                Nothing was changed"
                    .to_owned()
            }
            Self::NoDatabase => {
                "start a coordinator with this address, or put a file there with `spelrum share`"
                    .to_owned()
            }
            Self::TakenOver { .. } => {
                "this coordinator follows the new owner; no action needed".to_owned()
            }
            Self::ChangesLost { .. } => {
                "stop all coordinators before they replace their copies, and rescue the results from a copy \
                (docs/operating.md, \"Backup, and moving back to a file\")"
                    .to_owned()
            }
            Self::DamagedBase { .. } => {
                "restore the server's database from a backup, or stop all coordinators before they replace their \
                copies, and rescue the results from a copy (docs/operating.md, \"Backup, and moving back to a file\")"
                    .to_owned()
            }
            Self::Refused => "look at the server's log".to_owned(),
            Self::Server { code, .. } => match code.as_deref() {
                Some("53100") => "make room on the server's disk".to_owned(),
                Some("53300") => {
                    "end other connections to the server, or raise its max_connections".to_owned()
                }
                Some(code) if code.starts_with("53") => {
                    "give the server more of what it lacks, such as memory".to_owned()
                }
                _ => "look at the server's log, and try again".to_owned(),
            },
            Self::Store(error) => error.remedy(),
            Self::Backup(error) => error.remedy(),
            Self::File { .. } => "make room, and check the path and its permissions".to_owned(),
        }
    }

    /// Whether trying again cannot help.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        // Mistakes of the statement or of the rights; all else that a server says can pass.
        if let Self::Server { code, .. } = self {
            return code.as_deref().is_some_and(|code| {
                ["22", "42", "3D", "3F", "0A"].iter().any(|class| code.starts_with(class))
            });
        }
        // While a server fails over, its address may lead to the old one, to the new one, or nowhere.
        let is_passing =
            matches!(self, Self::Unreachable { .. } | Self::ReadOnly { .. } | Self::Refused);
        !is_passing && !self.is_passing_at_copy()
    }

    /// Whether the copy's disk is full or busy.
    pub(crate) fn is_passing_at_copy(&self) -> bool {
        // SQLite's primary result codes (sqlite.org/rescode.html).
        const BUSY: i32 = 5;
        const FULL: i32 = 13;
        if let Self::Store(StoreError::Query(error)) = self {
            let code = error.sqlite_error().map(|error| error.extended_code & 0xff);
            return matches!(code, Some(BUSY | FULL));
        }
        if let Self::File { source, .. }
        | Self::Store(StoreError::File { source, .. })
        | Self::Backup(BackupError::Write { source, .. }) = self
        {
            return matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        }
        matches!(
            self,
            Self::Store(StoreError::Full | StoreError::Busy)
                | Self::Backup(BackupError::Store(StoreError::Full | StoreError::Busy))
        )
    }
}

impl From<JournalError> for StoreError {
    fn from(error: JournalError) -> Self {
        if let JournalError::Store(error) = error {
            return error;
        }
        if let JournalError::TakenOver { term, own } = error {
            return Self::TakenOver { found: term, own };
        }
        Self::Journal { problem: error.to_string(), remedy: error.remedy() }
    }
}
