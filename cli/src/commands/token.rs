//! `spelrum token`: the tokens that a coordinator accepts, and their roles.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use serde::Serialize;
use spelrum_answers::date_time;
use spelrum_coordinator::access::{BookError, Role, Roles, TokenBook};
use spelrum_report::data::write_json;
use spelrum_report::text::{Column, TextTable};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;
use crate::terminal::notices::notify;

const EXAMPLES: &str = "\
A token is a secret that workers and clients send to a coordinator (SPELRUM_TOKEN, or the config file \
that `spelrum config` shows). Each has one or more roles:

  read     look at experiments and results, ask in SQL, export
  submit   submit sweeps, steer experiments and remove them; also read
  work     play games for the coordinator, and nothing else

The tokens file holds only hashes: a token is printed once, when it is created. Keep the file apart \
from the results. A coordinator that was started with it (--tokens FILE) reads it again within a second \
of a change, and refuses revoked tokens from then on.

JSON of list, an array with an object for each: name, roles, created.

Examples:
  spelrum token create lab-workers --role work --tokens tokens.toml >worker-token
  spelrum token create ada --role submit --tokens tokens.toml
  spelrum coordinator --db results.db --listen 0.0.0.0:7878 --tokens tokens.toml \\
      --tls-cert coordinator.pem --tls-key coordinator.key
  spelrum token list --tokens tokens.toml
  spelrum token revoke lab-workers --tokens tokens.toml";

/// Create, list and revoke a coordinator's tokens
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Token {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token and print it; it is not shown again
    Create(Create),
    /// List tokens (without their secrets) and revoked certificates
    List(List),
    /// Revoke a token
    Revoke(Revoke),
}

#[derive(Args, Debug)]
struct Create {
    /// The name of its owner or location
    name: String,
    /// Its role: read, submit or work; may be given several times
    #[arg(long = "role", value_name = "ROLE", required = true)]
    roles: Vec<Role>,
    #[command(flatten)]
    file: TokensFile,
}

#[derive(Args, Debug)]
struct List {
    #[command(flatten)]
    file: TokensFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Revoke {
    /// The token's name
    name: String,
    #[command(flatten)]
    file: TokensFile,
}

#[derive(Args, Debug)]
struct TokensFile {
    /// The file of tokens
    #[arg(long = "tokens", value_name = "FILE", env = "SPELRUM_TOKENS")]
    path: PathBuf,
}

#[derive(Serialize)]
struct Json<'b> {
    name: &'b str,
    roles: Vec<&'static str>,
    created: &'b str,
}

impl Token {
    /// Runs the subcommand.
    pub(crate) fn run(self) -> Result<Exit> {
        match self.command {
            TokenCommand::Create(create) => create.run(),
            TokenCommand::List(list) => list.run(),
            TokenCommand::Revoke(revoke) => revoke.run(),
        }
    }
}

impl Create {
    fn run(self) -> Result<Exit> {
        let Self { name, roles, file } = self;
        let roles: Roles = roles.into_iter().collect();
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let created = date_time(i64::try_from(since_1970.as_micros()).unwrap_or_default());
        let added =
            TokenBook::change(&file.path, |book| book.add(&name, roles, &created, rand::random()));
        let token = added.map_err(|error| file.failed("make a token in", error))?;
        notify(&format!("`{name}` may {roles}; the token is shown only this once"));
        writeln!(terminal::stdout(), "{token}")?;
        Ok(Exit::Success)
    }
}

impl List {
    fn run(self) -> Result<Exit> {
        let book = TokenBook::read(&self.file.path)
            .map_err(|error| self.file.failed("read the tokens in", error))?;
        let mut out = terminal::stdout();
        if self.json {
            let tokens = book.entries().map(|(name, entry)| Json {
                name,
                roles: entry.roles.iter().map(Role::name).collect(),
                created: &entry.created,
            });
            write_json(&mut out, &tokens.collect::<Vec<_>>())?;
            return Ok(Exit::Success);
        }
        let columns = ["token", "may", "created"].map(Column::words);
        let mut table = TextTable::new(&columns);
        for (name, entry) in book.entries() {
            table.row([name.to_owned(), entry.roles.to_string(), entry.created.clone()]);
        }
        table.write(&mut out)?;
        if book.refused_certificates().len() > 0 {
            writeln!(out)?;
            let mut table = TextTable::new(&["revoked certificates", "since"].map(Column::words));
            for (name, since) in book.refused_certificates() {
                table.row([name.to_owned(), since.to_owned()]);
            }
            table.write(&mut out)?;
        }
        Ok(Exit::Success)
    }
}

impl Revoke {
    fn run(self) -> Result<Exit> {
        let Self { name, file } = self;
        // A missing file has no tokens, and is not created.
        TokenBook::read(&file.path)
            .and_then(|_| TokenBook::change(&file.path, |book| book.remove(&name)))
            .map_err(|error| file.failed("revoke a token in", error))?;
        notify(&format!("`{name}` is revoked"));
        Ok(Exit::Success)
    }
}

impl TokensFile {
    fn failed(&self, action: &str, error: BookError) -> CliError {
        let remedy = error.remedy();
        CliError::new(Exit::Input, format!("{action} {}", self.path.display()))
            .because(error)
            .help(remedy)
    }
}
