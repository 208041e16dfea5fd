//! Ratings: strength of players on one scale, and scores of their meetings.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use spelrum_answers::{
    Clusters, ExperimentSummary, GetRatings, Meeting, RATED_GAMES_MAX, RATED_PLAYERS_MAX,
    RatedGroup, RatedPlayer, Ratings, Report, places_text,
};
use spelrum_model::Role;

use super::column::Columns;
use super::entry::{TableEntry, View};
use super::rows::Rows;
use super::scale_fit;
use super::value::{Form, Value};
use crate::answers::TableAnswer;
use crate::document::{Part, TitledTable};
use crate::text::{Column, count, percent, signed};

pub(crate) const RATINGS: TableEntry = TableEntry::new(
    "ratings",
    "How strong players are on one scale",
    &View { parts: |ratings| named(RATINGS.name, ratings), rows: player_rows },
);

pub(crate) const DIFFERENCES: TableEntry = TableEntry::new(
    "differences",
    "How much every two players differ on that scale",
    &View { parts: differences, rows: difference_rows },
);

pub(crate) const MEETINGS: TableEntry = TableEntry::new(
    "meetings",
    "Who scored what against whom",
    &View { parts: |ratings| named(MEETINGS.name, ratings), rows: meeting_rows },
);

pub(crate) const MISFITS: TableEntry = TableEntry::new(
    "misfits",
    "How far the scores of pairings are from what one scale expects",
    &View { parts: all_departures, rows: departure_rows },
);

pub(crate) const CYCLES: TableEntry = TableEntry::new(
    "cycles",
    "Ratings that allow for cycles, where one scale does not fit",
    &View { parts: cyclic, rows: cyclic_rows },
);

impl TableAnswer for Ratings {
    type Question = GetRatings;
    const ACTION: &'static str = "rate the players of";

    fn experiment(&self) -> &ExperimentSummary {
        &self.experiment
    }

    fn words_if_empty(&self) -> Option<&'static str> {
        self.groups.is_empty().then_some("no players")
    }
}

/// Maximum width of a cross-table.
const COLUMNS_MAX: usize = 100;
/// Width of a score: `0.625`, and a space.
const SCORE_COLUMNS: usize = 6;

/// Whether a report shows ratings by default: if the grid has one point, and a player has met two others, so that
/// ratings add to the cells.
pub(crate) fn are_worth_showing(report: &Report) -> bool {
    let is_of_the_grid = |axis: usize| Role::from_axis(&report.axes[axis]).is_none();
    let mut met: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for cell in report.cells.iter().filter(|cell| cell.games > 0 && !cell.is_self_play) {
        met.entry(&cell.player).or_default().insert(&cell.opponent);
        met.entry(&cell.opponent).or_default().insert(&cell.player);
    }
    let has_one_point = report.cells.iter().all(|cell| {
        let mut values = cell.axes.iter().enumerate();
        values.all(|(axis, value)| value.is_none() || !is_of_the_grid(axis))
    });
    let games: u64 = report.cells.iter().map(|cell| cell.games).sum();
    has_one_point
        && met.values().any(|opponents| opponents.len() >= 2)
        && met.len() <= RATED_PLAYERS_MAX
        && games <= RATED_GAMES_MAX
}

/// Which meetings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meetings {
    /// As a cross-table, if one fits.
    IfTheyFit,
    /// All meetings, where they add to the ratings.
    All,
    /// All meetings.
    AskedFor,
}

