//! The result tables: who is stronger in each cell and how sure that is, and what a move costs; and how
//! strong all players are on one scale.

mod accuracy;
mod accuracy_json;
mod axes;
mod claims;
mod claims_json;
mod colours;
mod columns;
mod comparisons;
mod comparisons_json;
mod costs;
mod csv;
mod disturbance;
mod engines;
mod evolution;
mod figures;
mod forfeits;
mod json;
mod margins;
mod overview;
mod phases;
mod played_on;
mod ratings;
mod ratings_json;
mod runs;
mod scaled;
mod side_by_side;
mod table_name;
mod table_style;
mod text;
mod worker_effects;

use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use comparisons_json::Compared;
use csv::{ComparedRows, OverviewRows, PhaseRows, ReportRows};
use ratings::Meetings;
use ratings_json::GroupRows;
use serde::Serialize;
use spelrum_tournament::Task;
use spelrum_tournament::results::{Detail, ExperimentSummary, Ratings, Report, SideBySide};

use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;
use crate::output::{
    Document, Figure, LatexStyle, Part, TitledTable, date_time, plot_files, write_csv, write_json,
    write_plots,
};
use crate::results::ResultsSource;
use crate::voice;

pub(crate) use forfeits::Forfeits;
pub(crate) use table_name::TableName;
pub(crate) use table_style::TableStyle;
use table_style::{check_axis, no_such_column};

/// What a page says that has nothing to plot.
const NOTHING_PLAYED: &str = "No game has been played yet, so that there is nothing to plot.";

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Aligned columns, to read
    Text,
    /// Tables as GitHub reads them
    Markdown,
    /// Tables with captions and labels, to be taken in with \input
    Latex,
    /// A page that stands alone, with plots
    Html,
    /// One table, with all digits
    Csv,
    /// Everything
    Json,
}

/// What of the results is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Cells and moves, and ratings where they say what the cells do not.
    Usual,
    /// The same with what moves cost at each depth.
    WithDepths,
    /// Ratings and who met whom, at all points of the grid.
    Ratings,
    /// What changes from cell to cell.
    Compared,
    /// How long moves take by phase.
    Phases,
    /// One table.
    Table(TableName),
}

/// Writes an experiment's results.
pub(crate) async fn write(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    format: ReportFormat,
    style: &TableStyle,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let mut out = BufWriter::new(out);
    if of.task == Task::Choice {
        refuse_what_is_of_games(of, shown)?;
    }
    match format {
        ReportFormat::Text => {
            let mut document = document(source, of, shown).await?;
            accuracy::shorten(&mut document.parts);
            style.apply(&mut document)?;
            document.write_text(&mut out)?;
        }
        ReportFormat::Markdown => {
            let mut document = document(source, of, shown).await?;
            style.apply(&mut document)?;
            document.write_markdown(&mut out)?;
        }
        ReportFormat::Latex => {
            let mut document = document(source, of, shown).await?;
            style.apply(&mut document)?;
            document.write_latex(style.latex, &mut out)?;
        }
        ReportFormat::Html => {
            let Page { mut document, figures, question, engine_revision } =
                whole_page(source, of, shown, style.axis.as_deref()).await?;
            if of.games_settled == 0 {
                document.parts.insert(0, Part::Words(NOTHING_PLAYED.to_owned()));
            }
            style.apply(&mut document)?;
            document.write_html(&question, facts(of, engine_revision), &figures, &mut out)?;
        }
        ReportFormat::Csv => {
            let mut rows = table(source, of, shown).await?;
            if let Some(names) = &style.columns {
                rows.choose_columns(names).map_err(|headings| no_such_column(names, &headings))?;
            }
            write_csv(&mut out, &rows.headings, &rows.rows)?;
        }
        ReportFormat::Json => write_everything(source, of, shown, &mut out).await?,
    }
    out.flush()?;
    Ok(())
}

