//! The sweep and the engines file of a match that was typed on the command line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use spelrum_engine::parameters_of;
use spelrum_syzygy::Tables;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::match_words::{EngineWords, MatchWords, NO_CLOCK};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::remote::pushing::ProgramFile;

/// The keys of players that limit their moves; the last three are those of built-in players alone.
const LIMITS: [&str; 7] =
    ["clock", "move_time", "nodes", "depth", "evaluations", "generations", "simulations"];

/// A match as files.
#[derive(Debug)]
pub(crate) struct MatchFiles {
    /// The experiment's name.
    pub(crate) name: String,
    pub(crate) sweep: String,
    pub(crate) engines: String,
    /// The names in the engines file, and their programs.
    pub(crate) names: Vec<String>,
    pub(crate) commands: Vec<String>,
    /// The programs to push to the coordinator.
    pub(crate) pushes: Vec<PathBuf>,
    /// The folders of Syzygy tables, as the engines file has them.
    pub(crate) syzygy_folders: Vec<String>,
}

/// The folders from which relative paths lead: those of a command line, of the engines file and of the sweep that are
/// made of it. All are this folder unless they differ; then all are absolute.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folders {
    pub(crate) words: PathBuf,
    pub(crate) engines: PathBuf,
    pub(crate) sweep: PathBuf,
}

/// An engine of a match, as an engines file has it; one without an entry is a built-in player.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) entry: InlineTable,
}

/// The engines of a match in their order, none where an engine has no program.
pub(crate) fn programs(words: &MatchWords, folders: &Folders) -> Vec<Option<Program>> {
    let mut taken = BTreeSet::new();
    let mut program = |engine: &EngineWords| {
        let command = engine.command.as_ref().or(engine.algorithm.as_ref());
        let command = command.filter(|command| !command.is_empty())?;
        let name = engine.name.clone().unwrap_or_else(|| stem(command));
        let name = unused(&identifier(&name), &mut taken);
        if engine.algorithm.is_some() {
            return Some(Program { name, entry: InlineTable::new() });
        }
        let mut keys = merged(&words.common.program, &engine.program);
        let directory = keys.get("directory").and_then(Value::as_str).map(str::to_owned);
        let mut entry = InlineTable::new();
        entry.insert("command", folders.command(command, directory.as_deref()).into());
        if let Some(directory) = directory {
            let directory = rebased(&directory, &folders.words, &folders.engines);
            keys.insert("directory", directory.into());
        }
        let protocol = engine.protocol(&words.common);
        if protocol != "xboard" {
            // Lines sent at the start of all engines are for those that speak it.
            keys.remove("xboard");
        }
        keys.get_or_insert("protocol", protocol);
        entry.extend(keys);
        let options = merged(&words.common.options, &engine.options);
        if !options.is_empty() {
            entry.insert("set", options.into());
        }
        Some(Program { name, entry })
    };
    words.engines.iter().map(&mut program).collect()
}

/// The text of an engines file.
pub(crate) fn engines_text<'p>(
    programs: impl IntoIterator<Item = &'p Program>,
    syzygy_folders: &[String],
) -> String {
    let mut tables = Table::new();
    for Program { name, entry } in programs.into_iter().filter(|program| !program.entry.is_empty())
    {
        tables.insert(name, Item::Table(entry.clone().into_table()));
    }
    let mut engines = DocumentMut::new();
    if !syzygy_folders.is_empty() {
        engines.insert("syzygy", syzygy_table(syzygy_folders));
    }
    engines.insert("engines", implicit(tables));
    engines.to_string()
}

/// The table of an engines file that names the folders of Syzygy tables.
pub(crate) fn syzygy_table(folders: &[String]) -> Item {
    let path: Array = folders.iter().collect();
    Item::Table(InlineTable::from_iter([("path", Value::Array(path))]).into_table())
}

