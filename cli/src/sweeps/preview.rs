//! The effects of a changed sweep on its experiment, shown before they happen.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use serde::Serialize;
use spelrum_answers::{Assumptions, SubmittedSweep};
use spelrum_external::EngineFile;
use spelrum_model::Plan;
use spelrum_model::change::{self, CellChange, CellExample};
use spelrum_model::claims;
use spelrum_report::changes::{build_remarks, change_lines};
use spelrum_report::data::write_json;
use spelrum_report::planned;
use spelrum_report::text::{count, counted};
use spelrum_store::{Readers, Sweep};
use uuid::Uuid;

use crate::error::Result;
use crate::local::cost_estimate::{self, Estimate};
use crate::players::engine_check::{self, Checked, Json};
use crate::remote::connection::Manner;
use crate::sweeps::engine_builds;
use crate::sweeps::file::SweepFile;
use crate::terminal;

/// A change in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Change<'a> {
    cells_kept: u64,
    cells_continued: u64,
    cells_added: u64,
    cells_returned: u64,
    cells_dropped: u64,
    cells_superseded: u64,
    games_kept: u64,
    games_to_play: u64,
    games_dropped: u64,
    axes_changed: bool,
    rules_changed: bool,
    settings_changed: &'a [Cow<'static, str>],
    builds_changed: Vec<BuildChange<'a>>,
    examples: Vec<Example<'a>>,
}

/// An engine whose build has changed; empty where any build is allowed.
#[derive(Debug, Serialize)]
struct BuildChange<'a> {
    engine: &'a str,
    before: &'a str,
    now: &'a str,
    games: u64,
}

impl<'a> From<&'a change::BuildChange> for BuildChange<'a> {
    fn from(change: &'a change::BuildChange) -> Self {
        let change::BuildChange { engine, before, now, games } = change;
        let [before, now] = [before, now].map(|build| build.as_deref().unwrap_or_default());
        Self { engine, before, now, games: *games }
    }
}

/// A few cells of each kind.
#[derive(Debug, Serialize)]
struct Example<'a> {
    what: CellChange,
    axes: &'a str,
    player: &'a str,
    opponent: &'a str,
    games_settled: u64,
    games_planned: u64,
}

impl<'a> From<&'a change::Change> for Change<'a> {
    fn from(change: &'a change::Change) -> Self {
        let example = |example: &'a CellExample| Example {
            what: example.change,
            axes: &example.axes,
            player: &example.player,
            opponent: &example.opponent,
            games_settled: example.games_settled,
            games_planned: example.games_planned,
        };
        Self {
            cells_kept: change.cells_kept,
            cells_continued: change.cells_continued,
            cells_added: change.cells_added,
            cells_returned: change.cells_returned,
            cells_dropped: change.cells_dropped,
            cells_superseded: change.cells_superseded,
            games_kept: change.games_kept,
            games_to_play: change.games_to_play,
            games_dropped: change.games_dropped,
            axes_changed: change.axes_changed,
            rules_changed: change.rules_changed,
            settings_changed: &change.settings_changed,
            builds_changed: change.builds_changed.iter().map(BuildChange::from).collect(),
            examples: change.examples.iter().map(example).collect(),
        }
    }
}

fn cells(number: u64) -> String {
    counted(number, "cell")
}

fn games(number: u64) -> String {
    counted(number, "game")
}

/// The size of a sweep with a course, whose cells are not known yet.
pub(crate) fn runs_of(plan: &Plan) -> Option<String> {
    let course = plan.course.as_ref()?;
    let runs = match course.runs.len() {
        1 => "a run".to_owned(),
        runs => format!("{} runs", count(runs as u64)),
    };
    Some(format!("{runs} of `{}`, {} at most", course.kind().name(), games(plan.games())))
}

/// The announcement before a changed sweep is submitted.
pub(crate) fn announcement(plan: &Plan, change: &change::Change) -> String {
    let remarks = build_remarks(change).into_iter().map(|remark| remark + "\n");
    let mut text = remarks.collect::<String>();
    text += &format!("this sweep changes {}:", plan.name);
    for line in change_lines(plan.games(), change) {
        text.push('\n');
        text.push_str(&line);
    }
    text
}

/// Asks whether cells may be dropped, if there is a terminal to ask on.
pub(crate) fn may_drop(change: &change::Change) -> Result<bool> {
    if change.cells_dropped == 0 || !terminal::can_ask() {
        return Ok(true);
    }
    let (cells, games) = (cells(change.cells_dropped), games(change.games_dropped));
    Ok(terminal::confirm(&format!("{cells} with {games} would leave the reports. Continue?"))?)
}

/// Remarks about an experiment's claims after a submit: all except those simply stated.
pub(crate) fn remarks_on_claims(claims: &[claims::ClaimStanding]) -> Vec<String> {
    let remark = |claim: &claims::ClaimStanding| {
        let text = &claim.text;
        match (claim.is_late, claim.in_sweep) {
            (true, _) => Some(format!(
                "the claim \"{text}\" is exploratory: it was stated after the first game was settled"
            )),
            (false, false) => {
                Some(format!("the claim \"{text}\" stays: it was stated before the first game"))
            }
            (false, true) => None,
        }
    };
    claims.iter().filter_map(remark).collect()
}

