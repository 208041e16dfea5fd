//! The functions of ours inside users' queries: their figures, and an answer for every argument.

use spelrum_statistics::{GameCounts, PairCounts};
use spelrum_store::{Readers, SqlValue, StoreError};

use crate::fixture::Store;

async fn row(readers: &Readers, expressions: &str) -> Vec<SqlValue> {
    let table = readers.query(&format!("SELECT {expressions}"), 10).await;
    table.unwrap_or_else(|error| panic!("{expressions}: {error}")).rows.remove(0)
}

async fn refusal(readers: &Readers, expression: &str) -> String {
    match readers.query(&format!("SELECT {expression}"), 10).await {
        Err(error @ StoreError::WrongQuery { .. }) => error.to_string(),
        other => panic!("{expression}: {other:?}"),
    }
}

fn reals<const N: usize>(values: [f64; N]) -> Vec<SqlValue> {
    values.map(SqlValue::Real).into()
}

#[tokio::test]
async fn figures_are_those_of_reports() {
    let store = Store::new().await;
    let readers = &store.writer.readers();
    let games = GameCounts([200, 500, 250]);
    let (strength, interval) = (games.strength(), games.interval());
    assert_eq!(
        row(
            readers,
            "elo(250, 500, 200), elo_error(250, 500, 200), score_low(250, 500, 200),
            score_high(250, 500, 200)"
        )
        .await,
        reals([strength.elo, strength.elo_error, interval.low, interval.high])
    );
    let pairs = PairCounts([10, 30, 60, 45, 15]);
    let (strength, interval) = (pairs.strength(), pairs.interval());
    let counts = "(10, 30, 60, 45, 15)";
    assert_eq!(
        row(
            readers,
            &format!(
                "pairs_elo{counts}, pairs_elo_error{counts}, pairs_nelo{counts}, pairs_nelo_error{counts},
                pairs_los{counts}, pairs_low{counts}, pairs_high{counts}"
            )
        )
        .await,
        reals([
            strength.elo,
            strength.elo_error,
            strength.nelo,
            strength.nelo_error,
            strength.los,
            interval.low,
            interval.high
        ])
    );
    // Wilson's interval, as published: 0 of 10, and 15 of 148 (Newcombe 1998, table I).
    assert_eq!(
        row(
            readers,
            "round(wilson_low(81, 263), 4), round(wilson_high(81, 263), 4),
            round(wilson_low(15, 148), 4), round(wilson_high(15, 148), 4),
            wilson_low(0, 20), round(wilson_high(0, 20), 4),
            round(wilson_low(29, 29), 4), wilson_high(29, 29)"
        )
        .await,
        reals([0.2553, 0.3662, 0.0624, 0.1605, 0.0, 0.1611, 0.8830, 1.0])
    );
    assert_eq!(
        row(
            readers,
            "elo_of_score(0.5), round(elo_of_score(0.75), 3), score_of_elo(0), score_of_elo(400)"
        )
        .await,
        reals([0.0, 190.849, 0.5, 10.0 / 11.0])
    );
}

#[tokio::test]
async fn every_argument_has_an_answer() {
    let store = Store::new().await;
    let readers = &store.writer.readers();
    let null = |values: Vec<SqlValue>| values.iter().all(|value| *value == SqlValue::Null);
    // NULL in, NULL out; and there is nothing to say of no games.
    assert!(null(
        row(
            readers,
            "elo(NULL, 1, 2), elo(0, 0, 0), elo_error(0, 0, 0), score_low(0, 0, 0), score_high(0, 0, 0),
            pairs_elo(1, 1, 1, 1, NULL), pairs_los(0, 0, 0, 0, 0), pairs_low(0, 0, 0, 0, 0),
            wilson_low(0, 0), wilson_high(1, NULL), elo_of_score(NULL), score_of_elo(NULL)"
        )
        .await
    ));
    // One game, all wins, all equal pairs, as many as can be; whole numbers may be reals.
    let infinity = f64::INFINITY;
    assert_eq!(
        row(
            readers,
            "elo(1, 0, 0), elo(0, 0, 1), elo_error(9, 0, 0), score_low(1, 0, 0), score_high(1, 0, 0),
            pairs_elo(0, 0, 7, 0, 0), pairs_elo_error(0, 0, 7, 0, 0), pairs_los(0, 0, 7, 0, 0),
            pairs_los(0, 0, 0, 0, 9), elo(5.0, 0.0, 5.0), elo_of_score(0), elo_of_score(1),
            score_of_elo(9e999), score_of_elo(-9e999)"
        )
        .await,
        reals([
            infinity, -infinity, infinity, 0.0, 1.0, 0.0, 0.0, 0.5, 1.0, 0.0, -infinity, infinity, 1.0,
            0.0
        ])
    );
    let most = "9007199254740991";
    assert!(!null(
        row(readers, &format!("elo({most}, {most}, {most}), wilson_low({most}, {most})")).await
    ));
    let count = "a count is a whole number from 0 to 9007199254740991";
    for (expression, problem) in [
        ("elo(-1, 0, 0)", format!("elo: {count}")),
        ("elo(0.5, 0, 0)", format!("elo: {count}")),
        ("elo(9007199254740992, 0, 0)", format!("elo: {count}")),
        ("elo(9e999, 0, 0)", format!("elo: {count}")),
        ("pairs_low(1, 2, 3, 4, -5)", format!("pairs_low: {count}")),
        ("elo('1', 0, 0)", "elo: a number is wanted, not a text or a blob".to_owned()),
        ("wilson_low(x'01', 2)", "wilson_low: a number is wanted, not a text or a blob".to_owned()),
        (
            "wilson_low(3, 2)",
            "wilson_low: there are more successes than there were tries".to_owned(),
        ),
        ("elo_of_score(1.01)", "elo_of_score: a score is from 0 to 1".to_owned()),
        ("elo(1, 2)", "wrong number of arguments to function elo()".to_owned()),
    ] {
        let said = refusal(readers, expression).await;
        assert_eq!(said, format!("failed to run the query: {problem}"), "{expression}");
    }
}