impl MatchFiles {
    /// Writes the files of a match.
    ///
    /// # Errors
    /// If it lacks engines, a program, or a limit for an engine, or if its words exclude each other.
    pub(crate) fn new(words: &MatchWords, folders: &Folders) -> Result<Self> {
        let failed = |problem: String, remedy: &str| {
            CliError::new(Exit::Usage, "set up the match").because(problem).help(remedy)
        };
        if words.engines.len() < 2 {
            let given = if words.engines.is_empty() { "no engine is" } else { "one engine is" };
            return Err(failed(
                format!("{given} given"),
                "name two or more: spelrum match ./new ./old --clock 8+0.08",
            ));
        }
        let Some(programs) = programs(words, folders).into_iter().collect::<Option<Vec<_>>>()
        else {
            return Err(failed(
                "an engine has no program".to_owned(),
                "write cmd=PROGRAM, or algorithm=NAME for a built-in player",
            ));
        };
        if words.chess960 && words.game.as_deref().is_some_and(|game| game != "chess") {
            return Err(failed(
                "Chess960 is a variant of chess".to_owned(),
                "leave out --game or --variant",
            ));
        }
        let mut players = Table::new();
        for (engine, Program { name, entry }) in words.engines.iter().zip(&programs) {
            let limits = limits(&words.common, engine);
            if limits.contains_key("commit") && !words.is_remote() {
                return Err(failed(
                    format!("{name}: commits are built by the workers of a coordinator"),
                    "give --coordinator too, or a sweep and an engines file with `git` (docs/engines.md)",
                ));
            }
            if engine.push && !words.is_remote() {
                return Err(failed(
                    format!("{name}: programs are pushed to a coordinator"),
                    "give --coordinator too, or leave out `push`",
                ));
            }
            if needs_limit(engine) && !LIMITS.iter().any(|key| is_set(engine, &limits, key)) {
                return Err(failed(
                    format!("nothing says how long {name} may think"),
                    "give --clock 8+0.08, --move-time, --nodes or --depth",
                ));
            }
            let mut player = player(words, engine, name, entry, &limits)
                .map_err(|(problem, remedy)| failed(format!("{name}{problem}"), remedy))?;
            player.extend(limits);
            players.insert(name, Item::Table(player.into_table()));
        }
        let syzygy = syzygy(words).map_err(|(problem, remedy)| failed(problem, remedy))?;
        let syzygy_folders: Vec<String> = words
            .syzygy_folders
            .iter()
            .map(|folder| rebased(&folder.to_string_lossy(), &folders.words, &folders.engines))
            .collect();
        let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
        let name = match &words.name {
            Some(name) => identifier(name),
            None => identifier(&names.join("-")),
        };
        let command = |program: &Program| Some(program.entry.get("command")?.as_str()?.to_owned());
        Ok(Self {
            sweep: sweep(words, syzygy, &name, &names, players, folders),
            name,
            engines: engines_text(&programs, &syzygy_folders),
            syzygy_folders,
            names,
            commands: programs.iter().filter_map(command).collect(),
            pushes: words
                .engines
                .iter()
                .zip(&programs)
                .filter(|(engine, _)| engine.push)
                .filter_map(|(_, program)| command(program).map(PathBuf::from))
                .collect(),
        })
    }
}

/// An engine's limits: those of its own, and those of all engines. A built-in player takes of the latter what its
/// algorithm has and what goes with its clock.
fn limits(common: &EngineWords, engine: &EngineWords) -> InlineTable {
    let mut limits = merged(&common.limits, &engine.limits);
    if limits.get("clock").and_then(Value::as_str) == Some(NO_CLOCK) {
        limits.remove("clock");
    }
    if let Some(algorithm) = &engine.algorithm {
        let has_clock = limits.contains_key("clock");
        let fits = |key: &str| match key {
            "margin" => has_clock,
            "move_time" => !has_clock,
            _ => true,
        };
        let is_known = |key: &str| parameters_of(algorithm).iter().any(|info| info.name == key);
        limits.retain(|key, _| engine.limits.contains_key(key) || (is_known(key) && fits(key)));
    }
    limits
}

/// Whether the engine needs a limit: not a built-in player whose algorithm has none.
fn needs_limit(engine: &EngineWords) -> bool {
    let Some(algorithm) = &engine.algorithm else { return true };
    parameters_of(algorithm).iter().any(|info| LIMITS.contains(&info.name))
}

/// Whether an engine has this limit: among its limits or, if it is built in, its parameters.
fn is_set(engine: &EngineWords, limits: &InlineTable, key: &str) -> bool {
    limits.contains_key(key) || (engine.algorithm.is_some() && engine.options.contains_key(key))
}