/// Writes every plot of an experiment's page as a file of its own, and says which.
pub(crate) async fn write_figures(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    style: &TableStyle,
    directory: &Path,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    if of.task == Task::Choice {
        refuse_what_is_of_games(of, shown)?;
    }
    let page = whole_page(source, of, shown, style.axis.as_deref()).await?;
    let about = format!("{} ({}), by spelrum {}.", of.name, of.uuid, env!("CARGO_PKG_VERSION"));
    // All are drawn before the first is written.
    let files = plot_files(&page.figures, style.plot_size, &about)?;
    if files.is_empty() {
        return Err(CliError::new(Exit::Input, format!("draw figures of {}", of.name))
            .because(match of.games_settled {
                0 => "no game has been played yet, so that there is nothing to plot",
                _ => "there is nothing to plot in what is shown",
            })
            .help("see what there is: spelrum report"));
    }
    write_plots(&files, directory, out)
}

/// Refuses to say of choices what can only be said of games.
fn refuse_what_is_of_games(of: &ExperimentSummary, shown: Shown) -> Result<()> {
    let is_of_games = match shown {
        Shown::Usual | Shown::WithDepths | Shown::Phases => false,
        Shown::Ratings | Shown::Compared => true,
        Shown::Table(table) => !table.is_also_of_choices(),
    };
    match is_of_games {
        false => Ok(()),
        true => Err(CliError::new(Exit::Input, format!("tell of games in {}", of.name))
            .because("its players choose moves alone, and nobody wins: it is of kind accuracy")
            .help(
                "leave the option out, or take --table accuracy, wins, plies, moves, depths or workers",
            )),
    }
}

/// Writes two experiments beside each other.
pub(crate) async fn write_two(
    source: &ResultsSource,
    of: [&ExperimentSummary; 2],
    format: ReportFormat,
    latex: LatexStyle,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let mut out = BufWriter::new(out);
    let [first, second] = of;
    let failed = || CliError::new(Exit::Input, format!("show {} with {}", first.name, second.name));
    for one in of {
        if one.task == Task::Choice {
            refuse_what_is_of_games(one, Shown::Compared)?;
        }
    }
    if first.uuid == second.uuid {
        return Err(failed().because("they are the same experiment").help("name another one"));
    }
    let reports =
        [source.report(first, Detail::Cells).await?, source.report(second, Detail::Cells).await?];
    let told = SideBySide::of(&reports[0], &reports[1]);
    if told.cells.is_empty() {
        return Err(failed()
            .because("no cell of the one has a counterpart in the other: the same players' names, and the same values on the axes that both have")
            .help("show each by itself: spelrum report NAME"));
    }
    let what = "figures of how games were played";
    let overviews = [
        unless_failed(what, source.overview(first).await),
        unless_failed(what, source.overview(second).await),
    ];
    let reports = reports.each_ref();
    let two = side_by_side::Two {
        reports,
        overviews: overviews.each_ref().map(Option::as_ref),
        told: &told,
    };
    match format {
        ReportFormat::Text => two.document().write_text(&mut out)?,
        ReportFormat::Markdown => two.document().write_markdown(&mut out)?,
        ReportFormat::Latex => two.document().write_latex(latex, &mut out)?,
        ReportFormat::Html => {
            let by = concat!("spelrum ", env!("CARGO_PKG_VERSION")).to_owned();
            let facts = [("page by", by)].into_iter();
            two.document().write_html("", facts, &[], &mut out)?;
        }
        ReportFormat::Csv => {
            let rows = csv::of_two(&two.json()).map_err(io::Error::from)?;
            write_csv(&mut out, &rows.headings, &rows.rows)?;
        }
        ReportFormat::Json => write_json(&mut out, &two.json())?,
    }
    out.flush()?;
    Ok(())
}

