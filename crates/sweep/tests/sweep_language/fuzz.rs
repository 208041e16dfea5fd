//! Sweeps that nobody would write: planning ends in a bounded plan or in an error with its place,
//! and never in a panic.
//!
//! Generators bound the cost of a case, too (numbers of games, plies of openings): a development build plays a
//! thousand of them. `the_costly_is_bounded` tests the bounds of planning itself.

use std::collections::BTreeMap;

use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use spelrum_model::{Plan, PlannedCell};
use spelrum_sweep::{SweepError, SweepText, plan_sweep};

use crate::example_sweeps;
use crate::reference::examples;

/// Plans, and checks what comes of it.
fn check(sweep: &SweepText) -> Result<Plan, SweepError> {
    let _any = sweep.named_files();
    let planned = plan_sweep(sweep);
    match &planned {
        Ok(plan) => {
            // A course is asked for its cells once it runs.
            assert_eq!(plan.cells.is_empty(), plan.course.is_some());
            assert!(plan.cells.len() <= 100_000 && plan.games() >= 1);
            assert!(!plan.foreseen().cells.is_empty());
            let _any = plan.memory_bytes();
            let is_complete = |cell: &PlannedCell| {
                let swap_sides = plan.conditions[cell.conditions].swap_sides;
                cell.games >= 1 && (!swap_sides || cell.games.is_multiple_of(2))
            };
            assert!(plan.cells.iter().all(is_complete));
        }
        Err(error) => check_error(sweep, error),
    }
    planned
}

/// Its place lies in the text that it names, and it can be shown.
fn check_error(sweep: &SweepText, error: &SweepError) {
    assert!(!error.problem.is_empty() && !error.remedy.is_empty(), "{error:?}");
    let text = match &error.file {
        None => &sweep.text,
        Some(file) => &sweep.files[file],
    };
    assert_eq!(error.source_text.inner(), text);
    assert_eq!(error.place.is_some(), error.line.is_some());
    if let (Some(place), Some(line)) = (error.place, error.line) {
        let end = place.offset() + place.len();
        assert!(end <= text.len(), "{place:?} in {} bytes", text.len());
        assert!(text.is_char_boundary(place.offset()) && text.is_char_boundary(end));
        assert_eq!(line, text[..place.offset()].matches('\n').count() + 1);
    }
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .render_report(&mut shown, error)
        .unwrap();
}

/// Words of the language, and some that look like it.
const WORDS: &[&str] = &[
    "name",
    "description",
    "game",
    "seed",
    "games",
    "swap_sides",
    "openings",
    "measure",
    "record",
    "max_plies",
    "adjudication",
    "resign",
    "draw",
    "score",
    "moves",
    "both",
    "after",
    "game_timeout",
    "timing",
    "placement",
    "stop",
    "precision",
    "priority",
    "pairing",
    "anchors",
    "sample",
    "override",
    "axes",
    "players",
    "from",
    "to",
    "step",
    "factor",
    "count",
    "scale",
    "log",
    "kind",
    "plies",
    "positions",
    "choices",
    "reference",
    "accuracy",
    "exact",
    "file",
    "listed",
    "book",
    "ending",
    "KRK",
    "kk",
    "to_move",
    "distance",
    "stratified",
    "table",
    "chess",
    "random",
    "all",
    "start",
    "algorithm",
    "alpha-beta",
    "minimax",
    "genetic-minimax",
    "preset",
    "study",
    "evaluation",
    "runs",
    "lines",
    "none",
    "depth",
    "nodes",
    "evaluations",
    "move_time",
    "iterative",
    "order",
    "shuffle",
    "generations",
    "population",
    "selection",
    "tournament_size",
    "elites",
    "crossover_rate",
    "unlimited",
    "like",
    "vary",
    "use",
    "where",
    "skip",
    "player",
    "opponent",
    "find",
    "parameter",
    "steps",
    "at_once",
    "tune",
    "race",
    "parameters",
    "confirm",
    "cma-es",
    "method",
    "points",
    "latin-hypercube",
    "round-robin",
    "self-play",
    "round_robin",
    "gauntlet",
    "between",
    "pairs",
    "self_play",
    "pentago",
    "tic-tac-toe",
    "nim",
    "heaps",
    "misere",
    "win_before_rotation",
    "score",
    "time",
    "moves",
    "a",
    "b",
    "c",
    "x",
    "y",
    "$x",
    "$y",
    "$x.a",
    "$x.b",
    "$",
    "$.",
    "a(depth=1)",
    "openings.txt",
    "10ms",
    "1.5s",
    "0us",
    "10m",
    "....x....",
    "",
];

