//! Seeds from an axis: every cell is repeated with each.

use super::*;

const SEEDED: &str = "
[axes]
seed = [11, 12]
depth = [1, 2]

[players.ab]
algorithm = \"alpha-beta\"
depth = \"$depth\"

[players.r]
algorithm = \"random\"
";

#[test]
fn cells_of_each_seed_are_those_of_a_sweep_with_it() {
    let both = planned(&tic_tac_toe(
        "seed = \"$seed\"\nopenings = { kind = \"random\", plies = 2 }",
        SEEDED,
    ));
    assert_eq!(
        (both.axes.clone(), both.cells.len()),
        (vec!["seed".to_owned(), "depth".to_owned()], 4)
    );
    // The seed by which a thinned grid would be drawn.
    assert_eq!(both.seed, 11);
    assert_eq!(
        both.conditions.iter().map(|conditions| conditions.seed).collect::<Vec<_>>(),
        [11, 12]
    );
    for (cells, seed) in both.cells.chunks(2).zip([11, 12]) {
        let alone = SEEDED.replace("seed = [11, 12]\n", "");
        let head = format!("seed = {seed}\nopenings = {{ kind = \"random\", plies = 2 }}");
        let alone = planned(&tic_tac_toe(&head, &alone));
        for (cell, alone) in cells.iter().zip(&alone.cells) {
            assert_eq!(cell.definition, alone.definition);
        }
    }
}

#[test]
fn a_table_may_have_the_seed() {
    let tables = "
[axes]
run = [{ seed = 1, depth = 1 }, { seed = 2, depth = 1 }]

[players.ab]
algorithm = \"alpha-beta\"
depth = \"$run.depth\"

[players.r]
algorithm = \"random\"
";
    let plan = planned(&tic_tac_toe("seed = \"$run.seed\"", tables));
    assert_eq!(plan.cells.iter().map(|cell| cell.definition.seed).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn what_is_not_a_seed_is_refused_where_it_stands() {
    let refused = |head: &str, seeds: &str| {
        let tables = SEEDED.replace("seed = [11, 12]", seeds);
        let error =
            plan_sweep(&SweepText::new("test.toml", tic_tac_toe(head, &tables))).unwrap_err();
        render(&error)
    };
    let later = refused("seed = \"$seed\"", "seed = [1, -1]");
    assert!(later.contains("the seed -1 is out of range"), "{later}");
    let unknown = refused("seed = \"$seeds\"", "seed = [1, 2]");
    assert!(unknown.contains("there is no axis `seeds`"), "{unknown}");
    let word = refused("seed = \"many\"", "seed = [1, 2]");
    assert!(word.contains("`seed`"), "{word}");
    let unused = refused("seed = 1", "seed = [1, 2]");
    assert!(unused.contains("axis `seed` is never used"), "{unused}");
}

/// The players that a run found are its replicates together, whatever their names.
#[test]
fn tables_are_replicates_too() {
    let plan = planned(&tic_tac_toe(
        "replicates = \"run\"",
        "
[axes]
run = [{ shallow = 1, deep = 3 }, { shallow = 2, deep = 4 }]

[players.shallow]
algorithm = \"alpha-beta\"
depth = \"$run.shallow\"

[players.deep]
like = \"shallow\"
depth = \"$run.deep\"

[players.r]
algorithm = \"random\"
",
    ));
    assert_eq!(plan.settings.replicates.as_deref(), Some("run"));
    assert_eq!(plan.axes, ["run.shallow", "run.deep"]);
    // Each cell stands on all columns of the table.
    let of_shallow = plan.cells.iter().filter(|cell| cell.player_names == ["shallow", "r"]);
    let columns: Vec<_> = of_shallow.map(|cell| cell.axes.len()).collect();
    assert_eq!(columns, [2, 2]);
}