/// Returns the ratings in tables for people.
pub(crate) fn parts(ratings: &Ratings, shown: Meetings) -> Vec<Part> {
    let mut parts = Vec::new();
    if ratings.groups.is_empty() {
        parts.push(Part::Words("no players".to_owned()));
    }
    for point in ratings.groups.chunk_by(|a, b| a.point == b.point) {
        let place = point.first().and_then(|group| places_text(&ratings.axes, &group.point));
        let at = place.map_or_else(String::new, |place| format!(" at {place}"));
        // Groups of one player come last.
        let (groups, alone) =
            point.split_at(point.partition_point(|group| group.players.len() > 1));
        for group in groups {
            let notes = notes(group, point.len() > 1);
            parts.push(Part::Table(
                player_columns()
                    .table(RATINGS.name, format!("Ratings{at}"), rated(group))
                    .with_notes(notes),
            ));
            parts.extend(misfits(group, &at));
            parts.extend(cyclic_ratings(group, &at));
            if group.players.len() < 3 && shown != Meetings::AskedFor {
                continue;
            }
            if let Some(table) = cross_table(group, &at) {
                parts.push(Part::Table(table));
            } else if shown != Meetings::IfTheyFit {
                let title = format!("Who met whom{at}");
                parts.push(Part::Table(meeting_columns().table(MEETINGS.name, title, met(group))));
            }
        }
        if let [first, rest @ ..] = alone {
            let name = first.players.first().map_or("", |player| &player.name);
            let rest = match rest.len() {
                0 => String::new(),
                rest => format!(" and {} more", count(rest as u64)),
            };
            let words =
                format!("Without a rating{at}, having played no other player: {name}{rest}.");
            parts.push(Part::Words(words));
        }
    }
    parts
}

/// Returns the tables with this name, or the sentences in their place.
fn named(name: &str, ratings: &Ratings) -> Vec<Part> {
    let mut parts = parts(ratings, Meetings::AskedFor);
    parts.retain(|part| !matches!(part, Part::Table(table) if table.name != name));
    parts
}

/// Returns the differences of every two players of each group.
fn differences(ratings: &Ratings) -> Vec<Part> {
    let rated = ratings.groups.iter().filter(|group| group.players.len() > 1);
    let tables = rated.map(|group| {
        let place = places_text(&ratings.axes, &group.point);
        let at = place.map_or_else(String::new, |place| format!(" at {place}"));
        let title = format!("Differences{at}");
        let table = difference_columns().table(DIFFERENCES.name, title, pairs(group));
        let note = "Elo: how much stronger the player is; 95%: half the width of the interval.";
        Part::Table(table.with_notes(vec![note.to_owned()]))
    });
    tables.collect()
}

/// Returns the pairings that do not fit one scale, if it is rejected.
fn misfits(group: &RatedGroup, at: &str) -> Option<Part> {
    let misfits = scale_fit::misfits(group);
    let notes = scale_fit::misfit_notes(group, misfits.len());
    let title = format!("Pairings that do not fit one scale{at}");
    let is_any = !misfits.is_empty();
    let table = || scale_fit::departure_columns().table(MISFITS.name, title, misfits);
    is_any.then(|| Part::Table(table().with_notes(notes)))
}

/// Returns the ratings that allow for cycles, where one scale does not fit.
fn cyclic_ratings(group: &RatedGroup, at: &str) -> Option<Part> {
    let placed = scale_fit::placed(group);
    let title = format!("Ratings that allow for cycles{at}");
    let is_any = !placed.is_empty();
    let table = || scale_fit::placed_columns().table(CYCLES.name, title, placed);
    is_any.then(|| Part::Table(table().with_notes(scale_fit::placed_notes())))
}

/// Returns a part for each group that has one.
fn of_groups(ratings: &Ratings, part: impl Fn(&RatedGroup, &str) -> Option<Part>) -> Vec<Part> {
    let parts = ratings.groups.iter().filter_map(|group| {
        let place = places_text(&ratings.axes, &group.point);
        part(group, &place.map_or_else(String::new, |place| format!(" at {place}")))
    });
    parts.collect()
}

/// Returns the departures of all pairings.
fn all_departures(ratings: &Ratings) -> Vec<Part> {
    of_groups(ratings, |group, at| {
        let all = scale_fit::departures(group);
        let (notes, is_any) = (scale_fit::misfit_notes(group, all.len()), !all.is_empty());
        let title = format!("Departures from one scale{at}");
        let table = || scale_fit::departure_columns().table(MISFITS.name, title, all);
        is_any.then(|| Part::Table(table().with_notes(notes)))
    })
}

fn cyclic(ratings: &Ratings) -> Vec<Part> {
    of_groups(ratings, cyclic_ratings)
}

/// A group, and a player's rank in it, from 0.
type Rated<'a> = (&'a RatedGroup, usize);

