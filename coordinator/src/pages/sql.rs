//! The page for queries. It needs the role that a query needs, takes one of the same places, and ends at the same bounds;
//! its rows are shown to its caller alone, and are not kept.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use spelrum_answers::SqlValue;
use spelrum_proto::Refusal;
use spelrum_report::data::{HAS_PARQUET, RowsFormat};
use spelrum_report::pages::{self, Place, QueryOutcome, QueryTable, QueryView};

use super::{Pages, html, is_opened};

/// Rows that are fetched for a page, and about how many bytes of them.
const ROWS_MAX: u64 = 1_000;
const BYTES_MAX: usize = 1 << 20;

/// What an address asks for.
#[derive(Default)]
struct Asked {
    statement: String,
    view: QueryView,
    format: Option<RowsFormat>,
}

impl Asked {
    /// Later parameters replace earlier ones, as buttons of a form come after its fields.
    fn from_query(query: &str) -> Self {
        let mut asked = Self::default();
        let (mut axes, mut is_plotted) = ([1, 2], false);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "q" => asked.statement = value.trim().to_owned(),
                "question" => {
                    asked.statement =
                        pages::documented_statement(&value).unwrap_or_default().to_owned();
                }
                "sort" => asked.view.sort = value.parse().ok(),
                "x" => axes[0] = value.parse().unwrap_or_default(),
                "y" => axes[1] = value.parse().unwrap_or_default(),
                "plot" => is_plotted = true,
                "format" => {
                    asked.format = match &*value {
                        "csv" => Some(RowsFormat::Csv),
                        "json" => Some(RowsFormat::Json),
                        "parquet" if HAS_PARQUET => Some(RowsFormat::Parquet),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        asked.view.plot = is_plotted.then_some(axes);
        asked
    }
}

pub(super) async fn sql(State(pages): State<Arc<Pages>>, headers: HeaderMap, uri: Uri) -> Response {
    let Asked { statement, view, format } = Asked::from_query(uri.query().unwrap_or_default());
    let result = match format {
        _ if statement.is_empty() || !is_opened(&headers) => Ok(QueryOutcome::NotRun),
        Some(format) => match pages.api.query_file(&statement, format).await {
            Ok(file) => return file,
            Err(refusal) => Err(refusal),
        },
        None => pages.table(&statement).await.map(QueryOutcome::Rows),
    };
    let (status, outcome) = match result {
        Ok(outcome) => (StatusCode::OK, outcome),
        Err(refusal) => {
            let status = StatusCode::from_u16(refusal.reason.http_status());
            let outcome = QueryOutcome::Failed(refusal.problem, refusal.remedy);
            (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), outcome)
        }
    };
    let may_play = pages.api.may_play();
    let made = tokio::task::spawn_blocking(move || {
        pages::page(Place::Sql, "SQL", "", &pages::sql(&statement, view, outcome), may_play)
    });
    html(status, made.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())))
}

impl Pages {
    /// The first rows of a query.
    async fn table(&self, statement: &str) -> Result<QueryTable, Refusal> {
        let (mut rows, _place) = self.api.query(statement, ROWS_MAX).await?;
        let mut table = QueryTable { columns: rows.columns().to_vec(), ..QueryTable::default() };
        let mut bytes = 0;
        while let Some(batch) = rows.next().await.map_err(crate::api::query_failed)? {
            for row in batch {
                if bytes > BYTES_MAX {
                    table.truncated = true;
                    return Ok(table);
                }
                bytes += row.iter().map(bytes_of_value).sum::<usize>();
                table.rows.push(row);
            }
        }
        table.truncated = rows.truncated();
        Ok(table)
    }
}

fn bytes_of_value(value: &SqlValue) -> usize {
    match value {
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 8,
        SqlValue::Text(text) => text.len(),
        SqlValue::Blob(blob) => blob.len(),
    }
}