#[tokio::test]
async fn the_mathematics_of_sqlite_are_there() {
    let store = Store::new().await;
    let readers = &store.writer.readers();
    assert_eq!(
        row(
            readers,
            "sqrt(2), log10(1000), log(100), log(2, 8), log2(8), ln(1), exp(0), pow(2, 10),
            floor(-1.5), ceil(1.2), trunc(-1.7), mod(7, 4), pi(), atan2(0, 1), degrees(pi())"
        )
        .await,
        reals([
            2_f64.sqrt(),
            3.0,
            2.0,
            3.0,
            3.0,
            0.0,
            1.0,
            1024.0,
            -2.0,
            2.0,
            -1.0,
            3.0,
            core::f64::consts::PI,
            0.0,
            180.0
        ])
    );
    let undefined =
        row(readers, "sqrt(-1), ln(0), log(-1, 2), acos(2), sqrt('x'), exp(NULL)").await;
    assert!(undefined.iter().all(|value| *value == SqlValue::Null), "{undefined:?}");
}

#[tokio::test]
async fn quantiles_and_spread_are_of_what_is_there() {
    let store = Store::new().await;
    let readers = &store.writer.readers();
    let from = "FROM (VALUES (1), (NULL), (4), (2.0), (3))";
    let figures =
        "median(column1), quantile(column1, 0.25), quantile(column1, 0), quantile(column1, 1),
        variance(column1), stddev(column1)";
    assert_eq!(
        row(readers, &format!("{figures} {from}")).await,
        reals([2.5, 1.75, 1.0, 4.0, 5.0 / 3.0, (5.0_f64 / 3.0).sqrt()])
    );
    // Of nothing, of one value, for each group, and of distinct values.
    let none = row(readers, &format!("{figures} {from} WHERE column1 > 9")).await;
    assert!(none.iter().all(|value| *value == SqlValue::Null), "{none:?}");
    assert_eq!(
        row(readers, &format!("median(column1), variance(column1) {from} WHERE column1 > 3")).await,
        [SqlValue::Real(4.0), SqlValue::Null]
    );
    let groups = "SELECT column1, median(column2) FROM (VALUES (1, 5), (2, 7), (1, 6), (2, 7))
        GROUP BY column1";
    let groups = readers.query(groups, 10).await.unwrap().rows;
    assert_eq!(groups[0][1], SqlValue::Real(5.5));
    assert_eq!(groups[1][1], SqlValue::Real(7.0));
    let distinct = "median(DISTINCT column1) FROM (VALUES (1), (1), (1), (3))";
    assert_eq!(row(readers, distinct).await, reals([2.0]));
    let said = refusal(readers, "median('x')").await;
    assert_eq!(said, "failed to run the query: median: a number is wanted, not a text or a blob");
    let said = refusal(readers, "quantile(1, 1.5)").await;
    assert_eq!(said, "failed to run the query: quantile: a quantile is from 0 to 1");
}

/// Quantiles keep their values: so many, and no more, however a query asks for them.
#[tokio::test]
async fn quantiles_are_bounded() {
    let store = Store::new().await;
    let readers = &store.writer.readers();
    let many =
        "FROM (WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000001)
        SELECT x FROM n)";
    assert_eq!(row(readers, &format!("median(x) {many}")).await, reals([1_000_001.0]));
    let said = refusal(readers, &format!("median(x), quantile(x, 0.9) {many}")).await;
    assert!(said.contains("room for 2097152 values at a time"), "{said}");
    // Groups give their room back.
    let groups = format!("SELECT sum(m) FROM (SELECT median(x) AS m {many} GROUP BY x % 3)");
    assert_eq!(readers.query(&groups, 1).await.unwrap().rows.len(), 1);
}

/// Any SQLite reads the file: so no view may use them.
#[tokio::test]
async fn no_view_uses_them() {
    let store = Store::new().await;
    let path = store.directory.path().join("copy.db");
    std::fs::copy(store.writer.path(), &path).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").unwrap();
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(names.len() > 10);
    for name in names {
        connection.prepare(&format!("SELECT * FROM \"{name}\"")).unwrap();
    }
}