fn rated(group: &RatedGroup) -> Vec<Rated<'_>> {
    (0..group.players.len()).map(|rank| (group, rank)).collect()
}

/// Returns the columns of players, the strongest first; for people each with its difference to the one before.
fn player_columns<'a>() -> Columns<'a, Rated<'a>> {
    fn player<'a>((group, rank): Rated<'a>) -> &'a RatedPlayer {
        &group.players[rank]
    }
    let above = |(group, rank): Rated<'_>| group.difference(rank, rank.checked_sub(1)?);
    Columns::<Rated<'a>>::new()
        .text("#", Form::Digits, |(_, rank)| (rank + 1).to_string())
        .column("player", "player", Form::Words, |row| &player(row).name)
        .shown_as(|row| name(player(row)))
        .column("elo", "Elo", Form::Elo, |row| player(row).rating.map(|rating| rating.elo))
        .column("elo_error", "95%", Form::EloError, |row| player(row).rating?.error)
        .key("is_anchor", |row| player(row).is_anchor)
        .column("games", "games", Form::Count, |row| player(row).games)
        .key("wins", |row| player(row).wins)
        .key("draws", |row| player(row).draws)
        .key("losses", |row| player(row).losses)
        .column("score", "score", Form::Decimals(3), |row| player(row).score())
        .text("draws", Form::Percent, |row| {
            let RatedPlayer { games, draws, .. } = *player(row);
            (games > 0).then(|| draws as f64 / games as f64)
        })
        .text("to above", Form::Elo, move |row| {
            above(row).map_or_else(String::new, |above| signed(above.elo))
        })
        .text("95%", Form::EloError, move |row| match above(row) {
            Some(above) => Form::EloError.text(&above.error.into()),
            None => String::new(),
        })
}

/// A group, and two of its players by their ranks.
type Pair<'a> = (&'a RatedGroup, usize, usize);

fn pairs(group: &RatedGroup) -> Vec<Pair<'_>> {
    let count = group.players.len();
    (0..count).flat_map(|a| (a + 1..count).map(move |b| (group, a, b))).collect()
}

fn difference_columns<'a>() -> Columns<'a, Pair<'a>> {
    Columns::<Pair<'a>>::new()
        .column("player", "player", Form::Words, |(group, a, _)| &group.players[a].name)
        .column("opponent", "opponent", Form::Words, |(group, _, b)| &group.players[b].name)
        .column("elo", "Elo", Form::Elo, |(group, a, b)| Some(group.difference(a, b)?.elo))
        .column("elo_error", "95%", Form::EloError, |(group, a, b)| group.difference(a, b)?.error)
}

/// A group, and two of its players that met.
type Met<'a> = (&'a RatedGroup, &'a Meeting);

fn met(group: &RatedGroup) -> Vec<Met<'_>> {
    group.meetings.iter().map(|meeting| (group, meeting)).collect()
}

/// Returns the columns of meetings: results of the first of the two.
fn meeting_columns<'a>() -> Columns<'a, Met<'a>> {
    let name = |group: &'a RatedGroup, place: u32| Some(&group.players.get(place as usize)?.name);
    Columns::<Met<'a>>::new()
        .column("player", "player", Form::Words, move |(group, met)| name(group, met.player))
        .column("opponent", "opponent", Form::Words, move |(group, met)| name(group, met.opponent))
        .column("games", "games", Form::Count, |(_, met)| met.games())
        .column("wins", "win", Form::Count, |(_, met)| met.wins)
        .column("draws", "draw", Form::Count, |(_, met)| met.draws)
        .column("losses", "loss", Form::Count, |(_, met)| met.losses)
        .column("score", "score", Form::Decimals(3), |(_, met)| met.score())
}

/// Properties of the group in a player's row.
fn group_figures<'a>() -> Columns<'a, Rated<'a>> {
    Columns::<Rated<'a>>::new()
        .key("first_move_elo", |(group, _)| group.first_move.map(|worth| worth.elo))
        .key("first_move_elo_error", |(group, _)| group.first_move?.error)
        .key("draw_rate", |(group, _)| group.draw_rate)
        .key("clusters", |(group, _)| group.clusters)
        .key("clusters_are", |(group, _)| group.clusters_are.name())
}

