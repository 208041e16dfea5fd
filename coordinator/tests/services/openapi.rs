//! The API's description: an OpenAPI 3.1 document to which the coordinator's answers conform.

use std::collections::{BTreeMap, BTreeSet};

use http_body_util::BodyExt as _;
use jsonschema::Validator;
use serde_json::{Value, json};
use spelrum_proto::problem::Problem;
use spelrum_proto::{Reason, Refusal, v1};
use spelrum_test_support::{HandWorker, Served, Site, quick_sweep, reason};

use crate::followed::heartbeat;

const PATH: &str = "/api/v1/openapi.json";

async fn get(served: &Served, path: &str) -> Value {
    let answer = served.api().await.send("GET", path, None).await.unwrap();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// Every operation: its method, its path and its description.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(|(method, operation)| (method.as_str(), path.as_str(), operation))
    })
}

/// Validates values of a schema of the document.
fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        members.insert("components".to_owned(), document["components"].clone());
    }
    jsonschema::validator_for(&schema).unwrap()
}

fn answer_schema(operation: &Value) -> &Value {
    &operation["responses"]["200"]["content"]["application/json"]["schema"]
}

/// Calls with every object in a value, and the pointer to it.
fn visit(value: &Value, pointer: &str, look: &mut impl FnMut(&str, &Value)) {
    look(pointer, value);
    let mut visit_member = |key: &str, member| visit(member, &format!("{pointer}/{key}"), look);
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| visit_member(key, member));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| visit_member(&index.to_string(), item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn the_description_is_well_formed() {
    let site = Site::new();
    let served = site.serve().await;
    let document = get(&served, PATH).await;
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        assert!(ids.insert(id), "{id} is not unique");
        let parameters = operation["parameters"].as_array().unwrap();
        let in_path: BTreeSet<&str> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path" && parameter["required"] == true)
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let braces = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        assert_eq!(in_path, braces.collect(), "{method} {path}");
        assert_eq!(operation["requestBody"].is_object(), method == "post", "{method} {path}");
        for parameter in parameters {
            assert!(parameter["description"].is_string(), "{path}: {parameter}");
            jsonschema::validator_for(&parameter["schema"]).unwrap();
        }
        assert!(operation["responses"]["200"]["description"].is_string(), "{method} {path}");
        let contents = operation["responses"]["200"]["content"].as_object().unwrap();
        for schema in contents.values().filter_map(|content| content.get("schema")) {
            validator(&document, schema);
        }
    }
    let mut used = BTreeSet::new();
    visit(&document, "", &mut |pointer, value| {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').unwrap();
            assert!(document.pointer(target).is_some(), "{pointer} refers to {target}");
            used.insert(target.to_owned());
        }
        if let Some(text) = value.get("description").and_then(Value::as_str) {
            let is_plain = !text.contains("](") && !text.contains("[`") && !text.contains("None");
            assert!(is_plain, "the description of {pointer} is not plain: {text}");
        }
    });
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(used.contains(&format!("/components/schemas/{name}")), "{name} is not used");
        assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name} is a second one");
    }
    let calls: Vec<String> = operations(&document)
        .map(|(method, path, operation)| {
            let summary = operation["summary"].as_str().unwrap();
            format!("{} {path} — {summary}", method.to_uppercase())
        })
        .collect();
    insta::assert_snapshot!(calls.join("\n"));
}

#[tokio::test]
async fn answers_conform_to_their_schemas() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = quick_sweep("small", 60).replace("depth = 1", "depth = \"$depth\"")
        + "\n[axes]\ndepth = [1, 2]\n";
    let sweep = sweep.replace("seed = 7", "seed = 7\nstop = { precision = 0.2 }");
    served.submit(&sweep).await;
    HandWorker::new(&served).await.work_until_done().await;
    // A game that is under way.
    served.submit(&quick_sweep("open", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let game = v1::GameId { cell_id: grant.games[0].cell_id, number: 0 };
    heartbeat(&mut worker, grant.lease_id, game, &[]).await;
    let under_way = format!("/api/v1/cells/{}/games/0/under-way", game.cell_id);
    let document = get(&served, PATH).await;
    let cells = get(&served, "/api/v1/experiments/small/cells").await;
    let games = get(&served, "/api/v1/experiments/small/games").await;
    let values = BTreeMap::from([
        ("{experiment}", json!("small")),
        ("{cell}", cells["cells"][0]["cell"].clone()),
        ("{game_id}", games["games"][0]["game_id"].clone()),
        ("{number}", json!(0)),
    ]);
    let mut questions = 0;
    for (method, path, operation) in operations(&document) {
        // Lines and events are described in words.
        if method != "get" || answer_schema(operation).is_null() {
            continue;
        }
        let filled = values.iter().fold(path.to_owned(), |path, (name, value)| {
            path.replace(name, value.to_string().trim_matches('"'))
        });
        let filled = if path.ends_with("/under-way") { under_way.clone() } else { filled };
        let answer = get(&served, &filled).await;
        let schema = answer_schema(operation);
        let validator = validator(&document, schema);
        if let Err(error) = validator.validate(&answer) {
            panic!("{filled} answers {error} at {}", error.instance_path());
        }
        questions += 1;
        // The schema of this document is any value.
        if schema == &json!(true) {
            continue;
        }
        assert!(!validator.is_valid(&json!("another")), "{filled}");
        for (name, member) in answer.as_object().into_iter().flatten() {
            let mut mutated = answer.clone();
            mutated[name] = json!({ "member": "another" });
            assert!(!validator.is_valid(&mutated), "{filled} may have any {name}");
            let is_optional = member.is_null();
            mutated.as_object_mut().unwrap().remove(name);
            assert!(is_optional || !validator.is_valid(&mutated), "{filled} may lack {name}");
        }
    }
    assert!(questions > 15, "{questions} questions");
}

#[tokio::test]
async fn problems_conform_to_their_schema() {
    let site = Site::new();
    let served = site.serve().await;
    let document = get(&served, PATH).await;
    let validator = validator(&document, &document["components"]["schemas"]["Problem"]);
    for reason in Reason::ALL {
        let problem = Problem::from(Refusal::new(reason, "there is no such game", "list them"));
        let problem = serde_json::to_value(problem).unwrap();
        assert!(validator.is_valid(&problem), "{problem}");
        let mut mutated = problem;
        mutated["status"] = json!("404");
        assert!(!validator.is_valid(&mutated), "{mutated}");
    }
    let not_utf8 = served.api().await.send("GET", "/api/v1/experiments/%FF", None).await;
    assert_eq!(reason(not_utf8), Reason::Malformed);
}
