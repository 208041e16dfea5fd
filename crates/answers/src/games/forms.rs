//! Forms of games in JSON.

/// Complete games in JSON: among consecutive games of one cell only the first has the cell's definition; in the
/// others it is empty.
pub(super) mod whole_games {
    use std::borrow::Cow;

    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::games::{SettledGame, WholeGame};

    pub(in super::super) fn serialize<S: Serializer>(
        games: &[WholeGame],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut last: Option<&SettledGame> = None;
        serializer.collect_seq(games.iter().map(|whole| {
            let game = &whole.game;
            let is_known = last.replace(game).is_some_and(|last| has_definition_of(game, last));
            if is_known { Cow::Owned(whole.without_definition()) } else { Cow::Borrowed(whole) }
        }))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<WholeGame>, D::Error> {
        let mut games = Vec::<WholeGame>::deserialize(deserializer)?;
        for index in 1..games.len() {
            let (before, rest) = games.split_at_mut(index);
            let (Some(before), Some(whole)) = (before.last(), rest.first_mut()) else { continue };
            let (before, game) = (&before.game, &mut whole.game);
            if game.definition_json.is_empty() && before.summary.game.cell == game.summary.game.cell
            {
                game.definition_json.clone_from(&before.definition_json);
            }
        }
        Ok(games)
    }

    fn has_definition_of(game: &SettledGame, other: &SettledGame) -> bool {
        game.summary.game.cell == other.summary.game.cell
            && game.definition_json == other.definition_json
    }

    impl WholeGame {
        fn without_definition(&self) -> Self {
            let Self { game, worker_name, started_unix_us, time_factor } = self;
            let game = SettledGame {
                summary: game.summary.clone(),
                experiment: game.experiment.clone(),
                experiment_uuid: game.experiment_uuid.clone(),
                definition_hash: game.definition_hash,
                definition_json: String::new(),
                moves: game.moves.clone(),
                engines: game.engines.clone(),
                forfeit: game.forfeit.clone(),
            };
            let worker_name = worker_name.clone();
            let (started_unix_us, time_factor) = (*started_unix_us, *time_factor);
            Self { game, worker_name, started_unix_us, time_factor }
        }
    }
}
