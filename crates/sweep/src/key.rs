//! An entry of the sweep language: reading, the schema and the reference page follow from it.

use std::fmt::Display;

use serde_json::{Map, Value as Json, json};
use spelrum_toml::{Fault, Node, Scalar, Span, Table, Tree, did_you_mean};

use crate::forms::{NAME_PATTERN, reference, unlimited};

/// A key of one of the language's tables.
pub(super) struct Key<F: ?Sized = dyn Form> {
    pub(super) name: &'static str,
    /// For editors: a heading. Empty where the name is clear enough.
    title: &'static str,
    /// The meaning, for `docs/sweeps.md`, whose links it may have, and without these for editors.
    pub(super) meaning: &'static str,
    /// Whether its table must have it.
    pub(super) is_required: bool,
    /// The default in words, where the form has no value for it. Empty without one.
    default: &'static str,
    /// A value, for errors. Empty where the form has one.
    example: &'static str,
    /// What helps to choose a value, for errors. May be empty.
    hint: &'static str,
    pub(super) form: F,
}

/// The keys of a table.
pub(super) type Keys = &'static [&'static Key];

/// The form of a key's values.
pub(super) trait Form {
    /// Their schema.
    fn schema(&self) -> Json;
}

/// A form of values without parts, which are read by it.
pub(super) trait Read: Form + Sized + 'static {
    type Value;

    fn parse(&self, node: &Node) -> Result<Self::Value, Wrong>;

    fn default(&self) -> Option<Self::Value>;

    /// A value in TOML.
    fn example(&self) -> String;
}

/// Why a value is refused.
pub(super) enum Wrong {
    /// It is not of this type.
    Type(&'static str),
    /// The remedy.
    Value(String),
}

impl<F> Key<F> {
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        meaning: &'static str,
        form: F,
    ) -> Self {
        Self { name, title, meaning, is_required: false, default: "", example: "", hint: "", form }
    }

    pub(super) const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    pub(super) const fn by_default(mut self, words: &'static str) -> Self {
        self.default = words;
        self
    }

    pub(super) const fn example(mut self, value: &'static str) -> Self {
        self.example = value;
        self
    }

    pub(super) const fn hint(mut self, words: &'static str) -> Self {
        self.hint = words;
        self
    }
}

impl<F: Form + ?Sized> Key<F> {
    /// Its schema, for an editor.
    pub(super) fn schema(&self) -> Json {
        let mut schema = self.form.schema();
        let default = self.default_text(&schema).map(|default| format!(" Default: {default}."));
        schema["description"] = (without_links(self.meaning) + &default.unwrap_or_default()).into();
        if !self.title.is_empty() {
            schema["title"] = self.title.into();
        }
        schema
    }

    /// The default of a key whose form is this schema: words, or the schema's value as code.
    pub(super) fn default_text(&self, schema: &Json) -> Option<String> {
        match schema.get("default") {
            _ if !self.default.is_empty() => Some(self.default.to_owned()),
            Some(value) => Some(format!("`{value}`")),
            None => None,
        }
    }
}

impl<F: Read> Key<F> {
    /// The value in a table, or the default; a fault if there is neither.
    pub(super) fn read(&self, table: &Table) -> Result<F::Value, Fault> {
        match table.value(self.name) {
            Some(node) => self.parse(node),
            None => match self.form.default() {
                Some(value) => Ok(value),
                None => Err(self.missing(table)),
            },
        }
    }

    /// The value in a table, if it has one.
    pub(super) fn optional(&self, table: &Table) -> Result<Option<F::Value>, Fault> {
        table.value(self.name).map(|node| self.parse(node)).transpose()
    }

    /// The place of the value in a table, or another where it is absent.
    pub(super) fn place<'t>(&self, table: &'t Table, otherwise: &'t Span) -> &'t Span {
        table.value(self.name).map_or(otherwise, |node| &node.place)
    }

    /// The value at a node.
    pub(super) fn parse(&self, node: &Node) -> Result<F::Value, Fault> {
        let name = self.name;
        self.form.parse(node).map_err(|wrong| match wrong {
            Wrong::Type(wanted) => {
                node.wrong_type(&format!("`{name}`"), wanted, &self.example_text())
            }
            Wrong::Value(remedy) => {
                let shown = match &node.tree {
                    Tree::Scalar(Scalar::Text(text)) => format!("\"{text}\""),
                    Tree::Scalar(_) | Tree::Array(_) | Tree::Table(_) => node.to_string(),
                };
                let hint = if self.hint.is_empty() { "" } else { "; " };
                let remedy = [&remedy, hint, self.hint].concat();
                Fault::at(&node.place, format!("`{name}` cannot be {shown}"), remedy)
            }
        })
    }

    fn missing(&self, table: &Table) -> Fault {
        Fault {
            problem: format!("`{}` is missing", self.name),
            remedy: format!("add, for example, {}", self.example_text()),
            place: table.place.clone(),
        }
    }

