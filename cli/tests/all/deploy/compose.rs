//! The compose file. Its form is not checked against the schema of the Compose Specification here.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::files::{IMAGE, at, documents, text, texts};
use super::launch::{Launch, assert_plays, certificate, get, token};
use crate::sandbox::Sandbox;

fn compose() -> Value {
    let mut documents = documents("compose/compose.yaml");
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// A service with what it is given by all of them.
fn service(name: &str) -> Value {
    let service = at(&compose(), &format!("/services/{name}")).clone();
    assert!(service.get("<<").is_none(), "what is given is in it: {service:#}");
    service
}

#[test]
fn services_have_no_rights_and_time_to_finish() {
    let services = compose()["services"].as_object().unwrap().clone();
    assert_eq!(services.keys().collect::<BTreeSet<_>>().len(), 2);
    for name in services.keys() {
        let service = service(name);
        assert_eq!(service["image"], format!("${{SPELRUM_IMAGE:-{IMAGE}}}"));
        assert_eq!(service["read_only"], true);
        assert_eq!(service["cap_drop"], json!(["ALL"]));
        assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]));
        assert_eq!(service["restart"], "unless-stopped");
        for word in ["privileged", "cap_add", "network_mode", "pid", "user", "devices"] {
            assert!(service.get(word).is_none(), "{name} has {word}");
        }
        assert!(service["mem_limit"].is_string() && service["stop_grace_period"].is_string());
        // The program is the image's own.
        assert!(service.get("entrypoint").is_none());
    }
    // A service with a name, a port or a volume of its own could not be scaled.
    let worker = service("worker");
    for word in ["container_name", "hostname", "ports", "volumes"] {
        assert!(worker.get(word).is_none(), "workers have {word}");
    }
    // No other machine reaches it unless somebody decides so.
    assert_eq!(service("coordinator")["ports"], json!(["127.0.0.1:7878:7878"]));
}

#[test]
fn what_services_use_is_defined_and_nothing_else_is() {
    let compose = compose();
    for kind in ["secrets", "configs", "volumes"] {
        let defined: BTreeSet<String> =
            compose[kind].as_object().unwrap().keys().cloned().collect();
        let mut used = BTreeSet::new();
        for service in compose["services"].as_object().unwrap().values() {
            for one in service.get(kind).and_then(Value::as_array).into_iter().flatten() {
                let name = one.as_str().or_else(|| one["source"].as_str()).unwrap();
                used.insert(name.split(':').next().unwrap().to_owned());
            }
        }
        assert_eq!(used, defined, "{kind}");
    }
    // Nobody commits these, nor what makes further ones.
    let ignored = text("compose/.gitignore");
    let secrets = compose["secrets"].as_object().unwrap().values();
    let files = secrets.map(|secret| secret["file"].as_str().unwrap());
    for file in files.chain(["./ca.key"]) {
        let file = file.strip_prefix("./").unwrap();
        assert!(ignored.lines().any(|line| line == file), "{file} is not ignored");
    }
}

#[test]
fn the_services_come_up_and_play() {
    let sandbox = Sandbox::new();
    let (work, submit) = (token(&sandbox, "work"), token(&sandbox, "submit"));
    certificate(&sandbox, "coordinator");
    std::fs::create_dir(sandbox.path("results")).unwrap();
    let coordinator = service("coordinator");
    assert_eq!(coordinator["volumes"], json!(["results:/data"]));
    assert_eq!(coordinator["secrets"], json!(["tokens", "certificate", "key"]));
    assert_eq!(at(&compose(), "/secrets/certificate/file"), "./coordinator.pem");
    assert_eq!(at(&compose(), "/secrets/key/file"), "./coordinator.key");
    let launch = Launch { arguments: texts(&coordinator["command"]), environment: Vec::new() };
    let launch = launch.with(&[
        ("/data/", "results/"),
        ("0.0.0.0:7878", "0.0.0.0:0"),
        ("/run/secrets/tokens", "tokens.toml"),
        ("/run/secrets/certificate", "coordinator.pem"),
        ("/run/secrets/key", "coordinator.key"),
    ]);
    let coordinator = sandbox.coordinator_as(&mut launch.command(&sandbox));
    assert!(get(&sandbox, &coordinator, "/healthz").starts_with("HTTP/1.1 200 "));

    let worker = service("worker");
    assert_eq!(worker["secrets"], json!(["worker_token"]));
    let config = at(&worker, "/configs/0/target").as_str().unwrap();
    // Beside each other, as the config file says it.
    let ca = config.replace("config.toml", "ca.pem");
    assert_eq!(at(&worker, "/configs/1"), &json!({ "source": "ca", "target": ca }));
    assert_eq!(at(&worker, "/environment/SPELRUM_CONFIG"), config);
    sandbox.write("worker-token", &work);
    assert_plays(&sandbox, coordinator, &submit, |url| {
        let given = text("compose/worker.toml");
        let here = given
            .replace("https://coordinator:7878", url)
            .replace("/run/secrets/worker_token", "worker-token");
        assert!(here.contains(url) && here.contains("\"worker-token\""), "{given}");
        let here = sandbox.write("worker.toml", &here);
        let environment = vec![("SPELRUM_CONFIG".to_owned(), config.to_owned())];
        Launch { arguments: texts(&worker["command"]), environment }
            .with(&[(config, here.to_str().unwrap())])
            .command(&sandbox)
    });
}