/// Scalars, awkward ones among them. No large number of games or plies that would be drawn.
const SCALARS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "10",
    "-1",
    "-2",
    "0.5",
    "1.0",
    "-0.0",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "true",
    "false",
    "2014-01-01",
    "\"\"",
    "'''x'''",
    "\"\\u0000\"",
    "\"ä\"",
    "0x10",
    "1_000",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(WORDS).prop_map(ToOwned::to_owned), 1 => "[a-c$.() =\"\\\\#]{0,4}"]
}

fn quoted(text: &str) -> String {
    // Rust escapes like TOML, but for these.
    format!("{text:?}").replace("\\'", "'").replace("\\0", "\\u0000")
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => word().prop_map(|word| quoted(&word)),
        3 => select(SCALARS).prop_map(ToOwned::to_owned),
        1 => (1..6_i64).prop_map(|number| number.to_string()),
    ]
}

fn list(items: &[String]) -> String {
    format!("[{}]", items.join(", "))
}

fn inline_table(entries: &[(String, String)]) -> String {
    // Keys once, most of the time: or nothing but that would be found.
    let entries: BTreeMap<_, _> = entries.iter().cloned().collect();
    let entries = entries.iter().map(|(key, value)| format!("{} = {value}", quoted(key)));
    format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
}

/// Any value of TOML, with the language's words in it.
fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| list(&items)),
            prop::collection::vec((word(), inner), 0..4).prop_map(|items| inline_table(&items)),
        ]
    })
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (-4..20_i64).prop_map(|number| number.to_string()),
        select(&["0.1", "0.5", "1.5", "\"10ms\"", "\"1s\"", "1e9", "1e-9", "9007199254740993"][..])
            .prop_map(ToOwned::to_owned),
    ]
}

fn range() -> impl Strategy<Value = String> {
    let step = select(&["step", "factor", "count"][..]);
    let scale = select(&["", ", scale = \"log\"", ", scale = \"linear\""][..]);
    (number(), number(), step, number(), scale).prop_map(|(from, to, by, step, scale)| {
        format!("{{ from = {from}, to = {to}, {by} = {step}{scale} }}")
    })
}

/// What may stand for a value of a player: mostly what is meant there.
fn parameter() -> impl Strategy<Value = (String, String)> {
    let depth = prop_oneof![Just("\"$x\"".to_owned()), number()];
    prop_oneof![
        4 => depth.prop_map(|depth| ("depth".to_owned(), depth)),
        1 => Just(("nodes".to_owned(), "100".to_owned())),
        1 => Just(("move_time".to_owned(), "\"$y\"".to_owned())),
        2 => select(&["a", "b", "c", "d"][..]).prop_map(|like| ("like".to_owned(), quoted(like))),
        2 => select(&["\"$x\"", "\"$y\"", "[\"$x\", \"$y\"]"][..])
            .prop_map(|axis| ("use".to_owned(), axis.to_owned())),
        3 => prop_oneof![
            prop::collection::vec(number(), 1..5).prop_map(|items| list(&items)), range(),
        ]
        .prop_map(|values| ("vary".to_owned(), format!("{{ depth = {values} }}"))),
        1 => (word(), value()),
    ]
}

/// A player, as often as not one that plays.
fn player() -> impl Strategy<Value = Vec<(String, String)>> {
    let entries = |entries: &[(&str, &str)]| -> Vec<(String, String)> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let searches = select(&["1", "2", "\"$x\"", "\"$y\""][..]).prop_map(move |depth| {
        entries(&[("algorithm", "\"alpha-beta\""), ("depth", depth), ("nodes", "\"unlimited\"")])
    });
    let varies = select(&["depth = [1, 2]", "nodes = { from = 1, to = 9, count = 3 }"][..])
        .prop_map(move |vary| {
            let vary = format!("{{ {vary} }}");
            entries(&[("algorithm", "\"minimax\""), ("vary", &vary)])
        });
    let algorithm = select(
        &["\"alpha-beta\"", "\"minimax\"", "\"genetic-minimax\"", "\"random\"", "\"$x\"", "3"][..],
    );
    let anything =
        (prop::option::weighted(0.8, algorithm), prop::collection::vec(parameter(), 0..4))
            .prop_map(|(algorithm, mut parameters)| {
                parameters.extend(algorithm.map(|name| ("algorithm".to_owned(), name.to_owned())));
                parameters
            });
    prop_oneof![
        2 => Just(entries(&[("algorithm", "\"random\"")])),
        3 => searches,
        2 => varies,
        1 => Just(entries(&[("like", "\"a\"")])),
        3 => anything,
    ]
}

