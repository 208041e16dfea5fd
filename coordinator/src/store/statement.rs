//! Which SQL a reader may run: one statement that can do nothing but read (invariant 10).
//!
//! SQLite itself refuses to write: the connection is opened read-only, with `query_only` set. But
//! a read-only connection may still attach other files (`ATTACH`), write them (`VACUUM INTO`) and
//! change settings (`PRAGMA`), each by a statement of its own that begins with its own keyword. So
//! a query must be a single statement, and begin with a keyword of a query.

/// The keywords a query may begin with.
const QUERY: &[&str] = &["SELECT", "WITH", "VALUES"];

/// Checks that the text is one statement that is a query; returns it without comments and white
/// space around it, and without the semicolon that ends it.
pub(super) fn single_query(sql: &str) -> Result<&str, String> {
    // SQLite reads up to a NUL, and would leave the rest to be run as another statement.
    if sql.contains('\0') {
        return Err("it contains a NUL character".to_owned());
    }
    let mut words: Vec<&str> = Vec::with_capacity(4);
    let mut end = None;
    let mut rest = sql;
    while !rest.is_empty() {
        let (token, length) = next_token(rest);
        let here = sql.len() - rest.len();
        match token {
            Token::Blank => {}
            Token::Semicolon => end = end.or(Some(here)),
            Token::Parameter => return Err("it has parameters".to_owned()),
            Token::Word | Token::Other => {
                if end.is_some() {
                    return Err("it is more than one statement".to_owned());
                }
                if words.len() < 4 {
                    words.push(&rest[..length]);
                }
            }
        }
        rest = &rest[length..];
    }
    let is = |index: usize, keyword: &str| {
        words.get(index).is_some_and(|word| word.eq_ignore_ascii_case(keyword))
    };
    let first = if !is(0, "EXPLAIN") {
        0
    } else if is(1, "QUERY") && is(2, "PLAN") {
        3
    } else {
        1
    };
    if words.is_empty() {
        return Err("it is empty".to_owned());
    }
    if !QUERY.iter().any(|keyword| is(first, keyword)) {
        let word = words.get(first).or(words.last()).copied().unwrap_or_default();
        let word: String = word.chars().take(20).collect();
        return Err(format!("only queries are run, and {word} begins none"));
    }
    Ok(sql[..end.unwrap_or(sql.len())].trim())
}

enum Token {
    /// White space or a comment.
    Blank,
    Semicolon,
    /// The beginning of `?1`, `:name`, `@name`, `#1` or `$name`. Nobody could bind it a value, and
    /// SQLite reads on in `$name(…)` to the parenthesis, over quotes: it could hide a semicolon's
    /// being one.
    Parameter,
    /// A keyword or a name.
    Word,
    /// A string, a quoted name, a number, an operator.
    Other,
}

/// The first token of a text that is not empty, and its length in bytes. Follows SQLite's
/// tokenizer (`sqlite3GetToken` in tokenize.c) in all that can hide or show a semicolon.
fn next_token(text: &str) -> (Token, usize) {
    let bytes = text.as_bytes();
    match bytes[0] {
        b';' => (Token::Semicolon, 1),
        // SQLite's white space; a form feed is, a vertical tab is not.
        b' ' | b'\t' | b'\n' | b'\x0c' | b'\r' => (Token::Blank, 1),
        b'-' if bytes.get(1) == Some(&b'-') => {
            (Token::Blank, text.find('\n').map_or(text.len(), |at| at + 1))
        }
        // A comment that does not end runs to the end of the text. `/*/` does not close itself.
        b'/' if bytes.get(1) == Some(&b'*') => {
            (Token::Blank, text[2..].find("*/").map_or(text.len(), |at| at + 4))
        }
        quote @ (b'\'' | b'"' | b'`') => (Token::Other, quoted_length(bytes, quote)),
        b'?' | b':' | b'@' | b'#' | b'$' => (Token::Parameter, 1),
        b'[' => (Token::Other, text.find(']').map_or(text.len(), |at| at + 1)),
        first if is_word(first) => {
            (Token::Word, bytes.iter().position(|&byte| !is_word(byte)).unwrap_or(bytes.len()))
        }
        _ => (Token::Other, 1),
    }
}

