//! `tune`: the best settings of a player.

use spelrum_engine::{Parameters, Rules, Value};
use spelrum_model::course::{
    OPTIONS, Tunable, TuneMethod, TuneSettings, TunedParameter, option_named, parameter, part_of,
};
use spelrum_optimize::cmaes::usual_population;
use spelrum_optimize::space::Level;
use spelrum_toml::{Entry, Fault, Node, Span, Table, Tree};

use super::super::fields::value_of;
use super::super::key;
use super::super::keys::course::tune::{
    CHOICES_MAX, CONFIRM, IS_SPSA, PARAMETERS_MAX, PERTURBATION, STEP, TUNE_AT_ONCE,
    TUNE_POPULATION, TUNE_STEPS, TUNED, TUNED_LOGARITHMIC,
};
use super::{Course, find};

/// An example of the table.
pub(super) const EXAMPLE: &str =
    "tune = { player = \"genetic\", parameters = { crossover_rate = { from = 0.0, to = 1.0 } } }";

impl Course<'_> {
    /// Settings of a run at a point, for a player with these parameters.
    pub(super) fn tune(
        &self,
        rules: &Rules,
        player: &Parameters,
        against_itself: bool,
    ) -> Result<TuneSettings, Fault> {
        let node = self.required("parameters")?;
        let table = node.table("`parameters`", EXAMPLE)?;
        let entries = tuned_entries(table)?;
        if entries.is_empty() || entries.len() > PARAMETERS_MAX {
            let problem = format!("`tune` decides {} parameters", entries.len());
            return Err(Fault::at(&node.place, problem, format!("name 1 to {PARAMETERS_MAX}")));
        }
        let parameters = entries
            .iter()
            .map(|entry| tuned(rules, player, entry))
            .collect::<Result<Vec<_>, _>>()?;

        let method = match IS_SPSA.read(self.table)? {
            true => self.spsa()?,
            false => self.cma_es(&parameters)?,
        };
        let tune = TuneSettings {
            rules: rules.clone(),
            player: player.clone(),
            parameters,
            method,
            steps: TUNE_STEPS.read(self.table)?,
            at_once: TUNE_AT_ONCE.read(self.table)?,
            confirm: self.confirm()?,
            against_itself,
        };
        tune.check().map_err(|(place, error)| {
            let entry = &entries[place];
            let problem = format!("where `{}` is tried: {}", entry.key, error.what);
            Fault::at(&entry.key_place, problem, error.remedy)
        })?;
        Ok(tune)
    }

    /// Number of games that confirm the result.
    pub(super) fn confirm(&self) -> Result<u64, Fault> {
        let confirm = CONFIRM.read(self.table)?;
        match self.value(CONFIRM.name) {
            Some(node) if confirm % 2 == 1 => {
                let problem = format!("`confirm` cannot be {confirm}: games come in pairs");
                Err(Fault::at(&node.place, problem, format!("write confirm = {}", confirm + 1)))
            }
            Some(_) | None => Ok(confirm),
        }
    }

    fn spsa(&self) -> Result<TuneMethod, Fault> {
        self.without(TUNE_POPULATION.name, "only `cma-es` has one")?;
        let (step, perturbation) = (STEP.optional(self.table)?, PERTURBATION.read(self.table)?);
        Ok(TuneMethod::Spsa { step, perturbation })
    }

    fn cma_es(&self, parameters: &[TunedParameter]) -> Result<TuneMethod, Fault> {
        for key in [STEP.name, PERTURBATION.name, TUNE_AT_ONCE.name] {
            self.without(key, "only `spsa` has one")?;
        }
        let usual = || {
            let dimensions: Vec<_> = parameters.iter().map(TunedParameter::dimension).collect();
            usual_population(&dimensions)
        };
        let population = TUNE_POPULATION.optional(self.table)?.unwrap_or_else(usual);
        Ok(TuneMethod::CmaEs { population })
    }

    /// Refuses a key that has no effect.
    fn without(&self, key: &str, why: &str) -> Result<(), Fault> {
        match self.table.get(key) {
            None => Ok(()),
            Some(entry) => {
                let problem = format!("`{key}` has no effect here: {why}");
                Err(Fault::at(&entry.key_place, problem, "remove it, or choose the other `method`"))
            }
        }
    }
}

/// The parameters to decide, with the engine's options among them: `options."Skill Level"` is a table within a table.
fn tuned_entries(table: &Table) -> Result<Vec<Entry>, Fault> {
    let mut entries = Vec::<Entry>::new();
    for entry in &table.entries {
        let (inner, above) = match &entry.value.tree {
            Tree::Table(options) if entry.key == OPTIONS => (&*options.entries, "options."),
            Tree::Table(_) | Tree::Scalar(_) | Tree::Array(_) => (std::slice::from_ref(entry), ""),
        };
        for entry in inner {
            let key = find::plain_name(&format!("{above}{}", entry.key));
            // Case does not matter to options.
            let is_same = |other: &Entry| {
                option_named(&key).is_some() && other.key.eq_ignore_ascii_case(&key)
            };
            if entries.iter().any(is_same) {
                let problem = format!("`{key}` is there twice");
                return Err(Fault::at(&entry.key_place, problem, "remove one of them"));
            }
            entries.push(Entry { key, ..entry.clone() });
        }
    }
    Ok(entries)
}

