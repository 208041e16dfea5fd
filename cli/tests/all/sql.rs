//! The rows of a query as a plot.

use crate::sandbox::Sandbox;

/// A database of two games, for queries that need none of it.
fn any_database() -> Sandbox {
    let sandbox = Sandbox::new();
    let sweep = "name = \"x\"\ngame = \"tic-tac-toe\"\ngames = 2\n\
        [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"random\"\n";
    sandbox.write("sweep.toml", sweep);
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    sandbox
}

/// What is drawn of these rows: how many lines there are, and points, and ends of intervals.
fn drawn(sandbox: &Sandbox, rows: &str) -> (usize, usize, usize) {
    let statement = format!("SELECT * FROM (VALUES {rows})");
    let args = ["sql", "--db", "x.db", "--format", "svg", "--output", "drawn.svg", &statement];
    sandbox.run(&args).expect_exit(0);
    let svg = std::fs::read_to_string(sandbox.path("drawn.svg")).unwrap();
    let plot = svg.rsplit_once("<g transform").unwrap().1;
    let count = |class: &str| plot.matches(&format!("class=\"{class} s")).count();
    // Markers of a line are one element.
    let markers = plot.split("class=\"marker s").skip(1);
    let points = markers.map(|part| part.split("/>").next().unwrap().matches('M').count()).sum();
    (count("line"), points, count("whisker"))
}

#[test]
fn rows_are_drawn_as_lines_with_or_without_intervals() {
    let sandbox = any_database();
    assert_eq!(drawn(&sandbox, "(1, 2), (2, 3), (3, 1.5)"), (1, 3, 0));
    assert_eq!(drawn(&sandbox, "('a', 1, 2), ('b', 1, 3), ('a', 2, 4), ('b', 2, 5)"), (2, 4, 0));
    assert_eq!(drawn(&sandbox, "(1, 2, 1, 3), (2, 3, 2, NULL)"), (1, 2, 1));
    assert_eq!(drawn(&sandbox, "('a', 1, 2, 1, 3), ('b', 2, 3, 2, 4)"), (0, 2, 2));
    // Names in place of numbers, a point of which nothing is known, and numbers that are far apart.
    assert_eq!(drawn(&sandbox, "('krk', 2), ('kbnk', NULL), ('kqk', 1)"), (1, 2, 0));
    assert_eq!(drawn(&sandbox, "(1, -2e9), (1e12, 3e-9), (1e6, 0)"), (1, 3, 0));
    let many: Vec<String> = (0..2_000).map(|at| format!("({at}, {})", at % 7)).collect();
    assert_eq!(drawn(&sandbox, &many.join(", ")), (1, 2_000, 0));
}

/// Numbers at even steps have round ones beside their axis, and those in even ratios stand as far from each other.
#[test]
fn an_axis_follows_its_numbers() {
    let sandbox = any_database();
    let below = |numbers: &[u32]| {
        let rows: Vec<String> = numbers.iter().map(|number| format!("({number}, 1)")).collect();
        drawn(&sandbox, &rows.join(", "));
        let svg = std::fs::read_to_string(sandbox.path("drawn.svg")).unwrap();
        let texts =
            svg.split("<text ").skip(1).filter_map(|part| part.split_once('>')?.1.split_once('<'));
        let texts: Vec<String> = texts.map(|(text, _)| text.trim().to_owned()).collect();
        numbers.iter().filter(|number| texts.contains(&number.to_string())).count()
    };
    assert_eq!(below(&[2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32]), 1, "10, 20 and 30");
    assert_eq!(below(&[1, 10, 100, 1_000, 10_000, 100_000]), 6);
    assert_eq!(below(&[1, 2, 3]), 3);
}

#[test]
fn what_cannot_be_drawn_says_why_and_leaves_no_file() {
    let sandbox = any_database();
    let refused = |rows: &str| {
        let statement = format!("SELECT * FROM ({rows})");
        let ran = sandbox
            .run(&["sql", "--db", "x.db", "--format", "svg", "--output", "none.svg", &statement]);
        ran.expect_exit(3);
        assert!(!sandbox.path("none.svg").exists(), "{rows}");
        ran.stderr().to_owned()
    };
    let all = [
        refused("VALUES (1)"),
        refused("VALUES (1, 2, 3, 4, 5, 6)"),
        refused("VALUES (1, 'two')"),
        refused("SELECT 1, 2 WHERE 0"),
        refused("VALUES (1, NULL)"),
        refused(
            "VALUES ('a',1,1), ('b',1,1), ('c',1,1), ('d',1,1), ('e',1,1), ('f',1,1), ('g',1,1)",
        ),
        refused(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) SELECT i, i FROM n",
        ),
    ];
    insta::assert_snapshot!(all.join("\n"));
}
