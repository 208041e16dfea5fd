//! What a crate's files use of each other, read from their text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The sources without tests and comments, by their paths from `src`.
#[derive(Debug)]
pub struct Files {
    code: BTreeMap<String, String>,
    /// The modules that the crate's root hands items on from, by the items' names.
    root: BTreeMap<String, Vec<String>>,
    /// The files of macros, which stand at the root wherever they are written.
    macros: &'static [(&'static str, &'static str)],
}

impl Files {
    /// Reads all in a folder and below; `macros` names the file of each exported macro.
    #[must_use]
    pub fn read(source: &Path, macros: &'static [(&'static str, &'static str)]) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![source.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path: PathBuf = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs")
                    && !path.ends_with("tests.rs")
                {
                    let name = path.strip_prefix(source).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, code(&fs::read_to_string(&path).unwrap()));
                }
            }
        }
        let mut root = BTreeMap::new();
        for code in ["lib.rs", "main.rs"].iter().filter_map(|&file| files.get(file)) {
            for path in reexports(code) {
                let path = path.strip_prefix(&["crate".to_owned()][..]).unwrap_or(&path);
                let [module @ .., name] = path else { continue };
                root.insert(name.clone(), module.to_vec());
            }
        }
        Self { code: files, root, macros }
    }

    /// Which files each file uses, by the paths in its code.
    #[must_use]
    pub fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let imports = |file: &String, code: &String| {
            let paths = paths(code).into_iter().filter_map(|path| self.resolve(file, &path));
            paths.filter(|import| import != file).collect()
        };
        self.code.iter().map(|(file, code)| (file.clone(), imports(file, code))).collect()
    }

    /// The file that a path from `crate` or `super` leads into.
    fn resolve(&self, file: &str, path: &[String]) -> Option<String> {
        let mut module: Vec<String> = match path[0].as_str() {
            "crate" => Vec::new(),
            _ => self.module_of(file),
        };
        for (index, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" if index == 0 => {}
                "super" => _ = module.pop(),
                name => {
                    module.push(name.to_owned());
                    if self.file_of(&module).is_none() {
                        module.pop();
                        break;
                    }
                }
            }
        }
        if module.is_empty() && path[0] == "super" {
            // A module that is written within its file.
            return None;
        }
        if module.is_empty() {
            let name = path.last()?;
            let of_macro = self.macros.iter().find(|(macro_name, _)| macro_name == name);
            let of_item = || self.file_of(self.root.get(name)?);
            return of_macro.map(|(_, file)| (*file).to_owned()).or_else(of_item);
        }
        self.file_of(&module)
    }

    fn module_of(&self, file: &str) -> Vec<String> {
        let stem = file.strip_suffix(".rs").unwrap();
        stem.split('/').filter(|part| *part != "mod").map(str::to_owned).collect()
    }

    fn file_of(&self, module: &[String]) -> Option<String> {
        let path = module.join("/");
        [format!("{path}.rs"), format!("{path}/mod.rs")]
            .into_iter()
            .find(|file| self.code.contains_key(file))
    }
}

/// Without comments, texts and the tests at the end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// What a file hands on from its modules: each item's path.
fn reexports(code: &str) -> Vec<Vec<String>> {
    const START: &str = "pub use ";
    let mut paths = Vec::new();
    for (at, _) in code.match_indices(START) {
        expand(&code[at + START.len()..], &mut Vec::new(), &mut paths);
    }
    paths
}

/// Every path that begins with `crate` or `super`; one for each name in braces.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            // `$crate` is of who calls the macro; `super::super` is found at its beginning.
            if before.is_some_and(|before| {
                before == '$' || before == ':' || before == '_' || before.is_alphanumeric()
            }) {
                continue;
            }
            expand(&code[at..], &mut Vec::new(), &mut paths);
        }
    }
    paths
}

/// Reads a path and what stands in its braces; returns how much was read.
fn expand(text: &str, prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    let depth = prefix.len();
    loop {
        let name_length = text[at..]
            .find(|character: char| !character.is_alphanumeric() && character != '_')
            .unwrap_or(text.len() - at);
        prefix.push(text[at..at + name_length].to_owned());
        at += name_length;
        if !text[at..].starts_with("::") {
            break;
        }
        at += 2;
        if text[at..].starts_with('{') {
            at += 1;
            loop {
                at += text[at..]
                    .find(|character: char| !character.is_whitespace() && character != ',')
                    .unwrap();
                if text[at..].starts_with('}') {
                    prefix.truncate(depth);
                    return at + 1;
                }
                at += expand(&text[at..], &mut prefix.clone(), paths);
            }
        }
    }
    if prefix.last().is_some_and(|name| !name.is_empty()) {
        paths.push(prefix.clone());
    }
    prefix.truncate(depth);
    at.max(1)
}

/// Files that use each other, directly or by way of others.
#[must_use]
pub fn cycles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<(String, String)> {
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&String> = imports[from].iter().collect();
        while let Some(file) = next.pop() {
            if reached.insert(file.clone()) {
                next.extend(&imports[file]);
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|file| (file, reached(file))).collect();
    let pairs = reached.iter().flat_map(|(&file, others)| {
        let back = others.iter().filter(|&other| reached[other].contains(file));
        back.map(|other| (file.clone(), other.clone()))
    });
    pairs.filter(|(file, other)| file != other).collect()
}