/// Returns the rows of all groups. Each has its group's number, from 1: groups cannot be compared.
fn rows_of_groups<'a, R: Copy + 'a>(
    ratings: &'a Ratings,
    columns: Columns<'a, R>,
    rows: impl Fn(&'a RatedGroup) -> Vec<R>,
) -> Rows<'a> {
    let groups = (1_u64..).zip(&ratings.groups);
    let numbered = groups
        .flat_map(|(number, group)| rows(group).into_iter().map(move |row| (number, group, row)));
    let columns = Columns::<(u64, &RatedGroup, R)>::new()
        .key("group", |(number, ..)| number)
        .key("axes", |(_, group, _)| Value::places(&group.point))
        .and(columns.of_part(|(.., row): (u64, &RatedGroup, R)| row));
    Rows::new(&ratings.axes, columns, numbered.collect())
}

fn player_rows(ratings: &Ratings) -> Rows<'_> {
    rows_of_groups(ratings, player_columns().and(group_figures()), rated)
}

fn difference_rows(ratings: &Ratings) -> Rows<'_> {
    rows_of_groups(ratings, difference_columns(), known_differences)
}

fn known_differences(group: &RatedGroup) -> Vec<Pair<'_>> {
    pairs(group).into_iter().filter(|(_, a, b)| group.difference(*a, *b).is_some()).collect()
}

fn departure_rows(ratings: &Ratings) -> Rows<'_> {
    rows_of_groups(ratings, scale_fit::departure_columns(), scale_fit::departures)
}

fn cyclic_rows(ratings: &Ratings) -> Rows<'_> {
    rows_of_groups(ratings, scale_fit::placed_columns(), scale_fit::placed)
}

fn meeting_rows(ratings: &Ratings) -> Rows<'_> {
    rows_of_groups(ratings, meeting_columns(), met)
}

/// Players that met at one point of the grid, on a scale of their own, in JSON.
#[derive(Serialize)]
pub(crate) struct Group<'a> {
    /// The point's values on the grid's axes: those of the report that are not a player's own.
    axes: Vec<(&'a str, Option<&'a str>)>,
    players: Rows<'a>,
    first_move_elo: Option<f64>,
    first_move_elo_error: Option<f64>,
    draw_rate: f64,
    games: u64,
    self_play_games: u64,
    clusters: u64,
    clusters_are: &'static str,
    differences: Rows<'a>,
    meetings: Rows<'a>,
    /// Whether one scale fits; `null` where that cannot be tested.
    fit: Option<Fit>,
    departures: Rows<'a>,
    cyclic_ratings: Rows<'a>,
}

/// Whether one scale fits the games of a group, in JSON.
#[derive(Serialize)]
struct Fit {
    p_value: f64,
    is_rejected: bool,
    freedom: u64,
    /// How far scores are from one scale: the root mean square over games, in Elo, with its interval.
    cycles_elo: f64,
    cycles_elo_low: f64,
    cycles_elo_high: f64,
}

/// Returns all groups.
pub(crate) fn groups(ratings: &Ratings) -> Vec<Group<'_>> {
    let groups = ratings.groups.iter().map(|group| Group {
        axes: ratings
            .axes
            .iter()
            .map(String::as_str)
            .zip(group.point.iter().map(Option::as_deref))
            .collect(),
        players: Rows::without_places(player_columns(), rated(group)),
        first_move_elo: group.first_move.map(|worth| worth.elo),
        first_move_elo_error: group.first_move.and_then(|worth| worth.error),
        draw_rate: group.draw_rate,
        games: group.games,
        self_play_games: group.self_play_games,
        clusters: group.clusters,
        clusters_are: group.clusters_are.name(),
        differences: Rows::without_places(difference_columns(), known_differences(group)),
        meetings: Rows::without_places(meeting_columns(), met(group)),
        fit: group.fit.as_ref().map(|fit| Fit {
            p_value: fit.p_value,
            is_rejected: fit.is_rejected,
            freedom: fit.freedom,
            cycles_elo: fit.cycles.elo,
            cycles_elo_low: fit.cycles.low,
            cycles_elo_high: fit.cycles.high,
        }),
        departures: Rows::without_places(
            scale_fit::departure_columns(),
            scale_fit::departures(group),
        ),
        cyclic_ratings: Rows::without_places(scale_fit::placed_columns(), scale_fit::placed(group)),
    });
    groups.collect()
}