fn axis() -> impl Strategy<Value = String> {
    let values = select(&["[1, 2, 3]", "[1]", "{ from = 1, to = 3, step = 1 }"][..]);
    let table = prop_oneof![
        Just("{ a = 1, b = 2 }".to_owned()),
        Just("{ a = 3 }".to_owned()),
        Just("{ depth = 2 }".to_owned()),
        Just("{ selection = \"tournament\", tournament_size = 2 }".to_owned()),
        Just("{ selection = \"rank\" }".to_owned()),
    ];
    prop_oneof![
        6 => values.prop_map(ToOwned::to_owned),
        2 => prop::collection::vec(number(), 1..5).prop_map(|items| list(&items)),
        2 => range(),
        2 => prop::collection::vec(table, 1..4).prop_map(|items| list(&items)),
        1 => value(),
    ]
}

fn pairing() -> impl Strategy<Value = String> {
    let name = select(&["a", "b", "c", "a(depth=1)", "d"][..]).prop_map(quoted);
    let names = prop::collection::vec(name, 1..4);
    let form = select(&["round_robin", "gauntlet", "between", "pairs"][..]);
    let self_play = select(&["", ", self_play = true", ", self_play = 1"][..]);
    prop_oneof![
        2 => select(&["\"round-robin\"", "\"self-play\""][..]).prop_map(ToOwned::to_owned),
        4 => (form, names, self_play).prop_map(|(form, names, self_play)| {
            let names = if form == "pairs" { list(&[list(&names)]) } else { list(&names) };
            format!("{{ {form} = {names}{self_play} }}")
        }),
        1 => value(),
    ]
}

/// Keys of the file that are not tables under headers.
fn head() -> impl Strategy<Value = (String, String)> {
    let openings = prop_oneof![
        Just("{ kind = \"random\", plies = 1 }".to_owned()),
        Just("{ kind = \"all\", plies = \"$x\" }".to_owned()),
        Just("{ kind = \"listed\", file = \"openings.txt\" }".to_owned()),
        Just("{ kind = \"listed\", file = \"$y\" }".to_owned()),
        Just("{ kind = \"book\", file = \"openings.txt\" }".to_owned()),
        Just("{ kind = \"ending\", ending = \"KRK\", distance = [1, 3] }".to_owned()),
        Just("{ kind = \"ending\", ending = \"$y\", to_move = \"black\" }".to_owned()),
        Just("{ kind = \"book\", file = \"$y\", plies = \"$x\", order = \"drawn\" }".to_owned()),
        Just("[\"....x....\", \"$x\"]".to_owned()),
        value(),
    ];
    let sample = (select(&["\"random\"", "\"latin-hypercube\""][..]), number())
        .prop_map(|(method, points)| format!("{{ method = {method}, points = {points} }}"));
    let names = || select(&["[\"b\"]", "[\"a\", \"b\"]", "\"b\""][..]).prop_map(ToOwned::to_owned);
    let keyed = |key: &'static str| move |value: String| (key.to_owned(), value);
    prop_oneof![
        3 => openings.prop_map(keyed("openings")),
        3 => pairing().prop_map(keyed("pairing")),
        2 => names().prop_map(keyed("anchors")),
        2 => sample.prop_map(keyed("sample")),
        1 => select(&["\"10m\"", "\"unlimited\"", "3"][..])
            .prop_map(|timeout| ("game_timeout".to_owned(), timeout.to_owned())),
        1 => select(&["{ disturbed_above = 0.1 }", "{ disturbed_above = 2 }", "{}"][..])
            .prop_map(|timing| ("timing".to_owned(), timing.to_owned())),
        1 => select(&["{ require = [\"site=a\"] }", "{ prefer = [\"gpu\"] }", "{ require = [\"=\"] }"][..])
            .prop_map(|placement| ("placement".to_owned(), placement.to_owned())),
        1 => select(&["{ precision = 0.03 }", "{ precision = 1 }", "0.03"][..])
            .prop_map(|stop| ("stop".to_owned(), stop.to_owned())),
        1 => (word(), value()),
    ]
}

