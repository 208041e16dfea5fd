//! The questions of `docs/sql.md`: each prints what stands there, whoever is asked.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use spelrum_test_support::{Tools, skip};

use crate::sandbox::{Sandbox, root};

/// With this variable set, the answers in the page are written anew.
const UPDATE: &str = "SPELRUM_UPDATE_DOCS";

const PAGE: &str = "docs/sql.md";
const DATABASE: &str = "cookbook.db";

/// A statement of the page and the answer that stands below it.
struct Question {
    statement: String,
    /// Whether the answer depends on times: then it has the same words and any numbers.
    timed: bool,
    answer: String,
    /// Where the answer is in the page.
    place: std::ops::Range<usize>,
}

fn page() -> String {
    std::fs::read_to_string(root().join(PAGE)).unwrap()
}

fn questions(page: &str) -> Vec<Question> {
    let mut questions = Vec::new();
    for (start, opening) in page.match_indices("```sql\n") {
        let from = start + opening.len();
        let length = page[from..].find("```").unwrap();
        let after = from + length + "```\n\n".len();
        let rest = &page[after..];
        let timed = rest.starts_with("```text timed\n");
        let opening = if timed { "```text timed\n" } else { "```text\n" };
        assert!(rest.starts_with(opening), "a statement without an answer: {rest:.60}");
        let begin = after + opening.len();
        let end = begin + page[begin..].find("```").unwrap();
        questions.push(Question {
            statement: page[from..from + length].to_owned(),
            timed,
            answer: page[begin..end].to_owned(),
            place: begin..end,
        });
    }
    questions
}

/// The database that the page speaks of.
fn play(sandbox: &Sandbox, page: &str) {
    for sweep in ["depth", "weights", "clock"] {
        let heading = format!("<code>{sweep}.toml</code></summary>\n\n```toml\n");
        let from = page.find(&heading).unwrap() + heading.len();
        let file = format!("{sweep}.toml");
        sandbox.write(&file, page[from..].split("```").next().unwrap());
        sandbox.run(&["run", &file, "--db", DATABASE, "--quiet"]).expect_exit(0);
    }
}

/// Without numbers, and without the space that they take.
fn words(text: &str) -> Vec<String> {
    let masked = |word: &str| {
        let is_number = word.chars().any(|c| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || ".-e".contains(c));
        if is_number { "#".to_owned() } else { word.trim_matches('─').to_owned() }
    };
    text.lines()
        .map(|line| line.split_whitespace().map(masked).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn the_page_says_what_happens() {
    let mut page = page();
    let sandbox = Sandbox::new();
    play(&sandbox, &page);
    let coordinator = sandbox.coordinator(DATABASE, "127.0.0.1:0");
    let questions = questions(&page);
    assert!(questions.len() >= 20);
    let update = std::env::var_os(UPDATE).is_some();
    // From the end, so that places before stay where they are.
    for Question { statement, timed, answer, place } in questions.iter().rev() {
        let asked = sandbox.run(&["sql", "--db", DATABASE, statement]);
        asked.expect_exit(0);
        assert!(asked.stdout().lines().count() > 2, "no rows:\n{statement}");
        let by_url = sandbox.run(&["sql", "--coordinator", &coordinator.url, statement]);
        assert_eq!(by_url.expect_exit(0).stdout(), asked.stdout(), "{statement}");
        if update {
            page.replace_range(place.clone(), asked.stdout());
        } else if *timed {
            assert_eq!(words(asked.stdout()), words(answer), "{statement}");
        } else {
            assert_eq!(asked.stdout(), answer, "{statement}");
        }
    }
    if update {
        std::fs::write(root().join(PAGE), page).unwrap();
    }
}

const READER: &str = "
import json, sqlite3, sys
database = sqlite3.connect('file:cookbook.db?mode=ro', uri=True)
answers = []
for statement in json.load(sys.stdin):
    try:
        found = database.execute(statement)
        names = [column[0] for column in found.description]
        answers.append([dict(zip(names, row)) for row in found])
    except sqlite3.OperationalError as error:
        answers.append(str(error))
json.dump(answers, sys.stdout)
";

/// The functions that only `spelrum sql` has, as far as questions use them.
const OURS: [&str; 10] = [
    "pairs_elo",
    "pairs_low",
    "pairs_high",
    "elo_of_score",
    "median",
    "quantile",
    "stddev",
    "sqrt",
    "wilson_low",
    "wilson_high",
];

/// The same file in another program's SQLite, whichever it has.
#[test]
fn python_reads_the_same() {
    let Some(tools) = Tools::find(&["python3"]) else { return };
    let mut import = tools.command("python3");
    let imported =
        import.args(["-c", "import json, sqlite3"]).stdin(Stdio::null()).output().unwrap();
    if !imported.status.success() {
        return skip("it needs a python3 with its module sqlite3");
    }
    let page = page();
    let sandbox = Sandbox::new();
    play(&sandbox, &page);
    let questions = questions(&page);
    let statements: Vec<&str> =
        questions.iter().map(|question| question.statement.as_str()).collect();
    let mut python = tools
        .command("python3")
        .args(["-c", READER])
        .current_dir(sandbox.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    stdin.write_all(serde_json::to_string(&statements).unwrap().as_bytes()).unwrap();
    drop(stdin);
    let said = python.wait_with_output().unwrap();
    assert!(said.status.success());
    let answers: Vec<Value> = serde_json::from_slice(&said.stdout).unwrap();
    let mut compared = 0;
    for (statement, answer) in statements.into_iter().zip(answers) {
        if let Value::String(error) = &answer {
            let missing = error.strip_prefix("no such function: ");
            assert!(missing.is_some_and(|module| OURS.contains(&module)), "{error}:\n{statement}");
            continue;
        }
        let ours = sandbox.run(&["sql", "--db", DATABASE, "--json", statement]);
        let ours: Value = serde_json::from_str(ours.expect_exit(0).stdout()).unwrap();
        assert!(is_alike(&ours, &answer), "{statement}\n{ours}\n{answer}");
        compared += 1;
    }
    assert!(compared >= 10, "{compared} questions need nothing of ours");
}

/// Equal but for how SQLite's releases round: sums of reals, and halves to some decimal places.
fn is_alike(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_alike(a, b))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(name, a)| theirs.get(name).is_some_and(|b| is_alike(a, b)))
        }
        (Value::Number(ours), Value::Number(theirs)) if ours != theirs => {
            let (Some(a), Some(b)) = (ours.as_f64(), theirs.as_f64()) else { return false };
            let thousandths = |x: f64| (x * 1e3).round() / 1e3 == x;
            let is_rounded = thousandths(a) && thousandths(b) && (a - b).abs() < 0.0011;
            let is_close = (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
            ours.is_f64() == theirs.is_f64() && (is_close || is_rounded)
        }
        (ours, theirs) => ours == theirs,
    }
}
