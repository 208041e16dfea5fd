//! `spelrum tree`: the slides' trees in every form, the known counts, the page that shows them, and
//! what is refused.

use serde_json::Value;

use crate::sandbox::{Sandbox, root};

/// With this variable set, the page's examples and pictures are made anew.
const UPDATE: &str = "SPELRUM_UPDATE_DOCS";
const PAGE: &str = "docs/trees.md";

/// The slides' two examples.
const TIC_TAC_TOE: &[&str] =
    &["tic-tac-toe", "--depth", "2", "--evaluation", "open-lines", "--join", "symmetric"];
const NIM: &[&str] = &["nim", "--rule", "heaps=[3,2]", "--rule", "misere=true"];

fn tree(arguments: &[&[&str]]) -> String {
    let ran = Sandbox::new().run(&[&["tree"], arguments.concat().as_slice()].concat());
    ran.expect_exit(0);
    assert_eq!(ran.stderr(), "");
    ran.stdout().to_owned()
}

fn json(arguments: &[&[&str]]) -> Value {
    serde_json::from_str(&tree(&[&arguments.concat(), &["--json"]])).unwrap()
}

#[test]
fn the_slides_trees_are_drawn_as_text() {
    insta::assert_snapshot!("tic_tac_toe_minimax", tree(&[TIC_TAC_TOE]));
    insta::assert_snapshot!(
        "tic_tac_toe_alpha_beta",
        tree(&[TIC_TAC_TOE, &["--algorithm", "alpha-beta"]])
    );
    insta::assert_snapshot!("nim_joined", tree(&[NIM, &["--join", "equal"]]));
    insta::assert_snapshot!(
        "nim_one_bound",
        tree(&[NIM, &["--algorithm", "alpha-beta-one-bound", "--wins", "sooner"]])
    );
}

#[test]
fn the_slides_trees_are_drawn_for_graphviz() {
    let dot = tree(&[TIC_TAC_TOE, &["--algorithm", "alpha-beta", "--format", "dot"]]);
    insta::assert_snapshot!("tic_tac_toe_dot", dot);
}

/// A board, a value and a place in the order for every node, and nothing that would have to be fetched.
#[test]
fn a_picture_stands_by_itself() {
    for (arguments, nodes) in [
        (&[TIC_TAC_TOE, &["--algorithm", "alpha-beta"]][..], 12 + 4),
        (&[NIM], 86),
        (&[NIM, &["--join", "equal"]], 25),
        (&[&["pentago", "--depth", "1", "--join", "symmetric"]], 0),
        (&[&["connect-four", "--depth", "2", "--algorithm", "alpha-beta"]], 0),
    ] {
        let svg = tree(&[&arguments.concat(), &["--format", "svg"]]);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{svg}");
        assert!(svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("http").count(), 1, "nothing else is named");
        let frames = svg.matches("<rect class=\"frame").count();
        assert!(frames == nodes || nodes == 0 && frames > 5, "{frames} nodes: {arguments:?}");
        check_xml(&svg);
    }
}

