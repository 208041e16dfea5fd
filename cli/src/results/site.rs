//! A site to publish: pages of experiments and games as files.

use std::path::Path;

use spelrum_answers::{
    ExperimentSummary, GameSummary, GamesFilter, GamesOrder, ListGames, PAGE_ITEMS_MAX, Report,
    WhichGame,
};
use spelrum_report::data::NewDirectory;
use spelrum_report::experiment::{ReportFormat, Shown, TableStyle};
use spelrum_report::pages::{self, SITE_SCRIPT, STYLE, site};

use super::reports;
use super::source::ResultsSource;
use crate::error::Result;

/// Writes the pages of experiments and of their newest games into a new or empty directory, or in place of a site that was
/// written before.
pub(crate) async fn write_site(
    source: &ResultsSource,
    experiments: &[ExperimentSummary],
    games_max: usize,
    style: &TableStyle,
    directory: &Path,
    replaces: bool,
) -> Result<()> {
    let new = NewDirectory::create(
        directory,
        |there| replaces && is_site(there),
        match replaces {
            false => "name a new or an empty one; --force replaces a site that was written before",
            true => "name a new or an empty one: this is no site of spelrum, or has other files",
        },
    )?;
    new.write(site::STYLE_FILE, STYLE)?;
    new.write(site::SCRIPT_FILE, SITE_SCRIPT)?;
    new.write(site::INDEX, &site::index(experiments))?;
    for experiment in experiments {
        let games = newest_games(source, experiment, games_max).await?;
        let answers =
            reports::ask_for(source, experiment, Shown::Usual, ReportFormat::Html, style).await?;
        let about = answers.get().map_or_else(String::new, |report: &Report| pages::about(report));
        let page = site::experiment(experiment, &about, &answers, &games)?;
        new.write(&site::experiment_file(experiment), &page)?;
        let has_lists = games.len() > site::GAMES_SHOWN;
        for list in (1..=games.len().div_ceil(site::LIST_GAMES_MAX)).filter(|_| has_lists) {
            let page = site::games(experiment, &games, list);
            new.write(&site::games_file(experiment, list), &page)?;
        }
        for game in games {
            let settled = source.game(WhichGame::Id(game.game_id)).await?;
            new.write(&site::game_file(game.game_id), &site::game(experiment, settled)?)?;
        }
    }
    Ok(new.finish()?)
}

/// Whether a directory has the first page of a site and nothing that a site does not have.
fn is_site(directory: &Path) -> bool {
    let index = std::fs::read_to_string(directory.join(site::INDEX));
    index.is_ok_and(|index| site::is_index(&index)) && has_only_files_of_site(directory, "")
}

/// Looks through a directory below that of a site.
fn has_only_files_of_site(directory: &Path, below: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(directory) else { return false };
    let mut entries = entries.map(|entry| {
        let entry = entry.ok()?;
        let path = format!("{below}{}", entry.file_name().to_str()?);
        Some((entry.file_type().ok()?, entry.path(), path))
    });
    entries.all(|entry| {
        entry.is_some_and(|(kind, there, path)| match kind.is_dir() {
            true => {
                site::DIRECTORIES.contains(&&*path)
                    && has_only_files_of_site(&there, &format!("{path}/"))
            }
            false => kind.is_file() && site::is_file(&path),
        })
    })
}

async fn newest_games(
    source: &ResultsSource,
    experiment: &ExperimentSummary,
    games_max: usize,
) -> Result<Vec<GameSummary>> {
    let (mut games, mut after) = (Vec::new(), None);
    loop {
        let missing = games_max.saturating_sub(games.len());
        if missing == 0 {
            return Ok(games);
        }
        let limit = u32::try_from(missing).unwrap_or(u32::MAX).min(PAGE_ITEMS_MAX);
        let (filter, order) = (GamesFilter::default(), GamesOrder::Newest);
        let experiment_uuid = experiment.uuid.clone();
        let question =
            ListGames { experiment: experiment_uuid, filter, order, after, limit: Some(limit) };
        let page = source.ask(&format!("list the games of {}", experiment.name), question).await?;
        games.extend(page.games.into_iter().take(missing));
        after = page.next;
        if after.is_none() {
            return Ok(games);
        }
    }
}
