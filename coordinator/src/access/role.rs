//! Roles: which one a call needs, and which ones a token has.

use std::fmt;
use std::str::FromStr;

use axum::http::Method;
use spelrum_answers::{ANALYSES_PATH, BROWSER_LINKS_PATH, EXPORT_PATH, QUERY_PATH};

use crate::pages::is_page;
use spelrum_names::Names;

/// What the paths of the API begin with.
pub(crate) const API_PREFIX: &str = "/api/";

/// Paths of calls by POST that change no results: questions that are too long for a query string, and links that let a
/// browser in for as much as their caller may do.
const POSTED_QUESTIONS: [&str; 4] = [QUERY_PATH, EXPORT_PATH, BROWSER_LINKS_PATH, ANALYSES_PATH];

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Names)]
pub enum Role {
    /// View experiments and results, query them with SQL, and export.
    Read,
    /// Submit, steer and remove experiments; includes reading.
    Submit,
    /// Play games and train networks: a worker's calls, and nothing else.
    Work,
}

impl Role {
    /// The role that a call to this path needs. An unknown path needs the highest role of a person.
    pub(crate) fn needed_by(method: &Method, path: &str) -> Self {
        let is_question = *method == Method::GET || POSTED_QUESTIONS.contains(&path);
        if path.starts_with("/spelrum.v1.Work/") {
            Self::Work
        } else if (path.starts_with(API_PREFIX) || path == "/" || is_page(path)) && is_question {
            Self::Read
        } else {
            Self::Submit
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::named(name)
            .ok_or_else(|| format!("`{name}` is not a role: they are read, submit and work"))
    }
}

/// The roles of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    read: bool,
    submit: bool,
    work: bool,
}

impl Roles {
    /// Whether there is any role.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        !(self.read || self.submit || self.work)
    }

    /// Whether this role is listed.
    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        match role {
            Role::Read => self.read,
            Role::Submit => self.submit,
            Role::Work => self.work,
        }
    }

    /// Whether these roles allow calls that need this one: submit includes read.
    #[must_use]
    pub const fn allow(self, role: Role) -> bool {
        self.has(role) || matches!(role, Role::Read) && self.submit
    }

    /// The listed roles, in their order.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |&role| self.has(role))
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        let mut set = Self::default();
        for role in roles {
            match role {
                Role::Read => set.read = true,
                Role::Submit => set.submit = true,
                Role::Work => set.work = true,
            }
        }
        set
    }
}

impl fmt::Display for Roles {
    /// `read, work`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Role::name).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_submits_reads_and_nobody_else_gets_more() {
        let may = |roles: &[Role]| {
            let roles: Roles = roles.iter().copied().collect();
            Role::ALL.map(|role| roles.allow(role))
        };
        assert_eq!(may(&[]), [false, false, false]);
        assert_eq!(may(&[Role::Read]), [true, false, false]);
        assert_eq!(may(&[Role::Submit]), [true, true, false]);
        assert_eq!(may(&[Role::Work]), [false, false, true]);
        assert_eq!(may(&[Role::Work, Role::Read]), [true, false, true]);
        let all: Roles = Role::ALL.into_iter().collect();
        assert_eq!(all.to_string(), "read, submit, work");
        assert_eq!("work".parse(), Ok(Role::Work));
        assert!("Work".parse::<Role>().is_err() && "".parse::<Role>().is_err());
    }

    #[test]
    fn questions_need_less_than_changes_and_unknown_paths_the_most() {
        let needed = |method, path| Role::needed_by(&method, path);
        for path in ["/api/v1/status", "/api/v1/experiments/nim/report", "/api/v9/x"] {
            assert_eq!(needed(Method::GET, path), Role::Read, "{path}");
            for change in [Method::POST, Method::DELETE, Method::PUT, Method::HEAD] {
                assert_eq!(needed(change, path), Role::Submit, "{path}");
            }
        }
        assert_eq!(needed(Method::POST, "/api/v1/sql"), Role::Read);
        assert_eq!(needed(Method::POST, "/api/v1/export"), Role::Read);
        assert_eq!(needed(Method::POST, "/api/v1/sql/"), Role::Submit);
        assert_eq!(needed(Method::POST, "/spelrum.v1.Work/Lease"), Role::Work);
        assert_eq!(needed(Method::GET, "/"), Role::Read);
        assert_eq!(needed(Method::GET, "/experiments/nim"), Role::Read);
        assert_eq!(needed(Method::POST, "/experiments/nim"), Role::Submit);
        for path in ["", "/spelrum.v1.Work", "/spelrum.v2.Work/Hello", "/apis/v1/status"] {
            assert_eq!(needed(Method::GET, path), Role::Submit, "{path}");
        }
    }
}
