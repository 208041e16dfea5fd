//! The program as its users meet it: every test here runs the built `spelrum`. One test binary,
//! so that what the tests share is compiled and linked once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accuracy;
mod architecture;
mod backup;
mod bad_input;
mod check;
mod claims;
mod config;
mod cookbook;
mod courses;
mod dependencies;
mod disk;
mod endings;
mod engine;
mod evolve;
mod exchange;
mod find;
mod games;
mod growth;
mod help;
mod interrupt;
mod json;
mod kill;
mod life;
mod list;
mod margins;
mod memory;
mod migrations;
mod missing_engines;
mod networks;
mod new;
mod outside;
mod outside_results;
mod pages;
mod play;
mod readme;
mod replay;
mod report;
mod run;
mod sandbox;
mod shell;
mod sides;
mod sql;
mod stats;
mod steering;
mod stopping;
mod supervised;
mod table;
mod terminal;
mod tidy;
mod trees;
mod tune;
mod uci;
mod watch;
