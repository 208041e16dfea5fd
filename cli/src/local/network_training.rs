//! Networks of a sweep, trained and compared on this machine.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use spelrum_engine::network::{Recipe, recipe_of, train};
use spelrum_engine::search::STACK_BYTES;
use spelrum_engine::{Parameters, Timeless, tables};
use spelrum_model::Plan;
use spelrum_report::networks::Outcome;

/// The recipes of a plan's players without duplicates, in the order of the players.
pub(crate) fn recipes_of(plan: &Plan) -> Vec<Recipe> {
    let mut seen = BTreeSet::new();
    let recipes = plan.players.iter().filter_map(|player| {
        let parameters: Parameters = serde_json::from_str(&player.parameters_json).ok()?;
        recipe_of(&parameters)
    });
    recipes.filter(|recipe| seen.insert(parameters_text(recipe))).collect()
}

fn parameters_text(recipe: &Recipe) -> String {
    let settings = recipe.parameters().iter().map(|(key, value)| format!("{key}={value}"));
    settings.collect::<Vec<_>>().join(", ")
}

/// Trains a network for each recipe, several at a time, reporting the number done. Returns them in the order of the
/// recipes.
pub(crate) fn train_all(
    recipes: &[Recipe],
    slots: NonZeroUsize,
    on_trained: impl Fn(usize) + Sync,
) -> std::io::Result<Vec<Outcome>> {
    let waiting = Mutex::new(recipes.iter().enumerate());
    let done = Mutex::new(Vec::with_capacity(recipes.len()));
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((number, recipe)) = next else { break };
                let table = tables::shared(recipe.endgame());
                let outcome = train(recipe, &table, &Timeless, |_| {});
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.push((number, outcome));
                on_trained(done.len());
            }
        };
        for _ in 0..slots.get().min(recipes.len()) {
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        }
        Ok::<(), std::io::Error>(())
    })?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, outcome)| outcome).collect())
}

#[cfg(test)]
mod tests {
    use spelrum_report::networks::{group_recipes, sha256};
    use spelrum_sweep::{SweepText, plan_sweep};

    use super::*;

    const SWEEP: &str = r#"
        name = "kinds"
        game = "chess"
        games = 2
        pairing = { pairs = [["network", "other"]] }
        [axes]
        set = ["coordinates", "one-hot"]
        number = [1, 2]
        [players.network]
        algorithm = "alpha-beta"
        vary = { depth = [1, 2] }
        evaluation = "network"
        network = { ending = "KRK", inputs = "$set", seed = "$number", epochs = 2, hidden = [4] }
        [players.other]
        algorithm = "random"
    "#;

    /// Each recipe once, whatever its players' other differences; a kind is a recipe without its seed.
    #[test]
    fn recipes_are_sorted_by_kind() {
        let plan = plan_sweep(&SweepText::new("kinds", SWEEP)).unwrap();
        let recipes = recipes_of(&plan);
        assert_eq!((plan.players.len(), recipes.len()), (9, 4));
        let kinds = group_recipes(&recipes);
        let names: Vec<_> = kinds.iter().map(|kind| (&*kind.name, kind.recipes.len())).collect();
        assert_eq!(names, [("inputs=coordinates", 2), ("inputs=one-hot", 2)]);
        let krk = group_recipes(&recipes[..1]);
        assert_eq!((krk.len(), &*krk[0].name), (1, "KRK"));
    }

    /// The number of threads does not affect networks or their order.
    #[test]
    fn threads_change_nothing() {
        let plan = plan_sweep(&SweepText::new("kinds", SWEEP)).unwrap();
        let recipes = recipes_of(&plan);
        let trained = |slots| {
            let slots = NonZeroUsize::new(slots).unwrap();
            let outcomes = train_all(&recipes, slots, |_| {}).unwrap();
            outcomes.iter().map(|outcome| sha256(outcome.as_ref().unwrap())).collect::<Vec<_>>()
        };
        let single = trained(1);
        assert_eq!(trained(9), single);
        assert_eq!(single.iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
