//! `adjudication`: ends games early by their players' scores, or by tables.

use std::num::NonZeroU32;

use spelrum_engine::games::Chess;
use spelrum_engine::{Adjudication, DrawRule, ResignRule, Rules};
use spelrum_model::OpeningsRule;
use spelrum_toml::{Fault, Node, Span, Table};

use crate::keys::{
    self,
    adjudication::{ADJUDICATION, DRAW, DRAW_MOVES, MOVES_MAX, RESIGN, RESIGN_MOVES, SCORE_MAX},
};

const RESIGN_EXAMPLE: &str = "resign = { score = 600, moves = 3 }";
const DRAW_EXAMPLE: &str = "draw = { score = 10, moves = 8, after = 40 }";
const TABLES_EXAMPLE: &str = "tables = true";

/// The sweep's settings, and their places.
#[derive(Clone, Debug)]
pub(super) struct AdjudicationInFile {
    pub(super) rule: Adjudication,
    /// The place of the setting that tables end games, if any.
    tables_place: Option<Span>,
    /// The place of the setting that counting restarts, if any.
    restart_place: Option<Span>,
}

impl AdjudicationInFile {
    /// Refuses tables where no game reaches a position of one, or every game begins in one, and restarts in
    /// games without captures of pieces and pawn moves.
    pub(super) fn check_setting(
        &self,
        rules: &Rules,
        openings: &OpeningsRule,
    ) -> Result<(), Fault> {
        let is_chess = rules.name() == Chess::rules().name();
        if let Some(place) = self.restart_place.as_ref().filter(|_| !is_chess) {
            let problem = "`restart` is about captures and pawn moves, which only chess has";
            return Err(Fault::at(place, problem, "remove `restart`"));
        }
        let Some(place) = &self.tables_place else { return Ok(()) };
        let fault = |problem: &str, remedy| Err(Fault::at(place, problem, remedy));
        if !is_chess {
            return fault("exact tables are of chess endings", "remove `tables`");
        }
        match openings {
            OpeningsRule::Ending { .. } => fault(
                "tables would end every game after its first move: all begin in an ending",
                "remove `tables`, or begin elsewhere",
            ),
            OpeningsRule::Start {}
            | OpeningsRule::Random { .. }
            | OpeningsRule::Strata { .. }
            | OpeningsRule::Listed { .. }
            | OpeningsRule::All { .. } => Ok(()),
        }
    }
}

/// Reads `adjudication`.
pub(super) fn read(node: &Node) -> Result<AdjudicationInFile, Fault> {
    let example = format!("adjudication = {{ {RESIGN_EXAMPLE} }}");
    let table = node.table("`adjudication`", &example)?;
    keys::check(table, "`adjudication`", ADJUDICATION)?;
    let rule = |key: &str| table.get(key).map(|entry| &entry.value);
    let resign = rule("resign").map(read_resign).transpose()?;
    let draw = rule("draw").map(read_draw).transpose()?;
    let tables = rule("tables").map(|node| node.switch("`tables`", TABLES_EXAMPLE)).transpose()?;
    if resign.is_none() && draw.is_none() && tables.is_none() {
        return Err(Fault::at(
            &node.place,
            "`adjudication` does not say which games end early",
            format!(
                "write {RESIGN_EXAMPLE}, or {DRAW_EXAMPLE}, or in chess {TABLES_EXAMPLE}, or several of them; or \
                 remove `adjudication`"
            ),
        ));
    }
    let tables_place =
        table.get("tables").filter(|_| tables == Some(true)).map(|entry| entry.value.place.clone());
    let restart_place = rule("draw")
        .filter(|_| draw.is_some_and(|draw| draw.restart))
        .map(|node| node.place.clone());
    let rule = Adjudication { resign, draw, tables: tables.unwrap_or(false) };
    Ok(AdjudicationInFile { rule, tables_place, restart_place })
}

fn read_resign(node: &Node) -> Result<ResignRule, Fault> {
    let table = node.table("`resign`", RESIGN_EXAMPLE)?;
    keys::check(table, "`resign`", RESIGN)?;
    let rule = Rule { name: "resign", example: RESIGN_EXAMPLE, node, table };
    Ok(ResignRule {
        score: rule.positive("score", None, SCORE_MAX)?,
        moves: rule.positive("moves", Some(RESIGN_MOVES), MOVES_MAX)?,
        both: match table.get("both").map(|entry| &entry.value) {
            None => true,
            Some(node) => node.switch("`both`", "resign = { score = 600, both = false }")?,
        },
    })
}

fn read_draw(node: &Node) -> Result<DrawRule, Fault> {
    let table = node.table("`draw`", DRAW_EXAMPLE)?;
    keys::check(table, "`draw`", DRAW)?;
    let rule = Rule { name: "draw", example: DRAW_EXAMPLE, node, table };
    Ok(DrawRule {
        score: rule.number("score", None, 0, SCORE_MAX)?.0,
        moves: rule.positive("moves", Some(DRAW_MOVES), MOVES_MAX)?,
        after: rule.number("after", Some(0), 0, MOVES_MAX)?.0,
        restart: match table.get("restart").map(|entry| &entry.value) {
            None => false,
            Some(node) => node.switch("`restart`", "draw = { score = 10, restart = true }")?,
        },
    })
}

/// One of the two, as in the file.
struct Rule<'a> {
    name: &'static str,
    example: &'static str,
    node: &'a Node,
    table: &'a Table,
}

impl<'a> Rule<'a> {
    /// A whole number within its bounds, with its place.
    fn number(
        &self,
        key: &str,
        default: Option<i64>,
        min: i64,
        max: i64,
    ) -> Result<(u32, &'a Node), Fault> {
        let Self { name, example, node, table } = *self;
        let (number, node) = match (table.get(key), default) {
            (Some(entry), _) => {
                (entry.value.integer(&format!("`{key}` of `{name}`"), example)?, &entry.value)
            }
            (None, Some(default)) => (default, node),
            (None, None) => {
                let remedy = format!("write, for example, {example}");
                return Err(Fault::at(&node.place, format!("`{name}` has no `{key}`"), remedy));
            }
        };
        let within = u32::try_from(number).ok().filter(|_| (min..=max).contains(&number));
        let within = within.ok_or_else(|| {
            Fault::at(
                &node.place,
                format!("`{key}` of `{name}` cannot be {number}"),
                format!("choose a whole number from {min} to {max}"),
            )
        })?;
        Ok((within, node))
    }

    /// A number from 1 on.
    fn positive(&self, key: &str, default: Option<i64>, max: i64) -> Result<NonZeroU32, Fault> {
        let (number, node) = self.number(key, default, 1, max)?;
        NonZeroU32::new(number).ok_or_else(|| {
            Fault::at(&node.place, format!("`{key}` cannot be 0"), "choose at least 1")
        })
    }
}
