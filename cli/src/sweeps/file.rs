//! Reading a sweep from disk, with the files that it names.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use miette::SourceSpan;
use spelrum_engine::{BookFormat, decode_text_file};
use spelrum_model::builds;
use spelrum_model::{MergedPairing, Plan, PlannedCell, RepeatedGames, SkippedEntries, Task};
use spelrum_proto::limits::{
    NAME_BYTES_MAX, SWEEP_BYTES_MAX, SWEEP_FILE_BYTES_MAX, SWEEP_FILES_BYTES_MAX, SWEEP_FILES_MAX,
};
use spelrum_report::text::count;
use spelrum_statistics::FIRST_CHECKPOINT;
use spelrum_sweep::{BookFault, NamedFile, SweepError, SweepText, missing_sample, plan_sweep};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::sweeps::book_file::{BookFile, BookFileError, is_compressed};
use crate::sweeps::edit::{Assignment, EditError, Edited, Edits, edit_sweep};

/// A sweep on the command line.
#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// The sweep
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a value of the sweep: depth=1..3, time=10ms,20ms, games=20, players.ab.depth=3
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<Assignment>,
    /// Play a tenth of the games, or make a tenth of the choices; without it later, the same experiment goes on. `run` refuses it, and --set, where
    /// they would change an experiment that is there
    #[arg(long)]
    quick: bool,
    /// The sweep's text, if it is not read from the file.
    #[arg(skip)]
    text: Option<String>,
}

fn setting(text: &str) -> std::result::Result<Assignment, String> {
    text.parse().map_err(|EditError { problem, remedy }| format!("{problem}; {remedy}"))
}

impl SweepArguments {
    /// A sweep file without changes.
    pub(crate) fn of_file(file: PathBuf) -> Self {
        Self { file, settings: Vec::new(), quick: false, text: None }
    }

    /// The same with this text for the file's.
    pub(crate) fn with_text(self, text: String) -> Self {
        Self { text: Some(text), ..self }
    }

    /// The flag that changes the file's settings, if any.
    pub(crate) fn changing(&self) -> Option<&'static str> {
        match (self.settings.is_empty(), self.quick) {
            (true, false) => None,
            (false, false) => Some("--set"),
            (true, true) => Some("--quick"),
            (false, true) => Some("--set and --quick"),
        }
    }

    /// The arguments for a shell.
    pub(crate) fn command_line(&self) -> String {
        let mut words = vec![self.file.display().to_string()];
        for setting in &self.settings {
            words.extend(["--set".to_owned(), setting.to_string()]);
        }
        if self.quick {
            words.push("--quick".to_owned());
        }
        // Only a NUL cannot be quoted, and arguments have none.
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
    }
}

/// A sweep as written, changed by the command line, and planned.
pub(crate) struct SweepFile {
    /// The file, and those that it names.
    pub(crate) text: SweepText,
    /// The sweep's plan.
    pub(crate) plan: Plan,
    /// Notes for the user: what `--quick` changed, and pairings that would play the same games.
    pub(crate) remarks: Vec<String>,
}

/// A sweep that has been read and changed, but not planned yet.
pub(crate) struct UnplannedSweep {
    /// The file, and those that it names once it is planned.
    pub(crate) text: SweepText,
    quickened: Vec<(i64, i64)>,
    /// The directory of the files that the sweep names.
    directory: PathBuf,
}

impl UnplannedSweep {
    /// Reads and changes a sweep.
    pub(crate) fn read(arguments: &SweepArguments) -> Result<Self> {
        let SweepArguments { file, settings, quick, text } = arguments;
        let edits = Edits { settings: settings.clone(), quick: *quick };
        let sweep = match text {
            Some(text) => SweepText::new(file.display().to_string(), text.clone()),
            None => read_text(file)?,
        };
        let Edited { sweep: text, quickened } = edit_sweep(&text_without_builds(sweep), &edits)
            .map_err(|EditError { problem, remedy }| {
                CliError::new(Exit::Input, format!("change the sweep {}", file.display()))
                    .because(problem)
                    .help(remedy)
            })?;
        let directory = file.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { text, quickened, directory })
    }

    /// Reads the files that the sweep names, and plans the sweep. Remarks of the plan come after these.
    pub(crate) fn plan(self, mut remarks: Vec<String>) -> Result<SweepFile> {
        let Self { mut text, quickened, directory } = self;
        let books = read_named_files(&mut text, &directory)?;
        let counts = read_books(&mut text, &books)?;
        let plan = plan_sweep(&text)?;
        let of_plan = [
            quickened_text(&quickened, plan.task()),
            merged_text(&plan.merged),
            out_of_reach_text(&plan),
        ];
        let of_plan =
            of_plan.into_iter().chain([repeated_text(&plan), sampled_text(&plan, &counts)]);
        let of_plan = of_plan.chain([below_checkpoint_text(&plan), repeated_openings_text(&plan)]);
        remarks.extend(of_plan.flatten().chain(plan.skipped.iter().map(skipped_text)));
        Ok(SweepFile { text, remarks, plan })
    }
}

