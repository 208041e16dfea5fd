//! Reports in the forms that people and programs take elsewhere.

use serde_json::Value;

use crate::sandbox::{Sandbox, tic_tac_toe};

/// Ten lines at most: what tells one form from another.
fn beginning(text: &str) -> String {
    text.lines().take(10).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_report_has_every_form_through_both_doors() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small_one", 4));
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = &*coordinator.url;
    for form in ["text", "markdown", "latex", "html", "csv", "json"] {
        let from_file = sandbox.run(&["report", "--db", "c.db", "--format", form]);
        from_file.expect_exit(0);
        let from_coordinator =
            sandbox.run(&["report", "--coordinator", url, "--format", form, "--output", "out"]);
        from_coordinator.expect_exit(0);
        assert_eq!(from_coordinator.stdout(), "");
        assert_eq!(std::fs::read_to_string(sandbox.path("out")).unwrap(), from_file.stdout());
        assert!(!sandbox.path("out.partial").exists());
        let phases = |more: &[&str]| {
            let ran = sandbox.run(&[&["report", "--phases", "--format", form], more].concat());
            ran.expect_exit(0);
            ran.stdout().to_owned()
        };
        assert_eq!(phases(&["--db", "c.db"]), phases(&["--coordinator", url]));
        if !["json", "text", "html"].contains(&form) {
            insta::assert_snapshot!(form, beginning(from_file.stdout()));
        }
    }
}

/// `report first.db`, `report first.toml`, and `report` beside one database; several are listed.
#[test]
fn results_are_found_without_options() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let failed = sandbox.run(&["report"]);
    let failure = failed.expect_exit(2).stderr();
    assert!(failure.contains("no database is in this directory"), "{failure}");
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let by_option = sandbox.run(&["report", "--db", "small.db"]);
    for words in [&["report"][..], &["report", "small.db"], &["report", "sweep.toml"]] {
        let found = sandbox.run(words);
        assert_eq!(found.expect_exit(0).stdout(), by_option.stdout(), "{words:?}");
        let is_said = found.stderr().contains("note: results are read from small.db");
        assert_eq!(is_said, words.len() == 1, "{}", found.stderr());
    }
    for words in [["check", "small.db"], ["games", "small.db"], ["verify", "small.db"]] {
        sandbox.run(&words).expect_exit(0);
    }
    sandbox.run(&["check"]).expect_exit(2);

    sandbox.run(&["run", "sweep.toml", "--db", "other.db"]).expect_exit(0);
    let several = sandbox.run(&["status"]);
    let failure = several.expect_exit(2).stderr();
    assert!(
        failure.contains("several databases in this directory: other.db, small.db"),
        "{failure}"
    );
    sandbox.write("bare.toml", "game = \"chess\"\n");
    let bare = sandbox.run(&["report", "bare.toml"]);
    assert!(bare.expect_exit(3).stderr().contains("the file has no `name`"), "{}", bare.stderr());
    // A name that is no file is an experiment's.
    sandbox.run(&["report", "none.db", "--db", "small.db"]).expect_exit(3);
}

