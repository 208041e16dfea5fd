//! Validates a player's parameters in a sweep against the tables.

use super::{
    AlgorithmInfo, ClockRule, EvaluationInfo, NESTED_DEPTH_MAX, NESTED_VALUES_MAX,
    ParameterDefault, ParameterInfo, ParameterKind, Parameters, Preset, Value, alternatives,
    nearest, parse_duration_us,
};
use crate::core::expression::{Expression, FORMULA_BYTES_MAX};
use crate::core::problem::{KeyProblem, Problem};

/// The longest move time: a day.
const DURATION_MAX_US: i64 = 86_400_000_000;

const UNLIMITED: &str = "unlimited";

/// A player's parameters, or a game's rules, validated and complete, with access by name.
///
/// The accessors panic on a name that the tables do not declare with that kind: a mistake in this
/// crate, which the first player shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The algorithm or game that they belong to.
    owner: &'static str,
    values: Vec<(&'static ParameterInfo, Value)>,
}

impl Settings {
    /// Checks `given` against an algorithm's table and those of the game's evaluations, and fills
    /// in defaults.
    pub(crate) fn read(
        algorithm: &AlgorithmInfo,
        game: &str,
        evaluations: &'static [EvaluationInfo],
        given: &Parameters,
    ) -> Result<Self, KeyProblem> {
        let preset = chosen_preset(algorithm, given)?;
        let evaluation = algorithm
            .parameters
            .iter()
            .find(|info| info.kind == ParameterKind::Evaluation)
            .map(|info| chosen_evaluation(info, game, evaluations, given))
            .transpose()?;
        let weights = evaluation.map_or(&[][..], |evaluation| evaluation.parameters);
        let tables = || algorithm.parameters.iter().chain(weights);

        let has_preset = !algorithm.presets.is_empty();
        let is_known = |key: &str| {
            key == "algorithm"
                || (key == "preset" && has_preset)
                || tables().any(|info| info.name == key || is_canonical_key(info, key))
        };
        if let Some(key) = given.keys().find(|key| !is_known(key)) {
            let keys = tables().map(|info| info.name).chain(has_preset.then_some("preset"));
            return Err(unknown_key(key, algorithm, evaluations, evaluation, keys));
        }

        let values = Vec::with_capacity(tables().count());
        let mut settings = Self { owner: algorithm.name, values };
        for info in tables() {
            if let Some((condition, required)) = info.only_with
                && !settings.has(condition, required, evaluations)
            {
                if given.contains_key(info.name) || given.contains_key(&canonical_key(info)) {
                    let remedy = if required == ParameterDefault::Required {
                        format!("leave it out, or give a `{condition}`")
                    } else {
                        format!("leave it out, or set `{condition}` to {required}")
                    };
                    return Err(Problem::without_effect(info.name, remedy));
                }
                continue;
            }
            let value = match given_value(info, given)? {
                Some(value) => value,
                None if info.default == ParameterDefault::Absent => continue,
                None => default_value(info, preset, evaluations)?,
            };
            settings.values.push((info, value));
        }

        let is_on = |name: &&str| match *name {
            "clock" => settings.clock().is_some(),
            name => settings.limit(name).is_some(),
        };
        if !algorithm.bounded_by.is_empty() && !algorithm.bounded_by.iter().any(is_on) {
            let limits: Vec<String> =
                algorithm.bounded_by.iter().map(|name| format!("`{name}`")).collect();
            return Err(Problem::at(
                None,
                format!("nothing bounds the search of `{}`", algorithm.name),
                format!("limit at least one of {}", limits.join(", ")),
            ));
        }
        Ok(settings)
    }

    /// Checks `given` against the table of a game's rules, and fills in defaults.
    pub(crate) fn of_game(
        game: &'static str,
        rules: &'static [ParameterInfo],
        given: &Parameters,
    ) -> Result<Self, KeyProblem> {
        let names = || rules.iter().map(|info| info.name);
        if let Some(key) = given.keys().find(|key| names().all(|name| name != key.as_str())) {
            let remedy = match nearest(key, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if rules.is_empty() => "leave it out".to_owned(),
                None => format!("its rules are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(Problem::of_key(
                key,
                format!("the game {game} has no rule `{key}`"),
                remedy,
            ));
        }
        let mut settings = Self { owner: game, values: Vec::with_capacity(rules.len()) };
        for info in rules {
            let value = match given_value(info, given)? {
                Some(value) => value,
                None => default_value(info, None, &[])?,
            };
            settings.values.push((info, value));
        }
        Ok(settings)
    }

