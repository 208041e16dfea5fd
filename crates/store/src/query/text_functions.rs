//! Linear-time versions of SQLite's text functions that take time proportional to the product of two lengths, with the
//! same results. SQLite checks the clock between its instructions, and each call is one instruction: with SQLite's
//! versions, a call on texts of megabytes would run for hours after its query's time limit.
//!
//! The meaning is SQLite's own (sqlite.org/lang_corefunc.html): a blob beside a text is read as text, and so is a
//! number, formatted as SQLite does.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::panic::UnwindSafe;

use memchr::memmem::Finder;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ffi};

/// Registers the functions on this connection in place of SQLite's. No value exceeds `bytes_max`.
pub(super) fn offer(connection: &Connection, bytes_max: usize) -> rusqlite::Result<()> {
    // Flags as in SQLite: the views may use these functions.
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let plain = Plain::default();
    connection.create_scalar_function("instr", 2, flags, move |asked| instr(asked, &plain))?;
    let plain = Plain::default();
    connection.create_scalar_function("replace", 3, flags, move |asked| {
        replace(asked, &plain, bytes_max)
    })?;
    for (name, sides) in [
        ("ltrim", Sides { start: true, end: false }),
        ("rtrim", Sides { start: false, end: true }),
        ("trim", Sides { start: true, end: true }),
    ] {
        let plain = Plain::default();
        connection
            .create_scalar_function(name, 2, flags, move |asked| trim(asked, &plain, sides))?;
    }
    Ok(())
}

/// A text result. Like SQLite, these functions do not require UTF-8.
struct Text(Vec<u8>);

impl ToSql for Text {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

/// An empty database that formats numbers as SQLite does.
#[derive(Default)]
struct Plain(OnceCell<Connection>);

/// No state is kept between calls.
impl UnwindSafe for Plain {}

impl Plain {
    /// A value as a text; `None` for NULL.
    fn text<'v>(&self, value: ValueRef<'v>) -> rusqlite::Result<Option<Cow<'v, [u8]>>> {
        Ok(Some(match value {
            ValueRef::Null => return Ok(None),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cow::Borrowed(bytes),
            ValueRef::Integer(integer) => Cow::Owned(integer.to_string().into_bytes()),
            ValueRef::Real(real) => Cow::Owned(self.written(real)?.into_bytes()),
        }))
    }

    fn written(&self, real: f64) -> rusqlite::Result<String> {
        let plain = match self.0.get() {
            Some(plain) => plain,
            None => {
                let opened = Connection::open_in_memory()?;
                self.0.get_or_init(|| opened)
            }
        };
        plain.query_row("SELECT CAST(? AS TEXT)", [real], |row| row.get(0))
    }
}

/// Position of the second argument in the first, from 1: in characters, or in bytes if both are blobs.
fn instr(asked: &Context<'_>, plain: &Plain) -> rusqlite::Result<Option<i64>> {
    let (within, wanted) = (asked.get_raw(0), asked.get_raw(1));
    let are_blobs = matches!((within, wanted), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(within), Some(wanted)) = (plain.text(within)?, plain.text(wanted)?) else {
        return Ok(None);
    };
    let Some(at) = Finder::new(&wanted).find(&within) else { return Ok(Some(0)) };
    if are_blobs || at == 0 {
        return Ok(Some(at as i64 + 1));
    }
    if wanted.first().is_some_and(|&first| continues(first)) {
        // Not UTF-8: no character begins with this byte.
        return Ok(Some(0));
    }
    Ok(Some(within[1..=at].iter().filter(|&&byte| !continues(byte)).count() as i64 + 1))
}

/// Whether a byte is a UTF-8 continuation byte.
fn continues(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Replaces each occurrence of the second argument in the first by the third.
fn replace(asked: &Context<'_>, plain: &Plain, bytes_max: usize) -> rusqlite::Result<Option<Text>> {
    let (Some(text), Some(old)) = (plain.text(asked.get_raw(0))?, plain.text(asked.get_raw(1))?)
    else {
        return Ok(None);
    };
    if old.first().is_none_or(|&first| first == 0) {
        return Ok(Some(Text(text.into_owned())));
    }
    let Some(new) = plain.text(asked.get_raw(2))? else { return Ok(None) };
    let (mut replaced, mut rest) = (Vec::with_capacity(text.len()), &text[..]);
    let finder = Finder::new(&old);
    while let Some(at) = finder.find(rest) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(&new);
        rest = &rest[at + old.len()..];
        if replaced.len() > bytes_max {
            return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
        }
    }
    replaced.extend_from_slice(rest);
    Ok(Some(Text(replaced)))
}

/// Ends to trim.
#[derive(Clone, Copy)]
struct Sides {
    start: bool,
    end: bool,
}

