//! Games as text: headers in brackets and the moves below, like chess's PGN. See docs/export.md for the format.

use std::io::{self, Write};

use spelrum_answers::date_time;
use spelrum_answers::places_text;
use spelrum_engine::MoveRecord;

use super::{GameView, WriteGames, score, write_wrapped};
use crate::error::Result;

/// Writes games as text.
pub struct Text<W> {
    /// Output.
    pub out: W,
    /// Whether each move has a comment about its search.
    pub searches: bool,
}

impl<W: Write> WriteGames for Text<W> {
    fn begin(&mut self, _: &[String]) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, game: &GameView<'_>) -> Result<()> {
        Ok(write_game(&mut self.out, game, self.searches)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()
    }
}

/// Writes a game and an empty line.
fn write_game(out: &mut dyn Write, game: &GameView<'_>, searches: bool) -> io::Result<()> {
    for (tag, value) in tags(game) {
        // JSON escapes quotes and backslashes as PGN does, and line ends so that the tag fits in one line.
        writeln!(out, "[{tag} {}]", serde_json::Value::from(value))?;
    }
    writeln!(out)?;
    let mut words = Vec::new();
    match &game.whole.game.moves {
        Some(moves) => {
            for mv in moves {
                words.push(mv.mv.clone());
                if searches {
                    words.push(comment(mv));
                }
            }
        }
        None if game.failure().is_some() => {}
        None => words.push("{moves are not stored}".to_owned()),
    }
    words.push(game.played().map_or("*", |played| score(played.end.outcome)).to_owned());
    write_wrapped(out, words)
}

fn tags(game: &GameView<'_>) -> Vec<(&'static str, String)> {
    let summary = &game.whole.game.summary;
    let [first, second] = summary.players.clone();
    let [first_parameters, second_parameters] = game.parameters();
    let mut tags = vec![
        ("Experiment", game.experiment.name.clone()),
        ("ExperimentUuid", game.experiment.uuid.clone()),
        ("Game", game.definition.rules.name().to_owned()),
        ("Rules", game.rules()),
        ("Cell", summary.game.cell.to_string()),
        ("CellHash", game.whole.game.definition_hash.to_string()),
        ("Number", summary.game.number.to_string()),
        ("GameId", summary.game_id.to_string()),
        ("Seed", game.definition.seed.to_string()),
    ];
    if let Some(axes) = places_text(game.axes, &game.cell.axes) {
        tags.push(("Axes", axes));
    }
    tags.extend([
        ("First", first),
        ("FirstParameters", first_parameters),
        ("Second", second),
        ("SecondParameters", second_parameters),
    ]);
    let names = [["FirstEngine", "FirstEngineSha256"], ["SecondEngine", "SecondEngineSha256"]];
    for (names, engine) in names.into_iter().zip(game.engines()) {
        tags.extend(engine.into_iter().flat_map(|values| names.into_iter().zip(values)));
    }
    if let Some(plies) = game.definition.max_plies {
        tags.push(("PliesMax", plies.to_string()));
    }
    if let Some(rule) = game.definition.adjudication {
        tags.push(("Adjudication", rule.to_string()));
    }
    if let Some(played) = game.played() {
        tags.extend([
            ("Opening", played.opening.clone()),
            ("FirstSide", played.end.first_side.name().to_owned()),
            ("Result", score(played.end.outcome).to_owned()),
            ("Termination", played.end.termination.name().to_owned()),
            ("Plies", played.end.plies.to_string()),
            ("EngineRevision", played.engine_revision.to_string()),
        ]);
        tags.extend(played.end.margin.map(|margin| ("Margin", margin.to_string())));
    }
    if let Some(failure) = game.failure() {
        tags.extend([("Result", "*".to_owned()), ("Failure", failure.to_owned())]);
    }
    let rest = [
        ("Forfeit", game.forfeit().map(str::to_owned)),
        ("NotCounted", summary.not_counted_reason.clone()),
        ("Worker", game.whole.worker_name.clone()),
        ("Started", game.whole.started_unix_us.map(date_time)),
        ("TimeUs", summary.wall_us.map(|us| us.to_string())),
    ];
    tags.extend(rest.into_iter().filter_map(|(tag, value)| Some((tag, value?))));
    tags
}

/// Formats a move's search result.
fn comment(mv: &MoveRecord) -> String {
    let search = &mv.search;
    let score = search.score.map_or_else(String::new, |score| format!(" score {score}"));
    format!(
        "{{depth {}{score} nodes {} time_us {} ended_by {}}}",
        search.depth,
        search.nodes,
        mv.wall_us,
        search.ended_by.name()
    )
}