    fn example_text(&self) -> String {
        match self.example {
            "" => format!("{} = {}", self.name, self.form.example()),
            value => format!("{} = {value}", self.name),
        }
    }
}

/// Refuses the first key of a table that is not one of these.
pub(super) fn check(table: &Table, owner: &str, keys: Keys) -> Result<(), Fault> {
    table.check_keys(owner, &names(keys).collect::<Vec<_>>())
}

/// The names of keys.
pub(super) fn names(keys: Keys) -> impl Iterator<Item = &'static str> {
    keys.iter().map(|key| key.name)
}

/// The schema of a table with these keys.
pub(super) fn object(keys: Keys) -> Json {
    let properties: Map<String, Json> =
        keys.iter().map(|key| (key.name.to_owned(), key.schema())).collect();
    let required: Vec<&str> =
        keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The text with each Markdown link `[text](target)` as its text alone.
fn without_links(markdown: &str) -> String {
    let mut pieces = markdown.split("](");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if let Some(start) = text.rfind('[') {
            text.remove(start);
        }
        text += piece.split_once(')').map_or(piece, |(_target, rest)| rest);
    }
    text
}

/// The schema with a default, if there is one.
fn with_default(mut schema: Json, default: Option<Json>) -> Json {
    if let Some(default) = default {
        schema["default"] = default;
    }
    schema
}

/// A text.
pub(super) struct Text;

impl Form for Text {
    fn schema(&self) -> Json {
        json!({ "type": "string" })
    }
}

impl Read for Text {
    type Value = String;

    fn parse(&self, node: &Node) -> Result<String, Wrong> {
        node.text("", "").map(str::to_owned).map_err(|_| Wrong::Type("a text"))
    }

    fn default(&self) -> Option<String> {
        None
    }

    fn example(&self) -> String {
        "\"text\"".to_owned()
    }
}

/// A name that becomes a column, a file, a word in messages.
pub(super) struct Name;

impl Form for Name {
    fn schema(&self) -> Json {
        json!({ "type": "string", "pattern": NAME_PATTERN })
    }
}

/// True or false.
pub(super) struct Switch {
    pub(super) default: bool,
}

impl Form for Switch {
    fn schema(&self) -> Json {
        json!({ "type": "boolean", "default": self.default })
    }
}

impl Read for Switch {
    type Value = bool;

    fn parse(&self, node: &Node) -> Result<bool, Wrong> {
        node.switch("", "").map_err(|_| Wrong::Type("a switch"))
    }

    fn default(&self) -> Option<bool> {
        Some(self.default)
    }

    fn example(&self) -> String {
        (!self.default).to_string()
    }
}

/// A whole number.
pub(super) struct Whole<N> {
    pub(super) min: N,
    pub(super) max: Option<N>,
    pub(super) default: Option<N>,
}

impl<N: Copy + Into<Json>> Form for Whole<N> {
    fn schema(&self) -> Json {
        let mut schema = json!({ "type": "integer", "minimum": self.min.into() });
        if let Some(max) = self.max {
            schema["maximum"] = max.into();
        }
        with_default(schema, self.default.map(Into::into))
    }
}

impl<N> Read for Whole<N>
where
    N: Copy + Display + Into<Json> + PartialOrd + TryFrom<i64> + 'static,
{
    type Value = N;

    fn parse(&self, node: &Node) -> Result<N, Wrong> {
        let number = node.integer("", "").map_err(|_| Wrong::Type("a whole number"))?;
        let is_within =
            |number: &N| *number >= self.min && self.max.is_none_or(|max| *number <= max);
        N::try_from(number).ok().filter(is_within).ok_or_else(|| {
            Wrong::Value(match self.max {
                Some(max) => format!("choose {} to {max}", self.min),
                None => format!("choose at least {}", self.min),
            })
        })
    }

    fn default(&self) -> Option<N> {
        self.default
    }

    fn example(&self) -> String {
        self.default.unwrap_or(self.min).to_string()
    }
}

/// A number, or "unlimited", which is the default.
pub(super) struct Limit {
    pub(super) min: u32,
    pub(super) max: u32,
}

impl Limit {
    const fn number(&self) -> Whole<u32> {
        Whole { min: self.min, max: Some(self.max), default: None }
    }
}

impl Form for Limit {
    fn schema(&self) -> Json {
        json!({ "anyOf": [self.number().schema(), unlimited()], "default": "unlimited" })
    }
}

impl Read for Limit {
    type Value = Option<u32>;

    fn parse(&self, node: &Node) -> Result<Option<u32>, Wrong> {
        if matches!(node.text("", ""), Ok("unlimited")) {
            return Ok(None);
        }
        self.number().parse(node).map(Some).map_err(|wrong| match wrong {
            Wrong::Type(_) => wrong,
            Wrong::Value(remedy) => Wrong::Value(remedy + ", or \"unlimited\""),
        })
    }

