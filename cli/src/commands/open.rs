//! `spelrum open`: the pages of a coordinator, or of a database, in a browser.

use std::io::Write as _;

use clap::Args;
use spelrum_answers::MakeBrowserLink;

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::remote::steering::Steerer;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::{self, notices};

const ACTION: &str = "open the pages";

/// Show a coordinator, or a results database, in a browser
#[derive(Args, Debug)]
#[command(
    visible_alias = "view",
    after_help = "\
Prints a link that lets one browser in, within ten minutes, for as much as your token allows. The pages show experiments as they are played: progress, results and plots, workers, and single games. \
They also take new sweeps, run SQL queries, compare experiments, and, if allowed, let you play against built-in players.\n\n\
With --db the pages are those of the process that plays the database's games, such as spelrum run; if there is none, \
this command serves them until Ctrl-C.\n\n\
Examples:\n  \
spelrum open --coordinator http://127.0.0.1:7878\n  \
spelrum open --db pentago-depth.db"
)]
pub(crate) struct Open {
    #[command(flatten)]
    source: SourceArguments,
}

impl Open {
    /// Prints the link, and serves the database if no other process does.
    pub(crate) async fn run(self) -> Result<Exit> {
        let steerer = Steerer::open(&self.source, ACTION).await?;
        let shown = self.show(&steerer).await;
        let closed = steerer.close().await;
        let exit = shown?;
        closed?;
        Ok(exit)
    }

    async fn show(&self, steerer: &Steerer) -> Result<Exit> {
        let link = steerer.call(&MakeBrowserLink {}, ACTION).await?;
        let mut out = terminal::stdout();
        writeln!(out, "{}", link.url)?;
        out.flush()?;
        if !steerer.is_own() {
            return Ok(Exit::Success);
        }
        let interrupts = Interrupts::listen(|| {})?;
        notices::notify("serving the pages until Ctrl-C");
        interrupts.finish.cancelled().await;
        Ok(Exit::Success)
    }
}
