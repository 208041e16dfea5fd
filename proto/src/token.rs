//! Tokens that a coordinator may require of every caller.
//!
//! A token travels as `authorization: Bearer …` in every call's metadata. It is a secret: nothing
//! here prints it, and comparing it takes a time that does not reveal how much of a guess was
//! right.

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

/// The remedy for a wrong or missing token.
const REMEDY: &str = "give the coordinator's token in SPELRUM_TOKEN, or as `token_file` in the \
                      config file that `spelrum config --path` names";

/// A secret that a coordinator and its workers and clients share.
#[derive(Clone)]
pub struct Token(String);

/// Why a text is not a token, without the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The text is empty.
    #[error("it is empty")]
    Empty,
    /// Longer than [`TOKEN_BYTES_MAX`].
    #[error("it is longer than {TOKEN_BYTES_MAX} bytes")]
    Long,
    /// Some characters cannot travel in metadata.
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
    /// Whether this is the token, in a time that does not reveal how much of a guess was right.
    #[must_use]
    pub fn is(&self, presented: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(presented).into()
    }
}

/// The caller's side: adds the token, if there is one, to every call.
#[derive(Clone, Debug, Default)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// For calls with this token, or without one.
    #[must_use]
    pub fn new(token: Option<&Token>) -> Self {
        Self(token.and_then(|Token(token)| {
            // Visible ASCII always makes metadata.
            let mut value: MetadataValue<Ascii> = format!("{SCHEME}{token}").parse().ok()?;
            // Keeps lower layers from printing it, or keeping it in a table of headers seen.
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

/// The coordinator's side: the token of a call, from `authorization`.
///
/// # Errors
/// A refusal with a remedy if the token is missing or has another form.
pub fn presented_token(authorization: Option<&[u8]>) -> Result<&[u8], Refusal> {
    let Some(presented) = authorization else {
        return Err(Refusal::bad_token("the coordinator demands a token, and none was given"));
    };
    // The scheme's case does not matter (RFC 9110, section 11.1).
    match presented.split_at_checked(SCHEME.len()) {
        Some((scheme, presented)) if scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) => {
            Ok(presented)
        }
        _ => {
            Err(Refusal::bad_token("what was given is not a token, `authorization: Bearer TOKEN`"))
        }
    }
}

impl Refusal {
    /// A refusal of a missing or wrong token, in these words.
    #[must_use]
    pub fn bad_token(problem: &str) -> Self {
        Self::new(Reason::BadToken, problem, REMEDY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        text.parse().unwrap()
    }

    #[test]
    fn a_bearer_s_token_is_presented_whatever_the_case_of_its_scheme() {
        let presented = |value: &'static str| presented_token(Some(value.as_bytes()));
        assert_eq!(presented("Bearer s3cret"), Ok(&b"s3cret"[..]));
        assert_eq!(presented("bearer s3cret"), Ok(&b"s3cret"[..]));
        assert_eq!(presented("Bearer "), Ok(&b""[..]));
        for wrong in ["Bearer", "", "Basic s3cret-s3cret", "s3cret-s3cret"] {
            let refusal = presented(wrong).unwrap_err();
            assert_eq!(refusal.reason, Reason::BadToken, "{wrong:?}");
            assert!(refusal.problem.contains("is not a token"), "{wrong:?}");
        }
        assert!(presented_token(None).unwrap_err().problem.contains("none was given"));
    }

    #[test]
    fn what_a_bearer_adds_is_presented() {
        for text in ["a", "s3cret-s3cret", &"x".repeat(TOKEN_BYTES_MAX)] {
            let request = Bearer::new(Some(&token(text))).call(Request::new(())).unwrap();
            let value = request.metadata().get(METADATA_KEY).unwrap();
            assert!(value.is_sensitive());
            assert!(!format!("{request:?}").contains("s3cret"));
            let presented = presented_token(Some(value.as_encoded_bytes())).unwrap();
            assert!(token(text).is(presented));
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
    }
}
