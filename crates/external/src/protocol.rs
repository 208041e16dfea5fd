//! The protocols of engines, and what differs between them outside of a conversation.

/// The protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The universal chess interface.
    Uci,
    /// The Go text protocol.
    Gtp,
    /// JSON objects in lines, for every game: `docs/lines.md`.
    Lines,
    /// The chess engine communication protocol, which XBoard speaks.
    Xboard,
    /// The universal game interface: the frame of UCI for every game, in words that engines files can replace.
    Ugi,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Uci, Self::Gtp, Self::Lines, Self::Xboard, Self::Ugi];

    /// Its name in engines files and in the hashes of builds.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uci => "uci",
            Self::Gtp => "gtp",
            Self::Lines => "lines",
            Self::Xboard => "xboard",
            Self::Ugi => "ugi",
        }
    }

    /// The protocol of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }

    /// Its name in messages.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Uci => "UCI",
            Self::Gtp => "GTP",
            Self::Lines => "the protocol of lines",
            Self::Xboard => "XBoard",
            Self::Ugi => "UGI",
        }
    }

    /// Whether a CR alone ends a line, and empty lines mean nothing.
    pub(crate) const fn ends_lines_at_cr(self) -> bool {
        match self {
            Self::Uci | Self::Xboard | Self::Ugi => true,
            Self::Gtp | Self::Lines => false,
        }
    }

    /// Whether it has its own way to set options. Otherwise the engines file has a command for each.
    pub(crate) const fn has_options(self) -> bool {
        match self {
            Self::Uci | Self::Lines | Self::Xboard | Self::Ugi => true,
            Self::Gtp => false,
        }
    }

    /// Whether engines declare the options `Hash` and `Threads` in one sense.
    pub(crate) const fn has_usual_options(self) -> bool {
        match self {
            Self::Uci | Self::Xboard | Self::Ugi => true,
            Self::Gtp | Self::Lines => false,
        }
    }
}
