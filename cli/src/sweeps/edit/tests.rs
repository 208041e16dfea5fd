//! Edited texts, and errors of invalid edits.

use proptest::prelude::*;
use spelrum_sweep::plan_sweep;

use super::*;

const SWEEP: &str = r#"# What is asked.
name = "small" # a name

game = "nim"
games = 100 # per cell

[axes]
# How deep.
depth = [1, 2] # plies
time = { from = "10ms", to = "40ms", factor = 2 }

[players.ab] # alpha-beta
algorithm = "alpha-beta"
depth = "$depth"
move_time = "$time"

[players.random]
algorithm = "random"
"#;

fn edited(text: &str, settings: &[&str], quick: bool) -> Result<Edited, EditError> {
    let settings = settings.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    edit_sweep(&SweepText::new("small.toml", text), &Edits { settings, quick })
}

/// The added and the removed lines.
fn difference(settings: &[&str], quick: bool) -> Vec<String> {
    let after = edited(SWEEP, settings, quick).unwrap().sweep.text;
    let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>();
    let (before, after) = (lines(SWEEP), lines(&after));
    let gone = before.iter().filter(|line| !after.contains(line)).map(|line| format!("- {line}"));
    let came = after.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}"));
    gone.chain(came).collect()
}

#[test]
fn the_values_of_an_axis_are_set_whole() {
    let error = edited(SWEEP, &["depth.ab=700"], false).unwrap_err();
    assert_eq!(
        error.problem,
        "--set depth.ab=700: `depth` is an axis, and its values have no name"
    );
    assert_eq!(error.remedy, "set its values whole: --set 'depth=[{ ab = 700 }]'");
}

#[test]
fn values_are_replaced_where_they_stand() {
    for (setting, expected) in [
        ("games=20", &["- games = 100 # per cell", "+ games = 20 # per cell"][..]),
        ("name=tiny", &["- name = \"small\" # a name", "+ name = \"tiny\" # a name"]),
        ("description=two words, and a comma", &["+ description = \"two words, and a comma\""]),
        (
            "depth=1..3",
            &["- depth = [1, 2] # plies", "+ depth = { from = 1, to = 3, step = 1 } # plies"],
        ),
        (
            "depth = 3 .. -1",
            &["- depth = [1, 2] # plies", "+ depth = { from = 3, to = -1, step = -1 } # plies"],
        ),
        ("depth=1,2,5", &["- depth = [1, 2] # plies", "+ depth = [1, 2, 5] # plies"]),
        ("depth=4", &["- depth = [1, 2] # plies", "+ depth = [4] # plies"]),
        ("axes.depth=4", &["- depth = [1, 2] # plies", "+ depth = [4] # plies"]),
        ("depth=unlimited", &["- depth = [1, 2] # plies", "+ depth = [\"unlimited\"] # plies"]),
        (
            "depth=1, unlimited,0.5",
            &["- depth = [1, 2] # plies", "+ depth = [1, \"unlimited\", 0.5] # plies"],
        ),
        ("depth=\"a,b\",'c'", &["- depth = [1, 2] # plies", "+ depth = [\"a,b\", 'c'] # plies"]),
        (
            "time=10ms,20ms",
            &[
                "- time = { from = \"10ms\", to = \"40ms\", factor = 2 }",
                "+ time = [\"10ms\", \"20ms\"]",
            ],
        ),
        (
            "axes.time.to=80ms",
            &[
                "- time = { from = \"10ms\", to = \"40ms\", factor = 2 }",
                "+ time = { from = \"10ms\", to = \"80ms\", factor = 2 }",
            ],
        ),
        ("axes.width=1..2", &["+ width = { from = 1, to = 2, step = 1 }"]),
        ("players.ab.depth=3", &["- depth = \"$depth\"", "+ depth = 3"]),
        ("players.ab.depth=$time", &["- depth = \"$depth\"", "+ depth = \"$time\""]),
        ("players.\"ab\".iterative=true", &["+ iterative = true"]),
        ("players.ab.vary.nodes=1_000,2_000", &["+ vary = { nodes = [1_000, 2_000] }"]),
        (
            "game={ name = \"nim\", misere = true }",
            &["- game = \"nim\"", "+ game = { name = \"nim\", misere = true }"],
        ),
        ("openings.kind=start", &["+ openings = { kind = \"start\" }"]),
        ("anchors=random", &["+ anchors = [\"random\"]"]),
    ] {
        assert_eq!(difference(&[setting], false), expected, "{setting}");
    }
}

#[test]
fn the_name_says_what_was_changed() {
    let name = |settings: &[&str], quick| edited(SWEEP, settings, quick).unwrap().sweep.name;
    assert_eq!(name(&[], false), "small.toml");
    assert_eq!(name(&["depth=1..3"], false), "small.toml with --set depth=1..3");
    assert_eq!(
        name(&["depth=1..3", "games = 20"], true),
        "small.toml with --set depth=1..3 --set games = 20 --quick"
    );
    let error = plan_sweep(&edited(SWEEP, &["games=3"], false).unwrap().sweep).unwrap_err();
    assert_eq!(
        (error.line, &*error.problem),
        (Some(5), "games come in colour-swapped pairs: 3 is odd")
    );
}

