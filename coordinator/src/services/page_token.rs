//! Page tokens: where a list continues, as a text that only this coordinator reads.
//!
//! A token belongs to one question: with another one it is refused, since its numbers would mean something else. A
//! forged token reveals nothing: it only states the item after which the next page begins.

use sha2::{Digest as _, Sha256};
use spelrum_proto::limits::{NUMBER_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, PAGE_TOKEN_BYTES_MAX};
use spelrum_proto::work::check_length;
use spelrum_proto::{Reason, Refusal};

/// Number of items of a page when the client asks for this many.
pub(super) fn page_size(requested: u32) -> Result<u32, Refusal> {
    match requested {
        0 => Ok(PAGE_SIZE_DEFAULT),
        1..=PAGE_SIZE_MAX => Ok(requested),
        _ => Err(Refusal::new(
            Reason::Malformed,
            format!(
                "the message's field page_size is {requested}, which is more than {PAGE_SIZE_MAX}"
            ),
            "ask for fewer, and go on with next_page_token",
        )),
    }
}

/// A question whose answer comes in pages: the list's name, and everything that determines its items and their order.
#[derive(Clone, Debug)]
pub(super) struct Question {
    mark: String,
}

impl Question {
    pub(super) fn new(list: &str, question: impl std::fmt::Debug) -> Self {
        let digest = Sha256::digest(format!("spelrum page token v1\0{list}\0{question:?}"));
        Self { mark: digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect() }
    }

    /// The token of the page after the item with these keys.
    pub(super) fn token(&self, after: &[u64]) -> String {
        let keys: String = after.iter().map(|key| format!("-{key:x}")).collect();
        format!("{}{keys}", self.mark)
    }

    /// The keys in a token; none in an empty token, which means the first page.
    pub(super) fn after<const KEYS: usize>(
        &self,
        token: &str,
    ) -> Result<Option<[u64; KEYS]>, Refusal> {
        check_length("page_token", token, PAGE_TOKEN_BYTES_MAX)?;
        if token.is_empty() {
            return Ok(None);
        }
        self.keys(token).map(Some).ok_or_else(|| {
            Refusal::new(
                Reason::Malformed,
                "the message's field page_token is not one that this question was answered with",
                "leave it empty for the first page; go on with next_page_token, and nothing else changed",
            )
        })
    }

    fn keys<const KEYS: usize>(&self, token: &str) -> Option<[u64; KEYS]> {
        let keys = token.strip_prefix(&self.mark)?.strip_prefix('-')?;
        let keys: Vec<u64> = keys.split('-').map(key).collect::<Option<_>>()?;
        keys.try_into().ok()
    }
}

/// A number exactly as [`Question::token`] writes it.
fn key(text: &str) -> Option<u64> {
    let key = u64::from_str_radix(text, 16).ok().filter(|&key| key <= NUMBER_MAX)?;
    (format!("{key:x}") == text).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_by_its_question_alone() {
        let question = Question::new("games", (3, "newest"));
        let token = question.token(&[0, 17, NUMBER_MAX]);
        assert_eq!(question.after(&token), Ok(Some([0, 17, NUMBER_MAX])));
        assert_eq!(question.after::<2>(""), Ok(None));
        assert!(token.len() <= PAGE_TOKEN_BYTES_MAX);
        for other in [Question::new("games", (4, "newest")), Question::new("cells", (3, "newest"))]
        {
            assert_eq!(other.after::<3>(&token).unwrap_err().reason, Reason::Malformed);
        }
        assert_eq!(question.after::<2>(&token).unwrap_err().reason, Reason::Malformed);
    }

    #[test]
    fn what_is_made_up_is_refused() {
        let question = Question::new("games", 3);
        let mark = question.token(&[]);
        let long = format!("{mark}-{}", "0".repeat(PAGE_TOKEN_BYTES_MAX));
        for hostile in [
            "x",
            "-",
            "' OR 1 --",
            &mark,
            &format!("{mark}-"),
            &format!("{mark}--1"),
            &format!("{mark}-+1"),
            &format!("{mark}-01"),
            &format!("{mark}-A"),
            &format!("{mark}-1-2"),
            &format!("{mark}-1é"),
            &format!("{mark}-20000000000000"),
            &format!("{mark}-ffffffffffffffffffff"),
            &mark[1..],
            &long,
        ] {
            let refused = question.after::<1>(hostile).unwrap_err();
            assert_eq!(refused.reason, Reason::Malformed, "{hostile}");
        }
        assert_eq!(question.after(&format!("{mark}-1fffffffffffff")), Ok(Some([NUMBER_MAX])));
    }

    #[test]
    fn the_size_of_a_page_is_bounded() {
        assert_eq!(page_size(0), Ok(PAGE_SIZE_DEFAULT));
        assert_eq!(page_size(PAGE_SIZE_MAX), Ok(PAGE_SIZE_MAX));
        assert_eq!(page_size(PAGE_SIZE_MAX + 1).unwrap_err().reason, Reason::Malformed);
    }
}
