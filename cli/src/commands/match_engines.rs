//! `spelrum match`: a match of engines from one command.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, Parser};
use spelrum_engine::Game as _;
use spelrum_engine::games::Chess;
use spelrum_report::data::NewFile;

use super::games::Games;
use super::report::Report;
use super::run::Run;
use super::submit::Submit;
use super::watch::Watch;
use crate::arguments::CoordinatorArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::remote::connection;
use crate::remote::pushing::ProgramFile;
use crate::sweeps::imports::look_up_engines;
use crate::sweeps::match_files::{Folders, MatchFiles};
use crate::sweeps::match_options::options_help;
use crate::sweeps::match_words::{MatchWords, PROTOCOLS, Remark};
use crate::terminal::notices;

const HELP: &str = "\
Engines are programs: a path, or a name that is looked up in the PATH. With one dash or two, the words of fastchess \
and cutechess are understood as well: spelrum match -engine cmd=./new -engine cmd=./old -each tc=8+0.08.

Options:
{OPTIONS}
Keys of an engine: cmd, conf (its name in cutechess's engines.json here), algorithm (a built-in player, without cmd), name, dir, args, arg, proto ({PROTOCOLS}), tc, st, nodes, depth, timemargin (ms), option.NAME; with --coordinator also commit, bench and push (docs/engines.md).

Everything is kept in a database as it is played: kill it, type it again, and it goes on. At the end come the report \
of spelrum run and the block that match runners print; spelrum report --format match prints that again. \
--write gives the sweep that this is, to change it, and to do what a command line cannot say (docs/sweeps.md, \
docs/engines.md).

With --coordinator the workers of a coordinator play, and an engine is a name in their engines files, or a \
program that push=true hands to those that accept programs (spelrum engine push --help); Ctrl-C leaves them playing, and \
the same command goes on watching.

Examples:
  spelrum match ./new ./old --clock 8+0.08 --book UHO.epd.zip order=random --sprt 0,5 --option Hash=16 --pgn games.pgn
  spelrum match stockfish gnuchess --nodes 10000 --games 100
  spelrum match --engine cmd=./new name=two option.Threads=2 --engine cmd=./new name=one --clock 10+0.1
  spelrum match new old --clock 8+0.08 --sprt 0,5 --coordinator http://lab:7878
  spelrum match --engine cmd=./new push=true --engine cmd=./old push=true --nodes 9000 --coordinator http://lab:7878
  spelrum match ./mine ./theirs --game othello --protocol gtp --move-time 1
  spelrum match -engine cmd=./new name=new -engine cmd=./old name=old -each tc=8+0.08 option.Hash=16 -rounds 5000 \\
      -repeat -openings file=UHO.epd format=epd order=random -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 \\
      -concurrency 8 -pgnout file=games.pgn";

/// Play engines against each other from one command
#[derive(Args, Debug)]
#[command(after_help = HELP.replace("{OPTIONS}", &options_help()).replace("{PROTOCOLS}", &PROTOCOLS.join(", ")))]
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

/// The command line of another command, as this one would type it.
#[derive(Debug, Parser)]
struct Line<A: Args> {
    #[command(flatten)]
    arguments: A,
}

impl<A: Args> Line<A> {
    fn read(command: &str, words: impl IntoIterator<Item = impl Into<OsString>>) -> Result<A> {
        let words = words.into_iter().map(Into::into);
        let line = Self::try_parse_from(std::iter::once(OsString::from(command)).chain(words));
        let line = line.map_err(|error| {
            let error = error.to_string();
            let problem = error.lines().next().unwrap_or_default().trim_start_matches("error: ");
            CliError::new(Exit::Usage, "read the match")
                .because(problem)
                .help(format!("spelrum {command} --help describes this option"))
        })?;
        Ok(line.arguments)
    }
}

impl Match {
    /// Plays.
    pub(crate) async fn run(self) -> Result<Exit> {
        let mut words = MatchWords::gather(&self.words);
        look_up_engines(&mut words, Path::new(""));
        let words = words.checked()?;
        let files = MatchFiles::new(&words, &Folders::default())?;
        for Remark { problem, remedy, .. } in &words.notes {
            notices::notify(&format!("note: {problem}: {remedy}"));
        }
        if let Some(path) = &words.write {
            return write(path, &files);
        }
        if let Some(pgn) = &words.pgn {
            if let Some(game) = words.game.as_deref().filter(|game| *game != Chess::NAME) {
                return Err(CliError::new(Exit::Usage, "set up the match")
                    .because(format!("it is a match of {game}, and PGN is for chess"))
                    .help("leave --pgn out; spelrum games writes the games of any game as text"));
            }
            must_be_writable(pgn)?;
        }
        let name = files.name.clone();
        let (exit, source) = if words.is_remote() {
            self.play_remotely(&words, files).await?
        } else {
            self.play_here(&words, files).await?
        };
        let (Some(pgn), Some(source)) = (words.pgn, source) else { return Ok(exit) };
        let mut line: Vec<OsString> = vec![name.into()];
        line.extend(source.into_iter().map(OsString::from));
        line.extend(["--format", "pgn", "--searches", "--output"].map(OsString::from));
        line.push(pgn.into());
        Line::<Games>::read("games", line)?.run().await?;
        Ok(exit)
    }

    /// Plays in this process. Returns the exit status and the options that name the results, unless there are none.
    async fn play_here(
        &self,
        words: &MatchWords,
        files: MatchFiles,
    ) -> Result<(Exit, Option<Vec<String>>)> {
        must_be_there(&files)?;
        let db = words.passed_value("--db").map_or(format!("{}.db", files.name), str::to_owned);
        let sweep = format!("{}.toml", files.name);
        let line = Line::<Run>::read("run", std::iter::once(&sweep).chain(&words.passed))?;
        // The same match again, and not another new one.
        let again = self.words.iter().filter(|word| !matches!(word.as_str(), "--new" | "-new"));
        let again = shlex::try_join(again.map(String::as_str)).unwrap_or_default();
        let run = line.of_match(files, format!("spelrum match {again}"));
        let is_dry = run.is_dry();
        let exit = run.run().await?;
        Ok((exit, (!is_dry).then(|| vec!["--db".to_owned(), db])))
    }

    /// Submits the match to a coordinator, follows it to its end, and prints its result. Returns the same.
    async fn play_remotely(
        &self,
        words: &MatchWords,
        files: MatchFiles,
    ) -> Result<(Exit, Option<Vec<String>>)> {
        let name = files.name.clone();
        let (mut address, mut flags, mut on_finish) = (Vec::new(), Vec::new(), Vec::new());
        let mut passed = words.passed.iter();
        while let Some(word) = passed.next() {
            match word.as_str() {
                "--coordinator" | "--ca" | "--cert" | "--key" => {
                    address.extend(std::iter::once(word).chain(passed.next()).cloned());
                }
                "--yes" | "--dry-run" => flags.push(word.clone()),
                "--on-finish" => {
                    on_finish.extend(std::iter::once(word).chain(passed.next()).cloned());
                }
                other => {
                    let remedy = match other {
                        "--new" => "give the new match another name: --name",
                        "--slots" | "--memory" | "--quiet-slots" => {
                            "leave it out: each worker is started with its own"
                        }
                        _ => "leave it out",
                    };
                    return Err(CliError::new(Exit::Usage, "read the match")
                        .because(format!("`{other}` is for matches played here"))
                        .help(remedy));
                }
            }
        }
        let line = [vec![format!("{name}.toml")], address.clone(), flags].concat();
        let pushes = files.pushes.clone();
        let submit = Line::<Submit>::read("submit", line)?.of_match(files);
        let is_dry = submit.is_dry();
        if !is_dry && !pushes.is_empty() {
            let coordinator = Line::<CoordinatorArguments>::read("submit", &address)?;
            let api = connection::connect(&coordinator).await?;
            for path in pushes {
                ProgramFile::read(&path)?.push(&api).await?;
            }
        }
        let exit = submit.run().await?;
        if is_dry || exit != Exit::Success {
            return Ok((exit, None));
        }
        let named = [vec![name], address.clone()].concat();
        let line = named.iter().chain(&on_finish);
        let exit = Line::<Watch>::read("watch", line)?.run().await?;
        if !matches!(exit, Exit::Success | Exit::FailedGames) {
            return Ok((exit, None));
        }
        let line = [named, ["--format", "match"].map(str::to_owned).to_vec()].concat();
        Line::<Report>::read("report", line)?.run().await?;
        Ok((exit, Some(address)))
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