/// `2 pairings have players of equal parameters, …: b against c (as a against c), …`
fn merged_text(merged: &[MergedPairing]) -> Option<String> {
    const SHOWN: usize = 4;
    merged.first()?;
    let pairing = |[player, opponent]: &[Arc<str>; 2]| format!("{player} against {opponent}");
    let shown = merged.iter().take(SHOWN);
    let shown =
        shown.map(|pair| format!("{} (as {})", pairing(&pair.names), pairing(&pair.played_as)));
    let more = if merged.len() > SHOWN { ", …" } else { "" };
    let [pairings, are] = if merged.len() == 1 { ["pairing", "is"] } else { ["pairings", "are"] };
    Some(format!(
        "note: {} {pairings} would be games of another one, since players have equal parameters, and {are} \
         played once: {}{more}",
        count(merged.len() as u64),
        shown.collect::<Vec<_>>().join(", "),
    ))
}

/// `note: with 12 openings …`
fn out_of_reach_text(plan: &Plan) -> Option<String> {
    let (openings, finest) = plan.precision_out_of_reach()?;
    // Rounded up, so that the value can be used as shown.
    let finest = (finest * 1_000.0).ceil() / 1_000.0;
    let coarser = if finest < 0.5 { format!(", or precision = {finest}") } else { String::new() };
    Some(format!(
        "note: with {openings} openings the interval of an even score stays wider than ±{finest}, however many \
         games are played: such cells play all their games; take more openings{coarser}"
    ))
}

/// `note: stop rules are read after 25 pairs for the first time …`
fn below_checkpoint_text(plan: &Plan) -> Option<String> {
    let cells = plan.cells_below_checkpoint();
    let swap_sides = plan.conditions.first().is_none_or(|conditions| conditions.swap_sides);
    let (unit, games) = if swap_sides { ("pairs", 2) } else { ("games", 1) };
    (cells > 0).then(|| {
        format!(
            "note: the stop rule is first checked after {FIRST_CHECKPOINT} {unit}: {} of {} cells {} fewer and will \
             play all {} games without a decision; plan at least {} games for each cell",
            count(cells),
            count(plan.cells.len() as u64),
            if cells == 1 { "has" } else { "have" },
            if cells == 1 { "its" } else { "their" },
            FIRST_CHECKPOINT * games,
        )
    })
}

/// `note: with 8 openings, the SPRT weighs 30 pairs as 8 …`
fn repeated_openings_text(plan: &Plan) -> Option<String> {
    let (openings, units) = plan.sprt_over_repeated_openings()?;
    let swap_sides = plan.conditions.first().is_none_or(|conditions| conditions.swap_sides);
    let unit = if swap_sides { "pairs" } else { "games" };
    let [openings, units] = [count(openings), count(units)];
    Some(format!(
        "note: with {openings} openings the SPRT weighs {units} {unit} as {openings}, and may never decide; for a \
         decision take at least {units} openings"
    ))
}

/// `note: 200 openings give at most 400 different games …`
fn repeated_text(plan: &Plan) -> Option<String> {
    let RepeatedGames { openings, different, cells, repeats: others } = plan.repeated_games()?;
    let [noun, give] = if openings == 1 { ["opening", "gives"] } else { ["openings", "give"] };
    let cells = if cells == 1 { String::new() } else { format!(" of {} cells", count(cells)) };
    Some(format!(
        "note: {} {noun} {give} at most {} different games: the {} others{cells} would be repeats and are not \
         played. An external engine bounded by nodes or depth is taken to repeat its games, unless the first ones \
         of a second round are seen to differ",
        count(openings),
        count(different),
        count(others),
    ))
}

