//! The list of engines of cutechess: `engines.json`, also that of its GUI.
//!
//! The format is described in the project cutechess, in `docs/cutechess-engines.json.5`; keys that its GUI writes
//! beside those are in `projects/lib/src/engineconfiguration.cpp`, those of options in
//! `projects/lib/src/engineoptionfactory.cpp`.

use serde_json::Value as Json;

use super::keys::{Keys, NotOurs, Words, scalar};

/// Reads the engines. Without a time control they describe no match.
pub(super) fn read(engines: Vec<Json>) -> Result<Words, NotOurs> {
    let mut words = Words::default();
    let mut names = Vec::new();
    if engines.is_empty() {
        return Err(NotOurs::new(
            "its list of engines is empty",
            "add engines to cutechess first, or write an engines file by hand (docs/engines.md)",
        ));
    }
    for (place, engine) in engines.into_iter().enumerate() {
        let label = format!("engine {}", place + 1);
        let Json::Object(object) = engine else {
            words.remark(
                Some(&label),
                "it is not an object",
                "write { \"name\": …, \"command\": …, \"protocol\": … }",
            );
            continue;
        };
        let mut keys = Keys::new(object, Some(label), &mut words);
        let name = keys.text("name");
        if let Some(name) = &name {
            if names.contains(name) {
                return Err(NotOurs::new(
                    format!("two engines are called `{name}`"),
                    "give each a name of its own, and import it again",
                ));
            }
            names.push(name.clone());
            keys.engine = Some(name.clone());
        }
        read_engine(keys, name);
    }
    Ok(words)
}

fn read_engine(mut keys: Keys<'_>, name: Option<String>) {
    let Some(command) = keys.text("command") else {
        keys.remark(
            "it has no command, and is left out",
            "write the path of its program as `command`",
        );
        return;
    };
    let protocol = keys.text("protocol");
    match protocol.as_deref() {
        Some("uci" | "xboard") => {}
        None => keys.remark(
            "it has no protocol: UCI is written",
            "write protocol = \"xboard\" if that is wrong",
        ),
        Some(other) => {
            let problem = format!("its protocol is `{other}`, and it is left out");
            keys.remark(problem, "use an engine that speaks UCI or XBoard");
            return;
        }
    }
    let mut words = vec![format!("cmd={}", command.trim())];
    let mut add = |key: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{key}={value}")));
    };
    add("name", name);
    add("proto", protocol);
    add("dir", keys.text("workingDirectory"));
    add("stderr", keys.text("stderrFile"));
    add("restart", keys.text("restart"));
    let scale = keys.number("timeoutScaleFactor").filter(|scale| *scale != 1.0);
    add("tscale", scale.map(|scale| scale.to_string()));
    for line in keys.take::<Vec<String>>("initStrings", "a list of texts").unwrap_or_default() {
        add("initstr", Some(line));
    }
    let claims: Option<bool> = keys.take("validateClaims", "true or false");
    for (word, is_set) in [
        ("whitepov", keys.flag("whitepov")),
        ("ponder", keys.flag("ponder")),
        ("debug", keys.flag("debug")),
        ("trust", claims == Some(false)),
    ] {
        words.extend(is_set.then(|| word.to_owned()));
    }
    let mut variants: Vec<String> = keys.take("variants", "a list of texts").unwrap_or_default();
    variants.retain(|variant| !matches!(variant.as_str(), "standard" | "fischerandom"));
    if !variants.is_empty() {
        let problem = format!("its variants {} are not played", variants.join(", "));
        keys.remark(problem, "it plays chess, and Chess960 if it declares UCI_Chess960");
    }
    for option in keys.take::<Vec<Json>>("options", "a list").unwrap_or_default() {
        words.extend(read_option(option, &mut keys));
    }
    keys.out.add("-engine");
    keys.out.words.extend(words);
    keys.finish();
}

/// An option that differs from its default, as `option.NAME=VALUE`. The GUI lists all options of an engine.
fn read_option(option: Json, engine: &mut Keys<'_>) -> Option<String> {
    let Json::Object(object) = option else {
        engine.remark("an option is not an object", "write { \"name\": …, \"value\": … }");
        return None;
    };
    let mut keys = Keys::new(object, engine.engine.clone(), engine.out);
    let Some(name) = keys.text("name") else {
        keys.remark("an option has no name", "write \"name\": …");
        return None;
    };
    let kind = keys.text("type");
    if kind.as_deref() == Some("button") {
        keys.remark(
            format!("the button `{name}` is not pressed"),
            "fresh processes and new games need none; write it under `options` for a sweep to press it",
        );
        return None;
    }
    let [value, default] = ["value", "default"]
        .map(|key| keys.take::<Json>(key, "a value").and_then(|json| scalar(&json)));
    keys.skip(&["alias", "min", "max", "choices"]);
    if value.is_none() {
        let problem =
            format!("the option `{name}` has no value that is a text, a number, true or false");
        keys.remark(problem, format!("write it under `set` in the engines file: {name} = …"));
    }
    keys.finish();
    let value = value?;
    (default.as_ref() != Some(&value)).then(|| format!("option.{name}={value}"))
}
