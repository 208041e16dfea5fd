//! The manifests for Kubernetes: their fields, what refers to what, what their pods may, and what they start.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::autoscaling::v2::{
    CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerBehavior,
};
use k8s_openapi::api::core::v1::{Namespace, Service};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::files::{IMAGE, USER, at, documents, path, text, texts};
use super::launch::{Launch, assert_plays, certificate, get, token};
use crate::sandbox::Sandbox;

fn kustomization() -> Value {
    documents("kubernetes/kustomization.yaml").remove(0)
}

/// What `kubectl apply -k` takes, by the kustomization.
fn manifests() -> Vec<Value> {
    texts(&kustomization()["resources"])
        .iter()
        .flat_map(|file| documents(&format!("kubernetes/{file}")))
        .collect()
}

/// The only one of its kind and name.
pub(super) fn manifest(kind: &str, name: &str) -> Value {
    let mut found = manifests();
    found.retain(|one| one["kind"] == kind && at(one, "/metadata/name") == name);
    assert_eq!(found.len(), 1, "{kind} {name}");
    found.remove(0)
}

fn pod(kind: &str, name: &str) -> Value {
    at(&manifest(kind, name), "/spec/template").clone()
}

/// The pods that there are.
fn pods() -> [Value; 2] {
    [pod("StatefulSet", "coordinator"), pod("Deployment", "worker")]
}

/// Why Kubernetes would not take a manifest as it is, if so.
fn problem(manifest: &Value) -> Option<String> {
    match (manifest["apiVersion"].as_str(), manifest["kind"].as_str()) {
        (Some("v1"), Some("Namespace")) => unknown_to::<Namespace>(manifest),
        (Some("v1"), Some("Service")) => unknown_to::<Service>(manifest),
        (Some("apps/v1"), Some("StatefulSet")) => unknown_to::<StatefulSet>(manifest),
        (Some("apps/v1"), Some("Deployment")) => unknown_to::<Deployment>(manifest),
        (Some("autoscaling/v2"), Some("HorizontalPodAutoscaler")) => {
            unknown_to::<HorizontalPodAutoscaler>(manifest)
        }
        (Some("networking.k8s.io/v1"), Some("NetworkPolicy")) => {
            unknown_to::<NetworkPolicy>(manifest)
        }
        (Some("keda.sh/v1alpha1"), Some("ScaledObject")) => unknown_to::<ScaledObject>(manifest),
        other => Some(format!("{other:?} is not known here")),
    }
}