/// The keys of a player whose engine is found in the engines file of each worker, or has this name and is pushed.
fn named_engine(
    entry: &InlineTable,
    pushed: Option<&str>,
) -> std::result::Result<InlineTable, (String, &'static str)> {
    let command = entry.get("command").and_then(Value::as_str).unwrap_or_default();
    let mut player = match (pushed, command.contains('/')) {
        (Some(name), true) => {
            let program = ProgramFile::open(Path::new(command)).map_err(|error| {
                let remedy = "write the path of a program that was built for the workers' machines";
                (format!("{command} cannot be read: {error}"), remedy)
            })?;
            let sha256 = program.sha256.to_string();
            InlineTable::from_iter([("engine", name), ("program", &sha256)])
        }
        (None, false) => InlineTable::from_iter([("engine", command)]),
        (Some(_), false) => {
            let remedy = "write its path, such as cmd=./dev, or leave out `push`";
            return Err((format!("{command} is a name, and no file that could be pushed"), remedy));
        }
        (None, true) => {
            let remedy = "write push=true behind it to hand it to workers that accept programs, or the engine's name in \
                          the workers' engines files: spelrum match new old --coordinator URL";
            return Err((
                format!("{command} is a path, which means nothing on other machines"),
                remedy,
            ));
        }
    };
    for (key, value) in entry {
        match key {
            "command" | "protocol" => {}
            "set" => _ = player.insert("options", value.clone()),
            _ => {
                let remedy = "leave it out, and set it in the workers' engines files";
                return Err((
                    format!("`{key}` cannot be set from here for other machines"),
                    remedy,
                ));
            }
        }
    }
    Ok(player)
}

/// A built-in player with these parameters. `is_timed` says whether time limits its moves.
fn built_in(algorithm: &str, parameters: &InlineTable, is_timed: bool) -> InlineTable {
    let mut player = InlineTable::from_iter([("algorithm", algorithm)]);
    // A search that runs out of time has a move only with iterative deepening.
    if is_timed && parameters_of(algorithm).iter().any(|info| info.name == "iterative") {
        player.insert("iterative", true.into());
    }
    player.extend(parameters.clone());
    player
}

/// A player of a sweep, without its limits; the problem is the end of a sentence about it.
fn player(
    words: &MatchWords,
    engine: &EngineWords,
    name: &str,
    entry: &InlineTable,
    limits: &InlineTable,
) -> std::result::Result<InlineTable, (String, &'static str)> {
    match &engine.algorithm {
        Some(_) if engine.command.is_some() => {
            return Err((
                " has a program and an algorithm".to_owned(),
                "leave out cmd= or algorithm=",
            ));
        }
        Some(algorithm) => {
            if let Some((key, _)) = engine.program.iter().next() {
                let word = match key {
                    "directory" => "dir",
                    "protocol" => "proto",
                    "xboard" => "initstr",
                    key => key,
                };
                return Err((
                    format!(": `{word}` is for a program"),
                    "leave it out, or write cmd=PROGRAM",
                ));
            }
            let is_timed = ["clock", "move_time"].iter().any(|key| is_set(engine, limits, key));
            return Ok(built_in(algorithm, &engine.options, is_timed));
        }
        None => {}
    }
    let protocol = entry.get("protocol").and_then(Value::as_str).unwrap_or("uci");
    let mut player = InlineTable::from_iter([("algorithm", Value::from(protocol))]);
    if words.is_remote() {
        let named = named_engine(entry, engine.push.then_some(name))
            .map_err(|(problem, remedy)| (format!(": {problem}"), remedy))?;
        player.extend(named);
    } else {
        player.insert("engine", Value::from(name));
    }
    Ok(player)
}