/// Every element that is opened is closed, in the right order, and no text has a character that
/// means something else.
fn check_xml(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>') || open.last() == Some(&"style"), "{}", &rest[..at]);
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_game_is_drawn_in_every_form() {
    for game in ["pentago", "tic-tac-toe", "nim", "connect-four"] {
        for format in ["text", "svg", "dot"] {
            for algorithm in ["minimax", "alpha-beta", "alpha-beta-one-bound"] {
                let drawn = tree(&[&[
                    game,
                    "--depth",
                    "1",
                    "--join",
                    "equal",
                    "--format",
                    format,
                    "--algorithm",
                    algorithm,
                ]]);
                assert!(drawn.lines().count() > 10, "{drawn}");
            }
        }
    }
}

/// Pieces are letters, and a game in which history matters joins nothing.
#[test]
fn chess_is_drawn_in_every_form() {
    let position = ["chess", "--position", "7k/8/6K1/8/8/8/8/R7 w - - 0 1", "--depth", "1"];
    let text = tree(&[&position]);
    assert!(text.contains("· · · · · · K ·") && text.contains("R · · · · · · ·"), "{text}");
    let svg = tree(&[&position, &["--format", "svg"]]);
    assert!(svg.contains(">R · · · · · · ·</text>"), "{svg}");
    check_xml(&svg);
    let dot = tree(&[&position, &["--format", "dot"]]);
    assert!(dot.contains("R · · · · · · ·"), "{dot}");
}

/// The known counts, as they are told.
#[test]
fn counts_are_told_by_ply() {
    let visited = |algorithm: &str| -> u64 {
        let counted =
            json(&[&["tic-tac-toe", "--evaluation", "none", "--counts", "--algorithm", algorithm]]);
        assert_eq!(counted["score"], 0);
        assert!(counted.get("nodes").is_none());
        let plies = counted["plies"].as_array().unwrap();
        let nodes: Vec<u64> = plies.iter().map(|ply| ply["nodes"].as_u64().unwrap()).collect();
        assert_eq!(nodes[..4], [1, 9, 72, 504]);
        plies.iter().map(|ply| ply["visited"].as_u64().unwrap()).sum()
    };
    assert_eq!(visited("minimax"), 549_946);
    assert_eq!(visited("alpha-beta"), 18_297);
    assert_eq!(visited("alpha-beta-one-bound"), 29_257);
    assert_eq!(visited("alpha-beta-one-bound-misprint"), 3_513);
    insta::assert_snapshot!(
        "tic_tac_toe_counts",
        tree(&[&["tic-tac-toe", "--algorithm", "alpha-beta", "--counts"]])
    );
}

#[test]
fn nim_of_three_and_two_is_told_whole() {
    let nim = json(&[NIM]);
    assert_eq!(nim["nodes"].as_array().unwrap().len(), 86);
    let over = nim["nodes"].as_array().unwrap().iter().filter(|node| node["kind"] == "over");
    assert_eq!(over.count(), 37);
    assert_eq!(nim["best_line"][0], "a1");
    assert_eq!(nim["bound"], "exact");
}

#[test]
fn json_keys_are_stable() {
    let printed = tree(&[&["nim", "--rule", "heaps=[2,1]", "--algorithm", "alpha-beta", "--json"]]);
    insta::assert_snapshot!("json", printed);
}

#[test]
fn a_file_is_there_when_it_is_whole() {
    let sandbox = Sandbox::new();
    let arguments =
        ["tree", "nim", "--rule", "heaps=[1,1]", "--format", "svg", "--output", "a.svg"];
    let ran = sandbox.run(&arguments);
    ran.expect_exit(0);
    assert_eq!((ran.stdout(), ran.stderr()), ("", ""));
    let svg = std::fs::read_to_string(sandbox.path("a.svg")).unwrap();
    assert_eq!(svg, tree(&[&arguments[1..6]]));
    sandbox.run(&["tree", "nim", "--output", "none/a.svg", "--depth", "1"]).expect_exit(3);
    assert_eq!(std::fs::read_dir(sandbox.path("")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_drawn_says_what_to_do() {
    let failures: Vec<String> = [
        (3, &["tic-tac-toe"][..]),
        (3, &["pentago", "--depth", "2", "--algorithm", "alpha-beta"]),
        (3, &["pentago", "--depth", "4", "--counts"]),
        (3, &["tic-tac-toe", "--evaluation", "open-line"]),
        (3, &["tic-tac-toe", "--set", "weight_line1"]),
        (3, &["tic-tac-toe", "--position", "xxxoo...."]),
        (2, &["tic-tac-toe", "--counts", "--format", "svg"]),
        (2, &["tic-tac-toe", "--depth", "0"]),
        (2, &["tic-tac-toe", "--join", "some"]),
    ]
    .into_iter()
    .map(|(exit, arguments)| {
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&[&["tree"], arguments].concat());
        ran.expect_exit(exit);
        assert_eq!(ran.stdout(), "");
        format!("$ spelrum tree {}\n{}", arguments.join(" "), ran.stderr())
    })
    .collect();
    insta::assert_snapshot!("refusals", failures.join("\n"));
}

/// Its examples are run and its pictures drawn as they stand there.
#[test]
fn the_page_shows_what_happens() {
    let mut page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let update = std::env::var_os(UPDATE).is_some();
    let sandbox = Sandbox::new();
    let mut examples = 0;
    let mut at = 0;
    while let Some(begin) = page[at..].find("```console\n$ spelrum ") {
        let begin = at + begin + "```console\n$ ".len();
        let line_end = begin + page[begin..].find('\n').unwrap() + 1;
        let end = line_end + page[line_end..].find("```").unwrap();
        let command = page[begin..line_end - 1].to_owned();
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let ran = sandbox.run(&arguments);
        ran.expect_exit(0);
        if update {
            page.replace_range(line_end..end, ran.stdout());
        } else {
            assert_eq!(&page[line_end..end], ran.stdout(), "{command}");
        }
        at = line_end + ran.stdout().len();
        examples += 1;
        if let Some(output) = arguments.iter().position(|word| *word == "--output") {
            let name = arguments[output + 1];
            let drawn = std::fs::read_to_string(sandbox.path(name)).unwrap();
            let kept = root().join("docs/trees").join(name);
            assert!(page.contains(&format!("](trees/{name})")), "{name} is shown");
            if update {
                std::fs::write(kept, drawn).unwrap();
            } else {
                assert_eq!(std::fs::read_to_string(kept).unwrap(), drawn, "{name} is not current");
            }
        }
    }
    assert!(examples >= 4, "the page has examples: {examples}");
    if update {
        std::fs::write(root().join(PAGE), page).unwrap();
    }
}
