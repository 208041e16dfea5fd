//! `spelrum report`: an experiment's result tables.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use spelrum_report::data::NewFile;
use spelrum_report::document::LatexStyle;
use spelrum_report::experiment::{ReportFormat, Shown, TableStyle};
use spelrum_report::plot::PlotSize;
use spelrum_report::tables::TableName;

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::{ResultsSource, reports, site};
use crate::terminal;

const EXAMPLES: &str = "\
For each cell: who is stronger, with a 95% interval over pairs of games, over games if the players \
do not swap sides, or over openings where they come again; and for each player the time, depth, nodes and evaluations of a move. Where \
a player has met several others, also ratings: the strength of all players on one scale. What the sweep claimed stands at \
the head, judged together; the rest is then exploratory. Of an accuracy experiment: how well each player chooses, \
beside a random mover. Of a sweep with find: the value at which the players are even, for each run. It can be asked while games are being played.

JSON: experiment, experiment_uuid, game, state, games_planned, games_settled, games_failed, axes, \
first_mover_score, first_mover_low, first_mover_high (of the player who moved first from the opening); \
cells (cell_id, axes, player, opponent, timed, games_planned, games_max, stop_rule, \
stop_precision, sprt (elo0, elo1, alpha, beta, model, llr, lower, upper, verdict), stopped_after, \
score_biased (whether a stop rule has ended the cell), games, games_failed, \
wins, draws, losses, score, score_low, score_high, elo, elo_low, elo_high, elo_error (half of what lies between the \
two), nelo, nelo_error (always null), los, stronger (player, opponent, unclear, or with --equal-within equal), pairs, distinct_games, swap_sides, self_play, openings_used, openings_effective, pairs_won_by_first_mover, pairs_won_by_second_mover, \
first_mover_score, first_mover_low, first_mover_high, p (of such a score between equal players), p_adjusted (by Holm's \
procedure over all cells)); moves, and depths (cell_id, axes, player, opponent, searched_moves, wall_us_mean, \
wall_us_median, wall_us_p90, wall_us_p99, depth_mean, nodes_mean, evaluations_mean, \
full_tree_share, time_limit_us, overrun_beyond_us, overruns (moves that took so long, or longer), overrun_share, \
wall_us_longest, wall_us_p95, wall_us_game_mean, wall_us_game_mean_low, wall_us_game_mean_high (the mean over games \
of the player's mean time), wall_us_ratio, wall_us_ratio_low, wall_us_ratio_high (of its geometric mean over games to \
its opponent's), cpu_us_mean, cpu_us_game_mean, cpu_us_ratio with _low and _high (the same in processor time, where it is \
known; the ratio where no time limit ends the moves of both)); replicated, of a sweep with replicates, a row for each group of them (cell_id (of the first), axes, player, opponent, replicates, score, \
score_low, score_high, deviation, deviation_beyond_openings, stronger); failures, of cells that have any (cell_id, axes, player, opponent, games, games_failed, games_replayed, \
score, score_worst, score_best); disturbed, of cells that have any (cell_id, axes, player, opponent, games, games_disturbed, \
games_played_again, score_of_games, score_of_first_results); time_scale, where time limits are scaled (reference_speed, \
factor_max, games, games_at_bound, factor_least, factor_greatest); played_on, where cells are timed \
(games_on_quiet_slots, games_elsewhere, games_unknown). A cell's axes are its values in the order of the experiment's. \
ratings, where they are shown or asked for: groups of players who met (axes, players, first_move_elo, \
first_move_elo_error, draw_rate, games, self_play_games, clusters, clusters_are, differences, meetings, fit, departures, cyclic_ratings), \
players the strongest first (player, elo, elo_error, is_anchor, games, wins, draws, losses, score), \
differences of every two (player, opponent, elo, elo_error), meetings (player, opponent, games, wins, \
draws, losses, score), fit, whether one scale fits (p_value, is_rejected, freedom, cycles_elo, cycles_elo_low, cycles_elo_high), \
departures from it (player, opponent, games, score, expected, departure, departure_error, p_value), cyclic_ratings, where it does \
not fit (player, elo, radius, angle, nash_share, nash_elo). comparisons, with --compare: history, of engines that had several builds (cell_id, axes, player, opponent, number, build, score, score_low, score_high, gain, gain_low, gain_high, change), gains (cell_id, from_cell_id, axes, player, opponent, changed, from, to, \
openings_shared, gain, gain_low, gain_high), effects (player, opponent, cells, axis, from, to, with_axis, \
with_from, with_to, gain, gain_low, gain_high, residual_deviation), crossings (cell_id (of the first), axes, player, opponent, along, \
even_at, even_between (from and to of each part of the set), may_be_below, may_be_above; times in milliseconds), curves (cell_id, axes, player, \
opponent, along, value, score, fitted, fitted_low, fitted_high), replicates (cell_id, axes, player, opponent, \
seeds, score, score_low, score_high, deviation, deviation_beyond_openings). \
phases, with --phases: unit (empty_cells or plies), times (cell_id, axes, player, opponent, phase, player_searched_moves, \
player_wall_us_mean, opponent_searched_moves, opponent_wall_us_mean, wall_us_ratio), standardised (cell_id, axes, player, \
opponent, player_wall_us_standardised, opponent_wall_us_standardised, wall_us_ratio, moves_share). claims, of a sweep that has any \
(claim, player, opponent, at, score_above, score_below, about (score, gain, time_ratio, accuracy, value or rating_lead), above, below, than, in, error_rate, exploratory, in_sweep, verdict (supported, \
not_shown, open, exploratory or not_judged), reason, p, p_adjusted, hash, cells (cell_id, player, opponent, than_cell_id, than, score, figure (of claims about others than scores), \
band_low, band_high, cell_p)). runs, of a sweep with find, a row for each parameter (run, kind, axes (of the grid), player, \
opponents, steps, ended, parameter, value, value_text, low, low_text, high, high_text). \
lengths (cell_id, axes, player, opponent, games, plies_mean, plies_shortest, plies_p25, plies_median, plies_p75, \
plies_longest), terminations (cell_id, axes, player, opponent, termination, games, share), workers (worker_id, worker, \
host, slots, engine_revision, version, cpu_model, logical_cores, operating_system, build_commit, build_profile, cores, \
quiet_slots, cpu_quota, cpu_quota_period_us, labels, games, plies, wall_us). With --with: experiments (experiment, \
experiment_uuid, game, state, submitted_unix_us, engine_revision, \
games_planned, games_settled, description, cpu_models, builds), axes, cells (axes, player, opponent, first_cell_id, \
second_cell_id, first_games, second_games, first_score, second_score, difference, difference_low, difference_high), \
moves (axes, player, opponent, first_wall_us_mean, second_wall_us_mean, wall_us_ratio, wall_us_ratio_low, \
wall_us_ratio_high), unmatched (experiment, cell_id, axes, player, opponent). accuracy, of an accuracy experiment: how well players choose (cell_id, axes, player, reference, plies (null: over all \
positions), positions, best, random_best, rank, random_rank, loss, random_loss, best_skill, rank_skill, loss_skill; \
where the reference says who wins, winnable (positions in which some move wins and some move does not), keeps_win, \
random_keeps_win, keeps_win_skill; all but winnable and the random ones with _low and _high). \
What is not known is null.

HTML: one file to hand on, in a browser or printed, with every table of the text and plots: scores and games over the \
values of the axis that has most of them, times of moves on a logarithmic axis, ratings, each with its 95% interval and \
its numbers; how long games were, how they ended, and on which machines and builds they were played. It has no scripts and fetches nothing. Of a large experiment it has the first rows and says where the \
others are.

Figures: each plot of that page as an SVG file, to be taken into a thesis, a README or slides, with its title, its \
legend and its styles, for light and dark. Each is named after its title, and printed as it is written; --depths, \
--ratings and --compare have figures of their own. A sweep of two axes or more has a map of the score over two of them. --axis chooses the \
axis, --figure-size the size. PDF of one: rsvg-convert -f pdf.

Site: pages to publish, as files of one directory for any web server, or to open in a browser: index.html, a page for each \
experiment with its report, lists of its newest games, and a page for each of these with all its boards. They have no \
links to elsewhere and need no server of their own. The directory appears once all of it is there.

CSV: one table, with the names and digits of JSON: cells, or what --table names; with --ratings ratings, with \
--depths depths, with --compare gains, with --phases phases. A text that a spreadsheet would take for a formula has an apostrophe before it. LaTeX needs the \
packages array, booktabs and threeparttable (with --landscape rotating). Its tables fit the text width of the class \
article on A4, 345 pt: the font is made smaller, long names are broken into lines, and what is still too wide is set in \
parts, one behind the other. --columns takes fewer columns.

Examples:
  spelrum report pentago-depth.db
  spelrum report --ratings --db pentago-ladder.db
  spelrum report --compare --db pentago-depth.db
  spelrum report --phases --db pentago-depth.db
  spelrum report before --with after --db results.db
  spelrum report --table claims --db tic-tac-toe-claims.db
  spelrum report --db pentago-depth.db --format latex --output depth.tex
  spelrum report --db pentago-depth.db --format latex --table cells --columns depth,player,score,elo
  spelrum report --db pentago-depth.db --html depth.html
  spelrum report --db pentago-depth.db --figures figures --figure-size 600x300
  spelrum report --db pentago-depth.db --site site --site-games 500
  spelrum report --db pentago-depth.db --format csv --table moves
  spelrum report pentago-depth --coordinator http://127.0.0.1:7878 --json";

/// Games of each experiment that have a page in a site.
const SITE_GAMES: usize = 100;

/// Show an experiment's result tables
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Report {
    /// The experiment's name or UUID, a results database, or a sweep that was run here; may be left out if there is
    /// only one
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Also show what a move costs at each depth that searches completed
    #[arg(long)]
    depths: bool,
    /// Show ratings instead: at each point of the grid all who met, on one scale
    #[arg(long, conflicts_with = "depths")]
    ratings: bool,
    /// Show what changes from cell to cell instead: along each axis, between players, from seed to seed
    #[arg(long, conflicts_with_all = ["depths", "ratings"])]
    compare: bool,
    /// Show how long a move takes in each phase of the game instead, and in the same mix of phases for both
    /// players; of experiments that record moves
    #[arg(long, conflicts_with_all = ["depths", "ratings", "compare"])]
    phases: bool,
    /// Show another experiment beside it instead: cells with the same players and the same places, what they score
    /// and what their moves cost
    #[arg(
        long,
        value_name = "EXPERIMENT",
        requires = "experiment",
        conflicts_with_all = ["depths", "ratings", "compare", "phases", "table"]
    )]
    with: Option<String>,
    /// Call players equal where the whole interval of their score is within this margin of 0.5, such as 0.05
    #[arg(long, value_name = "MARGIN", value_parser = parse_margin, conflicts_with = "with")]
    equal_within: Option<f64>,
    #[arg(
        help = format!("Show one table only: {}", TableName::listed()),
        long,
        value_name = "NAME",
        value_enum,
        conflicts_with_all = ["depths", "ratings", "compare", "phases", "json"],
        hide_possible_values = true
    )]
    table: Option<TableName>,
    /// How to write it: text, markdown, latex, html (a page with plots), csv (one table), match (as
    /// match runners print it) or json (everything)
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t = ReportFormat::Text,
        hide_possible_values = true
    )]
    format: ReportFormat,
    /// Show only these columns of the table, in this order, by their headings: player,score,elo; in CSV by the names
    /// that it has
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "table")]
    columns: Option<Vec<String>>,
    /// Rotate tables in LaTeX, each onto a page of its own
    #[arg(long)]
    landscape: bool,
    /// Size of the font of tables in LaTeX, in points [default: the largest of 9, 8 and 7 in which a table fits]
    #[arg(long, value_name = "POINTS", value_parser = clap::value_parser!(u8).range(5..=12))]
    font_size: Option<u8>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write a page to hand on, with plots: the same as --format html --output FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "json", "output"])]
    html: Option<PathBuf>,
    /// Write each plot of that page as an SVG file of its own into this directory, made if it is not there; files of
    /// the same names are replaced
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["phases", "with", "table", "format", "json", "html", "output"]
    )]
    figures: Option<PathBuf>,
    /// Write pages to publish into this directory, which must be new or empty unless --force is given: of the
    /// experiment, or of all if none is named, and of their newest games
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "depths", "ratings", "compare", "phases", "with", "table", "format", "json", "html", "figures", "axis",
            "output",
        ]
    )]
    site: Option<PathBuf>,
    /// Games of each experiment that have a page in the site, the newest [default: 100]
    #[arg(long, value_name = "N", requires = "site")]
    site_games: Option<usize>,
    /// Replace the site in that directory
    #[arg(long, requires = "site")]
    force: bool,
    /// The axis that plots go along, and the horizontal one of maps of two axes [default: the one of most values]
    #[arg(long, value_name = "AXIS", conflicts_with_all = ["phases", "with", "table"])]
    axis: Option<String>,
    /// Width and height of the plots that --figures writes, in pixels; plots of rows are as high as their rows
    /// [default: 720x330]
    #[arg(long, value_name = "WIDTHxHEIGHT", requires = "figures")]
    figure_size: Option<PlotSize>,
    /// Write to this file, once all of it is there; one of this name is replaced
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    fn style(&self, format: ReportFormat) -> Result<TableStyle> {
        let flag = match (self.landscape, self.font_size) {
            (true, _) => Some("--landscape"),
            (false, Some(_)) => Some("--font-size"),
            (false, None) => None,
        };
        if let Some(flag) = flag.filter(|_| format != ReportFormat::Latex) {
            return Err(CliError::new(Exit::Usage, format!("set tables with {flag}"))
                .because("only LaTeX has pages")
                .help("add --format latex, or leave it out"));
        }
        let latex = LatexStyle { is_landscape: self.landscape, size_pt: self.font_size };
        let (columns, axis) = (self.columns.clone(), self.axis.clone());
        let equal_within = self.equal_within;
        Ok(TableStyle { columns, latex, equal_within, axis, plot_size: self.figure_size })
    }

    async fn write_site(&self, directory: &Path) -> Result<Exit> {
        let (source, experiments) = match self.experiment.as_deref() {
            Some(name) => {
                let (source, experiment) =
                    ResultsSource::open_experiment(&self.source, Some(name)).await?;
                (source, vec![experiment])
            }
            None => {
                let source = ResultsSource::open(&self.source).await?;
                let experiments = source.experiments().await?;
                (source, experiments)
            }
        };
        let (games_max, style) =
            (self.site_games.unwrap_or(SITE_GAMES), self.style(ReportFormat::Html)?);
        site::write_site(&source, &experiments, games_max, &style, directory, self.force).await?;
        Ok(Exit::Success)
    }

    /// Queries and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let format = match (self.json, &self.html) {
            (true, _) => ReportFormat::Json,
            (false, Some(_)) => ReportFormat::Html,
            (false, None) => self.format,
        };
        let shown = match (self.table, self.ratings, self.depths) {
            (Some(_), ..) if format == ReportFormat::Json => {
                return Err(CliError::new(Exit::Usage, "show one table")
                    .because("JSON has all of them")
                    .help("leave --table out, or take --format csv"));
            }
            (Some(table), ..) => Shown::Table(table),
            (None, ..) if self.compare => Shown::Compared,
            (None, ..) if self.phases => Shown::Phases,
            (None, true, _) => Shown::Ratings,
            (None, false, true) => Shown::WithDepths,
            (None, false, false) => Shown::Usual,
        };
        if let Some(directory) = &self.site {
            return self.write_site(directory).await;
        }
        let (source, experiment) =
            ResultsSource::open_experiment(&self.source, self.experiment.as_deref()).await?;
        if let Some(directory) = &self.figures {
            let mut out = terminal::data_stdout();
            let style = self.style(format)?;
            reports::write_figures(&source, &experiment, shown, &style, directory, &mut out)
                .await?;
            return Ok(Exit::Success);
        }
        let style = self.style(format)?;
        let other = match &self.with {
            Some(other) => Some(source.experiment(Some(other)).await?),
            None => None,
        };
        let write = async |out: &mut (dyn Write + Send)| match &other {
            Some(other) => {
                reports::write_pair(&source, [&experiment, other], format, style.latex, out).await
            }
            None => reports::write_report(&source, &experiment, shown, format, &style, out).await,
        };
        match (self.html.as_ref().or(self.output.as_ref()), format) {
            (Some(path), _) => {
                let (new_file, mut file) = NewFile::create(path)?;
                match format {
                    ReportFormat::Text => write(&mut anstream::StripStream::new(file)).await?,
                    ReportFormat::Markdown
                    | ReportFormat::Latex
                    | ReportFormat::Html
                    | ReportFormat::Csv
                    | ReportFormat::Match
                    | ReportFormat::Json => write(&mut file).await?,
                }
                new_file.finish()?;
            }
            (None, ReportFormat::Text) => write(&mut terminal::stdout()).await?,
            // Data is written raw.
            (None, _) => write(&mut terminal::data_stdout()).await?,
        }
        Ok(Exit::Success)
    }
}

/// Parses a margin about an even score.
fn parse_margin(text: &str) -> Result<f64, &'static str> {
    let margin = text.parse::<f64>().ok().filter(|margin| *margin > 0.0 && *margin < 0.5);
    margin.ok_or("a number above 0 and below 0.5")
}