    /// The canonical map: see the module's two rules.
    pub(crate) fn canonical(&self) -> Parameters {
        let mut canonical = Parameters::new();
        canonical.insert("algorithm".to_owned(), Value::Text(self.owner.to_owned()));
        for (info, value) in &self.values {
            let is_default = is_constant(value, info.default, &[]);
            let is_off_limit = info.default == ParameterDefault::Unlimited && is_default;
            if is_off_limit || (info.added_later && is_default) {
                continue;
            }
            canonical.insert(canonical_key(info), value.clone());
        }
        canonical
    }

    /// A switch.
    ///
    /// # Panics
    /// If the tables declare no such parameter of this kind.
    #[must_use]
    pub fn switch(&self, name: &str) -> bool {
        let Value::Bool(value) = self.value(name) else { self.misread(name) };
        *value
    }

    /// An integer.
    ///
    /// # Panics
    /// If the tables declare no such parameter of this kind.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        let Value::Integer(value) = self.value(name) else { self.misread(name) };
        *value
    }

    /// A number.
    ///
    /// # Panics
    /// If the tables declare no such parameter of this kind.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        let Value::Number(value) = self.value(name) else { self.misread(name) };
        *value
    }

    /// The integers of a list.
    ///
    /// # Panics
    /// If the tables declare no such parameter of this kind.
    #[must_use]
    pub fn integers(&self, name: &str) -> Vec<i64> {
        let Value::List(values) = self.value(name) else { self.misread(name) };
        let integer = |value: &Value| match value {
            Value::Integer(integer) => *integer,
            Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Table(_) => self.misread(name),
        };
        values.iter().map(integer).collect()
    }

    /// A word, a text or a content hash.
    ///
    /// # Panics
    /// If the tables declare no such parameter of this kind.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        let Value::Text(value) = self.value(name) else { self.misread(name) };
        value
    }

    /// What a word names, where all of the parameter's words are names.
    pub(crate) fn choice<T>(&self, name: &str, named: impl Fn(&str) -> Option<T>) -> T {
        named(self.word(name)).unwrap_or_else(|| self.misread(name))
    }

    /// A limit or a duration: `None` if it is off, or if the algorithm has no such limit.
    pub(crate) fn limit(&self, name: &str) -> Option<u64> {
        match self.find(name)? {
            Value::Integer(value) => u64::try_from(*value).ok(),
            Value::Text(_) => None,
            Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Table(_) => {
                self.misread(name)
            }
        }
    }

    /// The player's clock, if it has one.
    pub(crate) fn clock(&self) -> Option<ClockRule> {
        match self.find("clock")? {
            Value::Text(text) => ClockRule::parse(text),
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Table(_) => self.misread("clock"),
        }
    }

    /// Whether a parameter has this value; for [`ParameterDefault::Required`], any value.
    fn has(
        &self,
        name: &str,
        required: ParameterDefault,
        evaluations: &'static [EvaluationInfo],
    ) -> bool {
        if required == ParameterDefault::Required {
            self.find(name).is_some()
        } else {
            is_constant(self.value(name), required, evaluations)
        }
    }

    /// Every parameter with its value, in the order of the tables.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static ParameterInfo, &Value)> {
        self.values.iter().map(|(info, value)| (*info, value))
    }

    /// The value of a parameter, such as a nested one.
    ///
    /// # Panics
    /// If the tables declare no such parameter.
    #[must_use]
    pub fn value(&self, name: &str) -> &Value {
        self.find(name).unwrap_or_else(|| self.misread(name))
    }

    /// The value of an optional parameter; `None` if it was not given.
    pub(crate) fn optional_value(&self, name: &str) -> Option<&Value> {
        self.find(name)
    }

    fn misread(&self, name: &str) -> ! {
        unreachable!("`{}` declares no `{name}` of the kind that is read", self.owner)
    }

    /// Also `None` for a parameter whose `only_with` does not hold.
    fn find(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(info, _)| info.name == name).map(|(_, value)| value)
    }
}

