//! Files that a sweep names: lists of openings.
//!
//! Reading them is the caller's business (invariant 10); here they are texts with names. A place in
//! one of them is a span behind the sweep's own text, as if all of them stood there one after the
//! other: so a position that is wrong is reported where it is written, and nothing between here and
//! the message needs to know of files.

use super::SweepText;
use super::fault::{Fault, Span, did_you_mean};
use super::keys;
use super::template::reference;
use super::tree::{Entry, Node, Scalar, Table, Tree};

/// Most bytes of all files of a sweep together (invariant 9).
pub(super) const FILES_BYTES_MAX: usize = 1 << 20;

/// The files that came with a sweep.
#[derive(Debug)]
pub(super) struct Files {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    name: String,
    text: String,
    /// Where it begins, as if it stood behind the sweep.
    start: usize,
}

impl Files {
    /// Those of a sweep.
    pub(super) fn new(sweep: &SweepText) -> Result<Self, Fault> {
        let bytes: usize = sweep.files.values().map(String::len).sum();
        if bytes > FILES_BYTES_MAX {
            return Err(Fault::nowhere(
                format!("files of {bytes} bytes are too long for a sweep"),
                format!("list at most {FILES_BYTES_MAX} bytes of openings, or draw them at random"),
            ));
        }
        // A place at the very end of a text is not one in the next.
        let mut start = sweep.text.len() + 1;
        let file = |(name, text): (&String, &String)| {
            let file = File { name: name.clone(), text: text.clone(), start };
            start += text.len() + 1;
            file
        };
        Ok(Self { files: sweep.files.iter().map(file).collect() })
    }

    /// Openings with the positions of the file that they name, if they name one.
    pub(super) fn fill(&self, openings: Node) -> Result<Node, Fault> {
        let Some((table, kind, file)) = listed_in_file(&openings) else { return Ok(openings) };
        keys::check(table, "\"listed\" openings", &keys::OPENINGS_LISTED)?;
        if let Some(positions) = table.get("positions") {
            return Err(Fault::at(
                &positions.key_place,
                "these openings are listed here and in a file",
                "keep either `positions` or `file`",
            ));
        }
        let positions = Entry {
            key: "positions".to_owned(),
            key_place: file.key_place.clone(),
            value: Node {
                place: file.value.place.clone(),
                tree: Tree::Array(self.positions(&file.value)?),
            },
        };
        let entries = vec![kind.clone(), positions];
        Ok(Node { place: openings.place.clone(), tree: Tree::Table(Table { entries }) })
    }

    /// The lines of a file, each with its place.
    fn positions(&self, name: &Node) -> Result<Vec<Node>, Fault> {
        let wanted = name.text("`file`", "file = \"openings.txt\"")?;
        let Some(file) = self.files.iter().find(|file| file.name == wanted) else {
            let remedy = match self.files.as_slice() {
                [] => "put it beside the sweep, or give its path from there".to_owned(),
                files => did_you_mean(wanted, "files", files.iter().map(|file| &*file.name)),
            };
            let problem = format!("no file `{wanted}` came with this sweep");
            return Err(Fault::at(&name.place, problem, remedy));
        };
        let positions: Vec<Node> = lines(&file.text)
            .map(|(offset, text)| {
                let start = file.start + offset;
                let place = start..start + text.len();
                Node { place, tree: Tree::Scalar(Scalar::Text(text.to_owned())) }
            })
            .collect();
        if positions.is_empty() {
            let problem = format!("the file `{wanted}` lists no position");
            return Err(Fault::at(&name.place, problem, "write one position on each line"));
        }
        Ok(positions)
    }

    /// The file that a place lies in, with the place inside it; `None` for the sweep itself.
    pub(super) fn locate(&self, place: &Span) -> Option<(&str, &str, Span)> {
        let file = self.files.iter().rev().find(|file| file.start <= place.start)?;
        Some((&file.name, &file.text, place.start - file.start..place.end - file.start))
    }
}

/// Positions with their offsets: one on each line, without comments and empty lines.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let position = line.split('#').next().unwrap_or_default();
        let indent = position.len() - position.trim_start().len();
        let position = position.trim();
        (!position.is_empty()).then_some((at + indent, position))
    })
}

/// The table, its `kind` and its `file`.
fn listed_in_file(openings: &Node) -> Option<(&Table, &Entry, &Entry)> {
    let Tree::Table(table) = &openings.tree else { return None };
    let kind = table.get("kind").filter(|kind| matches!(kind.value.text("", ""), Ok("listed")))?;
    Some((table, kind, table.get("file")?))
}

/// The names of the files that a sweep may ask for, with the places where it does: each once.
pub(super) fn named(root: &Table) -> Vec<(String, Span)> {
    let mut found = Vec::<(String, Span)>::new();
    let openings = ["openings", "positions"].into_iter().filter_map(|key| root.get(key));
    for openings in openings.flat_map(|entry| values_of(&entry.value, root)) {
        let file = listed_in_file(openings).map(|(.., file)| values_of(&file.value, root));
        for name in file.into_iter().flatten() {
            if let Ok(text) = name.text("", "")
                && found.iter().all(|(known, _)| known != text)
            {
                found.push((text.to_owned(), name.place.clone()));
            }
        }
    }
    found
}

/// A value, or all that the axis it names has in its place. What is wrong there is found later.
fn values_of<'a>(node: &'a Node, root: &'a Table) -> Vec<&'a Node> {
    let Some((axis, key)) = node.text("", "").ok().and_then(reference) else { return vec![node] };
    let axes = root.get("axes").and_then(|axes| axes.value.table("", "").ok());
    let Some(Tree::Array(values)) = axes.and_then(|axes| axes.get(axis)).map(|it| &it.value.tree)
    else {
        return Vec::new();
    };
    let value = |value: &'a Node| match (key, &value.tree) {
        (None, _) => Some(value),
        (Some(key), Tree::Table(table)) => table.get(key).map(|entry| &entry.value),
        (Some(_), Tree::Scalar(_) | Tree::Array(_)) => None,
    };
    values.iter().filter_map(value).collect()
}
