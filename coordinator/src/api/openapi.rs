//! The API's description (OpenAPI 3.1), made from the types of its calls and answers.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use spelrum_answers::{
    GameSummary, Method, Progress, QueryEnd, QueryHead, SettledCells, SqlValue, WholeGame,
};
use spelrum_model::ExperimentState;
use spelrum_proto::api::JSON_CONTENT_TYPE;
use spelrum_proto::problem::{PROBLEM_CONTENT_TYPE, Problem};

use super::LINES_CONTENT_TYPE;
use super::events::EVENTS_CONTENT_TYPE;
use super::exports::SQLITE_CONTENT_TYPE;

/// The schema that clients of all calls may have to read besides their answers.
const PROBLEM: &str = "Problem";

/// A call to describe.
pub(super) struct Operation {
    method: Method,
    path: &'static str,
    call: fn() -> Schema,
    /// The answer by content type.
    answer: fn(&mut SchemaGenerator) -> Value,
}

impl Operation {
    pub(super) fn new<C: JsonSchema>(
        method: Method,
        path: &'static str,
        answer: fn(&mut SchemaGenerator) -> Value,
    ) -> Self {
        // The parameters of a call stand on their own: some have another form in answers.
        let call = || {
            let mut settings = SchemaSettings::draft2020_12().for_deserialize();
            settings.inline_subschemas = true;
            settings.into_generator().into_root_schema_for::<C>()
        };
        Self { method, path, call, answer }
    }

    /// The description, with the names of the path's parameters.
    fn describe(&self, answers: &mut SchemaGenerator) -> Value {
        let mut call = (self.call)().to_value();
        let text = |call: &Value, key| call[key].as_str().unwrap_or_default().to_owned();
        let (name, description) = (text(&call, "title"), text(&call, "description"));
        let required = call["required"].as_array().cloned().unwrap_or_default();
        let is_required = |name: &str| required.iter().any(|required| required == name);
        let mut parameters = Vec::new();
        let mut body = Map::new();
        for (name, schema) in call["properties"].as_object_mut().into_iter().flatten() {
            let is_in_path = self.path.contains(&format!("{{{name}}}"));
            if self.method.has_body() && !is_in_path {
                body.insert(name.clone(), schema.take());
                continue;
            }
            let place = if is_in_path { "path" } else { "query" };
            remove_null(schema);
            let description =
                schema.as_object_mut().and_then(|schema| schema.remove("description"));
            parameters.push(json!({
                "name": name,
                "in": place,
                "required": is_required(name),
                "description": description,
                "schema": schema,
            }));
        }
        let mut operation = json!({
            "operationId": snake_case(&name),
            "summary": first_sentence(&description),
            "description": description,
            "parameters": parameters,
            "responses": {
                "200": { "description": "The answer.", "content": (self.answer)(answers) },
                "default": { "$ref": format!("#/components/responses/{PROBLEM}") },
            },
        });
        if self.method.has_body() {
            let required: Vec<&Value> = required
                .iter()
                .filter(|name| name.as_str().is_some_and(|name| body.contains_key(name)))
                .collect();
            let schema = json!({
                "type": "object",
                "required": required,
                "properties": body,
                "additionalProperties": false,
            });
            let content = json!({ JSON_CONTENT_TYPE: { "schema": schema } });
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
        operation
    }
}

/// An answer in JSON.
pub(super) fn json_of<T: JsonSchema>(answers: &mut SchemaGenerator) -> Value {
    json!({ JSON_CONTENT_TYPE: { "schema": answers.subschema_for::<T>() } })
}

/// The answer to a query.
pub(super) fn query_lines(answers: &mut SchemaGenerator) -> Value {
    let row = answers.subschema_for::<Vec<SqlValue>>();
    let line = [answers.subschema_for::<QueryHead>(), row, answers.subschema_for::<QueryEnd>()];
    let form = "Lines of JSON: a QueryHead, an array of SqlValue for each row, and a QueryEnd. Empty lines may come \
                between them.";
    lines(LINES_CONTENT_TYPE, form, &line)
}

/// Games as lines.
pub(super) fn game_lines(answers: &mut SchemaGenerator) -> Value {
    let line = [answers.subschema_for::<GameSummary>(), answers.subschema_for::<WholeGame>()];
    let form = "Lines of JSON: a GameSummary, or with moves a WholeGame, for each game.";
    lines(LINES_CONTENT_TYPE, form, &line)
}

/// An experiment's events: the schema is that of each, as OpenAPI 3.2 has it.
pub(super) fn events(answers: &mut SchemaGenerator) -> Value {
    let event = |name: &str, data: Schema| {
        json!({
            "properties": {
                "event": { "const": name },
                "data": { "contentMediaType": JSON_CONTENT_TYPE, "contentSchema": data },
            },
        })
    };
    let events = [
        event("progress", answers.subschema_for::<Progress>()),
        event("cells", answers.subschema_for::<SettledCells>()),
        event("over", answers.subschema_for::<ExperimentState>()),
        event("problem", answers.subschema_for::<Problem>()),
    ];
    json!({ EVENTS_CONTENT_TYPE: { "schema": {
        "description": "Each server-sent event.",
        "type": "object",
        "properties": { "event": {}, "data": { "type": "string" }, "id": { "type": "string" } },
        "required": ["event", "data"],
        "oneOf": events,
    } } })
}

/// OpenAPI 3.1 cannot state the form of a line.
fn lines(content_type: &str, form: &str, line: &[Schema]) -> Value {
    json!({ content_type: {
        "schema": { "type": "string", "description": form },
        "x-line-schema": { "anyOf": line },
    } })
}

/// A results database.
pub(super) fn database(_answers: &mut SchemaGenerator) -> Value {
    json!({ SQLITE_CONTENT_TYPE: {} })
}

/// The description of these calls.
pub(super) fn document(operations: &[Operation]) -> Value {
    let mut answers = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let problem = answers.subschema_for::<Problem>();
    let mut paths = json!({});
    for operation in operations {
        let method = operation.method.name().to_ascii_lowercase();
        paths[operation.path][method] = operation.describe(&mut answers);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Spelrum coordinator",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Experiments of a coordinator, their results, and the changes that it can be asked for. \
                            GET, the SQL query, the export and the analysis of a position need the role read, all other calls the role submit. \
                            Answers may have more members in later versions.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }, {}],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A coordinator that listens on the network requires a token.",
            } },
            "responses": { PROBLEM: {
                "description": "The call was refused and had no effect.",
                "content": { PROBLEM_CONTENT_TYPE: { "schema": problem } },
            } },
            "schemas": answers.take_definitions(true),
        },
    });
    write_for_readers_of_json(&mut document);
    document
}

