//! `spelrum match`: a match of engines from one command.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, Parser};
use spelrum_report::data::NewFile;

use super::games::Games;
use super::run::Run;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::sweeps::match_files::{Folders, MatchFiles};
use crate::sweeps::match_options::options_help;
use crate::sweeps::match_words::{MatchWords, Remark};
use crate::terminal::notices;

const HELP: &str = "\
Engines are programs: a path, or a name that is looked up in the PATH. With one dash or two, the words of fastchess \
and cutechess are understood as well: spelrum match -engine cmd=./new -engine cmd=./old -each tc=8+0.08.

Options:
{OPTIONS}
Keys of an engine: cmd, name, dir, args, arg, proto (uci, xboard), tc, st, nodes, depth, timemargin (ms), option.NAME.

Everything is kept in a database as it is played: kill it, type it again, and it goes on. At the end come the report \
of spelrum run and the block that match runners print; spelrum report --format match prints that again. \
--write gives the sweep that this is, to change it, to hand it to a coordinator, and to do what a command line \
cannot say (docs/sweeps.md, docs/engines.md).

Examples:
  spelrum match ./new ./old --clock 8+0.08 --book UHO.epd.zip order=random --sprt 0,5 --option Hash=16 --pgn games.pgn
  spelrum match stockfish gnuchess --nodes 10000 --games 100
  spelrum match --engine cmd=./new name=two option.Threads=2 --engine cmd=./new name=one --clock 10+0.1
  spelrum match -engine cmd=./new name=new -engine cmd=./old name=old -each tc=8+0.08 option.Hash=16 -rounds 5000 \\
      -repeat -openings file=UHO.epd format=epd order=random -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 \\
      -concurrency 8 -pgnout file=games.pgn";

/// Play engines against each other from one command
#[derive(Args, Debug)]
#[command(after_help = HELP.replace("{OPTIONS}", &options_help()))]
#[command(override_usage = "spelrum match ENGINE ENGINE… OPTIONS")]
#[command(arg_required_else_help = true)]
pub(crate) struct Match {
    /// The engines, and then options
    #[arg(
        value_name = "WORD",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        hide = true
    )]
    words: Vec<String>,
}

/// The options that the match leaves to `spelrum run`, and to `spelrum games`.
#[derive(Debug, Parser)]
struct RunLine {
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Parser)]
struct GamesLine {
    #[command(flatten)]
    games: Games,
}

impl Match {
    /// Plays.
    pub(crate) async fn run(self) -> Result<Exit> {
        let words = MatchWords::read(&self.words)?;
        let files = MatchFiles::new(&words, &Folders::default())?;
        for Remark { problem, remedy, .. } in &words.notes {
            notices::notify(&format!("note: {problem}: {remedy}"));
        }
        if let Some(path) = &words.write {
            return write(path, &files);
        }
        must_be_there(&files)?;
        if let Some(pgn) = &words.pgn {
            must_be_writable(pgn)?;
        }
        let db = format!("{}.db", files.name);
        let db = match words.passed.iter().position(|word| word == "--db") {
            Some(place) => words.passed.get(place + 1).cloned().unwrap_or(db),
            None => db,
        };
        let line = ["spelrum run".to_owned(), format!("{}.toml", files.name)];
        let line = RunLine::try_parse_from(line.iter().chain(&words.passed)).map_err(|error| {
            let error = error.to_string();
            let problem = error.lines().next().unwrap_or_default().trim_start_matches("error: ");
            CliError::new(Exit::Usage, "read the match")
                .because(problem)
                .help("spelrum run --help describes this option")
        })?;
        // The same match again, and not another new one.
        let again = self.words.iter().filter(|word| !matches!(word.as_str(), "--new" | "-new"));
        let again = shlex::try_join(again.map(String::as_str)).unwrap_or_default();
        let name = files.name.clone();
        let run = line.run.of_match(files, format!("spelrum match {again}"));
        let is_dry = run.is_dry();
        let exit = run.run().await?;
        if let Some(pgn) = words.pgn.filter(|_| !is_dry) {
            let line: [OsString; 9] = [
                "spelrum games".into(),
                name.into(),
                "--db".into(),
                db.into(),
                "--format".into(),
                "pgn".into(),
                "--searches".into(),
                "--output".into(),
                pgn.into(),
            ];
            let line = GamesLine::try_parse_from(line)
                .map_err(|error| CliError::new(Exit::Internal, "write the games").because(error))?;
            line.games.run().await?;
        }
        Ok(exit)
    }
}

/// Writes the sweep, and its engines file beside it.
fn write(path: &Path, files: &MatchFiles) -> Result<Exit> {
    let engines = path.with_extension("engines.toml");
    if path.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) {
        return Err(CliError::new(Exit::Input, format!("write {}", path.display()))
            .because("the programs and books of a sweep are found from its folder")
            .help("name a file of this folder, and move it together with what it names"));
    }
    if let Some(there) = [path, &engines].into_iter().find(|path| path.exists()) {
        return Err(CliError::new(Exit::Input, format!("write {}", path.display()))
            .because(format!("{} exists already", there.display()))
            .help("name another file, or remove this one"));
    }
    for (path, text) in [(path, &files.sweep), (&engines, &files.engines)] {
        let failed = |error: std::io::Error| {
            CliError::new(Exit::Input, format!("write {}", path.display()))
                .because(error)
                .help("name a new file in a directory that you may write to")
        };
        let mut file = std::fs::File::create_new(path).map_err(failed)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    }
    let (sweep, engines) = (path.display(), engines.display());
    notices::notify(&format!(
        "wrote {sweep} and {engines}; play it: spelrum run {sweep} --engines {engines}"
    ));
    Ok(Exit::Success)
}

/// Programs that are named by a path, before a database is made.
fn must_be_there(files: &MatchFiles) -> Result<()> {
    match files
        .commands
        .iter()
        .filter(|command| command.contains('/'))
        .find(|path| !Path::new(path).is_file())
    {
        None => Ok(()),
        Some(path) => Err(CliError::new(Exit::Input, "set up the match")
            .because(format!("there is no program {path}"))
            .help("build it, or correct its path")),
    }
}

/// Before hours are spent.
fn must_be_writable(pgn: &Path) -> Result<()> {
    if pgn.is_file() && std::fs::metadata(pgn).is_ok_and(|file| file.len() > 0) {
        notices::notify(&format!(
            "note: {} is replaced at the end by all games of this match",
            pgn.display()
        ));
    }
    let (_, file) = NewFile::create(pgn)?;
    drop(file);
    Ok(())
}
