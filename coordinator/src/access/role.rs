//! What calls need, and what tokens may.

use std::fmt;
use std::str::FromStr;

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look at experiments and results, ask in SQL, and export.
    Read,
    /// Submit sweeps, steer experiments and remove them; whoever may also reads.
    Submit,
    /// Play games and train networks: what a worker does, and nothing else.
    Work,
}

impl Role {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Read, Self::Submit, Self::Work];

    /// Its name on the command line and in the file of tokens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Submit => "submit",
            Self::Work => "work",
        }
    }

    /// What a call of this path needs. What no service has is asked for at the most that a person may.
    pub(super) fn needed_by(path: &str) -> Self {
        let Some((service, method)) = path.trim_start_matches('/').split_once('/') else {
            return Self::Submit;
        };
        match (service, method) {
            ("spelrum.v1.Work", _) => Self::Work,
            ("spelrum.v1.Results", _)
            | ("spelrum.v1.Experiments", "Status" | "Query" | "GetVerifications") => Self::Read,
            _ => Self::Submit,
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
        let found = Self::ALL.into_iter().find(|role| role.name() == name);
        found.ok_or_else(|| format!("`{name}` is not a role: they are read, submit and work"))
    }
}

/// What a token may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    read: bool,
    submit: bool,
    work: bool,
}

impl Roles {
    /// Whether it has any.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        !(self.read || self.submit || self.work)
    }

    /// Whether it is given a role.
    #[must_use]
    pub const fn has(self, role: Role) -> bool {
        match role {
            Role::Read => self.read,
            Role::Submit => self.submit,
            Role::Work => self.work,
        }
    }

    /// Whether who has it may call what needs a role: who submits also reads.
    #[must_use]
    pub const fn may(self, role: Role) -> bool {
        self.has(role) || matches!(role, Role::Read) && self.submit
    }

    /// Those it is given, in their order.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |&role| self.has(role))
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        let mut all = Self::default();
        for role in roles {
            match role {
                Role::Read => all.read = true,
                Role::Submit => all.submit = true,
                Role::Work => all.work = true,
            }
        }
        all
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
            Role::ALL.map(|role| roles.may(role))
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
    fn paths_that_nobody_serves_are_not_open_to_readers() {
        for path in [
            "",
            "/",
            "/spelrum.v1.Experiments",
            "/spelrum.v2.Work/Hello",
            "/spelrum.v1.Experiments/status",
        ] {
            assert_eq!(Role::needed_by(path), Role::Submit, "{path}");
        }
    }
}