fn name(player: &RatedPlayer) -> String {
    match player.is_anchor {
        true => format!("{} (anchor)", player.name),
        false => player.name.clone(),
    }
}

/// Notes on the table.
fn notes(group: &RatedGroup, are_there_others: bool) -> Vec<String> {
    let zero = match group.players.iter().filter(|player| player.is_anchor).count() {
        0 => "the mean of these players",
        1 => "the anchor",
        _ => "the mean of the anchors",
    };
    let mut notes = vec![format!("Elo: 0 is {zero}; 95%: half the width of the interval.")];
    if are_there_others {
        notes.push("Those who met none of them are not on this scale.".to_owned());
    }
    notes.extend(group.fit.as_ref().map(scale_fit::fit_note));
    notes.push(rests_on(group));
    notes.extend(first_move(group));
    if group.draw_rate > 0.0 {
        notes.push(format!("Of equal players' games {} would be drawn.", percent(group.draw_rate)));
    }
    notes
}

fn rests_on(group: &RatedGroup) -> String {
    let clusters = count(group.clusters);
    let rests = match group.clusters_are {
        Clusters::Openings => format!("rest on {clusters} openings, which the games share."),
        Clusters::Pairs => format!("rest on {clusters} pairs of games: all have one opening."),
    };
    let is_known = group.difference_errors.iter().any(Option::is_some);
    match is_known {
        true => format!("The intervals {rests}"),
        false => format!("The intervals are not known: they would {rests}"),
    }
}

fn first_move(group: &RatedGroup) -> Option<String> {
    match group.first_move {
        Some(worth) => {
            let error = match worth.error {
                Some(error) => format!(" ±{error:.0}"),
                None => String::new(),
            };
            Some(format!("Moving first is worth {}{error} Elo.", signed(worth.elo)))
        }
        None if group.games > 0 => Some(
            "What moving first is worth cannot be told from strength: it is part of the ratings."
                .to_owned(),
        ),
        None => None,
    }
}

