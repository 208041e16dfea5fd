//! A browser without a window, spoken to over its DevTools protocol (chromedevtools.github.io/devtools-protocol):
//! JSON texts with a zero byte behind each, through two pipes with names.
//!
//! Not by a WebDriver client: fantoccini depends on `webdriver`, whose licence (MPL-2.0) is not taken; thirtyfour has
//! `serde_json` keep the order of keys, also in the program that is tested and not in the one that is released; rustenium and
//! webdriverbidi bring several crates in second versions.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spelrum_test_support::{Tools, path_of, skip};
use tempfile::TempDir;

/// No answer takes so long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Nothing that a page is waited for takes so long.
const PAGE_PATIENCE: Duration = Duration::from_secs(120);

/// Clicks at what a selector names, if it is there.
const CLICKED: &str = "selector => { const element = document.querySelector(selector); element?.click(); return !!element; }";

/// What browsers of this kind are called.
const NAMES: [&str; 5] = [
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// The browser's pipes are its files 3 and 4. A shell opens them, as Rust does so in unsafe code only.
const START: &str = r#"exec "$0" "$@" 3<"$SAID" 4>"$HEARD" 2>/dev/null"#;

/// A browser of this machine, and what starts it.
pub(crate) struct Installed {
    tools: Tools,
    program: OsString,
}

/// The browser there is: the one that `SPELRUM_BROWSER` names, or one by its usual name. If there is none the test
/// is skipped.
pub(crate) fn installed() -> Option<Installed> {
    let tools = Tools::find(&["mkfifo", "sh"])?;
    let named = std::env::var_os("SPELRUM_BROWSER").filter(|name| !name.is_empty());
    let found = named.or_else(|| NAMES.into_iter().find_map(path_of).map(Into::into));
    let Some(program) = found else {
        skip("it needs a browser: chromium on the PATH, or one named in SPELRUM_BROWSER");
        return None;
    };
    Some(Installed { tools, program })
}

/// A running browser with one page.
pub(crate) struct Browser {
    child: Child,
    said: File,
    heard: Receiver<Value>,
    last_id: u64,
    /// Of its one page.
    session: String,
    /// What has happened in the page since it was last asked.
    events: Vec<Value>,
    _directory: TempDir,
}

impl Browser {
    pub(crate) fn start(Installed { tools, program }: &Installed) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let pipes = ["said", "heard"].map(|name| directory.path().join(name));
        assert!(tools.command("mkfifo").args(&pipes).status().unwrap().success());
        let [said, heard] = &pipes;
        let mut browser = tools.command("sh");
        browser.args(["-c", START]).arg(program);
        browser.args([
            "--headless",
            // Nobody gives a container what its sandbox needs; the pages are our own.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--remote-debugging-pipe",
        ]);
        browser.arg(format!("--user-data-dir={}", directory.path().join("profile").display()));
        browser.arg("about:blank").env("SAID", said).env("HEARD", heard);
        browser.env("HOME", directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let child = browser.spawn().unwrap();
        // Each waits until the shell has opened its end.
        let said = OpenOptions::new().write(true).open(said).unwrap();
        let heard = answers(File::open(heard).unwrap());
        let (session, events) = (String::new(), Vec::new());
        let mut browser =
            Self { child, said, heard, last_id: 0, session, events, _directory: directory };
        let page = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.ask("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Says something, and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.try_ask(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_ask(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        self.said.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut message = self.next();
            if message["id"] == self.last_id {
                let error = message["error"].take();
                return if error.is_null() { Ok(message["result"].take()) } else { Err(error) };
            }
            self.events.push(message);
        }
    }

    /// Opens a file, with a window of this size for whoever wants these colours, and returns what has happened
    /// until it was there: each event with what it tells.
    pub(crate) fn open(
        &mut self,
        file: &Path,
        [width, height]: [u32; 2],
        scheme: &str,
    ) -> Vec<(String, Value)> {
        self.go(&format!("file://{}", file.display()), [width, height], scheme)
    }

    /// The same with the page of an address.
    pub(crate) fn go(
        &mut self,
        url: &str,
        [width, height]: [u32; 2],
        scheme: &str,
    ) -> Vec<(String, Value)> {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        self.media("screen", scheme);
        self.events.clear();
        let opened = self.ask("Page.navigate", &json!({ "url": url }));
        assert_eq!(opened["errorText"], Value::Null, "{url}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
        // What comes of the page comes before the answer to a question that it is asked afterwards.
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
        );
        let events = std::mem::take(&mut self.events).into_iter();
        let named_event = |mut event: Value| {
            let method = event["method"].as_str().unwrap_or_default().to_owned();
            (method, event["params"].take())
        };
        events.map(named_event).collect()
    }

    /// Shows the page as it is for this medium, and for whoever wants these colours.
    pub(crate) fn media(&mut self, medium: &str, scheme: &str) {
        let scheme = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": medium, "features": scheme }));
    }

    /// What an expression comes to in the page, past its policy.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        self.try_evaluate(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn try_evaluate(&mut self, expression: &str) -> Result<Value, Value> {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.try_ask("Runtime.evaluate", &asked)?;
        let exception = answer["exceptionDetails"].take();
        if exception.is_null() { Ok(answer["result"]["value"].take()) } else { Err(exception) }
    }

    /// Waits until an expression is true in a page that was read whole. While another page takes its place, none is.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        loop {
            let answer =
                self.try_evaluate(&format!("document.readyState === 'complete' && ({expression})"));
            if matches!(&answer, Ok(Value::Bool(true))) {
                return;
            }
            if begun.elapsed() > PAGE_PATIENCE {
                panic!("{expression}: {answer:?}: {}", self.text());
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Clicks at an element once it is there. What refreshes the page comes before or after.
    pub(crate) fn click(&mut self, selector: &str) {
        self.wait_for(&format!("({CLICKED})({})", json!(selector)));
    }

    /// Clicks at an element while it is there, until an expression is true: what it asks for may be refused for now.
    pub(crate) fn click_until(&mut self, selector: &str, expression: &str) {
        self.wait_for(&format!("({CLICKED})({}), {expression}", json!(selector)));
    }

    /// The words of the page.
    pub(crate) fn text(&mut self) -> String {
        let text = self.try_evaluate("document.body.innerText").unwrap_or_default();
        text.as_str().unwrap_or_default().to_owned()
    }

    fn next(&mut self) -> Value {
        self.heard.recv_timeout(PATIENCE).expect("the browser answers in time")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// What the browser says, read by a thread that ends with it.
fn answers(heard: File) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(heard).split(0).map_while(Result::ok) {
            let message = serde_json::from_slice(&message).unwrap();
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
