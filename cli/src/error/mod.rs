//! The error type of the command line: what failed, why, what to do, and the exit code's class.

pub(crate) mod conversions;

use std::error::Error;
use std::fmt::{self, Display};
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use spelrum_engine::PlayError;
use spelrum_report::Kind;
use spelrum_report::text::escaped;
use spelrum_store::system_remedy;
use spelrum_sweep::SweepError;

use crate::exit::Exit;
use crate::terminal;
use crate::terminal::logging;

/// The result of a command.
pub(crate) type Result<T, E = CliError> = std::result::Result<T, E>;

/// A command's failure, as shown to the user.
#[derive(Debug)]
pub(crate) struct CliError {
    exit: Exit,
    /// Completes the sentence "failed to …".
    action: String,
    cause: Option<Cause>,
    help: Option<String>,
}

#[derive(Debug)]
enum Cause {
    Error(Box<dyn Error + Send + Sync>),
    /// Shown with the file's excerpt and the remedy.
    InFile {
        problem: Box<dyn Diagnostic + Send + Sync>,
        remedy: String,
    },
    /// The reader of standard output has closed it, so no message is printed.
    BrokenPipe,
}

impl CliError {
    /// A failure of this class: "failed to `action`".
    pub(crate) fn new(exit: Exit, action: impl Into<String>) -> Self {
        Self { exit, action: action.into(), cause: None, help: None }
    }

    /// A failure whose message is a complete sentence, "failed to …".
    pub(crate) fn from_sentence(exit: Exit, sentence: impl Display) -> Self {
        let sentence = sentence.to_string();
        match sentence.strip_prefix("failed to ") {
            Some(action) => Self::new(exit, action),
            None => Self::new(exit, "do that").because(sentence),
        }
    }

    /// An engine failure. Lack of memory depends on the request; other failures should not happen.
    pub(crate) fn of_engine(action: impl Into<String>, error: PlayError) -> Self {
        match error {
            PlayError::Memory(refused) => {
                Self::new(Exit::Input, action).help(refused.remedy()).because(refused)
            }
            PlayError::Aborted
            | PlayError::Opening(_)
            | PlayError::OtherGame
            | PlayError::NotOurs(_)
            | PlayError::Network(_) => Self::new(Exit::Internal, action).because(error),
        }
    }

    /// Adds the cause.
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Cause::Error(cause.into()));
        self
    }

    /// Adds a remedy.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a problem in a file with its location, and a remedy.
    pub(crate) fn in_file(
        mut self,
        problem: impl Diagnostic + Send + Sync + 'static,
        remedy: String,
    ) -> Self {
        self.cause = Some(Cause::InFile { problem: Box::new(problem), remedy });
        self
    }

    /// Reclassifies a failure of the coordinator inside this process: unless the request was at fault, its database
    /// was.
    pub(crate) fn of_own_coordinator(mut self) -> Self {
        if self.exit == Exit::Network {
            self.exit = Exit::Database;
        }
        self
    }

    /// The exit code's class.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// The remedy. Errors of the operating system have their own, whatever the action.
    fn remedy(&self) -> Option<&str> {
        let Some(Cause::Error(cause)) = &self.cause else { return self.help.as_deref() };
        let mut errors =
            causes(cause.as_ref()).filter_map(|error| error.downcast_ref::<io::Error>());
        errors.find_map(system_remedy).or(self.help.as_deref())
    }

    /// The message for stderr, or `None` if nothing should be printed (see [`Cause::BrokenPipe`]).
    pub(crate) fn message(&self, style: MessageStyle) -> Option<String> {
        let (error, help) = match style {
            MessageStyle::Plain => (Style::new(), Style::new()),
            MessageStyle::Colour => {
                (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold())
            }
        };
        let mut text = format!("{error}error:{error:#} failed to {}", escaped(&self.action));
        match &self.cause {
            Some(Cause::BrokenPipe) => return None,
            Some(Cause::Error(cause)) => {
                for reason in reasons(cause.as_ref()) {
                    // Some errors repeat their source in their message.
                    let reason = escaped(&reason);
                    if !text.contains(&*reason) {
                        text.push_str(": ");
                        text.push_str(&reason);
                    }
                }
                text.push('\n');
            }
            Some(Cause::InFile { problem, remedy }) => {
                text.push('\n');
                text.push_str(&excerpt(problem.as_ref(), remedy, style));
            }
            None => text.push('\n'),
        }
        if let Some(remedy) = self.remedy().map(escaped) {
            let _infallible = fmt::write(&mut text, format_args!("{help}help:{help:#} {remedy}\n"));
        }
        Some(text)
    }
}

/// Warns of a problem that does not stop the command.
pub(crate) fn warn(problem: &str, remedy: &str) {
    if logging::is_json() {
        tracing::warn!(remedy, "{problem}");
        return;
    }
    let warning = AnsiColor::Yellow.on_default().bold();
    let help = AnsiColor::Cyan.on_default().bold();
    // Without stderr, the warning cannot be shown.
    let _unheard = write!(
        terminal::stderr(),
        "{warning}warning:{warning:#} {problem}\n{help}help:{help:#} {remedy}\n"
    );
}

/// Whether a message may have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageStyle {
    /// Plain text.
    Plain,
    /// Coloured, for a terminal.
    Colour,
}

/// An error's message and those of its sources.
fn reasons<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = String> + use<'a> {
    causes(error).map(ToString::to_string)
}

fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + use<'a> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The file's excerpt with the location and the remedy.
fn excerpt(error: &dyn Diagnostic, remedy: &str, style: MessageStyle) -> String {
    let theme = match style {
        MessageStyle::Plain => GraphicalTheme::unicode_nocolor(),
        MessageStyle::Colour => GraphicalTheme::unicode(),
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_links(false).with_width(100);
    let mut text = String::new();
    match handler.render_report(&mut text, error) {
        Ok(()) => text,
        Err(_) => format!("{error}\nhelp: {remedy}\n"),
    }
}

impl From<SweepError> for CliError {
    fn from(error: SweepError) -> Self {
        use miette::SourceCode as _;
        let file = error
            .source_text
            .read_span(&(0..0).into(), 0, 0)
            .ok()
            .and_then(|contents| contents.name().map(ToOwned::to_owned));
        let action = match file {
            Some(file) if error.file.is_some() => format!("read {file}, which the sweep names"),
            Some(file) => format!("read the sweep {file}"),
            None => "read the sweep".to_owned(),
        };
        let remedy = error.remedy.clone();
        Self::new(Exit::Input, action).in_file(error, remedy)
    }
}

impl From<spelrum_report::Error> for CliError {
    fn from(error: spelrum_report::Error) -> Self {
        let spelrum_report::Error { kind, action, cause, help } = error;
        let cause = match cause.map(|cause| cause.downcast::<io::Error>()) {
            Some(Ok(cause)) if kind == Kind::Output => return (*cause).into(),
            Some(Ok(cause)) => Some(Cause::Error(cause)),
            Some(Err(cause)) => Some(Cause::Error(cause)),
            None => None,
        };
        let exit = match kind {
            Kind::Output | Kind::Internal => Exit::Internal,
            Kind::Usage => Exit::Usage,
            Kind::Input => Exit::Input,
            Kind::Database => Exit::Database,
        };
        Self { exit, action, cause, help }
    }
}

/// Errors of writing to standard output.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // `spelrum report | head` is not a failure.
            let action = "write the output".to_owned();
            return Self {
                exit: Exit::Success,
                action,
                cause: Some(Cause::BrokenPipe),
                help: None,
            };
        }
        Self::new(Exit::Internal, "write the output").because(error)
    }
}