/// SQLite's characters of names: letters, digits, `_`, `$` and everything beyond ASCII.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The length of a quoted text, in which a doubled quote stands for itself.
fn quoted_length(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_pass_and_lose_their_end() {
        for (sql, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("  select 1 ; ", "select 1"),
            ("select 1;;\n-- done", "select 1"),
            ("-- why\nSELECT 1", "-- why\nSELECT 1"),
            ("/* ; */ SELECT ';'", "/* ; */ SELECT ';'"),
            ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"),
            ("VALUES (1), (2)", "VALUES (1), (2)"),
            ("explain query plan select 1", "explain query plan select 1"),
            ("EXPLAIN SELECT 1", "EXPLAIN SELECT 1"),
            // What a comment swallows to the end is not a second statement.
            ("SELECT /*/ 1; VACUUM", "SELECT /*/ 1; VACUUM"),
            (
                "SELECT 'it''s; fine', \"a;b\", `c;d`, [e;f]",
                "SELECT 'it''s; fine', \"a;b\", `c;d`, [e;f]",
            ),
        ] {
            assert_eq!(single_query(sql), Ok(expected), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for sql in [
            "",
            " ; ",
            "-- nothing",
            "SELECT 1; SELECT 2",
            "SELECT 1; ATTACH 'x' AS y",
            "SELECT 1 /* */; VACUUM INTO 'x'",
            "SELECT '\\'; VACUUM INTO 'x' --'",
            "SELECT [']; VACUUM INTO 'x' --'",
            "SELECT \"'\"; VACUUM INTO 'x' --'",
            "SELECT 1 --\n; VACUUM",
            "SELECT 1 /*/**/; VACUUM",
            "ATTACH 'x' AS y",
            "/* SELECT */ PRAGMA query_only = 0",
            "EXPLAIN PRAGMA query_only = 0",
            "EXPLAIN QUERY PLAN ATTACH 'x' AS y",
            "EXPLAIN",
            "VACUUM INTO 'x'",
            "CREATE TEMP TABLE t (x)",
            "BEGIN",
            "DELETE FROM games",
            "\u{feff}SELECT 1",
            "SELECT 1\0; VACUUM",
            "'SELECT' 1",
            // SQLite reads `$x(')` as one parameter.
            "SELECT $x('); VACUUM INTO 'x' --'",
            "SELECT ?1",
        ] {
            assert!(single_query(sql).is_err(), "{sql}");
        }
    }

    proptest::proptest! {
        /// A query with anything inside a string stays one statement.
        #[test]
        fn strings_hide_everything(text in "[^\0]*") {
            let sql = format!("SELECT '{}'", text.replace('\'', "''"));
            proptest::prop_assert!(single_query(&sql).is_ok());
        }

        /// SQLite finds no second statement in what passes, nor any that is not read-only: the
        /// twin of this scanner is SQLite's own.
        #[test]
        fn sqlite_agrees(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    ";", "'", "''", "\"", "`", "[", "]", "--", "\n", "/*", "*/", "/", "*", "-", "$x(",
                    "$", "(", ")", " ", "x'", "1", "a", ",", "SELECT", " WITH ", "\u{b}", "é", ":", "?",
                    "; CREATE TABLE broken_out (x) --", "; CREATE TABLE broken_out (x)", "\\",
                ]),
                0..12,
            )
        ) {
            let text = format!("SELECT 1 {}", pieces.concat());
            let Ok(query) = single_query(&text) else { return Ok(()) };
            let broken_out = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
                use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
                let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
                // Most are not SQL; what matters is what ran before SQLite found that out.
                let _ = connection.execute(AssertSqlSafe(query.to_owned())).await;
                let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
                    .fetch_one(&mut connection).await.unwrap();
                tables > 0
            });
            proptest::prop_assert!(!broken_out, "{text}");
        }
    }
}
