//! Actions allowed to a statement: reading, computing, and inspecting the schema (invariant 10).

use rusqlite::hooks::AuthAction;

pub(super) const MORE_THAN_READ: &str = "it would do more than read";

/// Pragmas that only read, with any argument: it names a table or bounds a list.
const TELLING_PRAGMAS: [&str; 16] = [
    "collation_list",
    "compile_options",
    "database_list",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];
/// Pragmas that read without an argument; an argument would set a new value.
const VALUE_PRAGMAS: [&str; 9] = [
    "application_id",
    "auto_vacuum",
    "encoding",
    "freelist_count",
    "journal_mode",
    "page_count",
    "page_size",
    "schema_version",
    "user_version",
];

/// SQLite functions with side effects: they load code, or write to the program's log.
const DOING_FUNCTIONS: [&str; 3] = ["fts3_tokenizer", "load_extension", "sqlite_log"];

/// SQLite functions that take time quadratic in their arguments' length within one instruction, and have no use here.
const SLOW_FUNCTIONS: [&str; 2] = ["json_patch", "jsonb_patch"];

/// Why an action is refused; `None` if it is allowed.
pub(super) fn refusal(action: &AuthAction<'_>) -> Option<String> {
    let is_of =
        |list: &[&str], name: &str| list.iter().any(|entry| entry.eq_ignore_ascii_case(name));
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all else writes, now and in later releases"
    )]
    match *action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => None,
        AuthAction::Function { function_name: name } => {
            if is_of(&SLOW_FUNCTIONS, name) {
                return Some(format!("the function {name} may take more time than a query has"));
            }
            let does = is_of(&DOING_FUNCTIONS, name);
            does.then(|| format!("the function {name} does more than compute"))
        }
        AuthAction::Pragma { pragma_name: name, pragma_value: argument } => {
            let tells =
                is_of(&TELLING_PRAGMAS, name) || argument.is_none() && is_of(&VALUE_PRAGMAS, name);
            (!tells).then(|| format!("the pragma {name} does more than tell"))
        }
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            Some("it would use other files".to_owned())
        }
        _ => Some(MORE_THAN_READ.to_owned()),
    }
}
