//! Openings in separate files.

use miette::SourceSpan;
use spelrum_model::OpeningsRule;

use super::{RANDOM_PLAYERS, planned, render, tic_tac_toe};
use crate::{SweepText, plan_sweep};

/// A sweep with these openings, and the files that it may name.
fn with_files(openings: &str, tables: &str, files: &[(&str, &str)]) -> SweepText {
    let text = tic_tac_toe(&format!("openings = {openings}"), tables);
    let files = files.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
    SweepText { files, ..SweepText::new("test.toml", text) }
}

#[test]
fn openings_of_a_file_are_those_of_the_list() {
    let listed = planned(&tic_tac_toe("openings = [\"....x....\", \"x........\"]", RANDOM_PLAYERS));
    for text in [
        "....x....\nx........",
        "....x....\r\nx........\r\n",
        "# centre\n\t....x.... # here\n\n#\n   x........",
    ] {
        let openings = "{ kind = \"listed\", file = \"book/o.txt\" }";
        let sweep = with_files(openings, RANDOM_PLAYERS, &[("a.txt", "?"), ("book/o.txt", text)]);
        let plan = plan_sweep(&sweep).unwrap();
        assert_eq!(plan.cells[0].definition_hash, listed.plan.cells[0].definition_hash, "{text:?}");
    }
}

#[test]
fn files_may_be_axes() {
    let axes = "[axes]\nbook = [\"a.txt\", \"b.txt\"]\n";
    let tables = format!("{axes}{RANDOM_PLAYERS}");
    let openings = "{ kind = \"listed\", file = \"$book\" }";
    let mut sweep = with_files(openings, &tables, &[("a.txt", "x........")]);
    let names = |sweep: &SweepText| -> Vec<(String, String)> {
        let text = |place: SourceSpan| sweep.text[place.offset()..][..place.len()].to_owned();
        sweep.named_files().into_iter().map(|file| (file.name, text(file.place))).collect()
    };
    let expected = [("a.txt", "\"a.txt\""), ("b.txt", "\"b.txt\"")];
    assert_eq!(names(&sweep), expected.map(|(name, place)| (name.into(), place.into())));
    assert!(plan_sweep(&sweep).unwrap_err().problem.contains("`b.txt`"));
    sweep.files.insert("b.txt".into(), "....x....\nx........".into());
    let plan = plan_sweep(&sweep).unwrap();
    let listed = |index: usize| {
        let OpeningsRule::Listed { positions } =
            &plan.conditions[plan.cells[index].conditions].openings
        else {
            panic!("these openings are listed");
        };
        positions.len()
    };
    assert_eq!((plan.cells.len(), listed(0), listed(1)), (2, 1, 2));

    let axes = "[axes]\nbook = [{ list = { kind = \"listed\", file = \"a.txt\" } }, \
                { list = \"start\" }]\n";
    let mut sweep = with_files("\"$book.list\"", &format!("{axes}{RANDOM_PLAYERS}"), &[]);
    assert_eq!(names(&sweep), [("a.txt".to_owned(), "\"a.txt\"".to_owned())]);
    sweep.files.insert("a.txt".into(), "x........".into());
    assert_eq!(plan_sweep(&sweep).unwrap().cells.len(), 2);
}

#[test]
fn a_sweep_that_cannot_be_read_names_no_files() {
    for text in ["", "openings = ", "openings = 3", "openings = { file = \"a\" }", "\u{0}"] {
        assert_eq!(SweepText::new("test.toml", text).named_files(), []);
    }
}

/// Each combination of values reads the whole list, even if the result is the same.
#[test]
fn a_list_that_is_read_too_often_is_refused() {
    let mut positions = String::new();
    for (a, b, c) in
        (1..=24).flat_map(|a| (a..=24).flat_map(move |b| (b..=24).map(move |c| (a, b, c))))
    {
        positions.push_str(&format!("{a},{b},{c}/w\n"));
    }
    let rules: String =
        (1..=450).map(|nodes| format!("{{ misere = true, n = {nodes} }},")).collect();
    let text = format!(
        "name = \"t\"\ngames = 2\n\
         game = {{ name = \"nim\", heaps = [30, 30, 30], misere = \"$rules.misere\" }}\n\
         openings = {{ kind = \"listed\", file = \"nim.txt\" }}\n\
         [axes]\nrules = [\n{rules}\n]\n\
         [players.a]\nalgorithm = \"alpha-beta\"\nnodes = \"$rules.n\"\n\
         [players.b]\nalgorithm = \"random\""
    );
    let files = [("nim.txt".to_owned(), positions)].into();
    let sweep = SweepText { files, ..SweepText::new("test.toml", text) };
    insta::assert_snapshot!(render(&plan_sweep(&sweep).unwrap_err()));
}
