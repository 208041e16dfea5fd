//! Malformed JSON is refused without a panic, and answers that are accepted can be computed with.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use spelrum_answers::{
    CellsPage, Comparisons, GamesPage, OpeningsPage, Overview, Phases, Progress, Ratings, Report,
    SettledCells, SqlValue, Status, WholeGames,
};
use spelrum_model::change::Change;
use spelrum_model::labels::Label;
use spelrum_statistics::comparisons::Changed;

use crate::arbitrary::changes::change;
use crate::arbitrary::comparisons::comparisons;
use crate::arbitrary::games::{games_page, whole_games};
use crate::arbitrary::openings::openings_page;
use crate::arbitrary::overview::overview;
use crate::arbitrary::phases::phases;
use crate::arbitrary::progress::progress;
use crate::arbitrary::ratings::ratings;
use crate::arbitrary::report::report;
use crate::arbitrary::status::status;

/// A change of JSON text: cut, or one byte or one value replaced.
#[derive(Clone, Debug)]
enum Damage {
    Cut(Index),
    Byte(Index, u8),
    Value(Index, Value),
}

fn damage() -> impl Strategy<Value = Damage> {
    let values = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(7),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(-1e308),
        json!(""),
        json!("x"),
        json!([]),
        json!([1, 2]),
        json!({}),
    ];
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), any::<u8>()).prop_map(|(index, byte)| Damage::Byte(index, byte)),
        (any::<Index>(), prop::sample::select(values))
            .prop_map(|(index, value)| Damage::Value(index, value)),
    ]
}

fn damaged<T: Serialize>(answer: &T, damage: Damage) -> Vec<u8> {
    let mut json = serde_json::to_vec(answer).unwrap();
    match damage {
        Damage::Cut(index) => json.truncate(index.index(json.len())),
        Damage::Byte(index, byte) => {
            let index = index.index(json.len());
            json[index] = byte;
        }
        Damage::Value(index, value) => {
            let mut whole: Value = serde_json::from_slice(&json).unwrap();
            let mut place = index.index(count_values(&whole));
            replace(&mut whole, &mut place, &value);
            json = serde_json::to_vec(&whole).unwrap();
        }
    }
    json
}

