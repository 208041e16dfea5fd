//! `spelrum engine push`: hands a program to workers that accept programs.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::arguments::CoordinatorArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::remote::connection;
use crate::remote::pushing::ProgramFile;
use crate::terminal;
use crate::terminal::notices::notify;

pub(super) const EXAMPLES: &str = "\
The coordinator keeps the program by its SHA-256, and a sweep names it by that: program = \"…\" beside engine = \"dev\". \
Workers fetch it whose engines file accepts programs, as games need it:

  [accept_programs]
  protocol = \"uci\"
  names = [\"dev\", \"base\"]

It runs there without arguments, as the worker's user: everyone who may push can run code on these machines \
(docs/engines.md). It has to be built for them, and in one file. A coordinator with tokens requires one with the role \
submit.

Examples:
  spelrum engine push ./dev --name dev --coordinator http://lab:7878
  spelrum match --engine cmd=./new push=true --engine cmd=./old push=true --clock 8+0.08 --coordinator http://lab:7878";

#[derive(Args, Debug)]
pub(super) struct EnginePush {
    /// The program: one file
    #[arg(value_name = "FILE")]
    program: PathBuf,
    /// The engine's name in the sweep, for the line that is printed
    #[arg(long, default_value = "dev")]
    name: String,
    #[command(flatten)]
    coordinator: CoordinatorArguments,
}

impl EnginePush {
    /// Pushes the program, and prints its hash and the line for a sweep.
    pub(super) async fn run(self) -> Result<Exit> {
        let program = ProgramFile::read(&self.program)?;
        let api = connection::connect(&self.coordinator).await?;
        let (size, sha256) = (program.size, program.sha256.clone());
        if !program.push(&api).await? {
            notify("the coordinator has this program already");
        }
        let (mut out, name) = (terminal::stdout(), self.name);
        writeln!(out, "{}: {size} bytes, SHA-256 {sha256}", self.program.display())?;
        writeln!(out, "engine = \"{name}\", program = \"{sha256}\"")?;
        Ok(Exit::Success)
    }
}