/// Rewrites descriptions, which are doc comments: without links and line breaks, and with null for `None`.
fn write_for_readers_of_json(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if let Value::String(text) = member
                    && (name == "description" || name == "summary")
                {
                    *text = plain_text(text);
                } else {
                    write_for_readers_of_json(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_for_readers_of_json),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn plain_text(doc: &str) -> String {
    let mut text = String::new();
    let paragraphs: Vec<String> = doc.split("\n\n").map(|lines| lines.replace('\n', " ")).collect();
    let doc = paragraphs.join("\n\n").replace("`None`", "null");
    let mut rest = doc.as_str();
    // A link is `[text]` or `[text](target)`; its text is in backticks if it names an item.
    while let Some((before, link)) = rest.split_once('[') {
        text.push_str(before);
        let (label, after) = link.split_once(']').unwrap_or((link, ""));
        text.push_str(label);
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    text.push_str(rest);
    text
}

fn first_sentence(description: &str) -> &str {
    let end = description.find(". ").or_else(|| description.find(".\n"));
    let sentence = &description[..end.unwrap_or(description.len())];
    sentence.strip_suffix('.').unwrap_or(sentence)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Removes null from the schema of a parameter, which is absent instead.
fn remove_null(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &mut types[..] {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
        if let [Value::Object(form)] = &mut forms[..] {
            let form = std::mem::take(form);
            schema.remove("anyOf");
            // A description of the parameter precedes one of its type.
            for (key, value) in form {
                schema.entry(key).or_insert(value);
            }
        }
    }
}