fn count_values(value: &Value) -> usize {
    let parts: usize = match value {
        Value::Array(items) => items.iter().map(count_values).sum(),
        Value::Object(fields) => fields.values().map(count_values).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    1 + parts
}

/// Replaces the value at a place, counted with all that it contains; returns whether it was reached.
fn replace(value: &mut Value, place: &mut usize, by: &Value) -> bool {
    if *place == 0 {
        *value = by.clone();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| replace(item, place, by)),
        Value::Object(fields) => fields.values_mut().any(|field| replace(field, place, by)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn read<T: DeserializeOwned + Serialize>(answer: &T, damage: Damage) -> Option<T> {
    serde_json::from_slice(&damaged(answer, damage)).ok()
}

fn compute_report(report: &Report) {
    for cell in &report.cells {
        assert_eq!(cell.axes.len(), report.axes.len());
        let _ = (cell.strength(), cell.stronger(), cell.sprt(), cell.score_bounds());
        let _ = (cell.ended_by_rule(), cell.is_complete(), cell.state_for_claims());
        let _ = cell.colours.map(|colours| colours.map(|colour| colour.games()));
    }
    for cost in report.moves.iter().chain(&report.depths) {
        assert_eq!(cost.axes.len(), report.axes.len());
        let _ = (cost.costs.us_mean(), cost.costs.us_ratio(), cost.costs.overrun_share());
    }
    for forfeits in &report.engines.forfeits {
        let _ = (forfeits.total(), forfeits.share(), forfeits.is_notable());
    }
    let _ = (report.failures(), report.judged_claims());
}

fn compute_ratings(ratings: &Ratings) {
    for group in &ratings.groups {
        assert_eq!(group.point.len(), ratings.axes.len());
        let players = group.players.len();
        for (player, other) in (0..players).flat_map(|a| (0..players).map(move |b| (a, b))) {
            let _ = group.difference(player, other);
        }
        for meeting in &group.meetings {
            let _ = (
                &group.players[meeting.player as usize],
                &group.players[meeting.opponent as usize],
            );
            let _ = meeting.score();
        }
        for departure in group.fit.iter().flat_map(|fit| &fit.departures) {
            let _ = (
                &group.players[departure.player as usize],
                &group.players[departure.opponent as usize],
            );
        }
        for player in &group.players {
            let _ = player.score();
        }
    }
}

fn compute_comparisons(comparisons: &Comparisons) {
    for difference in &comparisons.differences {
        if let Changed::Axis { axis, .. } = difference.changed {
            let _ = &comparisons.axes[axis];
        }
    }
    let effects = comparisons.effects.iter().flat_map(|effects| &effects.effects);
    for contrast in effects.flat_map(|effect| &effect.contrasts) {
        let _ = &comparisons.axes[contrast.axis];
    }
}

fn compute_overview(overview: &Overview) {
    let _ = (overview.cpu_models(), overview.builds());
    for cell in &overview.cells {
        let lengths = &cell.lengths;
        let _ = (lengths.games(), lengths.mean(), lengths.quantile(50));
    }
    for effects in &overview.worker_effects {
        let _ = effects.are_significant();
        for effect in &effects.between.effects {
            let _ = effects.workers[effect.worker];
        }
    }
}

fn compute_phases(phases: &Phases) {
    for cell in &phases.cells {
        let _ = cell.standardised().and_then(|times| times.ratio());
        let _ = cell.phases.iter().filter_map(|times| times.ratio()).count();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_damaged_report_never_panics(report in report(), damage in damage()) {
        if let Some(report) = read(&report, damage) {
            compute_report(&report);
        }
    }

    #[test]
    fn damaged_ratings_never_panic(ratings in ratings(), damage in damage()) {
        if let Some(ratings) = read(&ratings, damage) {
            compute_ratings(&ratings);
        }
    }

    #[test]
    fn damaged_comparisons_never_panic(comparisons in comparisons(), damage in damage()) {
        if let Some(comparisons) = read(&comparisons, damage) {
            compute_comparisons(&comparisons);
        }
    }

    #[test]
    fn a_damaged_overview_never_panics(overview in overview(), damage in damage()) {
        if let Some(overview) = read(&overview, damage) {
            compute_overview(&overview);
        }
    }

    #[test]
    fn damaged_phases_never_panic(phases in phases(), damage in damage()) {
        if let Some(phases) = read(&phases, damage) {
            compute_phases(&phases);
        }
    }

    #[test]
    fn other_damaged_answers_never_panic(
        status in status(),
        progress in progress(),
        page in games_page(),
        whole_games in whole_games(),
        openings in openings_page(),
        change in change(),
        damage in damage(),
    ) {
        let _ = read(&status, damage.clone());
        let _ = read(&progress, damage.clone());
        let _ = read(&page, damage.clone());
        let _ = read(&whole_games, damage.clone());
        let _ = read(&openings, damage.clone());
        let _ = read(&change, damage);
    }

    #[test]
    fn garbage_never_panics(text in "[\\[\\]{}\":,0-9a-z.eE+-]{0,40}") {
        let _ = serde_json::from_str::<Report>(&text);
        let _ = serde_json::from_str::<Status>(&text);
        let _ = serde_json::from_str::<Progress>(&text);
        let _ = serde_json::from_str::<GamesPage>(&text);
        let _ = serde_json::from_str::<WholeGames>(&text);
        let _ = serde_json::from_str::<OpeningsPage>(&text);
        let _ = serde_json::from_str::<SettledCells>(&text);
        let _ = serde_json::from_str::<Change>(&text);
        let _ = serde_json::from_str::<SqlValue>(&text);
    }
}

fn sample<T: Debug>(strategy: impl Strategy<Value = T>) -> T {
    strategy.new_tree(&mut TestRunner::deterministic()).unwrap().current()
}

/// The message on reading an answer after a change of its JSON; the unchanged answer is read.
fn refusal<T: Serialize + DeserializeOwned + Debug>(
    answer: &T,
    change: impl FnOnce(&mut Value),
) -> String {
    let mut json = serde_json::to_value(answer).unwrap();
    serde_json::from_value::<T>(json.clone()).unwrap();
    change(&mut json);
    serde_json::from_value::<T>(json).unwrap_err().to_string()
}

#[test]
fn inconsistent_answers_are_refused() {
    let mut lines = Vec::new();
    let mut cells = CellsPage {
        axes: vec!["depth".to_owned()],
        cells: vec![sample(crate::arbitrary::cells::cell(1))],
        next: None,
    };
    let cell = &mut cells.cells[0];
    (cell.wins, cell.draws, cell.losses) = (7, 2, 3);
    cell.colours = Some(crate::arbitrary::cells::colours_of([7, 2, 3], [4, 2, 0], [None; 2]));
    lines.push(refusal(&cells, |json| json["axes"] = json!([])));
    lines.push(refusal(&cells, |json| json["cells"][0]["wins"] = json!(8)));
    lines.push(refusal(&cells, |json| json["cells"][0]["games"] = json!(1_u64 << 53)));
    lines.push(refusal(&cells, |json| {
        json["cells"][0]["stop"] = json!({
            "rule": {"kind": "precision", "points": 0.5, "over_pairs": false},
            "games_max": 1, "stopped_after": null,
        });
    }));
    lines.push(refusal(&cells, |json| {
        json["cells"][0]["stop"] = json!({
            "rule": {
                "kind": "sprt", "elo0": 5.0, "elo1": 5.0, "alpha": 0.05, "beta": 0.05,
                "model": "logistic", "over_pairs": false,
            },
            "games_max": 1, "stopped_after": null,
        });
    }));

    let strategy = ratings().prop_filter("two players", |ratings| {
        ratings.groups.first().is_some_and(|group| {
            let has_all = |fit: &spelrum_answers::ScaleFit| {
                !fit.departures.is_empty() && !fit.cyclic_ratings.is_empty()
            };
            group.players.len() == 2
                && !group.meetings.is_empty()
                && group.fit.as_ref().is_some_and(has_all)
        })
    });
    let rated = sample(strategy);
    lines.push(refusal(&rated, |json| json["groups"][0]["difference_errors"] = json!([])));
    lines.push(refusal(&rated, |json| json["groups"][0]["meetings"][0]["opponent"] = json!(2)));
    lines.push(refusal(&rated, |json| json["groups"][0]["clusters_are"] = json!("moves")));
    lines.push(refusal(&rated, |json| {
        json["groups"][0]["fit"]["departures"][0]["opponent"] = json!(2);
    }));
    lines.push(refusal(&rated, |json| {
        let one = json["groups"][0]["fit"]["cyclic_ratings"][0].clone();
        json["groups"][0]["fit"]["cyclic_ratings"] = json!([one]);
    }));

    let axis = |comparisons: &Comparisons| {
        comparisons.effects.first().is_some_and(|effects| !effects.effects.is_empty())
    };
    let compared = sample(comparisons().prop_filter("an effect", axis));
    let contrasts = |json: &mut Value| json["effects"][0]["effects"][0]["contrasts"].take();
    lines.push(refusal(&compared, |json| {
        let mut taken = contrasts(json);
        taken[0]["axis"] = json!(2);
        json["effects"][0]["effects"][0]["contrasts"] = taken;
    }));
    lines.push(refusal(&compared, |json| {
        json["effects"][0]["effects"][0]["contrasts"] = json!([]);
    }));

    let viewed =
        sample(overview().prop_filter("effects", |overview| !overview.worker_effects.is_empty()));
    lines.push(refusal(&viewed, |json| {
        json["worker_effects"][0]["workers"] = json!([1, 2, 3, 4, 5]);
    }));
    let mut later = serde_json::to_value(&viewed).unwrap();
    later["worker_effects"][0]["measure"] = json!("luck");
    let later: Overview = serde_json::from_value(later).unwrap();
    assert_eq!(later.worker_effects, viewed.worker_effects[1..]);

    lines.push(serde_json::from_str::<Label>(r#""a b""#).unwrap_err().to_string());
    lines.push(serde_json::from_str::<SqlValue>(r#"{"blob":"0"}"#).unwrap_err().to_string());
    insta::assert_snapshot!(lines.join("\n"));
}

/// Settings of a later version keep their names.
#[test]
fn unknown_settings_are_read() {
    let mut json = serde_json::to_value(Change::default()).unwrap();
    json["settings_changed"] = json!(["stop", "weather"]);
    json["a_later_field"] = json!(1);
    let change: Change = serde_json::from_value(json).unwrap();
    assert_eq!(change.settings_changed, ["stop", "weather"]);
}