/// `note: skipped 3 bad entries of book.pgn, at lines 2, 4, 9; the first: …`
fn skipped_text(skipped: &SkippedEntries) -> String {
    let SkippedEntries { file, count: entries, lines, first_problem } = skipped;
    let more = entries.saturating_sub(lines.len() as u64);
    let more = if more > 0 { format!(" and {} more", count(more)) } else { String::new() };
    let [noun, at] = if *entries == 1 { ["entry", "line"] } else { ["entries", "lines"] };
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    format!(
        "note: skipped {} bad {noun} of {file}, at {at} {}{more}; the first: {first_problem}",
        count(*entries),
        lines.join(", "),
    )
}

fn quickened_text(quickened: &[(i64, i64)], task: Task) -> Option<String> {
    let change = |&(before, after): &(i64, i64)| {
        let [before, after] = [before, after].map(i64::unsigned_abs);
        format!("{} {} instead of {}", count(after), task.noun(after), count(before))
    };
    let (first, overrides) = quickened.split_first()?;
    let overrides = overrides.iter().map(|games| format!(", by an override {}", change(games)));
    Some(format!("quick: {} in each cell{}", change(first), overrides.collect::<String>()))
}

/// The author's text, without engine builds, which are determined anew.
fn text_without_builds(mut sweep: SweepText) -> SweepText {
    let length = builds::split(&sweep.text).0.len();
    sweep.text.truncate(length);
    sweep
}

fn read_text(path: &Path) -> Result<SweepText> {
    let name = path.display().to_string();
    let failed = || CliError::new(Exit::Input, format!("read the sweep {name}"));
    let bytes = read_at_most(path, SWEEP_BYTES_MAX).map_err(|error| {
        failed().because(error).help("name a sweep file; the project has some in sweeps/")
    })?;
    let Some(bytes) = bytes else {
        return Err(failed()
            .because(format!("it is larger than {} MiB", SWEEP_BYTES_MAX >> 20))
            .help("is it a sweep? generate openings by a rule instead of listing them"));
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| failed().because(error.utf8_error()).help("a sweep is UTF-8 text"))?;
    Ok(SweepText::new(name, text))
}

/// A book of which a sweep takes a part.
struct Book {
    file: BookFile,
    /// The place where the sweep names the book.
    place: SourceSpan,
}

/// Reads the files that a sweep names, relative to the sweep. Returns large books by name, of which only the heads
/// have been read.
fn read_named_files(
    sweep: &mut SweepText,
    directory: &Path,
) -> Result<BTreeMap<String, Book>, SweepError> {
    let named = sweep.named_files();
    if let Some(one_more) = named.get(SWEEP_FILES_MAX) {
        let problem = format!("this sweep names {} files", named.len());
        let remedy = format!("name at most {SWEEP_FILES_MAX}");
        return Err(sweep.error_at(one_more.place, problem, remedy));
    }
    let mut left = SWEEP_FILES_BYTES_MAX;
    let mut books = BTreeMap::new();
    for NamedFile { name, place } in named {
        let wrong = |problem: String, remedy: &str| sweep.error_at(place, problem, remedy);
        if name.len() > NAME_BYTES_MAX {
            return Err(wrong(
                format!("a file name of {} bytes is too long", name.len()),
                "move the file, or name it from where the sweep is",
            ));
        }
        let failed = |error: io::Error| {
            let remedy = "put it beside the sweep, or give its path from there";
            wrong(format!("failed to read the file `{name}`: {error}"), remedy)
        };
        let path = directory.join(&name);
        let is_compressed = is_compressed(&path).map_err(failed)?;
        let bytes_max = if is_compressed { 0 } else { left.min(SWEEP_FILE_BYTES_MAX) };
        let text = match read_at_most(&path, bytes_max).map_err(failed)? {
            Some(bytes) => text_of(&name, bytes).map_err(|problem| {
                wrong(problem, "write one position on each line, and `#` before comments")
            })?,
            None => match BookFile::open(&path).map_err(failed)? {
                Some(file) => {
                    let text = file.head().map_err(failed)?.text();
                    books.insert(name.clone(), Book { file, place });
                    text
                }
                None if is_compressed => {
                    return Err(wrong(
                        format!("`{name}` is compressed, and its name is not that of a book"),
                        "name a book in .epd or .pgn with .gz or .zip behind it, or unpack the file",
                    ));
                }
                None => {
                    return Err(wrong(
                        format!("`{name}` makes the files of this sweep too long"),
                        "list at most 1 MiB of openings, or draw them at random",
                    ));
                }
            },
        };
        left = left.saturating_sub(text.len());
        sweep.files.insert(name, text);
    }
    Ok(books)
}

