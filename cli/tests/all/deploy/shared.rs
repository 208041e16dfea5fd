//! Several coordinators on PostgreSQL: the component for Kubernetes, and the compose file of its own.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use serde_json::{Value, json};
use spelrum_test_support::PostgresServer;

use super::files::{at, documents, text, texts};
use super::kubernetes::{each, finds, manifest, unknown_to};
use super::launch::{Launch, assert_plays, certificate, get, token};
use crate::sandbox::{Sandbox, Service, wait_until};

/// A manifest with the component's patch of it (RFC 6902, of which the component has two operations).
fn patched(kind: &str) -> Value {
    let mut manifest = manifest(kind, "coordinator");
    let component = documents("kubernetes/shared/kustomization.yaml").remove(0);
    assert_eq!(component["kind"], "Component");
    let patches = component["patches"].as_array().unwrap().clone();
    let patch = patches.iter().find(|patch| at(patch, "/target/kind") == kind).unwrap();
    assert_eq!(at(patch, "/target/name"), "coordinator");
    let steps: Vec<Value> = serde_saphyr::from_str(patch["patch"].as_str().unwrap()).unwrap();
    for step in steps {
        let (parent, name) = step["path"].as_str().unwrap().rsplit_once('/').unwrap();
        let there = manifest.pointer(step["path"].as_str().unwrap()).is_some();
        assert_eq!(step["op"] == "replace", there, "{step:#}");
        let parent = manifest.pointer_mut(parent).unwrap();
        match (parent, name) {
            (Value::Array(list), "-") => list.push(step["value"].clone()),
            (Value::Array(list), index) => {
                list[index.parse::<usize>().unwrap()] = step["value"].clone();
            }
            (parent, name) => parent[name] = step["value"].clone(),
        }
    }
    manifest
}

#[test]
fn the_component_refers_to_what_there_is() {
    let set = patched("StatefulSet");
    assert_eq!(unknown_to::<StatefulSet>(&set), None);
    assert_eq!(at(&set, "/spec/replicas"), 3);
    let pod = at(&set, "/spec/template");
    let mut volumes = each(pod.pointer("/spec/volumes"), "/name");
    volumes.extend(each(set.pointer("/spec/volumeClaimTemplates"), "/metadata/name"));
    let container = at(pod, "/spec/containers/0");
    assert_eq!(each(container.get("volumeMounts"), "/name"), volumes);
    let labels = at(pod, "/metadata/labels");
    assert!(finds(at(pod, "/spec/topologySpreadConstraints/0/labelSelector"), labels));

    let budget = documents("kubernetes/shared/disruption-budget.yaml").remove(0);
    assert_eq!(unknown_to::<PodDisruptionBudget>(&budget), None);
    assert!(finds(at(&budget, "/spec/selector"), labels));

    let policy = patched("NetworkPolicy");
    assert_eq!(unknown_to::<NetworkPolicy>(&policy), None);
    let from = at(&policy, "/spec/ingress/0/from").as_array().unwrap();
    assert!(
        from.iter().any(|from| {
            from.get("podSelector").is_some_and(|selector| finds(selector, labels))
        })
    );
    assert!(finds(at(&policy, "/spec/egress/0/to/0/podSelector"), labels));

    // By CloudNativePG's names: labels of the cluster's pods, a service with -rw and secrets with -app and -ca.
    let cluster = documents("kubernetes/shared/postgres.yaml").remove(0);
    let name = at(&cluster, "/metadata/name").as_str().unwrap();
    let selector = at(&policy, "/spec/egress/1/to/0/podSelector/matchLabels");
    assert_eq!(*selector, json!({ "cnpg.io/cluster": name }));
    let address = at(container, "/args/2").as_str().unwrap();
    let [owner, database] = ["owner", "database"]
        .map(|field| at(&cluster, &format!("/spec/bootstrap/initdb/{field}")).as_str().unwrap());
    let expected = format!("postgres://{owner}@{name}-rw:5432/{database}?sslmode=verify-full&");
    assert!(address.starts_with(&expected), "{address}");
    let password = at(container, "/env/1/valueFrom/secretKeyRef");
    assert_eq!(*password, json!({ "name": format!("{name}-app"), "key": "password" }));
    let volumes = at(pod, "/spec/volumes").as_array().unwrap();
    let ca = volumes.last().unwrap();
    assert_eq!(at(ca, "/secret/secretName"), &json!(format!("{name}-ca")));
}