fn chosen_preset<'a>(
    algorithm: &'a AlgorithmInfo,
    given: &Parameters,
) -> Result<Option<&'a Preset>, KeyProblem> {
    let names = || algorithm.presets.iter().map(|preset| preset.name);
    match given.get("preset") {
        None => Ok(algorithm.presets.first()),
        Some(_) if algorithm.presets.is_empty() => Ok(None),
        Some(value) => {
            let is_named =
                |preset: &&Preset| matches!(value, Value::Text(name) if name == preset.name);
            let preset = algorithm.presets.iter().find(is_named);
            preset.map(Some).ok_or_else(|| wrong_word("preset", value, names()))
        }
    }
}

fn chosen_evaluation(
    info: &ParameterInfo,
    game: &str,
    evaluations: &'static [EvaluationInfo],
    given: &Parameters,
) -> Result<&'static EvaluationInfo, KeyProblem> {
    let Some(value) = given.get(info.name) else {
        return evaluations.first().ok_or_else(|| {
            Problem::of_key(
                info.name,
                format!("{game} has no evaluation"),
                "choose another algorithm".to_owned(),
            )
        });
    };
    let is_named = |evaluation: &&EvaluationInfo| matches!(value, Value::Text(name) if name == evaluation.name);
    evaluations.iter().find(is_named).ok_or_else(|| {
        let error =
            wrong_word(info.name, value, evaluations.iter().map(|evaluation| evaluation.name));
        Problem { what: format!("{game} has no evaluation {value}"), ..error }
    })
}

/// The given value of one parameter, in canonical form.
fn given_value(info: &ParameterInfo, given: &Parameters) -> Result<Option<Value>, KeyProblem> {
    if info.kind == ParameterKind::Duration {
        return given_duration(info, given);
    }
    let Some(value) = given.get(info.name) else { return Ok(None) };
    let canonical = match (info.kind, value) {
        (ParameterKind::Switch, Value::Bool(_)) | (ParameterKind::Evaluation, Value::Text(_)) => {
            Some(value.clone())
        }
        (ParameterKind::Integer { min, max }, Value::Integer(integer))
            if (min..=max).contains(integer) =>
        {
            Some(value.clone())
        }
        (ParameterKind::Limit { max }, Value::Integer(integer)) if (1..=max).contains(integer) => {
            Some(value.clone())
        }
        (ParameterKind::Limit { .. }, Value::Text(word)) if word == UNLIMITED => {
            Some(value.clone())
        }
        (ParameterKind::Number { min, max }, Value::Number(number))
            if (min..=max).contains(number) =>
        {
            // Adding zero turns -0 into 0: equal numbers, one canonical form.
            Some(Value::Number(number + 0.0))
        }
        (ParameterKind::Number { min, max }, Value::Integer(integer)) => {
            let number = i32::try_from(*integer).ok().map(f64::from);
            number.filter(|number| (min..=max).contains(number)).map(Value::Number)
        }
        (
            ParameterKind::Integers { count_min, count_max, min, max },
            Value::List(values),
        ) if (count_min..=count_max).contains(&values.len())
            && values.iter().all(|value| {
                matches!(value, Value::Integer(integer) if (min..=max).contains(integer))
            }) =>
        {
            Some(value.clone())
        }
        (ParameterKind::Clock, Value::Text(text)) => {
            ClockRule::parse(text).map(|clock| Value::Text(clock.to_string()))
        }
        (ParameterKind::Text { bytes_max }, Value::Text(text)) if text.len() <= bytes_max => {
            Some(value.clone())
        }
        (ParameterKind::Formula(features), Value::Text(text)) => {
            // A text this long is not repeated in its error.
            if text.len() > FORMULA_BYTES_MAX {
                return Err(Problem::of_key(
                    info.name,
                    format!("`{}` has {} bytes", info.name, text.len()),
                    format!("at most {FORMULA_BYTES_MAX} are allowed"),
                ));
            }
            let formula = Expression::parse(text, features).map_err(|error| {
                let problem = format!("`{}`: {}", info.name, error.what);
                Problem::of_key(info.name, problem, error.remedy)
            })?;
            Some(Value::Text(formula.text(features)))
        }
        (ParameterKind::Nested, Value::Table(_)) => {
            let (size, depth) = value.size_and_depth();
            (size <= NESTED_VALUES_MAX && depth <= NESTED_DEPTH_MAX).then(|| value.clone())
        }
        (ParameterKind::Recipe(recipe), Value::Table(table)) => {
            let canonical = (recipe.canonical)(table).map_err(|error| {
                let problem = format!("`{}`: {}", info.name, error.what);
                Problem::of_key(info.name, problem, error.remedy)
            })?;
            Some(Value::Table(canonical))
        }
        (ParameterKind::Content, Value::Text(text)) if is_content_hash(text) => {
            Some(value.clone())
        }
        (ParameterKind::Word(words), Value::Text(word)) => {
            if !words.contains(&word.as_str()) {
                return Err(wrong_word(info.name, value, words.iter().copied()));
            }
            Some(value.clone())
        }
        _ => None,
    };
    canonical.map(Some).ok_or_else(|| wrong_value(info.name, value, info.kind))
}

