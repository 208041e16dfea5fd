//! What the readers of files share: objects of JSON, key by key, and the words that they become.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::sweeps::match_words::Remark;

/// The reason why a file cannot be taken over at all.
#[derive(Debug)]
pub(super) struct NotOurs {
    pub(super) problem: String,
    pub(super) remedy: String,
}

impl NotOurs {
    pub(super) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into() }
    }
}

/// A file as a command line of `spelrum match`.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) words: Vec<String>,
    /// What is not taken over, beside words without a meaning.
    pub(super) remarks: Vec<Remark>,
}

impl Words {
    pub(super) fn add(&mut self, word: impl Into<String>) {
        self.words.push(word.into());
    }

    /// Names something that is not taken over.
    pub(super) fn remark(
        &mut self,
        engine: Option<&str>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let engine = engine.map(ToOwned::to_owned);
        self.remarks.push(Remark { engine, problem: problem.into(), remedy: remedy.into() });
    }
}

/// An object whose keys are taken one by one.
pub(super) struct Keys<'w> {
    pub(super) object: Map<String, Json>,
    /// The engine that it belongs to.
    pub(super) engine: Option<String>,
    pub(super) out: &'w mut Words,
}

impl<'w> Keys<'w> {
    pub(super) fn new(
        object: Map<String, Json>,
        engine: Option<String>,
        out: &'w mut Words,
    ) -> Self {
        Self { object, engine, out }
    }

    pub(super) fn remark(&mut self, problem: impl Into<String>, remedy: impl Into<String>) {
        self.out.remark(self.engine.as_deref(), problem, remedy);
    }

    /// A key's value; `None` if it is absent or null, and, with a remark, if it has another type.
    pub(super) fn take<T: DeserializeOwned>(&mut self, key: &str, kind: &str) -> Option<T> {
        let json = self.object.remove(key).filter(|json| !json.is_null())?;
        let shown = shown(&json);
        let value = serde_json::from_value(json).ok();
        if value.is_none() {
            self.remark(format!("`{key}` is {shown}"), format!("it should be {kind}"));
        }
        value
    }

    /// A text that is not empty.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.take(key, "a text").filter(|text: &String| !text.is_empty())
    }

    pub(super) fn flag(&mut self, key: &str) -> bool {
        self.take(key, "true or false").unwrap_or(false)
    }

    /// A number that is not zero.
    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        self.take(key, "a number").filter(|number: &f64| *number != 0.0)
    }

    /// An object within this one.
    pub(super) fn object(&mut self, key: &str) -> Keys<'_> {
        let object = self.take(key, "an object").unwrap_or_default();
        Keys { object, engine: self.engine.clone(), out: self.out }
    }

    /// Leaves keys out that change no game.
    pub(super) fn skip(&mut self, keys: &[&str]) {
        self.object.retain(|key, _| !keys.contains(&key.as_str()));
    }

    /// Names the keys that were not taken.
    pub(super) fn finish(mut self) {
        let left: Vec<String> = self.object.keys().map(|key| format!("`{key}`")).collect();
        if !left.is_empty() {
            let (noun, verb) = if left.len() == 1 { ("key", "is") } else { ("keys", "are") };
            let problem = format!("the {noun} {} {verb} unknown", left.join(", "));
            self.remark(problem, "docs/engines.md has all that an engines file can say");
        }
    }
}

/// The text of a value that is not composed of others.
pub(super) fn scalar(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Bool(_) | Json::Number(_) => Some(json.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// A value in a message.
fn shown(json: &Json) -> String {
    const LETTERS_MAX: usize = 40;
    match json {
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            let text = json.to_string();
            let start: String = text.chars().take(LETTERS_MAX).collect();
            if start.len() < text.len() { format!("{start}…") } else { start }
        }
    }
}