fn an_override() -> impl Strategy<Value = String> {
    let key = select(&["x", "y", "player", "opponent", "z"][..]);
    let matched =
        prop_oneof![number(), Just("\"a\"".to_owned()), Just("{ a = 1 }".to_owned()), value()];
    let wheres = prop::collection::vec((key.prop_map(ToOwned::to_owned), matched), 0..3);
    let effect = select(&["games = 4", "games = 3", "skip = true", "skip = false", ""][..]);
    (wheres, effect).prop_map(|(wheres, effect)| {
        format!("[[override]]\nwhere = {}\n{effect}\n", inline_table(&wheres))
    })
}

/// A course of experiments, as often as not one that runs.
fn course() -> impl Strategy<Value = String> {
    let player = select(&["a", "a", "b", "c", "x"][..]);
    let parameter = select(&["depth", "nodes", "nodes", "move_time", "algorithm", "like"][..]);
    let range = prop_oneof![Just((1.to_string(), 9.to_string())), (number(), number())];
    let more = select(&["", "steps = 2\n", "at_once = 3\n", "vary = { depth = [1, 2] }\n"][..]);
    let find = (player.clone(), parameter.clone(), range.clone(), more).prop_map(
        |(player, parameter, (from, to), more)| {
            format!(
                "[find]\nplayer = {player:?}\nparameter = {parameter:?}\nfrom = {from}\nto = {to}\n{more}"
            )
        },
    );
    let tuned = prop_oneof![
        4 => range.prop_map(|(from, to)| format!("{{ from = {from}, to = {to} }}")),
        1 => value(),
        1 => select(&["{ choices = [\"a\", 1] }", "{ choices = [] }", "{}", "{ start = 2 }"][..])
            .prop_map(ToOwned::to_owned),
    ];
    let more = select(&["", "steps = 2\n", "method = \"cma-es\"\n", "step = 1\n"][..]);
    let confirm = select(&["", "", "confirm = 3\n", "confirm = 0\n"][..]);
    let tune =
        (player, parameter, tuned, more, confirm).prop_map(|(player, parameter, tuned, more, confirm)| {
            format!("[tune]\nplayer = {player:?}\n{more}{confirm}parameters = {{ {parameter} = {tuned} }}\n")
        });
    let more = select(
        &["", "rounds = 0\n", "rounds = 3\nwithin = 0.2\n", "players = [\"a\", \"x\"]\n"][..],
    );
    let race = more.prop_map(|more| format!("[race]\n{more}"));
    prop_oneof![find, tune, race]
}

/// So many things at most, but most of the time none.
fn often_empty<S>(element: S, most: usize) -> impl Strategy<Value = Vec<S::Value>>
where
    S: Strategy + 'static,
    S::Value: 'static,
{
    prop_oneof![
        2 => Just(()).prop_map(|()| Vec::new()),
        1 => prop::collection::vec(element, 1..most),
    ]
}

/// A sweep that has the shape of one.
fn sweep() -> impl Strategy<Value = String> {
    let game = select(
        &[
            "\"tic-tac-toe\"",
            "\"tic-tac-toe\"",
            "\"pentago\"",
            "\"chess\"",
            "{ name = \"nim\", heaps = [\"$x\", 2] }",
        ][..],
    );
    let games = select(&["2", "2", "4", "4", "10", "10", "3", "9007199254740992"][..]);
    (
        (game, games, often_empty(head(), 4)),
        often_empty(axis(), 3),
        prop::collection::vec(player(), 1..4),
        often_empty(an_override(), 2),
        prop::option::weighted(0.2, course()),
    )
        .prop_map(|((game, games, head), axes, players, overrides, course)| {
            let mut text = format!("name = \"f\"\ngame = {game}\ngames = {games}\n");
            let head: BTreeMap<_, _> = head.into_iter().collect();
            for (key, value) in head {
                if !["name", "game", "games", "axes", "players"].contains(&&*key) {
                    text.push_str(&format!("{} = {value}\n", quoted(&key)));
                }
            }
            if !axes.is_empty() {
                text.push_str("[axes]\n");
            }
            for (name, values) in ["x", "y", "z"].iter().zip(axes) {
                text.push_str(&format!("{name} = {values}\n"));
            }
            for (name, player) in ["a", "b", "c", "d"].iter().zip(players) {
                text.push_str(&format!("[players.{name}]\n"));
                let player: BTreeMap<_, _> = player.into_iter().collect();
                for (key, value) in player {
                    text.push_str(&format!("{} = {value}\n", quoted(&key)));
                }
            }
            text + &overrides.concat() + &course.unwrap_or_default()
        })
}