/// Takes from large books the positions that the sweep plays. Returns the most positions taken of each book that had
/// more.
fn read_books(
    sweep: &mut SweepText,
    books: &BTreeMap<String, Book>,
) -> Result<BTreeMap<String, u32>, SweepError> {
    let mut counts = BTreeMap::new();
    while !books.is_empty()
        && let Some((name, sample)) = missing_sample(sweep)
    {
        let Some(Book { file, place }) = books.get(&name) else { break };
        let count = sample.count;
        let taken = file.sample(sample).map_err(|error| match error {
            BookFileError::File(error) => sweep.error_at(
                *place,
                format!("failed to read the book `{name}`: {error}"),
                "check that it is complete and the right file",
            ),
            BookFileError::Fault(BookFault { line, problem, remedy }) => {
                sweep.error_at(*place, format!("line {line} of `{name}`: {problem}"), remedy)
            }
        })?;
        let is_full = taken.lines().count() > count as usize;
        if let Some(text) = sweep.files.get_mut(&name) {
            text.push_str(&taken);
        }
        if is_full {
            counts
                .entry(name)
                .and_modify(|most: &mut u32| *most = count.min(*most))
                .or_insert(count);
        }
    }
    Ok(counts)
}

/// `note: 16,384 positions are taken of `UHO.epd` …`
fn sampled_text(plan: &Plan, counts: &BTreeMap<String, u32>) -> Option<String> {
    let openings_of = |cell: &PlannedCell| plan.conditions[cell.conditions].openings_of(cell.games);
    let most = plan.cells.iter().map(openings_of).max()?;
    let (name, fewest) = counts.iter().min_by_key(|(_, count)| **count)?;
    if u64::from(*fewest) >= most {
        return None;
    }
    Some(format!(
        "note: {} positions are taken of `{name}`, and then repeat; cells play from {}: raise `count` to \
         use more",
        count(u64::from(*fewest)),
        count(most),
    ))
}