/// KEDA's resource, as far as it is used here (its "ScaledObject specification").
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScaledObject {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
    spec: ScaledObjectSpec,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScaledObjectSpec {
    scale_target_ref: CrossVersionObjectReference,
    polling_interval: u32,
    cooldown_period: u32,
    min_replica_count: u32,
    max_replica_count: u32,
    triggers: Vec<Trigger>,
    advanced: Advanced,
}

#[derive(Serialize, Deserialize)]
struct Trigger {
    r#type: String,
    metadata: PrometheusTrigger,
}

/// Fields of a Prometheus trigger, all of them strings.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrometheusTrigger {
    server_address: String,
    query: String,
    threshold: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Advanced {
    horizontal_pod_autoscaler_config: AutoscalerConfig,
}

#[derive(Serialize, Deserialize)]
struct AutoscalerConfig {
    behavior: HorizontalPodAutoscalerBehavior,
}

/// A field of another type is an error, and one of another name does not come back.
pub(super) fn unknown_to<T: DeserializeOwned + Serialize>(manifest: &Value) -> Option<String> {
    let known: T = match serde_json::from_value(manifest.clone()) {
        Ok(known) => known,
        Err(error) => return Some(error.to_string()),
    };
    difference(manifest, &serde_json::to_value(known).unwrap(), "")
}

/// Where what was said did not come back, or something came back that must be said and was not.
fn difference(said: &Value, back: &Value, place: &str) -> Option<String> {
    match (said, back) {
        (Value::Object(said), Value::Object(back)) => {
            // A template of a claim says what it is.
            let is_implied = |name: &str| ["apiVersion", "kind"].contains(&name);
            let names: BTreeSet<&String> = said.keys().chain(back.keys()).collect();
            names.into_iter().find_map(|name| match (said.get(name), back.get(name)) {
                (None, Some(_)) if is_implied(name) => None,
                (said, back) => difference(
                    said.unwrap_or(&Value::Null),
                    back.unwrap_or(&Value::Null),
                    &format!("{place}/{name}"),
                ),
            })
        }
        (Value::Array(said), Value::Array(back)) if said.len() == back.len() => {
            let mut both = said.iter().zip(back).enumerate();
            both.find_map(|(index, (said, back))| {
                difference(said, back, &format!("{place}/{index}"))
            })
        }
        _ => (said != back).then(|| format!("{place}: {said} is taken for {back}")),
    }
}

#[test]
fn kubernetes_knows_every_field() {
    for manifest in manifests() {
        let problem = problem(&manifest);
        assert_eq!(problem, None, "{manifest:#}");
    }
    // Every file is taken, and the image is what is built.
    let named: BTreeSet<String> = texts(&kustomization()["resources"]).into_iter().collect();
    let there: BTreeSet<String> = std::fs::read_dir(path("kubernetes"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml") && name != "kustomization.yaml")
        .collect();
    assert_eq!(named, there);
    let image = at(&kustomization(), "/images/0").clone();
    let (name, tag) = IMAGE.split_once(':').unwrap();
    assert_eq!(image, json!({ "name": name, "newTag": tag }));
    let namespace = kustomization()["namespace"].as_str().unwrap().to_owned();
    manifest("Namespace", &namespace);
}

/// The test above sees what is wrong.
#[test]
fn fields_that_kubernetes_does_not_know_are_noticed() {
    let right = manifest("StatefulSet", "coordinator");
    assert_eq!(problem(&right), None);
    let container = "/spec/template/spec/containers/0";
    for (parent, name, value) in [
        ("/spec", "replica", json!(1)),
        ("/spec", "replicas", json!("one")),
        ("/spec", "serviceName", json!(5)),
        (container, "readOnlyRootFilesystem", json!(true)),
        (container, "volumeMount", json!([])),
        (container, "startupProbe", json!({ "httpGet": { "path": "/" } })),
        ("", "kind", json!("Statefulset")),
        ("", "apiVersion", json!("apps/v1beta1")),
    ] {
        let mut wrong = right.clone();
        wrong.pointer_mut(parent).unwrap()[name] = value;
        assert!(problem(&wrong).is_some(), "{parent}/{name} was taken");
    }
}

/// Whether a selector finds these labels.
pub(super) fn finds(selector: &Value, labels: &Value) -> bool {
    let selector = selector.get("matchLabels").unwrap_or(selector).as_object().unwrap();
    !selector.is_empty() && selector.iter().all(|(name, value)| labels.get(name) == Some(value))
}

/// How many of the pods it finds.
fn found_by(selector: &Value) -> usize {
    pods().iter().filter(|pod| finds(selector, at(pod, "/metadata/labels"))).count()
}

/// The values of a field in a list of objects.
pub(super) fn each(list: Option<&Value>, pointer: &str) -> BTreeSet<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.map(|one| at(one, pointer).as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_refers_to_something_finds_it() {
    let coordinator = manifest("StatefulSet", "coordinator");
    let worker = manifest("Deployment", "worker");
    for owner in [&coordinator, &worker] {
        let selector = at(owner, "/spec/selector");
        assert!(finds(selector, at(owner, "/spec/template/metadata/labels")));
        assert_eq!(found_by(selector), 1, "it owns its own pods alone");
        // What is mounted is a volume.
        let mut volumes = each(owner.pointer("/spec/template/spec/volumes"), "/name");
        volumes.extend(each(owner.pointer("/spec/volumeClaimTemplates"), "/metadata/name"));
        let container = at(owner, "/spec/template/spec/containers/0");
        assert_eq!(each(container.get("volumeMounts"), "/name"), volumes);
    }
    let service = manifest("Service", "coordinator");
    let pod = at(&coordinator, "/spec/template");
    assert!(finds(at(&service, "/spec/selector"), at(pod, "/metadata/labels")));
    assert_eq!(found_by(at(&service, "/spec/selector")), 1);
    assert_eq!(at(&coordinator, "/spec/serviceName"), at(&service, "/metadata/name"));
    assert_eq!(at(&coordinator, "/spec/replicas"), 1, "a database has one coordinator");

    // Ports, by name and number.
    let port = at(pod, "/spec/containers/0/ports/0");
    assert_eq!(at(&service, "/spec/ports/0/targetPort"), &port["name"]);
    assert_eq!(at(&service, "/spec/ports/0/port"), &port["containerPort"]);
    let annotation = at(pod, "/metadata/annotations/prometheus.io~1port");
    assert_eq!(annotation.as_str().unwrap(), port["containerPort"].to_string());
    let variable = at(&worker, "/spec/template/spec/containers/0/env/0");
    let host = at(&service, "/metadata/name").as_str().unwrap();
    assert_eq!(variable["name"], "SPELRUM_COORDINATOR");
    assert_eq!(variable["value"], format!("https://{host}:{}", port["containerPort"]));

    let scaled = manifest("HorizontalPodAutoscaler", "worker");
    let target = at(&scaled, "/spec/scaleTargetRef");
    for field in ["apiVersion", "kind"] {
        assert_eq!(target[field], worker[field]);
    }
    assert_eq!(&target["name"], at(&worker, "/metadata/name"));
    assert!(worker.pointer("/spec/replicas").is_none(), "two would decide how many there are");
}

/// KEDA's object takes the autoscaler's place.
#[test]
fn keda_scales_the_workers_by_a_metric_that_there_is() {
    let component = documents("kubernetes/keda/kustomization.yaml").remove(0);
    assert_eq!(component["resources"], json!(["scaled-object.yaml"]));
    let patch: Value =
        serde_saphyr::from_str(at(&component, "/patches/0/patch").as_str().unwrap()).unwrap();
    let replaced = manifest("HorizontalPodAutoscaler", "worker");
    assert_eq!(patch["$patch"], "delete");
    assert_eq!(
        [&patch["apiVersion"], &patch["kind"]],
        [&replaced["apiVersion"], &replaced["kind"]]
    );
    assert_eq!(at(&patch, "/metadata/name"), at(&replaced, "/metadata/name"));

    let mut scaled = documents("kubernetes/keda/scaled-object.yaml");
    let scaled = scaled.remove(0);
    assert_eq!(problem(&scaled), None);
    let mut wrong = scaled.clone();
    wrong["spec"]["pollInterval"] = json!(5);
    assert!(problem(&wrong).is_some(), "a field that KEDA does not know");
    for field in ["apiVersion", "kind", "name"] {
        let target = format!("/spec/scaleTargetRef/{field}");
        assert_eq!(at(&scaled, &target), at(&replaced, &target));
    }
    // The metric that the coordinator serves, and a value of each label.
    let query = at(&scaled, "/spec/triggers/0/metadata/query").as_str().unwrap();
    let selected = "spelrum_games_queued_by_need{worker=~\"any|speed\",memory=\"1GiB\"}";
    assert!(query.contains(selected), "{query}");
}

/// Secrets are made by the commands of the README, and named there as they are here.
#[test]
fn secrets_are_those_of_the_readme() {
    let readme = text("kubernetes/README.md");
    let coordinator = pod("StatefulSet", "coordinator");
    let volume = at(&coordinator, "/spec/volumes/0/secret");
    let tls = at(&coordinator, "/spec/volumes/1/secret/secretName").as_str().unwrap();
    let worker = pod("Deployment", "worker");
    let ca = at(&worker, "/spec/volumes/1/configMap/name").as_str().unwrap();
    let variable = at(&worker, "/spec/containers/0/env/1/valueFrom/secretKeyRef");
    let namespace = kustomization()["namespace"].as_str().unwrap().to_owned();
    let secret = |name: &Value| format!("secret generic {}", name.as_str().unwrap());
    for (what, file) in [
        (secret(&volume["secretName"]), "--from-file=tokens.toml"),
        (secret(&variable["name"]), "--from-file=token=worker-token"),
        (format!("secret tls {tls}"), "--cert=coordinator.pem --key=coordinator.key"),
        (format!("configmap {ca}"), "--from-file=ca.pem"),
    ] {
        let command = format!("kubectl --namespace {namespace} create {what} {file}\n");
        assert!(readme.contains(&command), "the README does not say: {command}");
    }
    assert_eq!(variable["key"], "token");
}

/// The profile "restricted" of the Pod Security Standards, and more.
#[test]
fn pods_have_no_rights() {
    for pod in pods() {
        let spec = at(&pod, "/spec");
        for forbidden in ["hostNetwork", "hostPID", "hostIPC", "hostUsers", "serviceAccountName"] {
            assert!(spec.get(forbidden).is_none(), "{forbidden}");
        }
        assert_eq!(spec["automountServiceAccountToken"], false);
        assert_eq!(spec["enableServiceLinks"], false);
        let own = &spec["securityContext"];
        assert_eq!(own["runAsNonRoot"], true);
        for id in ["runAsUser", "runAsGroup", "fsGroup"] {
            assert_eq!(own[id], USER, "{id}");
        }
        assert_eq!(own["seccompProfile"], json!({ "type": "RuntimeDefault" }));
        for volume in spec["volumes"].as_array().unwrap() {
            let mut kinds = ["secret", "configMap", "emptyDir"].into_iter();
            assert!(kinds.any(|kind| volume.get(kind).is_some()), "{volume:#}");
        }
        assert!(spec.get("initContainers").is_none());
        let containers = spec["containers"].as_array().unwrap();
        assert_eq!(containers.len(), 1);
        let context = json!({
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        });
        let container = &containers[0];
        assert_eq!(container["securityContext"], context);
        assert_eq!(container["image"], "spelrum");
        assert!(container.get("command").is_none(), "the program is the image's own");
        for bound in ["requests/cpu", "requests/memory", "limits/memory"] {
            at(container, &format!("/resources/{bound}"));
        }
    }
    let namespace = manifest("Namespace", "spelrum");
    let labels = at(&namespace, "/metadata/labels");
    assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
    // Its group reads the secret, and that is `fsGroup`.
    let coordinator = pod("StatefulSet", "coordinator");
    for volume in [0, 1] {
        let mode = at(&coordinator, &format!("/spec/volumes/{volume}/secret/defaultMode"));
        assert_eq!(*mode, 0o440);
    }
}

#[test]
fn only_who_must_may_call() {
    let [coordinator, worker] = pods().map(|pod| at(&pod, "/metadata/labels").clone());
    let port = json!([{ "port": 7878, "protocol": "TCP" }]);
    for (name, labels) in [("coordinator", &coordinator), ("worker", &worker)] {
        let policy = manifest("NetworkPolicy", name);
        assert!(finds(at(&policy, "/spec/podSelector"), labels));
        assert_eq!(found_by(at(&policy, "/spec/podSelector")), 1);
        assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
    }
    let policy = manifest("NetworkPolicy", "coordinator");
    let spec = &policy["spec"];
    assert_eq!(spec["egress"], json!([]));
    let ingress = spec["ingress"].as_array().unwrap();
    assert_eq!(ingress.len(), 1);
    assert_eq!(ingress[0]["ports"], port);
    assert!(finds(at(&ingress[0], "/from/0/podSelector"), &worker));
    // An empty selector would be everybody.
    for from in ingress[0]["from"].as_array().unwrap() {
        for selector in from.as_object().unwrap().values() {
            assert!(!selector["matchLabels"].as_object().unwrap().is_empty());
        }
    }
    let policy = manifest("NetworkPolicy", "worker");
    let spec = &policy["spec"];
    assert_eq!(spec["ingress"], json!([]));
    let egress = spec["egress"].as_array().unwrap();
    assert_eq!(egress.len(), 2);
    assert_eq!(egress[0]["ports"], port);
    assert!(finds(at(&egress[0], "/to/0/podSelector"), &coordinator));
    for dns in egress[1]["ports"].as_array().unwrap() {
        assert_eq!(dns["port"], 53);
    }
}

#[test]
fn the_pods_come_up_and_play() {
    let sandbox = Sandbox::new();
    let (work, submit) = (token(&sandbox, "work"), token(&sandbox, "submit"));
    certificate(&sandbox, "coordinator");
    std::fs::create_dir(sandbox.path("results")).unwrap();
    let stateful = pod("StatefulSet", "coordinator");
    let container = at(&stateful, "/spec/containers/0");
    let mounts = json!([
        { "name": "results", "mountPath": "/data" },
        { "name": "tokens", "mountPath": "/etc/spelrum", "readOnly": true },
        { "name": "tls", "mountPath": "/etc/spelrum-tls", "readOnly": true },
    ]);
    assert_eq!(container["volumeMounts"], mounts);
    let launch = Launch { arguments: texts(&container["args"]), environment: Vec::new() };
    let launch = launch.with(&[
        ("/data/", "results/"),
        (&format!("0.0.0.0:{}", at(container, "/ports/0/containerPort")), "0.0.0.0:0"),
        ("/etc/spelrum/", ""),
        // What `kubectl create secret tls` calls them.
        ("/etc/spelrum-tls/tls.crt", "coordinator.pem"),
        ("/etc/spelrum-tls/tls.key", "coordinator.key"),
    ]);
    let coordinator = sandbox.coordinator_as(&mut launch.command(&sandbox));
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let asked = &container[probe]["httpGet"];
        assert_eq!(asked["port"], *at(container, "/ports/0/name"));
        assert_eq!(asked["scheme"], "HTTPS");
        let answer = get(&sandbox, &coordinator, asked["path"].as_str().unwrap());
        assert!(answer.starts_with("HTTP/1.1 200 "), "{probe}: {answer}");
    }
    // What KEDA asks for.
    let page = get(&sandbox, &coordinator, "/metrics");
    for worker in ["any", "speed"] {
        let labels = format!("memory=\"1GiB\",timed=\"no\",worker=\"{worker}\"");
        assert!(page.contains(&format!("spelrum_games_queued_by_need{{{labels}}} 0\n")), "{page}");
    }

    let deployed = pod("Deployment", "worker");
    let container = at(&deployed, "/spec/containers/0");
    let value = |variable: &Value| match variable["value"].as_str() {
        Some(value) => value.to_owned(),
        // As it comes out of the secret that the README makes, with the file's last newline.
        None => work.clone(),
    };
    let variables = container["env"].as_array().unwrap().iter();
    let environment =
        variables.map(|entry| (entry["name"].as_str().unwrap().to_owned(), value(entry))).collect();
    let launch = Launch { arguments: texts(&container["args"]), environment };
    assert_plays(&sandbox, coordinator, &submit, |url| {
        let there = [("https://coordinator:7878", url), ("/etc/spelrum/", "")];
        launch.with(&there).command(&sandbox)
    });
}
