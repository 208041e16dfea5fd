//! `spelrum config`: the effective settings and their sources.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::text::{Column, TextTable, optional};

use crate::arguments::CoordinatorArguments;
use crate::config::{self, ConfigFile, EXAMPLE, Named, Sourced, Target};
use crate::error::Result;
use crate::exit::Exit;
use crate::terminal;

const EXAMPLES: &str = "\
A value comes from its flag, else from the environment (SPELRUM_COORDINATOR, SPELRUM_TOKEN), else \
from the config file: the one that SPELRUM_CONFIG names, or spelrum/config.toml in \
$XDG_CONFIG_HOME or ~/.config. A token in the file is sent to the coordinator that it stands \
beside, and to no other. Of several addresses, one with a token of its own in the file gets that one even if \
SPELRUM_TOKEN is set. Tokens are never printed.

JSON: config_file, config_file_exists, coordinator (url, others, name, from), token (from), ca, cert and key (file, from), each \
null where there is none, and coordinators (name, url, has_token). others are the further addresses, where there are some.

Examples:
  spelrum config
  spelrum config --coordinator lab --json
  mkdir -p ~/.config/spelrum && spelrum config --example >~/.config/spelrum/config.toml";

/// Show the coordinator and token in use, and where they come from
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Config {
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    /// Only print where the config file is, or would be
    #[arg(long, conflicts_with_all = ["coordinator", "example", "json"])]
    path: bool,
    /// Print a config file to start from
    #[arg(long, conflicts_with_all = ["coordinator", "json"])]
    example: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    config_file: String,
    config_file_exists: bool,
    coordinator: Option<JsonCoordinator<'a>>,
    token: Option<JsonToken>,
    ca: Option<JsonFile>,
    cert: Option<JsonFile>,
    key: Option<JsonFile>,
    coordinators: Vec<JsonNamed<'a>>,
}

#[derive(Serialize)]
struct JsonCoordinator<'a> {
    url: String,
    /// Its other addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    name: Option<&'a str>,
    from: String,
}

#[derive(Serialize)]
struct JsonToken {
    from: String,
}

#[derive(Serialize)]
struct JsonFile {
    file: String,
    from: String,
}

#[derive(Serialize)]
struct JsonNamed<'a> {
    name: &'a str,
    url: String,
    has_token: bool,
}

impl Config {
    /// Reads and prints.
    pub(crate) fn run(self) -> Result<Exit> {
        let mut out = terminal::stdout();
        if self.example {
            out.write_all(EXAMPLE.as_bytes())?;
            return Ok(Exit::Success);
        }
        if self.path {
            writeln!(out, "{}", config::place().0.display())?;
            return Ok(Exit::Success);
        }
        let file = ConfigFile::read()?;
        let target =
            config::target(&file, self.coordinator.coordinator.as_ref(), &self.coordinator.trust)?;
        if self.json {
            write_json(&mut out, &json(&file, target.as_ref()))?;
        } else {
            text(&file, target.as_ref(), &mut out)?;
        }
        Ok(Exit::Success)
    }
}

fn json<'a>(file: &'a ConfigFile, target: Option<&'a Target>) -> Json<'a> {
    let named = |named: &'a Named| JsonNamed {
        name: &named.name,
        url: named.url.value.to_string(),
        has_token: named.secret.is_some(),
    };
    let json_file = |file: &Sourced<PathBuf>| JsonFile {
        file: file.value.display().to_string(),
        from: file.origin.to_string(),
    };
    let tls = target.map(|target| &target.tls);
    Json {
        config_file: file.path.display().to_string(),
        config_file_exists: file.exists,
        coordinator: target.map(|target| JsonCoordinator {
            url: target.url.value.to_string(),
            others: target.others.iter().map(|other| other.url.value.to_string()).collect(),
            name: target.name.as_deref(),
            from: target.url.origin.to_string(),
        }),
        token: target
            .and_then(|target| target.token.as_ref())
            .map(|token| JsonToken { from: token.origin.to_string() }),
        ca: tls.and_then(|tls| tls.ca.as_ref()).map(json_file),
        cert: tls.and_then(|tls| tls.cert.as_ref()).map(json_file),
        key: tls.and_then(|tls| tls.key.as_ref()).map(json_file),
        coordinators: file.coordinators.iter().map(named).collect(),
    }
}

fn text(
    file: &ConfigFile,
    target: Option<&Target>,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    let mut table =
        TextTable::new(&[Column::words("what"), Column::words("value"), Column::words("from")]);
    let url = target.map(|target| &target.url);
    let token = target.and_then(|target| target.token.as_ref());
    table.row([
        "coordinator".to_owned(),
        optional(target, |target| {
            let others = target.others.iter().map(|other| &other.url);
            let urls = std::iter::once(&target.url).chain(others);
            urls.map(|url| url.value.to_string()).collect::<Vec<_>>().join(",")
        }),
        optional(url, |url| url.origin.to_string()),
    ]);
    table.row([
        "token".to_owned(),
        optional(token, |_| "(hidden)".to_owned()),
        optional(token, |token| token.origin.to_string()),
    ]);
    let tls = target.map(|target| &target.tls);
    for (label, file) in [
        ("ca", tls.and_then(|tls| tls.ca.as_ref())),
        ("cert", tls.and_then(|tls| tls.cert.as_ref())),
        ("key", tls.and_then(|tls| tls.key.as_ref())),
    ] {
        table.row([
            label.to_owned(),
            optional(file, |file| file.value.display().to_string()),
            optional(file, |file| file.origin.to_string()),
        ]);
    }
    table.write(out)?;
    if !file.coordinators.is_empty() {
        writeln!(out)?;
        let mut table =
            TextTable::new(&[Column::words("name"), Column::words("url"), Column::words("token")]);
        for named in &file.coordinators {
            let token = if named.secret.is_some() { "(hidden)" } else { "-" };
            table.row([named.name.clone(), named.url.value.to_string(), token.to_owned()]);
        }
        table.write(out)?;
    }
    let heading = if file.exists { "config file" } else { "there is no config file" };
    writeln!(out, "\n{heading}: {}", file.path.display())
}
