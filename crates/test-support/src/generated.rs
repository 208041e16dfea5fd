//! Parts of documents that are generated.

use std::collections::BTreeMap;
use std::path::Path;

/// Compares the parts of a document between `<!-- generated: NAME -->` and `<!-- end -->` with these parts by name.
/// With `INSTA_UPDATE=always`, as for snapshots, writes them instead.
///
/// # Panics
/// If a part differs, lacks its place, or has two, or a place lacks its part.
pub fn assert_generated(document: &str, mut parts: BTreeMap<String, String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut generated = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("<!-- generated: ") {
        let (name, after) = after.split_once(" -->\n").unwrap();
        let (_, after) = after.split_once("<!-- end -->\n").unwrap();
        let part = parts
            .remove(name)
            .unwrap_or_else(|| panic!("{document}: nothing generates `{name}`, or it comes twice"));
        generated += &format!("{before}<!-- generated: {name} -->\n{part}<!-- end -->\n");
        rest = after;
    }
    generated += rest;
    assert!(parts.is_empty(), "{document} has no place for {:?}", parts.keys());
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, generated).unwrap();
    } else if let Some((line, (found, expected))) =
        text.lines().zip(generated.lines()).enumerate().find(|(_, (a, b))| a != b)
    {
        panic!(
            "{document}:{} says\n    {found}\nbut its source says\n    {expected}\nchange the source, and run \
             this test with INSTA_UPDATE=always in the environment, which writes {document}",
            line + 1
        );
    }
}

/// A Markdown table's rows below a heading of these columns.
#[must_use]
pub fn table(columns: &str, rows: &[String]) -> String {
    let rule = "---|".repeat(columns.split(" | ").count());
    format!("| {columns} |\n|{rule}\n{}\n", rows.join("\n"))
}

/// A sentence as a cell of a table: no full stop, and no capital unless an abbreviation or a name in capitals begins
/// it.
#[must_use]
pub fn cell_text(sentence: &str) -> String {
    let text = sentence.trim_end_matches('.');
    let start = usize::from(text.starts_with('['));
    let mut characters = text[start..].chars();
    match (characters.next(), characters.next()) {
        (Some(first), second) if !second.is_some_and(char::is_uppercase) => {
            let rest = &text[start + first.len_utf8()..];
            format!("{}{}{rest}", &text[..start], first.to_lowercase())
        }
        _ => text.to_owned(),
    }
}
