//! The token that a coordinator may demand of everybody who calls it.
//!
//! It travels as `authorization: Bearer …` in every call's metadata. It is a shared secret: nothing
//! here prints it, and it is compared in a time that does not tell how much of a guess was right.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq as _;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::{Reason, Refusal};

/// The longest token, in bytes: metadata is small.
pub const TOKEN_BYTES_MAX: usize = 1_024;

const METADATA_KEY: &str = "authorization";
const SCHEME: &str = "Bearer ";

/// What to do about a wrong token, and about none.
const REMEDY: &str = "give the coordinator's token in SPELRUM_TOKEN, or as `token_file` in the \
                      config file that `spelrum config --path` names";

/// A secret that a coordinator and its workers and clients share.
#[derive(Clone)]
pub struct Token(String);

/// Why a text is not a token; never with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// There is nothing.
    #[error("it is empty")]
    Empty,
    /// Longer than [`TOKEN_BYTES_MAX`].
    #[error("it is longer than {TOKEN_BYTES_MAX} bytes")]
    Long,
    /// Not all of it could travel in metadata.
    #[error("it has a character that is not visible ASCII, such as a space")]
    Characters,
}

impl FromStr for Token {
    type Err = TokenError;

    /// Surrounding white space is not part of it: a file ends with a line end.
    fn from_str(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.is_empty() {
            Err(TokenError::Empty)
        } else if text.len() > TOKEN_BYTES_MAX {
            Err(TokenError::Long)
        } else if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Err(TokenError::Characters)
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

impl Token {
    fn is(&self, presented: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(presented).into()
    }
}

/// A caller's side: adds the token, if there is one, to every call.
#[derive(Clone, Debug, Default)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// For calls with this token, or without one.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        Self(token.and_then(|Token(token)| {
            // Visible ASCII always makes metadata.
            let mut value: MetadataValue<Ascii> = format!("{SCHEME}{token}").parse().ok()?;
            // Nothing below us may print it, or keep it in a table of headers seen.
            value.set_sensitive(true);
            Some(value)
        }))
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert(METADATA_KEY, value.clone());
        }
        Ok(request)
    }
}

/// A coordinator's side: lets a call through if it brings the token, or if none is demanded.
#[derive(Clone, Debug, Default)]
pub struct Guard(Option<Token>);

impl Guard {
    /// Demands this token, or none.
    #[must_use]
    pub fn new(token: Option<Token>) -> Self {
        Self(token)
    }

    /// Lets a call through that brings this as `authorization`.
    ///
    /// # Errors
    /// A refusal that says what to do about it.
    pub fn check(&self, authorization: Option<&[u8]>) -> Result<(), Refusal> {
        let Some(token) = &self.0 else {
            return Ok(());
        };
        let Some(presented) = authorization else {
            let problem = "the coordinator demands a token, and none was given";
            return Err(Refusal::new(Reason::BadToken, problem, REMEDY));
        };
        // The scheme's case does not matter (RFC 9110, section 11.1).
        match presented.split_at_checked(SCHEME.len()) {
            Some((scheme, presented))
                if scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) && token.is(presented) =>
            {
                Ok(())
            }
            _ => {
                let problem = "the token that was given is not the coordinator's";
                Err(Refusal::new(Reason::BadToken, problem, REMEDY))
            }
        }
    }
}

impl Interceptor for Guard {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let authorization = request.metadata().get(METADATA_KEY);
        self.check(authorization.map(MetadataValue::as_encoded_bytes))?;
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        text.parse().unwrap()
    }

    /// What a guard says to metadata with this value.
    fn said(guard: &Guard, value: Option<&str>) -> Option<String> {
        guard.check(value.map(str::as_bytes)).err().map(|refusal| {
            assert_eq!(refusal.reason, Reason::BadToken);
            refusal.problem
        })
    }

    #[test]
    fn only_the_token_opens_the_guard() {
        let guard = Guard::new(Some(token("s3cret-s3cret")));
        assert_eq!(said(&guard, Some("Bearer s3cret-s3cret")), None);
        assert_eq!(said(&guard, Some("bearer s3cret-s3cret")), None);
        let wrong = [
            "Bearer s3cret-s3cre",
            "Bearer s3cret-s3cret2",
            "Bearer ",
            "Bearer",
            "",
            "Basic s3cret-s3cret",
            "s3cret-s3cret",
        ];
        for wrong in wrong {
            let problem = said(&guard, Some(wrong)).unwrap();
            assert_eq!(problem, "the token that was given is not the coordinator's", "{wrong:?}");
        }
        assert!(said(&guard, None).unwrap().contains("none was given"));
        assert_eq!(said(&Guard::default(), None), None);
        assert_eq!(said(&Guard::default(), Some("Bearer whatever")), None);
    }

    #[test]
    fn what_a_bearer_adds_its_guard_lets_through() {
        for text in ["a", "s3cret-s3cret", &"x".repeat(TOKEN_BYTES_MAX)] {
            let request = Bearer::new(Some(&token(text))).call(Request::new(())).unwrap();
            let value = request.metadata().get(METADATA_KEY).unwrap();
            assert!(value.is_sensitive());
            assert!(!format!("{request:?}").contains("s3cret"));
            assert!(Guard::new(Some(token(text))).call(request).is_ok());
        }
        let request = Bearer::default().call(Request::new(())).unwrap();
        assert!(request.metadata().get(METADATA_KEY).is_none());
    }

    #[test]
    fn a_token_is_visible_ascii_and_is_never_printed() {
        assert!(token("  abc\n").is(b"abc"));
        let error = |text: &str| text.parse::<Token>().unwrap_err();
        assert_eq!(error(" \n"), TokenError::Empty);
        assert_eq!(error("two words"), TokenError::Characters);
        assert_eq!(error("smörgås"), TokenError::Characters);
        assert_eq!(error(&"x".repeat(TOKEN_BYTES_MAX + 1)), TokenError::Long);
        assert_eq!(format!("{:?}", token("abc")), "Token(hidden)");
        assert_eq!(format!("{:?}", Guard::new(Some(token("abc")))), "Guard(Some(Token(hidden)))");
    }
}