/// What tells an experiment, and what was written of it, from all others.
fn facts(
    of: &ExperimentSummary,
    engine_revision: Option<u32>,
) -> impl Iterator<Item = (&'static str, String)> {
    let page_by = concat!("spelrum ", env!("CARGO_PKG_VERSION")).to_owned();
    [("experiment", of.uuid.clone()), ("submitted", date_time(of.submitted_unix_us))]
        .into_iter()
        .chain(engine_revision.map(|revision| ("engine revision", revision.to_string())))
        .chain([("page by", page_by)])
}

/// The tables of an experiment that has runs, unless others are asked for.
const SHOWN_OF_RUNS: [&str; 6] = [
    runs::RUNS,
    evolution::EVOLUTION,
    engines::ENGINES,
    forfeits::FORFEITS,
    disturbance::DISTURBED,
    text::FAILURES,
];

/// The tables for people.
async fn document(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
) -> Result<Document> {
    let mut document = page(source, of, shown, None).await?.document;
    let is_whole = matches!(shown, Shown::Usual | Shown::WithDepths);
    if is_whole && (1..=GAMES_LOOKED_AT_MAX).contains(&of.games_settled) {
        let told = unless_failed("figures of who played", source.overview(of).await);
        let warnings = told.iter().flat_map(worker_effects::warnings);
        document.parts.extend(warnings.map(Part::Words));
    }
    Ok(document)
}

/// Of more games it takes long to look whether it matters who played, where nobody has asked.
const GAMES_LOOKED_AT_MAX: u64 = 100_000;

/// The tables for people, and plots of what is in them.
struct Page {
    document: Document,
    figures: Vec<Figure>,
    /// What the experiment asks, and the revision of its engine, where these were told with the tables.
    question: String,
    engine_revision: Option<u32>,
}

impl Page {
    fn of(experiment: &ExperimentSummary, parts: Vec<Part>, figures: Vec<Figure>) -> Self {
        let document = text::document(experiment, parts);
        Self { document, figures, question: String::new(), engine_revision: None }
    }
}

/// What is shown with how the games were played, plotted along this axis.
async fn whole_page(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    axis: Option<&str>,
) -> Result<Page> {
    if let Some(axis) = axis {
        check_axis(source, of, axis).await?;
    }
    let page = page(source, of, shown, axis).await?;
    Ok(with_overview(source, of, shown, page, axis).await)
}