/// The rule by which Syzygy tables end games; `None` without.
fn syzygy(words: &MatchWords) -> std::result::Result<Option<InlineTable>, (String, &'static str)> {
    let folders = &words.syzygy_folders;
    if words.syzygy.is_empty() && folders.is_empty() {
        return Ok(None);
    }
    let mut rule = words.syzygy.clone();
    if words.is_remote() && !folders.is_empty() {
        return Err((
            "the folders of Syzygy tables mean nothing on other machines".to_owned(),
            "give --tbpieces N without --tb, and name the folders in the workers' engines files: [syzygy] path = \"…\"",
        ));
    }
    // fastchess writes 0 for any number.
    if rule.get("pieces").and_then(Value::as_integer) == Some(0) {
        rule.remove("pieces");
    }
    if !rule.contains_key("pieces") {
        if folders.is_empty() {
            let problem = "nothing says by tables of how many pieces games end";
            return Err((problem.to_owned(), "give --tbpieces N"));
        }
        let complete = Tables::open(folders).map_or(0, |tables| tables.complete_pieces());
        // Without any, the run says what is missing of the usual set.
        let pieces = if complete == 0 { 5 } else { complete };
        rule.insert("pieces", i64::try_from(pieces).unwrap_or(5).into());
    }
    Ok(Some(rule))
}

fn sweep(
    words: &MatchWords,
    syzygy: Option<InlineTable>,
    name: &str,
    names: &[String],
    players: Table,
    folders: &Folders,
) -> String {
    let mut sweep = DocumentMut::new();
    sweep.insert("name", toml_edit::value(name));
    if words.chess960 {
        let rules = [("name", Value::from("chess")), ("chess960", Value::from(true))];
        sweep.insert("game", toml_edit::value(InlineTable::from_iter(rules)));
    } else {
        sweep.insert("game", toml_edit::value(words.game.as_deref().unwrap_or("chess")));
    }
    let games = i64::try_from(words.games()).unwrap_or(i64::MAX);
    sweep.insert("games", toml_edit::value(games));
    if words.no_swap {
        sweep.insert("swap_sides", toml_edit::value(false));
    }
    let mut keys = words.sweep.clone();
    keys.get_or_insert("seed", 1);
    if !keys.contains_key("openings") {
        let random = [("kind", Value::from("random")), ("plies", Value::from(4))];
        keys.insert("openings", InlineTable::from_iter(random).into());
    }
    let book = keys.get_mut("openings").and_then(Value::as_inline_table_mut);
    if let Some(file) = book.and_then(|book| book.get_mut("file"))
        && let Some(path) = file.as_str()
    {
        *file = rebased(path, &folders.words, &folders.sweep).into();
    }
    for (key, value) in keys {
        sweep.insert(&key, toml_edit::value(value.decorated(" ", "")));
    }
    if words.is_gauntlet {
        let seeds = usize::try_from(words.seeds.unwrap_or(1)).unwrap_or(usize::MAX);
        let firsts: Array = names.iter().take(seeds.min(names.len() - 1)).collect();
        let pairing = InlineTable::from_iter([("gauntlet", Value::Array(firsts))]);
        sweep.insert("pairing", toml_edit::value(pairing));
    }
    let mut adjudication = words.adjudication.clone();
    if let Some(rule) = syzygy {
        adjudication.insert("syzygy", rule.into());
    }
    if !adjudication.is_empty() {
        sweep.insert("adjudication", Item::Table(adjudication.into_table()));
    }
    sweep.insert("players", implicit(players));
    sweep.to_string()
}

/// A table without a heading of its own.
fn implicit(mut table: Table) -> Item {
    table.set_implicit(true);
    Item::Table(table)
}

/// What holds for all, but for what an engine says itself.
fn merged(common: &InlineTable, own: &InlineTable) -> InlineTable {
    let mut merged = common.clone();
    for (key, value) in own {
        merged.insert(key, value.clone());
    }
    merged
}

impl Folders {
    /// A program's path, or its name if it is looked up in the `PATH`. A program that is in the engine's directory is
    /// meant first, as match runners do.
    fn command(&self, command: &str, directory: Option<&str>) -> String {
        let is_file = |path: &Path| self.words.join(path).is_file();
        let in_directory = directory.map(|directory| Path::new(directory).join(command));
        let path = match in_directory.filter(|path| is_file(path)) {
            Some(path) => path.components().collect::<PathBuf>().display().to_string(),
            None if command.contains('/') || is_file(Path::new(command)) => command.to_owned(),
            None => return command.to_owned(),
        };
        let path = rebased(&path, &self.words, &self.engines);
        if path.contains('/') { path } else { format!("./{path}") }
    }
}