/// What the pods of the component do, on this machine: two coordinators, and their probes.
#[test]
fn the_component_s_coordinators_come_up_and_play() {
    let Some(server) = PostgresServer::start() else { return };
    let sandbox = Sandbox::new();
    let (work, submit) = (token(&sandbox, "work"), token(&sandbox, "submit"));
    certificate(&sandbox, "coordinator");
    let set = patched("StatefulSet");
    let container = at(&set, "/spec/template/spec/containers/0");
    let address = at(container, "/args/2").as_str().unwrap();
    let start = |name: &str| -> Service {
        std::fs::create_dir(sandbox.path(name)).unwrap();
        let launch = Launch { arguments: texts(&container["args"]), environment: Vec::new() };
        // A port that is taken when it starts.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().to_string();
        drop(listener);
        let launch = launch.with(&[
            (address, &server.address()),
            ("/data/", &format!("{name}/")),
            ("$(POD_IP):7878", &own),
            ("0.0.0.0:7878", &own),
            ("/etc/spelrum/", ""),
            ("/etc/spelrum-tls/tls.crt", "coordinator.pem"),
            ("/etc/spelrum-tls/tls.key", "coordinator.key"),
        ]);
        sandbox.coordinator_as(&mut launch.command(&sandbox))
    };
    let (owner, standby) = (start("first"), start("second"));
    let probe = at(container, "/readinessProbe/httpGet/path").as_str().unwrap();
    for coordinator in [&owner, &standby] {
        wait_until("it owns the database, or reaches the owner", || {
            let ca = ["--ca", "ca.pem"];
            let mut list = sandbox.spelrum(&["list", "--coordinator", &coordinator.url]);
            let list = list.args(ca).env("SPELRUM_TOKEN", submit.trim());
            list.output().unwrap().status.success()
        });
        let answer = get(&sandbox, coordinator, probe);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert_plays(&sandbox, standby, &submit, |url| {
        let worker = ["worker", "--coordinator", url, "--ca", "ca.pem", "--slots", "1"];
        let mut command = sandbox.spelrum(&worker);
        command.env("SPELRUM_TOKEN", work.trim());
        command
    });
}

#[test]
fn the_compose_file_is_of_one_piece() {
    let compose = documents("compose/shared.yaml").remove(0);
    let services = compose["services"].as_object().unwrap();
    for (name, service) in services {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"], json!(["ALL"]), "{name}");
        for (kind, list) in [("secrets", &service["secrets"]), ("configs", &service["configs"])] {
            for one in list.as_array().into_iter().flatten() {
                let source = one.as_str().or_else(|| one["source"].as_str()).unwrap();
                let file = at(&compose, &format!("/{kind}/{source}/file")).as_str().unwrap();
                let file = file.strip_prefix("./").unwrap();
                let is_ignored = text("compose/.gitignore").lines().any(|line| line == file);
                let is_there = super::files::path(&format!("compose/{file}")).exists();
                assert!(is_ignored != is_there, "{file}: secrets and what else is made");
            }
        }
        for volume in service["volumes"].as_array().into_iter().flatten() {
            let (volume, _) = volume.as_str().unwrap().split_once(':').unwrap();
            at(&compose, &format!("/volumes/{volume}"));
        }
    }
    let worker = text("compose/shared-worker.toml");
    for name in ["first", "second"] {
        let command = texts(at(&compose, &format!("/services/{name}/command")));
        let address = format!("{name}:7878");
        assert!(command.contains(&format!("--advertise={address}")));
        assert!(command.contains(&"--db=postgres://spelrum@primary/spelrum".to_owned()));
        assert!(worker.contains(&format!("url = \"https://{address}\"")));
    }
}