fn given_duration(info: &ParameterInfo, given: &Parameters) -> Result<Option<Value>, KeyProblem> {
    let canonical_key = canonical_key(info);
    let (key, value, us) = match (given.get(info.name), given.get(&canonical_key)) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            return Err(Problem::of_key(
                info.name,
                format!("`{}` is given twice, also as `{canonical_key}`", info.name),
                "leave one of them out".to_owned(),
            ));
        }
        (Some(value), None) => {
            let us = match value {
                Value::Text(word) if word == UNLIMITED => return Ok(Some(value.clone())),
                Value::Text(text) => parse_duration_us(text).and_then(|us| i64::try_from(us).ok()),
                Value::Bool(_)
                | Value::Integer(_)
                | Value::Number(_)
                | Value::List(_)
                | Value::Table(_) => None,
            };
            (info.name, value, us)
        }
        (None, Some(value)) => {
            let us = match value {
                Value::Text(word) if word == UNLIMITED => return Ok(Some(value.clone())),
                Value::Integer(us) => Some(*us),
                Value::Bool(_)
                | Value::Number(_)
                | Value::Text(_)
                | Value::List(_)
                | Value::Table(_) => None,
            };
            (canonical_key.as_str(), value, us)
        }
    };
    match us {
        Some(us @ 1..=DURATION_MAX_US) => Ok(Some(Value::Integer(us))),
        Some(_) => Err(Problem::of_key(
            key,
            format!("`{key}` cannot be {value}"),
            "write a time from 1us to a day, or \"unlimited\"".to_owned(),
        )),
        None if key == info.name => Err(wrong_value(key, value, ParameterKind::Duration)),
        None => Err(wrong_value(key, value, ParameterKind::Limit { max: DURATION_MAX_US })),
    }
}

fn default_value(
    info: &ParameterInfo,
    preset: Option<&Preset>,
    evaluations: &'static [EvaluationInfo],
) -> Result<Value, KeyProblem> {
    let preset_value = preset
        .and_then(|preset| preset.values.iter().find(|(name, _)| *name == info.name))
        .map(|(_, value)| *value);
    let default = preset_value.unwrap_or(info.default);
    if default == ParameterDefault::Required {
        return Err(Problem::of_key(
            info.name,
            format!("`{}` is missing", info.name),
            format!("write {}", info.kind),
        ));
    }
    Ok(constant(default, evaluations))
}

/// A table's value in the form of the canonical map. [`ParameterDefault::Required`] has none and
/// differs from every value.
fn constant(default: ParameterDefault, evaluations: &'static [EvaluationInfo]) -> Value {
    match default {
        ParameterDefault::Bool(value) => Value::Bool(value),
        ParameterDefault::Integer(value) => Value::Integer(value),
        ParameterDefault::Number(value) => Value::Number(value),
        ParameterDefault::Word(value) => Value::Text(value.to_owned()),
        ParameterDefault::Integers(values) => {
            Value::List(values.iter().copied().map(Value::Integer).collect())
        }
        ParameterDefault::Unlimited => Value::Text(UNLIMITED.to_owned()),
        ParameterDefault::FirstEvaluation => {
            Value::Text(evaluations.first().map_or("", |first| first.name).to_owned())
        }
        ParameterDefault::DurationUs(us) => Value::Integer(us),
        ParameterDefault::Required | ParameterDefault::Absent => Value::Text(String::new()),
    }
}

