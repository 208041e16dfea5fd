//! Users' own queries: rows as they come, a line of JSON for each.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_DISPOSITION;
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use spelrum_answers::{QueryEnd, QueryHead, RunQuery, SqlValue};
use spelrum_proto::api::JSON_CONTENT_TYPE;
use spelrum_proto::limits::{QUERY_ROWS_DEFAULT, SQL_BYTES_MAX};
use spelrum_proto::problem::Problem;
use spelrum_proto::{Reason, Refusal};
use spelrum_report::data::{RowsFormat, rows_writer};

use super::reply::{QUIET, line};
use super::{Api, LINES_CONTENT_TYPE, parameters, place, reply};
use crate::services::reading_failed;
use spelrum_store::{QueryRows, StoreError};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;

/// Most bytes of values in a file of Parquet: all of its rows wait on the coordinator's disk for the last one.
const PARQUET_BYTES_MAX: usize = 256 << 20;

/// Answers a query.
pub(super) async fn run(State(api): State<Arc<Api>>, body: Bytes) -> Response {
    match start(&api, &body).await {
        Ok(answer) => answer,
        Err(refusal) => super::problem(refusal),
    }
}

async fn start(api: &Api, body: &[u8]) -> Result<Response, Refusal> {
    let RunQuery { sql, rows_max } = parameters::from_body(&[], body)?;
    // 0 means no limit.
    let rows_max = match rows_max {
        None => QUERY_ROWS_DEFAULT.into(),
        Some(0) => u64::MAX,
        Some(rows_max) => rows_max.into(),
    };
    let (rows, place) = api.query(&sql, rows_max).await?;
    let head = line(&QueryHead { columns: rows.columns().to_vec() });
    let lines = stream::unfold(Some((rows, place)), async |running| {
        let (mut rows, place) = running?;
        let next = match tokio::time::timeout(QUIET, rows.next()).await {
            // A sign of life, which is an empty line: the query goes on.
            Err(_) => Ok(Some(Vec::new())),
            Ok(next) => next,
        };
        Some(match next {
            Ok(Some(next)) => {
                let lines = next.iter().map(|row: &Vec<SqlValue>| line(row)).collect::<String>();
                // An empty line means nothing.
                let lines = if lines.is_empty() { "\n".to_owned() } else { lines };
                (lines, Some((rows, place)))
            }
            Ok(None) => (line(&QueryEnd::Done { truncated: rows.truncated() }), None),
            Err(error) => {
                let problem = serde_json::to_value(Problem::from(query_failed(error)));
                (line(&QueryEnd::Failed { problem: problem.unwrap_or_default() }), None)
            }
        })
    });
    let lines = stream::iter([head]).chain(lines);
    let body = Body::from_stream(lines.map(Ok::<_, std::convert::Infallible>));
    Ok(reply::named(body, LINES_CONTENT_TYPE))
}

impl Api {
    /// Begins a query, which holds its place until its last row is sent or its client is gone.
    pub(crate) async fn query(
        &self,
        sql: &str,
        rows_max: u64,
    ) -> Result<(QueryRows, OwnedSemaphorePermit), Refusal> {
        if sql.len() > SQL_BYTES_MAX {
            return Err(query_failed(StoreError::LongQuery {
                bytes: sql.len(),
                bytes_max: SQL_BYTES_MAX,
            }));
        }
        let place = place(&self.queries, "too many other queries are running")?;
        let rows = self.readers.query_rows(sql, rows_max).await.map_err(query_failed)?;
        Ok((rows, place))
    }

    /// All rows of a query as a file, written as its client reads. A failure after the first rows breaks it off.
    pub(crate) async fn query_file(
        &self,
        sql: &str,
        format: RowsFormat,
    ) -> Result<Response, Refusal> {
        let (mut rows, place) = self.query(sql, u64::MAX).await?;
        let first = rows.next().await.map_err(query_failed)?;
        let (mut out, pieces) = reply::pieces();
        let mut gone = Box::pin(out.gone());
        let runtime = Handle::current();
        let write = move || {
            let _place = place;
            let write = || -> Result<(), Box<dyn std::error::Error>> {
                let mut writer = rows_writer(format, rows.columns().to_vec(), &mut out)?;
                let (mut next, mut bytes) = (first, 0);
                while let Some(batch) = next {
                    bytes += batch.iter().flatten().map(size).sum::<usize>();
                    if format == RowsFormat::Parquet && bytes > PARQUET_BYTES_MAX {
                        return Err("the rows are too many for a file of Parquet".into());
                    }
                    writer.write(&batch)?;
                    let read = async {
                        tokio::select! {
                            next = rows.next() => next.map(Some),
                            () = &mut gone => Ok(None),
                        }
                    };
                    let Some(read) = runtime.block_on(read)? else { return Ok(()) };
                    next = read;
                }
                Ok(writer.finish()?)
            };
            if let Err(error) = write() {
                out.break_off(&error.to_string());
            }
        };
        drop(tokio::task::spawn_blocking(write));
        let (kind, file) = match format {
            RowsFormat::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"rows.csv\""),
            RowsFormat::Parquet => {
                ("application/vnd.apache.parquet", "attachment; filename=\"rows.parquet\"")
            }
            RowsFormat::Json | RowsFormat::Jsonl | RowsFormat::Table | RowsFormat::Svg => {
                (JSON_CONTENT_TYPE, "attachment; filename=\"rows.json\"")
            }
        };
        let mut answer = reply::streamed(pieces, kind);
        answer.headers_mut().insert(CONTENT_DISPOSITION, HeaderValue::from_static(file));
        Ok(answer)
    }
}

/// Bytes of a value in a file where rows wait.
fn size(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Blob(blob) => blob.len(),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => size_of::<u64>(),
    }
}

/// An error in a query is the client's; an error of the disk is not.
pub(crate) fn query_failed(error: StoreError) -> Refusal {
    if matches!(
        error,
        StoreError::NotAQuery { .. }
            | StoreError::WrongQuery { .. }
            | StoreError::SlowQuery { .. }
            | StoreError::SlowReader { .. }
            | StoreError::LargeQuery { .. }
            | StoreError::LongQuery { .. }
    ) {
        Refusal::new(Reason::BadQuery, error.to_string(), error.remedy())
    } else {
        reading_failed(error)
    }
}
