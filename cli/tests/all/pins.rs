//! Names and numbers that users depend on, and that stay while files, types and functions move. Where another test
//! pins a family already, this table says which:
//!
//! | family | pinned by |
//! |---|---|
//! | bytes, hashes and seeds of definitions | `golden_canonical_json*` (`CellDefinition`), `golden_definition` (trainings), and for whole sweeps `definitions_of_the_projects_sweeps_stay`; those that a sweep with `find`, `tune` or `evolve` asks for: the snapshots of `find`, `tune` and `evolve` |
//! | openings, endings, samples and generations drawn from a seed | the snapshots `golden_*` of `spelrum-model` |
//! | games, move for move | the engine's tests `golden` |
//! | sweep keys, their types and defaults | `keys_types_and_defaults_are_pinned` |
//! | keys of JSON answers | `json_keys_stay`, of reports also the snapshots `pins` of `spelrum-report`; their order and place in an answer: the snapshots of `json` |
//! | commands, options and exit codes | the snapshots of `help`; `exit_codes_are_the_same_in_the_help_and_in_the_readme` |
//! | SQL tables, views and columns | `sql_names_stay`; their notes: `every_table_view_and_column_is_in_the_reference` |
//! | names of metrics | the coordinator's tests `services::metrics` |

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use spelrum_sweep::{SweepText, plan_sweep};
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprArray, ExprLit, ExprMethodCall, Field, Fields, ItemEnum, ItemMod,
    ItemStruct, Lit, LitStr, Meta, Token,
};

use crate::sandbox::{Sandbox, root, tic_tac_toe};

/// Files of a folder and the folders below it.
fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                let name = path.file_name().unwrap();
                if name != "target" && name != "tests" && name != ".git" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A change of these hashes means that experiments would begin anew: no result is shared between the two definitions.
#[test]
fn definitions_of_the_projects_sweeps_stay() {
    let mut lines = String::new();
    for path in files_below(&root().join("sweeps"), "toml") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let plan = plan_sweep(&SweepText::new(name, text)).unwrap();
        let mut definitions = Sha256::new();
        for cell in &plan.cells {
            definitions.update(format!("{} {} {}\n", cell.definition_hash, cell.seed, cell.games));
        }
        let hash: String =
            definitions.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(lines, "{name}: {} cells, {hash}", plan.cells.len()).unwrap();
    }
    insta::assert_snapshot!(lines);
}

/// Tables and views of a database with one experiment, and their columns.
#[test]
fn sql_names_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 2));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let database = Connection::open(sandbox.path("small.db")).unwrap();
    let mut statement = database
        .prepare(
            "SELECT s.type, s.name, group_concat(x.name, ', ' ORDER BY x.cid)
            FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS x
            WHERE s.type IN ('table', 'view') AND s.name NOT GLOB 'sqlite_*'
            GROUP BY s.name ORDER BY s.type, s.name",
        )
        .unwrap();
    let lines = statement
        .query_map([], |row| {
            let [kind, name, columns]: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok(format!("{kind} {name}: {columns}\n"))
        })
        .unwrap();
    insta::assert_snapshot!(lines.collect::<rusqlite::Result<String>>().unwrap());
}

/// The keys of types that are written as JSON. A type has one line, without its name: types may move and get other
/// names. `..` stands for the keys of another type. The columns of a report's tables have a line for each chain of
/// calls that adds them; their order in each table is pinned in `spelrum-report`.
#[test]
fn json_keys_stay() {
    let mut keys = JsonKeys::default();
    for path in files_below(root(), "rs") {
        let path_text = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if path_text.contains("src/") && !path.ends_with("tests.rs") {
            keys.is_of_tables = path_text.starts_with("crates/report/src/tables/");
            keys.visit_file(&syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap());
        }
    }
    let lines: Vec<String> = keys.lines.into_iter().collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// Lines of keys, collected from source files.
#[derive(Default)]
struct JsonKeys {
    lines: BTreeSet<String>,
    is_of_tables: bool,
}

impl JsonKeys {
    fn add(&mut self, fields: &Fields) {
        let Fields::Named(fields) = fields else { return };
        let keys: Vec<String> = fields.named.iter().filter_map(key).collect();
        if !keys.is_empty() {
            self.lines.insert(keys.join(" "));
        }
    }
}

/// Returns a text in the source.
fn literal(expression: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = expression else { return None };
    Some(text.value())
}

/// Returns the keys of the columns that a chain of calls adds.
fn columns(call: &ExprMethodCall) -> Vec<String> {
    let mut keys = Vec::new();
    if let Expr::MethodCall(before) = &*call.receiver {
        keys = columns(before);
    }
    match (call.method.to_string().as_str(), call.args.first()) {
        ("column" | "key", Some(key)) => keys.extend(literal(key)),
        ("keys", Some(Expr::Array(all))) => keys.extend(all.elems.iter().filter_map(literal)),
        ("places", Some(_)) => keys.push("axes".to_owned()),
        ("cell", Some(_)) => {
            keys.extend(["cell_id", "axes", "player", "opponent"].map(str::to_owned));
        }
        _ => {}
    }
    keys
}

impl<'ast> Visit<'ast> for JsonKeys {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let keys = if self.is_of_tables { columns(call) } else { Vec::new() };
        match keys.is_empty() {
            true => visit::visit_expr_method_call(self, call),
            false => {
                self.lines.insert(keys.join(" "));
            }
        }
    }

    fn visit_expr_array(&mut self, array: &'ast ExprArray) {
        let key = |element: &Expr| {
            let Expr::Tuple(pair) = element else { return None };
            literal(pair.elems.first()?)
        };
        let keys: Vec<String> = array.elems.iter().filter_map(key).collect();
        if self.is_of_tables && !keys.is_empty() {
            self.lines.insert(keys.join(" "));
        }
        visit::visit_expr_array(self, array);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        if is_serialized(&item.attrs) {
            self.add(&item.fields);
        }
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        if is_serialized(&item.attrs) {
            for variant in &item.variants {
                self.add(&variant.fields);
            }
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<Meta>().is_ok_and(|meta| meta.path().is_ident("test"))
    })
}

fn is_serialized(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let derived = attribute
            .parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated)
            .unwrap();
        derived.iter().any(|path| path.segments.last().unwrap().ident == "Serialize")
    })
}

/// The key of a field: its name, unless an attribute gives another one; `None` of a field that is not written.
fn key(field: &Field) -> Option<String> {
    let mut key = Some(field.ident.as_ref()?.unraw().to_string());
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute
            .parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    key = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("flatten") {
                    key = Some("..".to_owned());
                } else if meta.path.is_ident("skip") || meta.path.is_ident("skip_serializing") {
                    key = None;
                } else if meta.input.peek(Token![=]) {
                    meta.value()?.parse::<LitStr>()?;
                }
                Ok(())
            })
            .unwrap();
    }
    key
}
