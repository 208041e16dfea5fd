//! A conversation with a process in its protocol.

use std::fmt::Debug;

use crate::breach::Breaches;
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::lines::GameEnd;
use crate::process::Aborted;
use crate::situation::{Choice, Conditions, Situation};
use crate::spec::EngineSpec;
use crate::uci::Declared;

/// One process's conversation.
pub(super) trait Speaker: Debug + Send {
    /// Its reported name with its version; empty if not reported.
    fn name(&self) -> String;

    /// Its reported author; empty if not reported.
    fn author(&self) -> String {
        String::new()
    }

    /// The options that it declared, if the protocol has them.
    fn declared(&self) -> Option<&[Declared]> {
        None
    }

    /// The commands that it reports, if the protocol has a list of them.
    fn commands(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Whether it accepts a board of this size; `None` if the protocol does not state sizes.
    fn takes_board(
        &mut self,
        _process: &mut Connection,
        _spec: &EngineSpec,
        _size: u32,
        _aborted: Aborted<'_>,
    ) -> Result<Option<bool>, FailureKind> {
        Ok(None)
    }

    /// Whether it can play such a game after all it was sent before.
    fn suits(&self, _spec: &EngineSpec, _conditions: &Conditions) -> bool {
        true
    }

    /// Begins a game.
    fn new_game(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind>;

    /// Asks for a move.
    fn choose(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, FailureKind>;

    /// Reports the result of a game; false if the engine could not take it.
    fn end_game(&mut self, _process: &mut Connection, _end: &GameEnd<'_>) -> bool {
        true
    }

    /// The line that lets it end by itself, if the protocol has one.
    fn farewell(&self) -> Option<&'static str> {
        Some("quit\n")
    }

    /// The number of requests that it answers at the same time.
    fn parallel(&self) -> u32 {
        1
    }

    /// The conversation of another game with the same process, if it can hold several.
    fn for_another_game(&self) -> Option<Box<dyn Speaker>> {
        None
    }

    /// Its breaches of the protocol.
    fn breaches(&mut self) -> &mut Breaches;
}