/// A change of a text, by bytes or by words.
#[derive(Clone, Debug)]
enum Mutation {
    Insert(Index, String),
    Remove(Index, usize),
    Copy(Index, Index, usize),
    SwapLines(Index, Index),
    RepeatLine(Index),
    ReplaceValue(Index, String),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let any_text = prop_oneof![
        3 => word(), 2 => value(), 1 => "\\PC{0,3}", 1 => select(&["\0", "\r", "\n", "[", "]]", "{", "\"", "'''", "=", "."][..]).prop_map(ToOwned::to_owned),
    ];
    prop_oneof![
        (any::<Index>(), any_text).prop_map(|(at, text)| Mutation::Insert(at, text)),
        (any::<Index>(), 1..40_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<Index>(), any::<Index>(), 1..60_usize)
            .prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::SwapLines(a, b)),
        any::<Index>().prop_map(Mutation::RepeatLine),
        (any::<Index>(), prop_oneof![scalar(), value(), range(), axis(), pairing()])
            .prop_map(|(line, value)| Mutation::ReplaceValue(line, value)),
    ]
}

impl Mutation {
    fn apply(&self, text: &str) -> String {
        let boundary = |at: usize| text.floor_char_boundary(at);
        let piece = |at: &Index, length: usize| {
            let start = boundary(at.index(text.len() + 1));
            start..boundary((start + length).min(text.len()))
        };
        let mut lines: Vec<&str> = text.split('\n').collect();
        match self {
            Self::Insert(at, more) => {
                let at = boundary(at.index(text.len() + 1));
                format!("{}{more}{}", &text[..at], &text[at..])
            }
            Self::Remove(at, length) => {
                let gone = piece(at, *length);
                format!("{}{}", &text[..gone.start], &text[gone.end..])
            }
            Self::Copy(from, to, length) => {
                let to = boundary(to.index(text.len() + 1));
                format!("{}{}{}", &text[..to], &text[piece(from, *length)], &text[to..])
            }
            Self::SwapLines(a, b) => {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
                lines.join("\n")
            }
            Self::RepeatLine(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at]);
                lines.join("\n")
            }
            Self::ReplaceValue(at, value) => {
                let values: Vec<usize> =
                    (0..lines.len()).filter(|&line| lines[line].contains(" = ")).collect();
                let Some(&line) = (!values.is_empty()).then(|| at.get(&values)) else {
                    return text.to_owned();
                };
                let key = lines[line].split(" = ").next().unwrap_or_default();
                let replaced = format!("{key} = {value}");
                lines[line] = &replaced;
                lines.join("\n")
            }
        }
    }
}

/// All sweeps of the project, but with few games: openings are drawn for all of them.
fn real_sweeps() -> Vec<String> {
    let of_the_reference = examples().into_iter().map(|example| example.sweep.text);
    example_sweeps().into_iter().map(|(_, text)| text).chain(of_the_reference).collect()
}

fn with_file(text: String, positions: String) -> SweepText {
    let files = [("openings.txt".to_owned(), positions)].into();
    SweepText { files, ..SweepText::new("fuzz.toml", text) }
}

fn positions() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => "[xo.]{9}", 1 => "[xo.# ]{0,10}", 1 => "\\PC{0,5}", 1 => "[0-9]{1,2}(,[0-9]{1,2}){0,2}/[wb]",
    ];
    prop::collection::vec(line, 0..4).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn mutated_sweeps_are_planned_or_refused(
        sweep in select(real_sweeps()),
        mutations in prop::collection::vec(mutation(), 1..6),
        positions in positions(),
    ) {
        let text = mutations.iter().fold(sweep, |text, mutation| mutation.apply(&text));
        let _any = check(&with_file(text, positions));
    }

    #[test]
    fn made_up_sweeps_are_planned_or_refused(text in sweep(), positions in positions()) {
        let _any = check(&with_file(text, positions));
    }

    #[test]
    fn made_up_sweeps_may_be_mutated(
        text in sweep(),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let text = mutations.iter().fold(text, |text, mutation| mutation.apply(&text));
        let _any = check(&SweepText::new("fuzz.toml", text));
    }

    #[test]
    fn anything_is_planned_or_refused(text in "\\PC{0,200}") {
        let _any = check(&SweepText::new("fuzz.toml", text));
    }
}