/// Two axes and two seeds: gains, effects and replicates.
#[test]
fn comparisons_have_every_form_through_both_doors() {
    let sandbox = Sandbox::new();
    let sweep = tic_tac_toe("small_one", 6)
        .replace("seed = 7", "seed = \"$seed\"")
        .replace("depth = [1, 2]", "seed = [1, 2]\ndepth = [1, 2]\nnodes = [30, 300]")
        + "nodes = \"$nodes\"\n";
    sandbox.write("sweep.toml", &sweep);
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = &*coordinator.url;
    let through_both = |arguments: &[&str]| {
        let from_file = sandbox.run(&[&["report", "--db", "c.db"], arguments].concat());
        from_file.expect_exit(0);
        let over_the_network = [&["report", "--coordinator", url], arguments].concat();
        let from_coordinator = sandbox.run(&over_the_network);
        from_coordinator.expect_exit(0);
        assert_eq!(from_coordinator.stdout(), from_file.stdout());
        from_file.stdout().to_owned()
    };
    insta::assert_snapshot!("compared", through_both(&["--compare"]));
    let markdown = through_both(&["--compare", "--format", "markdown"]);
    assert!(markdown.contains("| nodes "), "{markdown}");
    through_both(&["--compare", "--format", "latex"]);
    let json = through_both(&["--compare", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let comparisons = &json["comparisons"];
    let effects = comparisons["effects"].as_array().unwrap();
    for (table, rows) in [
        ("gains", comparisons["gains"].as_array().unwrap()),
        ("effects", effects),
        ("replicates", comparisons["replicates"].as_array().unwrap()),
    ] {
        let csv = through_both(&["--format", "csv", "--table", table]);
        assert!(!rows.is_empty());
        assert_eq!(csv.lines().count(), rows.len() + 1, "{table}: {csv}");
    }
    // Four cells a seed, at neighbours on two axes; each main effect and the interaction.
    assert_eq!(comparisons["gains"].as_array().unwrap().len(), 8);
    assert_eq!(effects.len(), 3);
}

/// What was not recorded is not told.
#[test]
fn phases_need_moves() {
    let sandbox = Sandbox::new();
    let games_only =
        tic_tac_toe("games_only", 4).replacen("games = 4", "games = 4\nrecord = \"games\"", 1);
    sandbox.write("sweep.toml", &games_only);
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let ran = sandbox.run(&["report", "--db", "games_only.db", "--phases"]);
    ran.expect_exit(3);
    insta::assert_snapshot!(ran.stderr());
}

#[test]
fn tables_are_had_one_at_a_time() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let report = |more: &[&str]| {
        let ran = sandbox.run(&[&["report", "--db", "small.db"], more].concat());
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    let json: Value = serde_json::from_str(&report(&["--json"])).unwrap();
    let ratings: Value = serde_json::from_str(&report(&["--json", "--ratings"])).unwrap();
    let ratings = ratings["ratings"].as_array().unwrap();
    let phases: Value = serde_json::from_str(&report(&["--json", "--phases"])).unwrap();
    let of_groups = |name: &str| {
        ratings.iter().map(|group| group[name].as_array().unwrap().len()).sum::<usize>()
    };
    for (table, rows) in [
        ("cells", json["cells"].as_array().unwrap().len()),
        ("moves", json["moves"].as_array().unwrap().len()),
        ("depths", json["depths"].as_array().unwrap().len()),
        ("ratings", of_groups("players")),
        ("differences", of_groups("differences")),
        ("meetings", of_groups("meetings")),
        ("phases", phases["phases"]["times"].as_array().unwrap().len()),
        ("lengths", json["lengths"].as_array().unwrap().len()),
        ("terminations", json["terminations"].as_array().unwrap().len()),
        ("workers", json["workers"].as_array().unwrap().len()),
        ("standardised", phases["phases"]["standardised"].as_array().unwrap().len()),
    ] {
        let csv = report(&["--format", "csv", "--table", table]);
        assert_eq!(csv.lines().count(), rows + 1, "{table}: {csv}");
        // What is between quotes is one field, whatever is in it.
        let columns = |line: &str| {
            line.split('"').step_by(2).flat_map(|outside| outside.matches(',')).count()
        };
        assert!(csv.lines().all(|line| columns(line) == columns(csv.lines().next().unwrap())));
        let latex = report(&["--format", "latex", "--table", table]);
        assert!(latex.contains(r"\toprule"), "{table}: {latex}");
    }
    let nothing = report(&["--table", "failures"]);
    assert!(nothing.contains("there is nothing to show"), "{nothing}");
    // The names and the digits of JSON.
    let csv = report(&["--format", "csv"]);
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let headings = lines.next().unwrap();
    for (line, cell) in lines.zip(json["cells"].as_array().unwrap()) {
        let field = |name| line[headings.iter().position(|heading| *heading == name).unwrap()];
        assert_eq!(field("depth"), cell["axes"][0].as_str().unwrap());
        assert_eq!(field("score_low"), cell["score_low"].to_string());
        assert_eq!(field("player"), cell["player"].as_str().unwrap());
        assert_eq!(field("pairs_1_half"), cell["pairs"][3].to_string());
    }
    sandbox
        .run(&["report", "--db", "small.db", "--format", "json", "--table", "cells"])
        .expect_exit(2);
    sandbox.run(&["report", "--db", "small.db", "--json", "--format", "csv"]).expect_exit(2);
}

/// One file to hand on, also before there is anything to plot.
#[test]
fn a_page_is_written_as_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = &*coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let page = |arguments: &[&str]| {
        let ran = sandbox.run(&[&["report", "--html", "page.html"], arguments].concat());
        ran.expect_exit(0);
        assert_eq!(ran.stdout(), "");
        std::fs::read_to_string(sandbox.path("page.html")).unwrap()
    };
    let nothing = page(&["--coordinator", url]);
    assert!(nothing.contains("No game has been played yet"), "{nothing}");
    assert!(!nothing.contains("<svg"), "{nothing}");
    sandbox.run(&["run", "sweep.toml", "--db", "played.db"]).expect_exit(0);
    let played = page(&["--db", "played.db"]);
    let printed = sandbox.run(&["report", "--db", "played.db", "--format", "html"]);
    assert_eq!(played, printed.stdout());
    for figure in ["Score by depth", "Wins, draws and losses by depth", "Time per move by depth"] {
        assert!(played.contains(&format!("<figcaption>{figure}</figcaption>")), "{figure}");
    }
    let one_table = page(&["--db", "played.db", "--table", "moves"]);
    assert!(!one_table.contains("<figure>") && one_table.contains("What a move costs"));
    for more in [&["--json"][..], &["--format", "csv"], &["--output", "other.html"]] {
        let arguments = [&["report", "--db", "played.db", "--html", "page.html"], more].concat();
        sandbox.run(&arguments).expect_exit(2);
    }
}

/// The plots of the page, each whole or not there.
#[test]
fn figures_are_files_of_their_own() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = &*coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let nothing = sandbox.run(&["report", "--coordinator", url, "--figures", "none"]);
    nothing.expect_exit(3);
    assert!(nothing.stderr().contains("no game has been played yet"), "{}", nothing.stderr());
    assert!(!sandbox.path("none").exists());

    sandbox.run(&["run", "sweep.toml", "--db", "played.db"]).expect_exit(0);
    let drawn = |more: &[&str]| {
        let ran = sandbox.run(&[&["report", "--db", "played.db", "--figures"], more].concat());
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    let names = drawn(&["made/figures"]);
    insta::assert_snapshot!(names, @"
    made/figures/score-by-depth.svg
    made/figures/wins-draws-and-losses-by-depth.svg
    made/figures/time-per-move-by-depth.svg
    made/figures/length-of-games-by-depth.svg
    made/figures/how-games-end-by-depth.svg
    ");
    let page = sandbox.run(&["report", "--db", "played.db", "--format", "html"]);
    // A page has each for wide windows and for phones.
    assert_eq!(page.stdout().matches("role=\"img\"").count(), 2 * names.lines().count());
    let read = || {
        let file = |name: &str| std::fs::read_to_string(sandbox.path(name)).unwrap();
        names.lines().map(file).collect::<Vec<_>>()
    };
    let first = read();
    let in_directory = std::fs::read_dir(sandbox.path("made/figures")).unwrap();
    assert_eq!(in_directory.count(), first.len());
    for name in names.lines() {
        sandbox.write(name, "another");
    }
    assert_eq!(drawn(&["made/figures"]), names);
    assert_eq!(read(), first);

    let served = sandbox.coordinator("played.db", "127.0.0.1:0");
    let asked = ["report", "--coordinator", &served.url, "--figures", "made/figures"];
    assert_eq!(sandbox.run(&asked).expect_exit(0).stdout(), names);
    assert_eq!(read(), first);
    assert!(drawn(&["deep", "--depths"]).contains("time-per-move-by-the-depth"));

    let two = sandbox.run(&["report", "--db", "played.db", "--compare", "--figures", "other"]);
    two.expect_exit(3);
    assert!(two.stderr().contains("nothing to plot in what is shown"), "{}", two.stderr());
    let four = tic_tac_toe("four", 20).replace("[1, 2]", "[1, 2, 3, 4]");
    sandbox.write("four.toml", &("monotone = \"depth\"\n".to_owned() + &four));
    sandbox.run(&["run", "four.toml", "--db", "four.db"]).expect_exit(0);
    let curves = sandbox.run(&["report", "--db", "four.db", "--compare", "--figures", "curves"]);
    assert_eq!(curves.expect_exit(0).stdout(), "curves/score-as-a-curve-along-depth.svg\n");
    let svg = std::fs::read_to_string(sandbox.path("curves/score-as-a-curve-along-depth.svg"));
    assert!(svg.unwrap().contains("class=\"band p0\""));

    let taken = sandbox.run(&["report", "--db", "played.db", "--figures", "sweep.toml"]);
    taken.expect_exit(3);
    assert!(taken.stderr().contains("write figures into sweep.toml"), "{}", taken.stderr());
    for more in [
        &["--json"][..],
        &["--format", "html"],
        &["--html", "page.html"],
        &["--output", "page.html"],
        &["--table", "cells"],
        &["--phases"],
    ] {
        let figures = ["report", "--db", "played.db", "--figures", "other"];
        sandbox.run(&[&figures[..], more].concat()).expect_exit(2);
    }
    assert!(!sandbox.path("other").exists());
}

/// The same players under other conditions; what has no counterpart is listed.
#[test]
fn two_experiments_are_shown_side_by_side_through_both_doors() {
    let sandbox = Sandbox::new();
    sandbox.write("before.toml", &tic_tac_toe("before", 20));
    let after =
        tic_tac_toe("after", 40).replace("seed = 7", "seed = 8").replace("[1, 2]", "[2, 3]");
    sandbox.write("after.toml", &after);
    let apart = tic_tac_toe("apart", 2).replace("random]", "somebody]");
    sandbox.write("apart.toml", &apart);
    for name in ["before", "after", "apart"] {
        let sweep = format!("{name}.toml");
        sandbox.run(&["run", &sweep, "--db", "c.db"]).expect_exit(0);
    }
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let through_both = |arguments: &[&str]| {
        let asked = |source: [&str; 2]| {
            let ran = sandbox.run(&[&["report"], arguments, &source[..]].concat());
            ran.expect_exit(0).stdout().to_owned()
        };
        let from_file = asked(["--db", "c.db"]);
        assert_eq!(asked(["--coordinator", &coordinator.url]), from_file);
        from_file
    };
    let two = ["before", "--with", "after"];
    let json = through_both(&[&two[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let names: Vec<&Value> = json["experiments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|experiment| &experiment["experiment"])
        .collect();
    assert_eq!(names, ["before", "after"]);
    let [cell] = &json["cells"].as_array().unwrap()[..] else { panic!("one cell: {json}") };
    assert_eq!(
        (&cell["axes"][0], &cell["first_games"], &cell["second_games"]),
        (&"2".into(), &20.into(), &40.into())
    );
    let figure = |name: &str| cell[name].as_f64().unwrap();
    let difference = figure("first_score") - figure("second_score");
    assert!((figure("difference") - difference).abs() < 1e-12);
    assert!(figure("difference_low") <= difference && difference <= figure("difference_high"));
    assert_eq!(json["moves"].as_array().unwrap().len(), 2);
    let alone = json["unmatched"].as_array().unwrap();
    assert_eq!(
        (&alone[0]["axes"]["depth"], &alone[1]["axes"]["depth"]),
        (&"1".into(), &"3".into())
    );
    for form in ["text", "markdown", "latex", "html", "csv"] {
        let shown = through_both(&[&two[..], &["--format", form]].concat());
        assert!(shown.contains("before") && shown.contains("alphabeta"), "{form}: {shown}");
    }
    let text = through_both(&two);
    for part in [
        "before with after",
        "The two experiments",
        "Scores in both experiments",
        "Cost of a move in both experiments",
        "Cells without a counterpart",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (other, why) in [
        ("before", "they are the same experiment"),
        ("apart", "no cell of either has a counterpart"),
        ("nobody", "no experiment has this name"),
    ] {
        let ran = sandbox.run(&["report", "before", "--with", other, "--db", "c.db"]);
        ran.expect_exit(3);
        assert!(ran.stderr().contains(why), "{}", ran.stderr());
    }
}

#[test]
fn columns_axis_and_sizes_are_chosen() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    let report =
        |arguments: &[&str]| sandbox.run(&[&["report", "--db", "x.db"], arguments].concat());
    let cells = ["--table", "cells", "--columns"];
    let text = report(&[&cells[..], &["elo,depth"]].concat());
    let heading = text.expect_exit(0).stdout().lines().find(|line| line.contains("Elo")).unwrap();
    assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["Elo", "depth"]);
    let csv = report(&[&cells[..], &["player,score", "--format", "csv"]].concat());
    assert_eq!(csv.expect_exit(0).stdout().lines().next(), Some("player,score"));
    for format in ["text", "markdown", "latex", "html", "csv"] {
        let missing = report(&[&cells[..], &["nothing", "--format", format]].concat());
        let said = missing.expect_exit(3).stderr();
        assert!(
            said.contains("no column `nothing`") && said.contains("player, opponent"),
            "{said}"
        );
    }
    report(&["--columns", "elo"]).expect_exit(2);
    report(&["--landscape"]).expect_exit(2);
    report(&["--font-size", "8", "--format", "text"]).expect_exit(2);
    let latex = report(&["--format", "latex", "--landscape", "--font-size", "6"]);
    let latex = latex.expect_exit(0).stdout();
    assert!(latex.contains(r"\begin{sidewaystable}") && latex.contains(r"\fontsize{6}"), "{latex}");
    let figures = report(&["--figures", "plots", "--axis", "depth", "--figure-size", "600x300"]);
    figures.expect_exit(0);
    let svg = std::fs::read_to_string(sandbox.path("plots/score-by-depth.svg")).unwrap();
    assert!(svg.contains(r#"width="632""#) && svg.contains("alphabeta"), "{svg}");
    let missing = report(&["--figures", "plots", "--axis", "nothing"]);
    assert!(missing.expect_exit(3).stderr().contains("its axes are depth"), "{}", missing.stderr());
}