/// Strips the characters of the second argument from the ends of the first.
fn trim(asked: &Context<'_>, plain: &Plain, sides: Sides) -> rusqlite::Result<Option<Text>> {
    let (Some(text), Some(these)) = (plain.text(asked.get_raw(0))?, plain.text(asked.get_raw(1))?)
    else {
        return Ok(None);
    };
    let these = characters(&these);
    let mut lengths: Vec<usize> = these.iter().map(|character| character.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut rest = &text[..];
    if sides.start {
        let first = |rest: &[u8]| {
            lengths.iter().copied().find(|&length| {
                rest.get(..length).is_some_and(|character| these.contains(character))
            })
        };
        while let Some(length) = first(rest) {
            rest = &rest[length..];
        }
    }
    if sides.end {
        let last = |rest: &[u8]| {
            lengths.iter().copied().find(|&length| {
                let from = rest.len().checked_sub(length);
                from.is_some_and(|from| these.contains(&rest[from..]))
            })
        };
        while let Some(length) = last(rest) {
            rest = &rest[..rest.len() - length];
        }
    }
    Ok(Some(Text(rest.to_vec())))
}

/// The characters of a text, up to a NUL.
fn characters(text: &[u8]) -> BTreeSet<&[u8]> {
    let mut characters = BTreeSet::new();
    let mut rest = &text[..text.iter().position(|&byte| byte == 0).unwrap_or(text.len())];
    while let Some((&first, after)) = rest.split_first() {
        let more = after.iter().take_while(|&&byte| first >= 0xc0 && continues(byte)).count();
        let (character, others) = rest.split_at(1 + more);
        characters.insert(character);
        rest = others;
    }
    characters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::types::Value;

    use super::*;

    /// A small alphabet, so that matches occur: characters of one, two and four bytes, a NUL, and characters of
    /// numbers.
    fn text() -> impl Strategy<Value = String> {
        let character = prop::sample::select(vec!['a', 'b', 'é', '♞', '𝄞', '\0', '1', '.', ' ']);
        prop::collection::vec(character, 0..8)
            .prop_map(|characters| characters.into_iter().collect())
    }

    fn value() -> impl Strategy<Value = Value> {
        let byte = prop::sample::select(vec![b'a', b'b', 0, 0x80, 0xa9, 0xc3, 0xff]);
        prop_oneof![
            6 => text().prop_map(Value::Text),
            2 => text().prop_map(|text| Value::Blob(text.into_bytes())),
            1 => prop::collection::vec(byte, 0..6).prop_map(Value::Blob),
            1 => (-12..12_i64).prop_map(Value::Integer),
            1 => prop::sample::select(vec![0.1, 1.0, -11.5, 1e300, 1.0 / 3.0, f64::INFINITY])
                .prop_map(Value::Real),
            1 => Just(Value::Null),
        ]
    }

    fn is_utf8(value: &Value) -> bool {
        !matches!(value, Value::Blob(bytes) if core::str::from_utf8(bytes).is_err())
    }

    /// The result with its type and all its bytes.
    fn answer(connection: &Connection, sql: &str, values: &[&Value]) -> (String, Option<Vec<u8>>) {
        let sql = format!("SELECT typeof(x), CAST(x AS BLOB) FROM (SELECT {sql} AS x)");
        let row = connection.query_row(&sql, rusqlite::params_from_iter(values), |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        row.unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn answers_are_those_of_sqlite(a in value(), b in value(), c in value()) {
            let (sqlite, ours) =
                (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
            offer(&ours, 1_000).unwrap();
            let mut asked = vec![("instr(?, ?)", vec![&a, &b]), ("replace(?, ?, ?)", vec![&a, &b, &c])];
            if is_utf8(&a) && is_utf8(&b) {
                for trim in ["trim(?, ?)", "ltrim(?, ?)", "rtrim(?, ?)"] {
                    asked.push((trim, vec![&a, &b]));
                }
            }
            for (sql, values) in asked {
                prop_assert_eq!(
                    answer(&ours, sql, &values), answer(&sqlite, sql, &values), "{} of {:?}", sql, values
                );
            }
        }
    }

    /// SQLite's own versions would take minutes.
    #[test]
    fn megabytes_take_no_time() {
        let ours = Connection::open_in_memory().unwrap();
        offer(&ours, 8 << 20).unwrap();
        let long = Value::Text("a".repeat(4 << 20));
        let half = Value::Text(format!("{}b", "a".repeat(2 << 20)));
        let many = Value::Text((1..1 << 20).filter_map(char::from_u32).chain(['a']).collect());
        assert_eq!(answer(&ours, "instr(?, ?)", &[&long, &half]).1, Some(b"0".to_vec()));
        let replaced = answer(&ours, "length(replace(?, ?, 'x'))", &[&long, &half]).1;
        assert_eq!(replaced, Some(b"4194304".to_vec()));
        let trimmed = answer(&ours, "length(trim(?, ?))", &[&long, &many]).1;
        assert_eq!(trimmed, Some(b"0".to_vec()));
    }

    #[test]
    fn what_would_be_too_long_is_refused_before_it_is_made() {
        let ours = Connection::open_in_memory().unwrap();
        offer(&ours, 1_000).unwrap();
        let text = Value::Text("a".repeat(1_000));
        let sql = "SELECT replace(?, 'a', ?)";
        let error = ours.query_row(sql, [&text, &text], |row| row.get::<_, String>(0)).unwrap_err();
        assert_eq!(error.sqlite_error().map(|error| error.extended_code), Some(ffi::SQLITE_TOOBIG));
    }
}