/// A claim in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct ClaimStanding<'a> {
    claim: &'a str,
    exploratory: bool,
    in_sweep: bool,
}

impl<'a> From<&'a claims::ClaimStanding> for ClaimStanding<'a> {
    fn from(claim: &'a claims::ClaimStanding) -> Self {
        Self { claim: &claim.text, exploratory: claim.is_late, in_sweep: claim.in_sweep }
    }
}

/// Previews a sweep in a database.
pub(crate) async fn preview(
    readers: &Readers,
    sweep: &SweepFile,
    manner: Manner,
) -> Result<SubmittedSweep> {
    let uuid = Uuid::new_v4().to_string();
    let plan = &sweep.plan;
    let preview = readers
        .preview(Sweep {
            uuid: &uuid,
            toml: &sweep.text.text,
            files: &sweep.text.files,
            plan,
            new_experiment: manner.new_experiment,
            fills: None,
        })
        .await?;
    Ok(SubmittedSweep {
        name: plan.name.clone(),
        cells: plan.cells.len() as u64,
        games: preview.games(plan),
        existed: preview.existing.is_some(),
        experiment_uuid: preview.existing.map_or(uuid, |(uuid, _)| uuid),
        change: preview.change,
        games_left: preview.games_left,
        claims: preview.claims,
    })
}

/// Previews a sweep in the database at a path, if it exists.
pub(crate) async fn preview_file(
    db: &Path,
    sweep: &mut SweepFile,
    engines: Option<&EngineFile>,
    manner: Manner,
) -> Result<Option<SubmittedSweep>> {
    if !db.exists() {
        return Ok(None);
    }
    let readers = Readers::open(db).await?;
    let named =
        engine_builds::name_builds(sweep, engines, Some(&readers), manner.new_experiment).await;
    let preview = match named {
        Ok(()) => preview(&readers, sweep, manner).await,
        Err(error) => Err(error),
    };
    readers.close().await;
    preview.map(Some)
}

/// A dry run in JSON: the estimate of what is left to play, and the change to the existing experiment.
#[derive(Serialize)]
struct DryRun<'a> {
    #[serde(flatten)]
    estimate: Estimate,
    existed: bool,
    change: Option<Change<'a>>,
    claims: Vec<ClaimStanding<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    engines: Vec<Json<'a>>,
}

/// Prints the effects of a sweep, and what is left to play.
pub(crate) fn print_dry_run(
    sweep: &SweepFile,
    previewed: Option<&SubmittedSweep>,
    json: bool,
    file: Option<&EngineFile>,
    engines: &[Checked],
) -> Result<()> {
    let mut out = terminal::stdout();
    let plan = match previewed {
        Some(previewed) => sweep.plan.clone().left(&previewed.games_left),
        None => sweep.plan.clone(),
    };
    let estimate = cost_estimate::estimate(&plan, file)?;
    let change = previewed.and_then(|previewed| previewed.change.as_ref());
    let existed = previewed.is_some_and(|previewed| previewed.existed);
    let claims = previewed.map(|previewed| &*previewed.claims).unwrap_or_default();
    if json {
        let change = change.map(Change::from);
        let claims = claims.iter().map(ClaimStanding::from).collect();
        let engines = engines.iter().map(Json::from).collect();
        write_json(&mut out, &DryRun { estimate, existed, change, claims, engines })?;
        return Ok(());
    }
    write_text(sweep, existed, change, &estimate, &mut out)?;
    if let Some(expected) = expected_text(&plan) {
        writeln!(out, "  {:<9} {expected}", "expected")?;
    }
    for remark in remarks_on_claims(claims) {
        writeln!(out, "{remark}")?;
    }
    if !engines.is_empty() {
        writeln!(out)?;
        engine_check::write_all(engines, &mut out)?;
    }
    Ok(())
}

/// How many of the games a stop rule will leave out, in words; `None` without a rule, or where nothing is left.
fn expected_text(plan: &Plan) -> Option<String> {
    if plan.course.is_some() || !plan.task().is_game() || plan.games() == 0 {
        return None;
    }
    planned::expected_text(&spelrum_answers::planned(plan, Assumptions::default(), None))
}

fn write_text(
    sweep: &SweepFile,
    existed: bool,
    change: Option<&change::Change>,
    estimate: &Estimate,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    let (name, game) = (&sweep.plan.name, &sweep.plan.game);
    match change {
        Some(change) => {
            for remark in build_remarks(change) {
                writeln!(out, "{remark}")?;
            }
            writeln!(out, "this sweep would change {name}:")?;
            for line in change_lines(sweep.plan.games(), change) {
                writeln!(out, "{line}")?;
            }
        }
        None if existed => writeln!(out, "{name} already has exactly this sweep")?,
        None => {}
    }
    if estimate.is_empty() {
        return writeln!(out, "nothing is left to play");
    }
    let still = if existed { "would still play" } else { "would play" };
    writeln!(out, "{name} {still} {game}")?;
    for (label, value) in estimate.lines() {
        writeln!(out, "  {label:<9} {value}")?;
    }
    Ok(())
}