/// A parameter that is decided.
fn tuned(rules: &Rules, player: &Parameters, entry: &Entry) -> Result<TunedParameter, Fault> {
    let name = &entry.key;
    let label = format!("`{name}` of `parameters`");
    let option = option_named(name);
    let written = option.map_or_else(|| name.clone(), |option| format!("{OPTIONS}.\"{option}\""));
    let example = format!("{written} = {{ from = 0, to = 8 }}");
    let table = entry.value.table(&label, &example)?;
    key::check(table, &label, TUNED)?;
    let [from, to] = ["from", "to"].map(|key| table.get(key).map(|entry| &entry.value));
    // An option of an engine may have no value in the player.
    let start = option.and_then(|_| match &table.get("start")?.value.tree {
        Tree::Scalar(scalar) => Some(value_of(scalar)),
        Tree::Array(_) | Tree::Table(_) => None,
    });
    match (from, to, parameter(player, name).or(start.as_ref())) {
        (.., None) if let Some(option) = option => Err(Fault::at(
            &entry.key_place,
            format!(
                "the player does not set the option `{option}`, so that it has no value to begin with"
            ),
            format!(
                "write {written} = 5 in the player, with the value that it begins with, or add `start` here"
            ),
        )),
        (Some(from), Some(to), _) if table.get("choices").is_none() => {
            numbers(rules, player, entry, table, [from, to])
        }
        (None, None, Some(default @ (Value::Bool(_) | Value::Text(_)))) => {
            choices(default, entry, table)
        }
        (None, None, Some(default)) if table.get("choices").is_some() => {
            choices(default, entry, table)
        }
        (None, None, None) if !player.contains_key(&format!("{name}_us")) => Err(Fault::at(
            &entry.key_place,
            format!("the player does not have `{name}`"),
            match player.contains_key("engine") {
                true => super::OPTION_REMEDY,
                false => {
                    "name one of its parameters, and give the player a value of it to begin with"
                }
            },
        )),
        _ => Err(Fault::at(
            &entry.key_place,
            format!("{label} needs `from` and `to`, or `choices` of words, switches or numbers"),
            format!("write, for example, {example}"),
        )),
    }
}

fn numbers(
    rules: &Rules,
    player: &Parameters,
    entry: &Entry,
    table: &Table,
    ends: [&Node; 2],
) -> Result<TunedParameter, Fault> {
    let name = &entry.key;
    let log = TUNED_LOGARITHMIC.read(table)?;
    let led = find::led(rules, player, (name, &entry.key_place), ends, log)?;
    let (start, place) = match table.get("start") {
        Some(start) => (find::number(&start.value, name, led.unit)?, &start.value.place),
        None => match parameter(player, &led.key) {
            Some(Value::Integer(integer)) => (*integer as f64, &entry.key_place),
            Some(Value::Number(number)) => (*number, &entry.key_place),
            Some(_) | None => (led.low, &entry.key_place),
        },
    };
    if !(led.low..=led.high).contains(&start) {
        let shown = led.shown(start).text;
        return Err(Fault::at(
            place,
            format!(
                "`{name}` begins with {shown}, which is not between {} and {}",
                ends[0], ends[1]
            ),
            "let it begin between them: the player's own value, or `start`",
        ));
    }
    let start = Level::Part(part_of(&led, start));
    Ok(TunedParameter { name: name.clone(), values: Tunable::Numbers(led), start })
}

fn choices(default: &Value, entry: &Entry, table: &Table) -> Result<TunedParameter, Fault> {
    let name = &entry.key;
    let read = |node: &Node| -> Result<Value, Fault> {
        let Tree::Scalar(scalar) = &node.tree else {
            return Err(node.wrong_type(&format!("a choice of `{name}`"), "a value", "true"));
        };
        Ok(match (value_of(scalar), default) {
            (Value::Integer(integer), Value::Number(_)) => Value::Number(integer as f64),
            (value, _) => value,
        })
    };
    let values = match table.get("choices") {
        None if matches!(default, Value::Bool(_)) => vec![Value::Bool(false), Value::Bool(true)],
        None => {
            let problem = format!("`{name}` has no `choices`");
            let remedy = format!("write {name} = {{ choices = [\"one\", \"other\"] }}");
            return Err(Fault::at(&entry.key_place, problem, remedy));
        }
        Some(choices) => {
            let example = "choices = [\"one\", \"other\"]";
            let nodes = choices.value.list("`choices`", "a list", example)?;
            let mut values = Vec::new();
            for node in nodes {
                let value = read(node)?;
                if values.contains(&value) {
                    let problem = format!("{node} is a choice of `{name}` twice");
                    return Err(Fault::at(&node.place, problem, "remove one of them"));
                }
                values.push(value);
            }
            if values.len() < 2 || values.len() > CHOICES_MAX {
                let problem = format!("`{name}` has {} choices", values.len());
                let remedy = format!("name 2 to {CHOICES_MAX}");
                return Err(Fault::at(&choices.value.place, problem, remedy));
            }
            values
        }
    };
    if let Some(scale) = table.get("scale") {
        let problem = format!("`{name}` has choices, and no scale");
        return Err(Fault::at(&scale.key_place, problem, "remove `scale`"));
    }
    let (start, place): (Value, &Span) = match table.get("start") {
        Some(start) => (read(&start.value)?, &start.value.place),
        None => (default.clone(), &entry.key_place),
    };
    let Some(start) = values.iter().position(|value| *value == start) else {
        return Err(Fault::at(
            place,
            format!("`{name}` begins with {start}, which is not one of its choices"),
            "add it to `choices`, or write another `start`",
        ));
    };
    let values = Tunable::Choices(name.clone(), values);
    Ok(TunedParameter { name: name.clone(), values, start: Level::Choice(start) })
}