    fn default(&self) -> Option<Option<u32>> {
        Some(None)
    }

    fn example(&self) -> String {
        "200, or \"unlimited\"".to_owned()
    }
}

/// A number, whole or not.
pub(super) struct Number {
    ends: [f64; 2],
    /// Whether each end is itself refused.
    excludes: [bool; 2],
    default: Option<f64>,
}

impl Number {
    /// A number from `min` to `max`.
    pub(super) const fn within(min: f64, max: f64) -> Self {
        Self { ends: [min, max], excludes: [false, false], default: None }
    }

    /// A number above `min` and below `max`.
    pub(super) const fn between(min: f64, max: f64) -> Self {
        Self { ends: [min, max], excludes: [true, true], default: None }
    }

    /// A number above 0, and at most `max`.
    pub(super) const fn above_0(max: f64) -> Self {
        Self { ends: [0.0, max], excludes: [true, false], default: None }
    }

    pub(super) const fn or(mut self, default: f64) -> Self {
        self.default = Some(default);
        self
    }
}

impl Form for Number {
    fn schema(&self) -> Json {
        let mut schema = json!({ "type": "number" });
        let [min, max] = self.ends.map(json_number);
        schema[if self.excludes[0] { "exclusiveMinimum" } else { "minimum" }] = min;
        schema[if self.excludes[1] { "exclusiveMaximum" } else { "maximum" }] = max;
        with_default(schema, self.default.map(json_number))
    }
}

/// Whole numbers without a fraction.
fn json_number(number: f64) -> Json {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

impl Read for Number {
    type Value = f64;

    fn parse(&self, node: &Node) -> Result<f64, Wrong> {
        let number = node.number("", "").map_err(|_| Wrong::Type("a number"))?;
        let [min, max] = self.ends;
        let is_excluded =
            [min, max].iter().zip(self.excludes).any(|(end, no)| no && *end == number);
        if (min..=max).contains(&number) && !is_excluded {
            return Ok(number);
        }
        let from = if self.excludes[0] { "above" } else { "from" };
        let to = if self.excludes[1] { "and below" } else { "up to" };
        Err(Wrong::Value(format!("choose a number {from} {min} {to} {max}")))
    }

    fn default(&self) -> Option<f64> {
        self.default
    }

    fn example(&self) -> String {
        self.default.unwrap_or(0.5).to_string()
    }
}

/// One of a few words, each with its meaning.
pub(super) struct Word<T: 'static> {
    pub(super) words: &'static [(&'static str, T)],
    /// Whether the first of them is the default.
    pub(super) first_by_default: bool,
}

impl<T> Word<T> {
    /// One of these words; the first by default.
    pub(super) const fn first_of(words: &'static [(&'static str, T)]) -> Self {
        Self { words, first_by_default: true }
    }
}

impl<T> Form for Word<T> {
    fn schema(&self) -> Json {
        let words: Vec<&str> = self.words.iter().map(|(word, _)| *word).collect();
        let default = self.first_by_default.then(|| words[0].into());
        with_default(json!({ "enum": words }), default)
    }
}

impl<T: Copy> Read for Word<T> {
    type Value = T;

    fn parse(&self, node: &Node) -> Result<T, Wrong> {
        let given = node.text("", "").map_err(|_| Wrong::Type("a text"))?;
        self.words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning).ok_or_else(
            || {
                let words = self.words.iter().map(|(word, _)| *word);
                Wrong::Value(did_you_mean(given, "choices", words))
            },
        )
    }

    fn default(&self) -> Option<T> {
        self.first_by_default.then(|| self.words[0].1)
    }

    fn example(&self) -> String {
        format!("\"{}\"", self.words[0].0)
    }
}

/// A value, or an axis of such, which is replaced by a value before it is read.
pub(super) struct Swept<F>(pub(super) F);

impl<F: Form> Form for Swept<F> {
    fn schema(&self) -> Json {
        let mut schema = self.0.schema();
        let default = schema.as_object_mut().and_then(|schema| schema.remove("default"));
        with_default(json!({ "anyOf": [schema, reference()] }), default)
    }
}

impl<F: Read> Read for Swept<F> {
    type Value = F::Value;

    fn parse(&self, node: &Node) -> Result<F::Value, Wrong> {
        self.0.parse(node)
    }

    fn default(&self) -> Option<F::Value> {
        self.0.default()
    }

    fn example(&self) -> String {
        self.0.example()
    }
}

/// A table of these keys.
pub(super) struct Of(pub(super) Keys);

impl Form for Of {
    fn schema(&self) -> Json {
        object(self.0)
    }
}

/// A form of its own.
pub(super) struct Own(pub(super) fn() -> Json);

impl Form for Own {
    fn schema(&self) -> Json {
        (self.0)()
    }
}