/// Whether this is the value of a table; see [`constant`].
fn is_constant(
    value: &Value,
    constant: ParameterDefault,
    evaluations: &'static [EvaluationInfo],
) -> bool {
    match (value, constant) {
        (Value::Bool(value), ParameterDefault::Bool(wanted)) => *value == wanted,
        (Value::Integer(value), ParameterDefault::Integer(wanted)) => *value == wanted,
        (Value::Number(value), ParameterDefault::Number(wanted)) => *value == wanted,
        (Value::Text(value), ParameterDefault::Word(wanted)) => value == wanted,
        (Value::List(values), ParameterDefault::Integers(wanted)) => {
            let wanted = wanted.iter().copied().map(Value::Integer);
            values.len() == wanted.len() && values.iter().zip(wanted).all(|(a, b)| *a == b)
        }
        (Value::Text(value), ParameterDefault::Unlimited) => value == UNLIMITED,
        (Value::Text(value), ParameterDefault::FirstEvaluation) => {
            evaluations.first().map_or("", |first| first.name) == value
        }
        (Value::Integer(value), ParameterDefault::DurationUs(wanted)) => *value == wanted,
        (Value::Text(value), ParameterDefault::Required | ParameterDefault::Absent) => {
            value.is_empty()
        }
        _ => false,
    }
}

/// Whether this is the [`canonical_key`].
fn is_canonical_key(info: &ParameterInfo, key: &str) -> bool {
    match info.kind {
        ParameterKind::Duration => key.strip_suffix("_us") == Some(info.name),
        ParameterKind::Switch
        | ParameterKind::Integer { .. }
        | ParameterKind::Number { .. }
        | ParameterKind::Word(_)
        | ParameterKind::Limit { .. }
        | ParameterKind::Clock
        | ParameterKind::Evaluation
        | ParameterKind::Integers { .. }
        | ParameterKind::Text { .. }
        | ParameterKind::Formula(_)
        | ParameterKind::Nested
        | ParameterKind::Recipe(_)
        | ParameterKind::Content => key == info.name,
    }
}

fn canonical_key(info: &ParameterInfo) -> String {
    match info.kind {
        ParameterKind::Duration => format!("{}_us", info.name),
        ParameterKind::Switch
        | ParameterKind::Integer { .. }
        | ParameterKind::Number { .. }
        | ParameterKind::Word(_)
        | ParameterKind::Limit { .. }
        | ParameterKind::Clock
        | ParameterKind::Evaluation
        | ParameterKind::Integers { .. }
        | ParameterKind::Text { .. }
        | ParameterKind::Formula(_)
        | ParameterKind::Nested
        | ParameterKind::Recipe(_)
        | ParameterKind::Content => info.name.to_owned(),
    }
}

fn unknown_key(
    key: &str,
    algorithm: &AlgorithmInfo,
    evaluations: &'static [EvaluationInfo],
    chosen: Option<&EvaluationInfo>,
    known: impl Iterator<Item = &'static str> + Clone,
) -> KeyProblem {
    let owner = evaluations
        .iter()
        .find(|evaluation| evaluation.parameters.iter().any(|info| info.name == key));
    if let (Some(owner), Some(chosen)) = (owner, chosen) {
        return Problem::of_key(
            key,
            format!("`{key}` is not a parameter of the evaluation {:?}", chosen.name),
            format!("leave it out, or choose the evaluation {:?}", owner.name),
        );
    }
    let remedy = match nearest(key, known.clone()) {
        _ if key == "clock" => {
            "time cannot limit its moves; leave the clock out, or give it to the other player alone"
                .to_owned()
        }
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let keys: Vec<String> = known.map(|name| format!("`{name}`")).collect();
            if keys.is_empty() {
                "it takes none".to_owned()
            } else {
                format!("its parameters are {}", keys.join(", "))
            }
        }
    };
    Problem::of_key(key, format!("`{}` has no parameter `{key}`", algorithm.name), remedy)
}

fn is_content_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn wrong_value(key: &str, value: &Value, kind: ParameterKind) -> KeyProblem {
    Problem::of_key(key, format!("`{key}` cannot be {value}"), format!("write {kind}"))
}

/// An error for a value that is not among a few words.
pub(crate) fn wrong_word<'w>(
    key: &str,
    value: &Value,
    words: impl Iterator<Item = &'w str> + Clone,
) -> KeyProblem {
    let near = match value {
        Value::Text(word) => nearest(word, words.clone()),
        Value::Bool(_)
        | Value::Integer(_)
        | Value::Number(_)
        | Value::List(_)
        | Value::Table(_) => None,
    };
    let remedy = match near {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("write {}", alternatives(words)),
    };
    Problem::of_key(key, format!("`{key}` cannot be {value}"), remedy)
}

#[cfg(test)]
mod tests;