#[test]
fn later_settings_see_what_earlier_ones_did() {
    let settings = ["axes.width=1..2", "width=7", "players.random.nodes=$width"];
    assert_eq!(difference(&settings, false), ["+ width = [7]", "+ nodes = \"$width\""]);
}

#[test]
fn tables_under_headers_are_replaced_whole() {
    let text = "games = 2\n[axes.depth]\nfrom = 1\nto = 3\nstep = 1\n\n[players.a]\nx = 1\n";
    let after = edited(text, &["depth=5"], false).unwrap().sweep.text;
    assert_eq!(after, "games = 2\n\n[axes]\ndepth = [5]\n\n[players.a]\nx = 1\n");
}

#[test]
fn a_tenth_is_whole_pairs() {
    for (games, expected) in
        [(2, 2), (10, 2), (20, 2), (22, 4), (50, 6), (100, 10), (110, 12), (1_000, 100), (7, 2)]
    {
        assert_eq!(tenth(games, 2), expected, "{games}");
    }
    assert_eq!(tenth(i64::MAX, 2) % 2, 0);
}

#[test]
fn quick_plays_a_tenth_of_every_number_of_games() {
    // Whole games where sides are fixed.
    let fixed = SWEEP.replacen("games", "swap_sides = false\ngames", 1);
    assert_eq!(edited(&fixed, &["games=25"], true).unwrap().quickened, [(25, 3)]);
    assert_eq!(difference(&[], true), ["- games = 100 # per cell", "+ games = 10 # per cell"]);
    assert_eq!(edited(SWEEP, &["games=400"], true).unwrap().quickened, [(400, 40)]);

    let overrides = "\n[[override]]\nwhere = { depth = 2 }\ngames = 400 # more\n\n\
                     [[override]]\nwhere = { depth = 1 }\nskip = true\n";
    let edited_overrides = edited(&format!("{SWEEP}{overrides}"), &[], true).unwrap();
    assert_eq!(edited_overrides.quickened, [(100, 10), (400, 40)]);
    assert!(edited_overrides.sweep.text.contains("\ngames = 40 # more\n"));

    let inline = "override = [{ where = { depth = 2 }, games = 30 }]\ngames = 10\n";
    let edited_inline = edited(inline, &[], true).unwrap();
    assert_eq!(edited_inline.quickened, [(10, 2), (30, 4)]);
    assert_eq!(
        edited_inline.sweep.text,
        "override = [{ where = { depth = 2 }, games = 4 }]\ngames = 2\n"
    );

    // Choices are single, whatever the sides.
    let choices = "kind = \"accuracy\"\nchoices = 305 # each\n";
    let edited_choices = edited(choices, &[], true).unwrap();
    assert_eq!(edited_choices.quickened, [(305, 31)]);
    assert_eq!(edited_choices.sweep.text, "kind = \"accuracy\"\nchoices = 31 # each\n");

    // No valid number to divide: planning reports the error.
    for text in ["games = \"many\"\n", "games = -4\n", "override = 3\n"] {
        let unchanged = edited(text, &[], true).unwrap();
        assert_eq!((&*unchanged.sweep.text, unchanged.quickened), (text, Vec::new()));
    }
}

#[test]
fn what_is_not_toml_stays_as_it_is() {
    for text in ["games = ", "[[", "\"", "games = 2\ngames = 4"] {
        let unchanged = edited(text, &["games=20"], true).unwrap();
        assert_eq!(unchanged.sweep, SweepText::new("small.toml", text));
    }
}

#[test]
fn wrong_settings_are_refused_with_a_remedy() {
    let settings = [
        "games",
        "=3",
        "a b=3",
        "games=",
        "gmaes=20",
        "dept=3",
        "algorithm=random",
        "colour=red",
        "players.abc.depth=3",
        "game.misere=true",
        "games.odd.even=3",
        "players.ab.depth.from=3",
        "depth=[1, 2",
        "depth={ from = 1 ",
        "depth=\"1",
        "depth=1,,2",
        "depth=0.1..0.5",
        "time=10ms..40ms",
    ];
    let messages: Vec<String> = settings
        .iter()
        .map(|setting| {
            let error = edited(SWEEP, &[setting], false).expect_err(setting);
            format!("{setting}\n  {}\n  help: {}\n", error.problem, error.remedy)
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

proptest! {
    /// Whatever is set, the text is TOML afterwards, and what was not named is as before.
    #[test]
    fn any_value_leaves_toml(
        key in prop_oneof![
            Just("depth"), Just("axes.new"), Just("games"), Just("players.ab.depth"),
            Just("players.ab.vary.depth"), Just("openings.plies"), Just("axes.time.to"),
        ],
        value in prop_oneof![
            "[ -~]{1,12}", "[0-9.,ms-]{1,8}", "[\\[{\"'0-9, =a}\\]]{1,10}", "\\PC{1,6}",
        ],
    ) {
        let setting = format!("{key}={value}");
        if let Ok(edited) = edited(SWEEP, &[&setting], false) {
            let document = edited.sweep.text.parse::<DocumentMut>();
            prop_assert!(document.is_ok(), "{setting}\n{}", edited.sweep.text);
            prop_assert!(edited.sweep.text.contains("[players.random]\nalgorithm = \"random\"\n"));
            let _any = plan_sweep(&edited.sweep);
        }
    }
}