/// Asks for what is shown, and no more.
async fn page(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    axis: Option<&str>,
) -> Result<Page> {
    let detail = match shown {
        Shown::Usual
        | Shown::Table(
            TableName::Claims
            | TableName::Runs
            | TableName::Evolution
            | TableName::Family
            | TableName::Cells
            | TableName::Colours
            | TableName::Margins
            | TableName::Accuracy
            | TableName::Wins
            | TableName::Plies
            | TableName::Moves
            | TableName::Engines
            | TableName::Forfeits
            | TableName::Disturbed
            | TableName::Failures,
        ) => Detail::Cells,
        Shown::WithDepths | Shown::Table(TableName::Depths) => Detail::Depths,
        Shown::Ratings => {
            let ratings = source.ratings(of).await?;
            let parts = ratings::parts(&ratings, Meetings::All);
            let figures = figures::of_ratings(&ratings);
            return Ok(Page::of(&ratings.experiment, parts, figures));
        }
        Shown::Table(name @ (TableName::Ratings | TableName::Meetings)) => {
            let ratings = source.ratings(of).await?;
            let parts = only(name, ratings::parts(&ratings, Meetings::AskedFor));
            return Ok(Page::of(&ratings.experiment, parts, Vec::new()));
        }
        Shown::Table(TableName::Differences) => {
            let ratings = source.ratings(of).await?;
            return Ok(Page::of(&ratings.experiment, ratings::differences(&ratings), Vec::new()));
        }
        Shown::Compared => {
            let told = source.comparisons(of).await?;
            return Ok(Page::of(&told.experiment, comparisons::parts(&told), Vec::new()));
        }
        Shown::Table(name @ (TableName::Gains | TableName::Effects | TableName::Replicates)) => {
            let told = source.comparisons(of).await?;
            let parts = only(name, comparisons::parts(&told));
            return Ok(Page::of(&told.experiment, parts, Vec::new()));
        }
        Shown::Phases => {
            let told = phases::fetch(source, of).await?;
            return Ok(Page::of(&told.experiment, phases::parts(&told), Vec::new()));
        }
        Shown::Table(name @ (TableName::Phases | TableName::Standardised)) => {
            let told = phases::fetch(source, of).await?;
            let parts = only(name, phases::parts(&told));
            return Ok(Page::of(&told.experiment, parts, Vec::new()));
        }
        Shown::Table(
            name @ (TableName::Lengths
            | TableName::Terminations
            | TableName::Workers
            | TableName::WorkerEffects),
        ) => {
            let told = source.overview(of).await?;
            let parts = only(name, overview::parts(&told));
            return Ok(Page::of(&told.experiment, parts, Vec::new()));
        }
    };
    let report = source.report(of, detail).await?;
    let mut figures = figures::of_report(&report, axis);
    let mut parts = claims::parts(&report);
    parts.extend(text::parts(&report));
    if let Shown::Table(name) = shown {
        parts = only(name, parts);
        figures.clear();
    } else if !report.runs.is_empty() {
        // There are as many cells as steps, and what they are for is in one line.
        let is_shown = |table: &TitledTable| SHOWN_OF_RUNS.contains(&table.name);
        parts.retain(|part| matches!(part, Part::Table(table) if is_shown(table)));
        figures = evolution::figure(&report).into_iter().collect();
    } else if let Some(ratings) = ratings_worth_showing(source, of, &report).await {
        parts.extend(ratings::parts(&ratings, Meetings::IfTheyFit));
        figures.extend(figures::of_ratings(&ratings));
    }
    let page = Page::of(&report.experiment, parts, figures);
    let (question, engine_revision) = (report.description, report.engine_revision);
    Ok(Page { question, engine_revision, ..page })
}

/// The same with how the games were played, if everything is shown.
async fn with_overview(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    mut page: Page,
    axis: Option<&str>,
) -> Page {
    let is_whole = matches!(shown, Shown::Usual | Shown::WithDepths);
    if !is_whole || of.games_settled == 0 {
        return page;
    }
    let overview = source.overview(of).await;
    if let Some(told) = unless_failed("figures of how games were played", overview) {
        let parts = overview::parts(&told);
        match of.task {
            Task::Game => {
                page.document.parts.push(Part::Heading("How the games were played".to_owned()));
                page.document.parts.extend(parts);
                page.figures.extend(figures::of_overview(&told, axis));
            }
            // Every choice is one move long.
            Task::Choice => page.document.parts.extend(only(TableName::Workers, parts)),
        }
    }
    page
}

/// The tables of this name, and what is said where there is none.
fn only(name: TableName, mut parts: Vec<Part>) -> Vec<Part> {
    let asked = name.to_possible_value();
    let is_asked = |table: &TitledTable| {
        // The cells of claims belong to them.
        asked.as_ref().is_some_and(|name| name.get_name() == table.name)
            || (name == TableName::Claims && table.name == claims::CELLS)
    };
    // What is said between tables is about those that follow.
    let has_tables = parts.iter().any(|part| matches!(part, Part::Table(_)));
    parts.retain(|part| match part {
        Part::Table(table) => is_asked(table),
        Part::Words(_) => !has_tables,
        Part::Heading(_) => false,
    });
    if parts.is_empty() {
        parts.push(Part::Words("there is nothing to show".to_owned()));
    }
    parts
}