/// Returns the points per game between every two players; `None` if the table is too wide.
fn cross_table(group: &RatedGroup, at: &str) -> Option<TitledTable> {
    let widest = group.players.iter().map(|player| name(player).chars().count()).max()?;
    let rank_columns = group.players.len().to_string().len() + 1;
    if rank_columns + widest + 1 + group.players.len() * SCORE_COLUMNS > COLUMNS_MAX {
        return None;
    }
    let mut columns = vec![Column::numbers("#"), Column::words("player")];
    columns.extend((1..=group.players.len()).map(|rank| Column::numbers(rank.to_string())));
    let mut scores = BTreeMap::new();
    for meeting in &group.meetings {
        scores.insert((meeting.player, meeting.opponent), meeting.score());
        scores.insert((meeting.opponent, meeting.player), 1.0 - meeting.score());
    }
    let title = format!("Points per game{at}, of the player in the row");
    let mut table = TitledTable::new(MEETINGS.name, title, columns);
    for (row, player) in (0_u32..).zip(&group.players) {
        let score = |column: u32| match scores.get(&(row, column)) {
            Some(score) => format!("{score:.3}"),
            None if row == column => "·".to_owned(),
            None => String::new(),
        };
        let scores = (0_u32..).zip(&group.players).map(|(column, _)| score(column));
        table.row([(row + 1).to_string(), name(player)].into_iter().chain(scores));
    }
    Some(table)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use spelrum_answers::{ExperimentSummary, GamesToRate};
    use spelrum_engine::Outcome;
    use spelrum_model::ExperimentId;
    use spelrum_model::ExperimentState;

    use super::*;
    use crate::tables::text::document;

    /// A ladder of players: every two meet four times from each of five openings.
    pub(crate) fn ladder(players: usize, anchors: &[&str], axes: &[&str]) -> Ratings {
        let axes: Vec<String> = axes.iter().map(|&axis| axis.to_owned()).collect();
        let mut games = GamesToRate::on(&axes, Clusters::Openings);
        let name = |player| format!("alphabeta(depth={player})");
        for low in 1..=players {
            for high in low + 1..=players {
                games.cell(&vec![Some("7".to_owned()); axes.len()], name(low), name(high));
                for number in 0..20_usize {
                    let outcome = match (number + high) % (3 + high - low) {
                        0 if number % 2 == 0 => Outcome::Win,
                        0 => Outcome::Loss,
                        1 => Outcome::Draw,
                        _ if number % 2 == 0 => Outcome::Loss,
                        _ => Outcome::Win,
                    };
                    games.game((number / 4) as i64, number % 2 == 0, outcome);
                }
            }
        }
        games.cell(&vec![Some("7".to_owned()); axes.len()], "alone".to_owned(), "alone".to_owned());
        let anchors: BTreeSet<String> = anchors.iter().map(|&anchor| anchor.to_owned()).collect();
        let experiment = ExperimentSummary {
            experiment: ExperimentId(1),
            uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
            name: "ladder".to_owned(),
            game: "pentago".to_owned(),
            task: spelrum_model::Task::Game,
            state: ExperimentState::Finished,
            priority: 0,
            cells: 45,
            games_planned: 900,
            games_settled: 900,
            games_failed: 0,
            submitted_unix_us: 0,
        };
        games.rate(experiment, &anchors).unwrap()
    }

    /// Rock, paper and scissors, which each win three games in four against the next, and a player that loses as often
    /// to all.
    pub(crate) fn cycle(axes: &[&str]) -> Ratings {
        let axes: Vec<String> = axes.iter().map(|&axis| axis.to_owned()).collect();
        let mut games = GamesToRate::on(&axes, Clusters::Openings);
        let pairings = [
            ("rock", "scissors"),
            ("scissors", "paper"),
            ("paper", "rock"),
            ("rock", "sponge"),
            ("scissors", "sponge"),
            ("paper", "sponge"),
        ];
        for (index, (winner, loser)) in pairings.into_iter().enumerate() {
            let place = vec![Some("7".to_owned()); axes.len()];
            games.cell(&place, winner.to_owned(), loser.to_owned());
            for number in 0..80_usize {
                let is_won = (number / 2 + number % 2 + index) % 4 != 0;
                let is_first = number % 2 == 0;
                let outcome = if is_won == is_first { Outcome::Win } else { Outcome::Loss };
                games.game((number / 2) as i64, is_first, outcome);
            }
        }
        games.rate(ladder(2, &[], &[]).experiment, &BTreeSet::new()).unwrap()
    }

    fn shown(ratings: &Ratings, meetings: Meetings) -> String {
        let mut out = Vec::new();
        let document = document(&ratings.experiment, parts(ratings, meetings));
        document.write_text(&mut out).unwrap();
        let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "{text}");
        text
    }

    #[test]
    fn a_ladder_of_ten_is_readable_in_100_columns() {
        insta::assert_snapshot!(shown(&ladder(10, &[], &[]), Meetings::IfTheyFit));
    }

    #[test]
    fn a_cycle_is_shown_beside_the_scale() {
        insta::assert_snapshot!(shown(&cycle(&[]), Meetings::IfTheyFit));
    }

    #[test]
    fn anchors_and_points_are_named() {
        let anchored = ladder(3, &["alphabeta(depth=1)"], &["plies", "player.depth"]);
        insta::assert_snapshot!(shown(&anchored, Meetings::IfTheyFit));
    }

    #[test]
    fn what_is_too_wide_comes_in_lines_if_asked_for() {
        let ratings = ladder(14, &[], &[]);
        assert!(cross_table(&ratings.groups[0], "").is_none());
        assert!(!shown(&ratings, Meetings::IfTheyFit).contains("met whom"));
        let lines = shown(&ratings, Meetings::All);
        assert!(lines.contains("Who met whom"));
        assert_eq!(lines.lines().filter(|line| line.starts_with("alphabeta")).count(), 14 * 13 / 2);
    }
}