/// The text of a file of positions: books can have any encoding, lists only where a byte order mark shows it.
fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, String> {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let is_book = BookFormat::from_file_name(name).is_some();
    if let Err(error) = std::str::from_utf8(&bytes)
        && !(is_utf16 || is_book)
    {
        let valid = &bytes[..error.valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        return Err(format!("`{name}` is not UTF-8 text at its line {line}"));
    }
    Ok(decode_text_file(bytes))
}

/// A file's bytes; `None` if there are more than `bytes_max`.
fn read_at_most(path: &Path, bytes_max: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= bytes_max).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_arguments_again() {
        for (settings, expected) in [
            (&[][..], "sweeps/nim.toml --quick"),
            (&["games=20"], "sweeps/nim.toml --set 'games=20' --quick"),
            (
                &["time=10ms,20ms", "players.ab.depth=$depth", "description=it's"],
                "sweeps/nim.toml --set 'time=10ms,20ms' --set 'players.ab.depth=$depth' \
                 --set \"description=it's\" --quick",
            ),
        ] {
            let arguments = SweepArguments {
                file: "sweeps/nim.toml".into(),
                settings: settings.iter().map(|text| setting(text).unwrap()).collect(),
                quick: true,
                text: None,
            };
            let line = arguments.command_line();
            assert_eq!(line, expected);
            let mut words = shlex::split(&line).unwrap();
            words.retain(|word| !word.starts_with("--"));
            assert_eq!(words[1..], *settings);
        }
    }

    #[test]
    fn a_precision_out_of_reach_is_said() {
        let sweep = "name = \"t\"\ngame = \"tic-tac-toe\"\ngames = 100\nstop = { precision = 0.03 }\n\
            openings = { kind = \"all\", plies = 2 }\n\
            [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"minimax\"\ndepth = 1\n";
        let plan = plan_sweep(&SweepText::new("t.toml", sweep)).unwrap();
        let text = out_of_reach_text(&plan).unwrap();
        assert!(text.starts_with("note: with 12 openings the interval of an even score"), "{text}");
        // The suggested value is accepted.
        let (_, precision) = text.rsplit_once("precision = ").unwrap();
        let coarser = sweep.replace("0.03", precision);
        let plan = plan_sweep(&SweepText::new("t.toml", coarser)).unwrap();
        assert_eq!(out_of_reach_text(&plan), None);
    }

    #[test]
    fn cells_too_short_for_their_stop_rule_are_said() {
        let text = |games: u32, stop: &str| {
            let sweep = format!(
                "name = \"t\"\ngame = \"tic-tac-toe\"\ngames = {games}\n{stop}\n\
                 [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"minimax\"\ndepth = 1\n"
            );
            below_checkpoint_text(&plan_sweep(&SweepText::new("t.toml", sweep)).unwrap())
        };
        let sprt = "stop = { sprt = { elo0 = 0, elo1 = 50 } }";
        assert_eq!(
            text(48, sprt).unwrap(),
            "note: the stop rule is first checked after 25 pairs: 1 of 1 cells has fewer and will play all its games \
             without a decision; plan at least 50 games for each cell"
        );
        let fixed = format!("{sprt}\nswap_sides = false");
        assert!(text(24, &fixed).unwrap().ends_with("plan at least 25 games for each cell"));
        for (games, stop) in [(50, sprt), (25, &*fixed), (48, "")] {
            assert_eq!(text(games, stop), None);
        }
    }

    #[test]
    fn openings_too_few_for_an_sprt_are_said() {
        let text = |games: u32, stop: &str| {
            let sweep = format!(
                "name = \"t\"\ngame = \"tic-tac-toe\"\ngames = {games}\n{stop}\n\
                 openings = [\"....x....\", \"x........\", \".x.......\"]\n\
                 [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"minimax\"\ndepth = 1\n"
            );
            repeated_openings_text(&plan_sweep(&SweepText::new("t.toml", sweep)).unwrap())
        };
        let sprt = "stop = { sprt = { elo0 = 0, elo1 = 50 } }";
        assert_eq!(
            text(60, sprt).unwrap(),
            "note: with 3 openings the SPRT weighs 30 pairs as 3, and may never decide; for a decision take at least \
             30 openings"
        );
        for (games, stop) in [(6, sprt), (60, ""), (60, "stop = { precision = 0.1 }")] {
            assert_eq!(text(games, stop), None);
        }
    }

    /// Only for players that repeat themselves.
    #[test]
    fn repeated_games_are_said() {
        let plan = |games: u32, one: &str, other: &str| {
            let sweep = format!(
                "name = \"t\"\ngame = \"chess\"\ngames = {games}\nopenings = {{ kind = \"random\", plies = 1 }}\n\
                 [players.a]\n{one}\n[players.b]\n{other}\n"
            );
            plan_sweep(&SweepText::new("t.toml", sweep)).unwrap()
        };
        let engine = |bounds: &str| format!("algorithm = \"uci\"\nengine = \"it\"\n{bounds}");
        let [hundred, ninety] = ["nodes = 100", "nodes = 90"].map(engine);
        let fixed =
            "algorithm = \"alpha-beta\"\nevaluation = \"material\"\ndepth = 1\nshuffle = false";
        let random = "algorithm = \"random\"";
        for other in [&*ninety, fixed] {
            let text = repeated_text(&plan(40_000, &hundred, other)).unwrap();
            let begin = "note: 20 openings give at most 40 different games: the 39,960 others would be repeats and are \
                         not played.";
            assert!(text.starts_with(begin), "{text}");
            assert_eq!(repeated_text(&plan(40, &hundred, other)), None);
        }
        for other in [random, &engine("move_time = \"10ms\""), &engine("clock = \"10s\"")] {
            assert_eq!(repeated_text(&plan(40_000, &hundred, other)), None, "{other}");
        }
    }

    #[test]
    fn what_quick_did_is_said() {
        assert_eq!(quickened_text(&[], Task::Game), None);
        assert_eq!(
            quickened_text(&[(1_000, 100)], Task::Game).as_deref(),
            Some("quick: 100 games instead of 1,000 in each cell")
        );
        assert_eq!(
            quickened_text(&[(100, 10), (400, 40)], Task::Game).as_deref(),
            Some(
                "quick: 10 games instead of 100 in each cell, \
                 by an override 40 games instead of 400"
            )
        );
        assert_eq!(
            quickened_text(&[(5, 1)], Task::Choice).as_deref(),
            Some("quick: 1 choice instead of 5 in each cell")
        );
    }
}