/// One table for programs.
async fn table(source: &ResultsSource, of: &ExperimentSummary, shown: Shown) -> Result<csv::Rows> {
    let (detail, which) = match shown {
        Shown::Usual if of.task == Task::Choice => return accuracy_rows(source, of, true).await,
        Shown::Table(TableName::Accuracy | TableName::Wins) => {
            return accuracy_rows(source, of, true).await;
        }
        Shown::Table(TableName::Plies) => return accuracy_rows(source, of, false).await,
        Shown::Usual | Shown::Table(TableName::Cells) => (Detail::Cells, ReportRows::Cells),
        Shown::Table(TableName::Moves) => (Detail::Cells, ReportRows::Moves),
        Shown::WithDepths | Shown::Table(TableName::Depths) => (Detail::Depths, ReportRows::Depths),
        Shown::Table(TableName::Failures) => (Detail::Cells, ReportRows::Failures),
        Shown::Table(TableName::Colours) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_colours(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(TableName::Margins) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_margins(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(TableName::Claims) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_claims(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(TableName::Runs) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_runs(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(TableName::Evolution) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_generations(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(TableName::Family) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_families(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(name @ (TableName::Engines | TableName::Forfeits)) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_engines_or_forfeits(&report, name);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Table(TableName::Disturbed) => {
            let report = source.report(of, Detail::Cells).await?;
            let rows = csv::of_disturbed(&report);
            return Ok(rows.map_err(io::Error::from)?);
        }
        Shown::Ratings | Shown::Table(TableName::Ratings) => {
            return rated(source, of, GroupRows::Players).await;
        }
        Shown::Table(TableName::Differences) => {
            return rated(source, of, GroupRows::Differences).await;
        }
        Shown::Table(TableName::Meetings) => return rated(source, of, GroupRows::Meetings).await,
        Shown::Compared | Shown::Table(TableName::Gains) => {
            return compared(source, of, ComparedRows::Gains).await;
        }
        Shown::Table(TableName::Effects) => {
            return compared(source, of, ComparedRows::Effects).await;
        }
        Shown::Table(TableName::Replicates) => {
            return compared(source, of, ComparedRows::Replicates).await;
        }
        Shown::Phases | Shown::Table(TableName::Phases) => {
            return by_phase(source, of, PhaseRows::Times).await;
        }
        Shown::Table(TableName::Standardised) => {
            return by_phase(source, of, PhaseRows::Standardised).await;
        }
        Shown::Table(TableName::Lengths) => {
            return overviewed(source, of, OverviewRows::Lengths).await;
        }
        Shown::Table(TableName::Terminations) => {
            return overviewed(source, of, OverviewRows::Terminations).await;
        }
        Shown::Table(TableName::Workers) => {
            return overviewed(source, of, OverviewRows::Workers).await;
        }
        Shown::Table(TableName::WorkerEffects) => {
            return overviewed(source, of, OverviewRows::WorkerEffects).await;
        }
    };
    let report = source.report(of, detail).await?;
    let rows = csv::of_report(&json::Report::from(&report), which);
    Ok(rows.map_err(io::Error::from)?)
}

/// How well players choose, over all positions of a cell or by the plies before them.
async fn accuracy_rows(
    source: &ResultsSource,
    of: &ExperimentSummary,
    whole: bool,
) -> Result<csv::Rows> {
    let report = source.report(of, Detail::Cells).await?;
    let rows = csv::of_accuracy(&report, whole);
    Ok(rows.map_err(io::Error::from)?)
}

async fn rated(
    source: &ResultsSource,
    of: &ExperimentSummary,
    which: GroupRows,
) -> Result<csv::Rows> {
    let ratings = source.ratings(of).await?;
    let rows = csv::of_ratings(&of.name, &ratings_json::groups(&ratings), which);
    Ok(rows.map_err(io::Error::from)?)
}

async fn compared(
    source: &ResultsSource,
    of: &ExperimentSummary,
    which: ComparedRows,
) -> Result<csv::Rows> {
    let told = source.comparisons(of).await?;
    let rows = csv::of_comparisons(&Compared::from(&told), which);
    Ok(rows.map_err(io::Error::from)?)
}

async fn by_phase(
    source: &ResultsSource,
    of: &ExperimentSummary,
    which: PhaseRows,
) -> Result<csv::Rows> {
    let told = phases::fetch(source, of).await?;
    let rows = csv::of_phases(&phases::Phases::from(&told), which);
    Ok(rows.map_err(io::Error::from)?)
}

async fn overviewed(
    source: &ResultsSource,
    of: &ExperimentSummary,
    which: OverviewRows,
) -> Result<csv::Rows> {
    let told = source.overview(of).await?;
    let rows = csv::of_overview(&overview::Overview::from(&told), which);
    Ok(rows.map_err(io::Error::from)?)
}

/// Everything, as JSON.
async fn write_everything(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    #[derive(Serialize)]
    struct Everything<'a> {
        #[serde(flatten)]
        report: json::Report<'a>,
        ratings: Option<Vec<ratings_json::Group<'a>>>,
        comparisons: Option<Compared<'a>>,
        phases: Option<phases::Phases<'a>>,
        claims: Vec<claims_json::Claim>,
        accuracy: Vec<accuracy_json::Accuracy<'a>>,
        runs: Vec<runs::Run<'a>>,
        generations: Vec<evolution::GenerationRow<'a>>,
        families: Vec<evolution::RelativeRow<'a>>,
        disturbed: Vec<disturbance::Disturbed<'a>>,
        forfeits: Vec<forfeits::Forfeits<'a>>,
        #[serde(flatten)]
        engines: engines::Engines<'a>,
        #[serde(flatten)]
        overview: Option<overview::Overview<'a>>,
    }
    let report = source.report(of, Detail::Depths).await?;
    let ratings = match shown {
        Shown::Usual | Shown::WithDepths | Shown::Compared | Shown::Phases | Shown::Table(_) => {
            ratings_worth_showing(source, of, &report).await
        }
        Shown::Ratings => Some(source.ratings(of).await?),
    };
    let told = match shown {
        Shown::Compared => Some(source.comparisons(of).await?),
        Shown::Usual | Shown::WithDepths | Shown::Ratings | Shown::Phases | Shown::Table(_) => None,
    };
    let by_phase = match shown {
        Shown::Phases => Some(phases::fetch(source, of).await?),
        Shown::Usual | Shown::WithDepths | Shown::Ratings | Shown::Compared | Shown::Table(_) => {
            None
        }
    };
    let overview = unless_failed("figures of how games were played", source.overview(of).await);
    let everything = Everything {
        report: json::Report::from(&report),
        ratings: ratings.as_ref().map(ratings_json::groups),
        comparisons: told.as_ref().map(Compared::from),
        phases: by_phase.as_ref().map(phases::Phases::from),
        claims: claims_json::claims(&report),
        accuracy: accuracy_json::accuracy(&report),
        runs: runs::runs(&report),
        generations: evolution::generations(&report),
        families: evolution::families(&report),
        disturbed: disturbance::disturbed(&report),
        forfeits: forfeits::forfeits(&report),
        engines: engines::Engines::from(&report),
        overview: overview.as_ref().map(overview::Overview::from),
    };
    write_json(out, &everything)?;
    Ok(())
}

/// The ratings of who met whom in a report, if they say what the cells do not. Nobody has asked for them: where
/// there are none, the report is there all the same.
async fn ratings_worth_showing(
    source: &ResultsSource,
    of: &ExperimentSummary,
    report: &Report,
) -> Option<Ratings> {
    if report.experiment.task == Task::Choice || !ratings::are_worth_showing(report) {
        return None;
    }
    unless_failed("ratings", source.ratings(of).await)
}

/// What nobody has asked for by name: where it cannot be had, the rest is there all the same, with a word of it.
fn unless_failed<T>(what: &str, asked: Result<T>) -> Option<T> {
    asked.map(Some).unwrap_or_else(|error| {
        let message = error.message(MessageStyle::Plain).unwrap_or_default();
        let problem = message.lines().next().unwrap_or_default();
        let problem = problem.strip_prefix("error: ").unwrap_or(problem);
        voice::say(&format!("note: there are no {what} here: {problem}"));
        None
    })
}