/// The generator is of use only if it reaches both plans and errors.
#[test]
fn made_up_sweeps_reach_plans_and_errors() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let (mut planned, mut problems) = (0, std::collections::BTreeSet::new());
    for _ in 0..1200 {
        let text = sweep().new_tree(&mut runner).unwrap().current();
        match check(&with_file(text, "x........\n".to_owned())) {
            Ok(_) => planned += 1,
            Err(error) => {
                let words: Vec<_> = error.problem.split(['`', '"', '\'']).step_by(2).collect();
                problems.insert(words.concat());
            }
        }
    }
    let kinds = problems.len();
    assert!(planned >= 15 && kinds >= 40, "{planned} of 1200 were planned; {kinds}: {problems:#?}");
}

const SMALL: &str = "name = \"x\"\ngame = \"tic-tac-toe\"\ngames = 2\n";
const PLAYERS: &str = "[players.a]\nalgorithm = \"random\"\n[players.b]\nlike = \"a\"\n";

/// As deep as a text may be: planning goes down recursively, and must not run out of stack.
#[test]
fn deep_nesting_is_refused() {
    let deep = 100_000;
    let repeated = |piece: &str| piece.repeat(deep);
    for text in [
        format!("{SMALL}openings = {}{}\n{PLAYERS}", repeated("["), repeated("]")),
        format!("{SMALL}openings = {}\n{PLAYERS}", repeated("[")),
        format!("{SMALL}openings = {}1{}\n{PLAYERS}", repeated("{a="), repeated("}")),
        format!("{SMALL}openings = {}1{}\n{PLAYERS}", repeated("[{a="), repeated("}]")),
        format!("{SMALL}openings.{}a = 1\n{PLAYERS}", repeated("a.")),
        format!("{SMALL}{PLAYERS}[openings.{}a]\n", repeated("a.")),
        format!("{SMALL}{PLAYERS}[[openings.{}a]]\n", repeated("a.")),
        format!("{SMALL}openings = {{ {}a = 1 }}\n{PLAYERS}", repeated("a.")),
        format!("{SMALL}{PLAYERS}[axes]\nx = [{}1{}]\n", repeated("["), repeated("]")),
    ] {
        assert!(check(&SweepText::new("deep.toml", text)).is_err());
    }
}

/// As long as a text may be.
#[test]
fn long_texts_are_planned_or_refused() {
    let long = 200_000;
    let repeated = |piece: &str| piece.repeat(long);
    for text in [
        format!("{SMALL}description = \"{}\"\n{PLAYERS}", repeated("ä")),
        format!("{SMALL}{} = 1\n{PLAYERS}", repeated("a")),
        format!("{SMALL}openings = [{}]\n{PLAYERS}", repeated("\"\", ")),
        format!("{SMALL}pairing = {{ pairs = [{}] }}\n{PLAYERS}", repeated("[\"a\",")),
        format!("{SMALL}pairing = {{ gauntlet = [{}] }}\n{PLAYERS}", repeated("\"a\", ")),
        format!("{SMALL}anchors = [{}]\n{PLAYERS}", repeated("\"b\", ")),
        format!("{SMALL}{PLAYERS}[axes]\nx = [{}]\n", repeated("1, ")),
        format!("{SMALL}{PLAYERS}[axes]\nx = [{}]\n", repeated("{}, ")),
        format!("{SMALL}{PLAYERS}use = [{}]\n", repeated("\"$x\",")),
        repeated("[[override]]\n"),
        repeated("\n"),
    ] {
        let _any = check(&SweepText::new("long.toml", text));
    }
    let players: String = (0..20_000).map(|number| format!("[players.p{number}]\n")).collect();
    let is_refused = |text| check(&SweepText::new("long.toml", text)).is_err();
    assert!(is_refused(format!("{SMALL}{players}")));
    let axes: String = (0..20_000).map(|number| format!("x{number} = [1, 2]\n")).collect();
    assert!(is_refused(format!("{SMALL}{PLAYERS}[axes]\n{axes}")));
    let like = |number| format!("[players.p{number}]\nlike = \"p{}\"\n", number + 1);
    assert!(is_refused(format!("{SMALL}{}", (0..256).map(like).collect::<String>())));
}
