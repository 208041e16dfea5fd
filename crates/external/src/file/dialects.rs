//! The deviations of engines from their protocols, in the engines file.

use spelrum_toml::{Fault, Node, Table};

use crate::gtp;
use crate::protocol::Protocol;
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

fn commands(table: &Table, key: &str) -> Result<Vec<String>, Fault> {
    let lines = texts(table.value(key), &format!("`{key}`"))?;
    lines.into_iter().map(|(node, text)| one_line("a command", text, &node.place)).collect()
}
