//! Whether one scale fits rated players, and their ratings where it does not.

use spelrum_answers::{CyclicRating, RatedGroup, RatedPlayer, ScaleDeparture, ScaleFit};

use super::column::Columns;
use super::value::Form;
use crate::text::signed;

/// Pairings shown to people, unless the table is requested.
const MISFITS_MAX: usize = 10;
/// The adjusted p-value below which a pairing is shown with the ratings.
const LEVEL: f64 = 0.05;

/// A departure in its group.
pub(super) type Departed<'a> = (&'a RatedGroup, &'a ScaleDeparture);

/// Returns all departures of a group, the least probable first.
pub(super) fn departures(group: &RatedGroup) -> Vec<Departed<'_>> {
    group.fit.iter().flat_map(|fit| &fit.departures).map(|departure| (group, departure)).collect()
}

/// Returns the pairings that do not fit one scale, if it is rejected.
pub(super) fn misfits(group: &RatedGroup) -> Vec<Departed<'_>> {
    if !group.fit.as_ref().is_some_and(|fit| fit.is_rejected) {
        return Vec::new();
    }
    let mut misfits = departures(group);
    misfits.retain(|(_, departure)| departure.p_value <= LEVEL);
    misfits.truncate(MISFITS_MAX);
    misfits
}

/// Returns the notes on a table of departures.
pub(super) fn misfit_notes(group: &RatedGroup, shown: usize) -> Vec<String> {
    let all = departures(group).len();
    let misfits = departures(group).iter().filter(|(_, found)| found.p_value <= LEVEL).count();
    let mut notes = vec![
        "expected: points per game by one scale; departure: the score less that.".to_owned(),
        format!("95% and p hold for all {all} pairings together."),
    ];
    if shown < misfits {
        let words = format!("{misfits} pairings do not fit; those that depart most are shown.");
        notes.push(words);
    }
    notes
}

/// Returns the columns of departures, of the first of the two players.
pub(super) fn departure_columns<'a>() -> Columns<'a, Departed<'a>> {
    let name = |group: &'a RatedGroup, place: u32| Some(&group.players.get(place as usize)?.name);
    let meeting = |(group, departure): Departed<'a>| {
        let is_of = |met: &&spelrum_answers::Meeting| {
            (met.player, met.opponent) == (departure.player, departure.opponent)
        };
        // Meetings are in the order of their players.
        let at = group.meetings.partition_point(|met| {
            (met.player, met.opponent) < (departure.player, departure.opponent)
        });
        group.meetings.get(at).filter(is_of)
    };
    let score = move |row: Departed<'a>| Some(meeting(row)?.score());
    Columns::<Departed<'a>>::new()
        .column("player", "player", Form::Words, move |(group, found)| name(group, found.player))
        .column("opponent", "opponent", Form::Words, move |(group, found)| {
            name(group, found.opponent)
        })
        .column("games", "games", Form::Count, move |row| Some(meeting(row)?.games()))
        .column("score", "score", Form::Decimals(3), score)
        .column("expected", "expected", Form::Decimals(3), move |row| {
            Some(score(row)? - row.1.score)
        })
        .column("departure", "departure", Form::Points, |(_, found)| found.score)
        .column("departure_error", "95%", Form::Points, |(_, found)| found.error)
        .shown_as(|(_, found)| format!("±{:.3}", found.error))
        .column("p_value", "p", Form::Decimals(3), |(_, found)| found.p_value)
}

/// A player in its group, with its rating beside a disc.
pub(super) type Placed<'a> = (&'a RatedPlayer, &'a CyclicRating);

/// Returns the ratings that allow for cycles, the strongest first; none where one scale fits.
pub(super) fn placed(group: &RatedGroup) -> Vec<Placed<'_>> {
    let ratings = group.fit.iter().flat_map(|fit| &fit.cyclic_ratings);
    let mut placed: Vec<Placed<'_>> = group.players.iter().zip(ratings).collect();
    placed.sort_by(|(_, a), (_, b)| b.elo.total_cmp(&a.elo));
    placed
}

/// Returns the columns of ratings that allow for cycles.
pub(super) fn placed_columns<'a>() -> Columns<'a, Placed<'a>> {
    Columns::<Placed<'a>>::new()
        .column("player", "player", Form::Words, |(player, _)| &player.name)
        .column("elo", "Elo", Form::Elo, |(_, rating)| rating.elo)
        .column("radius", "radius", Form::Decimals(1), |(_, rating)| rating.radius)
        .column("angle", "angle", Form::Decimals(0), |(_, rating)| rating.angle)
        .column("nash_share", "Nash share", Form::Decimals(3), |(_, rating)| rating.nash_share)
        .column("nash_elo", "Nash Elo", Form::Elo, |(_, rating)| rating.nash_elo)
}

/// Returns the notes on ratings that allow for cycles.
pub(super) fn placed_notes() -> Vec<String> {
    [
        "Elo: strength beside the cycles. A player gains on those up to 180 degrees ahead in angle:",
        "the product of both radii and the sine of the angle, in Elo.",
        "Nash share: the player's part in the mix of players that no player beats.",
        "Nash Elo: how far the player is behind that mix.",
    ]
    .map(str::to_owned)
    .into()
}

/// Returns the note on ratings that says whether one scale fits.
pub(super) fn fit_note(fit: &ScaleFit) -> String {
    let (p, cycles) = (p_text(fit.p_value), fit.cycles);
    let [low, high] = [cycles.low, cycles.high].map(|elo| signed(elo).replace('+', ""));
    match fit.is_rejected {
        false => format!("One scale fits these games (p {p}): departures are {low} to {high} Elo."),
        true => format!(
            "One scale does not fit these games (p {p}): departures are {low} to {high} Elo."
        ),
    }
}

fn p_text(p: f64) -> String {
    match p {
        _ if p <= 0.001 => "≤ 0.001".to_owned(),
        _ if p < 0.1 => format!("= {p:.3}"),
        _ => format!("= {p:.2}"),
    }
}
