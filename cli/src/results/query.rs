//! Users' own queries, of a file or a coordinator.

use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use spelrum_answers::{QUERY_PATH, QueryEnd, QueryHead, RunQuery, SqlValue};
use spelrum_proto::api::{self, AnswerBody};
use spelrum_proto::limits::SQL_BYTES_MAX;
use spelrum_proto::problem::Problem;
use spelrum_store::{QueryRows, StoreError};
use tonic::Status as WireStatus;

use super::source::ResultsSource;
use crate::error::conversions::failed_call;
use crate::error::{CliError, Result};
use crate::remote::retry_when_busy::take_turn;

impl ResultsSource {
    /// Starts a read-only statement written by a user. A coordinator has limits of its own beside this time limit.
    pub(crate) async fn query(
        &self,
        sql: &str,
        rows_max: Option<u32>,
        time_max: Option<Duration>,
    ) -> Result<Answer> {
        let api = match self {
            Self::File(readers) => {
                let rows_max = rows_max.map_or(u64::MAX, u64::from);
                return Ok(Answer::File(readers.own_query_rows(sql, rows_max, time_max).await?));
            }
            Self::Coordinator(api) => api,
        };
        if sql.len() > SQL_BYTES_MAX {
            let long = StoreError::LongQuery { bytes: sql.len(), bytes_max: SQL_BYTES_MAX };
            return Err(long.into());
        }
        // 0 means no limit.
        let rows_max = Some(rows_max.map_or(0, |most| most.max(1)));
        let body = api::json(&RunQuery { sql: sql.to_owned(), rows_max }).map_err(query_failed)?;
        let ask = async || api.send("POST", QUERY_PATH, Some(body.clone())).await;
        let found = take_turn(ask).await.map_err(query_failed)?;
        let version = api::version_of(&found);
        let mut answer = RemoteAnswer {
            columns: Vec::new(),
            rows: Vec::new(),
            end: None,
            body: found.into_body(),
            version,
            partial: Vec::new(),
            time_left: time_max,
            time_max: time_max.unwrap_or_default(),
        };
        while answer.columns.is_empty() {
            answer.receive().await?;
        }
        Ok(Answer::Coordinator(Box::new(answer)))
    }
}

/// The rows of a statement, as they arrive. Dropping the value ends the statement.
pub(crate) enum Answer {
    /// From a file.
    File(QueryRows),
    /// From a coordinator.
    Coordinator(Box<RemoteAnswer>),
}

impl Answer {
    /// Column names.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::File(rows) => rows.columns(),
            Self::Coordinator(answer) => &answer.columns,
        }
    }

    /// The next rows; nothing after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Vec<SqlValue>>>> {
        match self {
            Self::File(rows) => Ok(rows.next().await?),
            Self::Coordinator(answer) => answer.next().await,
        }
    }

    /// Whether rows were left out. Known after the last row.
    pub(crate) fn truncated(&self) -> bool {
        match self {
            Self::File(rows) => rows.truncated(),
            Self::Coordinator(answer) => answer.end == Some(QueryEnd::Done { truncated: true }),
        }
    }
}

/// A coordinator's answer to a statement: lines of JSON, of which the first has the columns, the last says how it ended,
/// and the others are rows.
pub(crate) struct RemoteAnswer {
    columns: Vec<String>,
    /// Rows received and not yet taken.
    rows: Vec<Vec<SqlValue>>,
    end: Option<QueryEnd>,
    body: AnswerBody,
    /// The coordinator's version.
    version: Option<String>,
    /// The beginning of a line.
    partial: Vec<u8>,
    time_left: Option<Duration>,
    time_max: Duration,
}

impl RemoteAnswer {
    async fn next(&mut self) -> Result<Option<Vec<Vec<SqlValue>>>> {
        loop {
            match &self.end {
                _ if !self.rows.is_empty() => return Ok(Some(std::mem::take(&mut self.rows))),
                None => self.receive().await?,
                Some(QueryEnd::Done { .. }) => return Ok(None),
                Some(QueryEnd::Failed { problem }) => {
                    let problem: Problem = self.read(problem.to_string().as_bytes())?;
                    return Err(query_failed(problem.into()));
                }
            }
        }
    }

    /// Receives some lines.
    async fn receive(&mut self) -> Result<()> {
        let frame = match self.time_left {
            None => self.body.frame().await,
            Some(left) => {
                let before = Instant::now();
                let Ok(frame) = tokio::time::timeout(left, self.body.frame()).await else {
                    return Err(StoreError::SlowQuery { seconds: self.time_max.as_secs() }.into());
                };
                self.time_left = Some(left.saturating_sub(before.elapsed()));
                frame
            }
        };
        let Some(frame) = frame else {
            return Err(query_failed(WireStatus::unavailable("the answer broke off")));
        };
        let Ok(piece) = frame.map_err(query_failed)?.into_data() else { return Ok(()) };
        let mut received = std::mem::take(&mut self.partial);
        received.extend_from_slice(&piece);
        let whole = received.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.partial = received.split_off(whole);
        for line in received.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            if self.columns.is_empty() {
                self.columns = self.read::<QueryHead>(line)?.columns;
            } else if line.starts_with(b"[") {
                self.rows.push(self.read(line)?);
            } else {
                self.end = Some(self.read(line)?);
            }
        }
        Ok(())
    }

    fn read<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T> {
        serde_json::from_slice(line)
            .map_err(|error| query_failed(api::unreadable(&error, self.version.as_deref())))
    }
}

fn query_failed(status: WireStatus) -> CliError {
    failed_call("query", &status)
}
