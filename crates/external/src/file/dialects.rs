//! The deviations of engines from their protocols, in the engines file.

use std::collections::BTreeSet;

use spelrum_toml::{Fault, Node, Span, Table};

use crate::gtp;
use crate::protocol::Protocol;
use crate::uci::Words;
use crate::xboard;

use super::{RawEngine, one_line, texts};

impl<'a> RawEngine<'a> {
    /// Its dialect of GTP.
    pub(super) fn gtp(&self) -> Result<gtp::Dialect, Fault> {
        let mut dialect = gtp::Dialect::default();
        let Some(node) = self.table.value("gtp") else { return Ok(dialect) };
        let table = self.dialect(node, Protocol::Gtp, "gtp = { ids = false }")?;
        table.check_keys("`gtp`", &["ids", "colours", "pass", "boardsize", "setup", "limits"])?;
        for (field, key) in [
            (&mut dialect.ids, "ids"),
            (&mut dialect.pass, "pass"),
            (&mut dialect.boardsize, "boardsize"),
        ] {
            if let Some(node) = table.value(key) {
                *field = node.switch(&format!("`{key}`"), &format!("{key} = false"))?;
            }
        }
        (dialect.setup, dialect.limits) = (commands(table, "setup")?, commands(table, "limits")?);
        if let Some(node) = table.value("colours") {
            dialect.colours =
                commands(table, "colours")?.try_into().map_err(|colours: Vec<_>| {
                    let problem = format!("`colours` has {} names, not 2", colours.len());
                    Fault::at(&node.place, problem, "write colours = [\"black\", \"white\"]")
                })?;
        }
        Ok(dialect)
    }

    /// Its dialect of the XBoard protocol.
    pub(super) fn xboard(&self) -> Result<xboard::Dialect, Fault> {
        let mut dialect = xboard::Dialect::default();
        let Some(node) = self.table.value("xboard") else { return Ok(dialect) };
        let table = self.dialect(node, Protocol::Xboard, "xboard = { features = false }")?;
        table.check_keys("`xboard`", &["features", "setup"])?;
        if let Some(node) = table.value("features") {
            dialect.features = node.switch("`features`", "features = false")?;
        }
        dialect.setup = commands(table, "setup")?;
        Ok(dialect)
    }

    /// Its words of UGI.
    pub(super) fn ugi(&self) -> Result<Words, Fault> {
        let mut words = Words::ugi();
        let Some(node) = self.table.value("ugi") else { return Ok(words) };
        let table = self.dialect(node, Protocol::Ugi, "ugi = { hello = \"tei\" }")?;
        table.check_keys("`ugi`", &["hello", "position", "clocks", "increments"])?;
        for (field, key) in [(&mut words.hello, "hello"), (&mut words.position, "position")] {
            if let Some(node) = table.value(key) {
                let text = node.text(&format!("`{key}`"), &format!("{key} = \"{field}\""))?;
                *field = one_word(key, text, &node.place)?;
            }
        }
        if let Some(node) = table.value("clocks") {
            words.clocks = two_words(node, "clocks", "time")?;
        }
        if let Some(node) = table.value("increments") {
            words.increments = two_words(node, "increments", "inc")?;
        } else {
            for (increment, clock) in words.increments.iter_mut().zip(&words.clocks) {
                let side = clock.strip_suffix("time").ok_or_else(|| {
                    let problem = format!("no word for an increment follows from `{clock}`");
                    Fault::at(&node.place, problem, "write increments = [\"winc\", \"binc\"] too")
                })?;
                *increment = format!("{side}inc");
            }
        }
        let times: BTreeSet<&String> = words.clocks.iter().chain(&words.increments).collect();
        if times.len() < 4 {
            let times = [&words.clocks[..], &words.increments].concat().join("`, `");
            let problem = format!("two of the words `{times}` are the same");
            return Err(Fault::at(
                &node.place,
                problem,
                "give each side its own words for time and increment",
            ));
        }
        Ok(words)
    }

    /// The table of a protocol's dialect.
    fn dialect(
        &self,
        node: &'a Node,
        protocol: Protocol,
        example: &str,
    ) -> Result<&'a Table, Fault> {
        let (key, title) = (protocol.name(), protocol.title());
        if self.protocol != protocol {
            let problem = format!("the engine does not speak {title}");
            return Err(Fault::at(&node.place, problem, format!("leave `{key}` out")));
        }
        node.table(&format!("`{key}`"), example)
    }
}

/// A word of a protocol in UCI's frame, other than those that all of them have.
fn one_word(key: &str, text: &str, place: &Span) -> Result<String, Fault> {
    let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    let problem = if !is_word {
        format!("`{key}` has \"{text}\", which is not one word")
    } else if Words::is_of_frame(text) {
        format!("`{key}` has \"{text}\", which means something else in this protocol")
    } else {
        return Ok(text.to_owned());
    };
    Err(Fault::at(place, problem, "write the word that the engine expects, without blanks"))
}

/// The words of the first side and of the second.
fn two_words(node: &Node, key: &str, end: &str) -> Result<[String; 2], Fault> {
    let example = format!("{key} = [\"w{end}\", \"b{end}\"], the side first that moves first");
    let words = texts(Some(node), &format!("`{key}`"))?;
    let words: Vec<_> = words
        .into_iter()
        .map(|(node, text)| one_word(key, text, &node.place))
        .collect::<Result<_, _>>()?;
    words.try_into().map_err(|words: Vec<_>| {
        let problem = format!("`{key}` has {} words, not 2", words.len());
        Fault::at(&node.place, problem, format!("write {example}"))
    })
}

fn commands(table: &Table, key: &str) -> Result<Vec<String>, Fault> {
    let lines = texts(table.value(key), &format!("`{key}`"))?;
    lines.into_iter().map(|(node, text)| one_line("a command", text, &node.place)).collect()
}