/// A path that leads from one folder, as it leads from another.
fn rebased(path: &str, from: &Path, to: &Path) -> String {
    if from == to {
        return path.to_owned();
    }
    let path = from.join(path);
    let path: PathBuf = path.strip_prefix(to).unwrap_or(&path).components().collect();
    path.display().to_string()
}

fn stem(command: &str) -> String {
    let stem = Path::new(command).file_stem();
    stem.map_or_else(|| "engine".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// The name with other characters than those of names replaced.
fn identifier(name: &str) -> String {
    const BYTES_MAX: usize = 48;
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let fit = name.chars().map(|letter| if is_fit(letter) { letter } else { '-' });
    let fit: String = fit.take(BYTES_MAX).collect();
    let fit = fit.trim_matches(['-', '.']);
    if fit.is_empty() { "engine".to_owned() } else { fit.to_owned() }
}

/// The name, or with a number behind it.
fn unused(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MessageStyle;

    fn files(line: &str) -> Result<MatchFiles> {
        let words = MatchWords::gather(&shlex::split(line).unwrap()).checked()?;
        // What lies in a folder that exists must not change what is said.
        let folder = PathBuf::from("/no/such");
        MatchFiles::new(
            &words,
            &Folders { words: folder.clone(), engines: folder.clone(), sweep: folder },
        )
    }

    fn shown(line: &str) -> String {
        match files(line) {
            Ok(MatchFiles { sweep, engines, .. }) => format!("$ {line}\n{sweep}---\n{engines}"),
            Err(error) => format!("$ {line}\n{}", error.message(MessageStyle::Plain).unwrap()),
        }
    }

    /// The same match in three spellings is the same pair of files.
    #[test]
    fn our_words_and_those_of_match_runners_say_the_same() {
        let ours = "./new ./old --clock 8+0.08 --option Hash=16 --book UHO.epd order=random --games 4000 \
                    --sprt 0,5 --resign movecount=3 score=600 --draw movenumber=34 movecount=8 score=20";
        let fastchess = "-engine cmd=./new -engine cmd=./old -each tc=8+0.08 option.Hash=16 \
                         -openings file=UHO.epd format=epd order=random -rounds 2000 -repeat -recover \
                         -sprt elo0=0 elo1=5 -resign score=600 movecount=3 \
                         -draw movenumber=34 movecount=8 score=20 -concurrency 2 -pgnout file=games.pgn";
        let cutechess = "-engine cmd=./new proto=uci -engine cmd=./old proto=uci -each tc=0/8+0.08 \
                         option.Hash=16 -openings file=UHO.epd order=random policy=round -games 2 \
                         -rounds 2000 -repeat 2 -sprt elo0=0 elo1=5 -resign movecount=3 score=600 \
                         -draw movenumber=34 movecount=8 score=20 -ratinginterval 10";
        let [ours, fastchess, cutechess] =
            [ours, fastchess, cutechess].map(|line| files(line).unwrap());
        let texts = |files: &MatchFiles| {
            let sorted = |text: &str| {
                let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            // A rule's keys may be in another order.
            let sorted_keys = |line: String| {
                let mut letters: Vec<char> = line.chars().collect();
                letters.sort_unstable();
                letters
            };
            let sweep: Vec<_> = sorted(&files.sweep).into_iter().map(sorted_keys).collect();
            (sweep, sorted(&files.engines))
        };
        assert_eq!(texts(&ours), texts(&fastchess));
        assert_eq!(texts(&ours), texts(&cutechess));
        insta::assert_snapshot!(format!("{}---\n{}", ours.sweep, ours.engines));
    }

    #[test]
    fn every_spelling_has_its_files() {
        let lines = [
            "stockfish gnuchess --nodes 10000 --games 99",
            "a b c --move-time 0.1 --tournament gauntlet --seeds 2 --variant fischerandom --rounds 3 --seed 7",
            "--engine cmd=./x name='My Engine 2' option.Threads=2 option.Ponder=false option.Style=Solid \
             --engine cmd=./x 'args=-u \"two words\"' tc=40/60+0.6 timemargin=20 dir=/no/such/folder --each tc=10+0.1",
            "-engine cmd=x proto=xboard arg=-a arg=-b -engine cmd=y tc=inf depth=5 -each st=1 -noswap -games 5 \
             -maxmoves 100 -event 'a b/c'",
            "-engine cmd=x proto=xboard 'initstr=book off\\neasy' trust -engine cmd=y restart=on debug \
             'initstr=setoption name Own Book value false' -each nodes=9 -resultformat wide",
            "-engine cmd=x proto=xboard -engine cmd=y proto=uci -each nodes=9 'initstr=easy'",
            "./x ./y --game othello --protocol gtp --move-time 1",
            "--engine cmd=dev name=new option.Threads=2 --engine cmd=dev name=old --clock 8+0.08 \
             --option Hash=16 --coordinator http://lab:7878 --yes",
            "--engine cmd=dev name=new commit=0123456789012345678901234567890123456789 bench=1234567 \
             --engine cmd=dev name=base commit=1123456789012345678901234567890123456789 \
             --nodes 5 --coordinator http://lab:7878",
            "--engine algorithm=random --engine algorithm=alpha-beta --engine cmd=./x --each tc=8+0.08 timemargin=20",
            "--engine algorithm=alpha-beta tc=inf --engine algorithm=mcts option.simulations=50 tc=inf \
             --engine cmd=./x depth=5 --each tc=1 timemargin=20 depth=3",
            "--engine algorithm=alpha-beta --engine cmd=./x --each tc=8+0.08 st=1",
        ];
        insta::assert_snapshot!(lines.map(shown).join("\n"));
    }

    #[test]
    fn a_built_in_player_has_no_program() {
        let player = "--engine algorithm=alpha-beta option.preset=chess name=ours";
        let MatchFiles { sweep, engines, names, commands, .. } =
            files(&format!("{player} --engine cmd=./x --clock 8+0.08")).unwrap();
        let table = "[players.ours]\nalgorithm = \"alpha-beta\"\niterative = true\npreset = \"chess\"\n\
                     clock = \"8+0.08\"\n";
        assert!(sweep.contains(table), "{sweep}");
        assert!(!engines.contains("ours") && engines.contains("[engines.x]"), "{engines}");
        assert_eq!((names.len(), commands), (2, vec!["./x".to_owned()]));
        let both = shown(&format!("{player} cmd=./x --engine cmd=./y --clock 8+0.08"));
        assert!(both.contains("ours has a program and an algorithm"), "{both}");
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_a_remedy() {
        let lines = [
            "./new --clock 8+0.08",
            "./new ./old",
            "./new ./old --cloc 8+0.08",
            "./new ./old --clock",
            "./new --clock 8+0.08 ./old",
            "--engine cmd=./new nme=x",
            "--engine name=new --engine name=old --nodes 5",
            "--engine cmd=./new ponder=true",
            "--engine cmd=./new ponder",
            "--engine cmd=./new whitepov",
            "--engine cmd=./new initstr=xyz",
            "--engine cmd=./new book=a.bin",
            "--engine cmd=./new proto=usi",
            "./new old --nodes 5 --coordinator http://lab:7878",
            "--engine cmd=./none push=true --engine cmd=old --nodes 5 --coordinator http://lab:7878",
            "--engine cmd=new push --engine cmd=old --nodes 5 --coordinator http://lab:7878",
            "--engine cmd=./new push=true --engine cmd=./old --nodes 5",
            "--engine cmd=./new push=yes --engine cmd=./old --nodes 5",
            "-engine cmd=new dir=/x -engine cmd=old -each nodes=5 -coordinator http://lab:7878",
            "./new ./old --sprt 0",
            "./new ./old --sprt 0,5 model=bayesian",
            "./new ./old --nodes many",
            "./new ./old --book order=random",
            "./new ./old --book a.epd start=first",
            "./new ./old --nodes 5 --tbignore50",
            "./new ./old --games -3",
            "./new ./old --nodes 5 --each conf=Sloppy",
            "--engine cmd=dev commit=0123 --engine cmd=./old --nodes 5",
            "./new ./old --nodes 5 --each algorithm=random",
            "--engine algorithm=random args=-x --engine cmd=./x --nodes 5",
            "--engine algorithm=random dir=/no/such/folder --engine cmd=./x --nodes 5",
            "--engine algorithm=alpha-beta --engine algorithm=random",
            "./new ./old --nodes 5 --game othello --variant fischerandom",
        ];
        insta::assert_snapshot!(lines.map(shown).join("\n"));
    }
}
