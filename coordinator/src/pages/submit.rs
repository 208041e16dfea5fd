//! The page of a new sweep: its text is checked and planned, and then submitted as it was checked.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use spelrum_answers::{PlanSweep, SubmitSweep};
use spelrum_proto::limits::SWEEP_BYTES_MAX;
use spelrum_proto::{Reason, Refusal};
use spelrum_report::pages::{self, Fault, NewSweep, Place};
use spelrum_sweep::SweepText;
use uuid::Uuid;

use super::{Pages, html, refused};
use crate::services::bad_sweep;

/// What the form sends.
#[derive(Debug, Default)]
struct Sent {
    /// The sweep's text, with the ends of lines that files have.
    sweep: String,
    /// The UUID of the experiment, if the text was checked before and is to be submitted.
    uuid: Option<String>,
}

impl Sent {
    fn read(body: &[u8]) -> Self {
        let mut sent = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                // Browsers send each end of a line as CR LF.
                "sweep" => sent.sweep = value.replace("\r\n", "\n"),
                "uuid" => sent.uuid = Some(value.into_owned()),
                _ => {}
            }
        }
        sent
    }
}

/// The empty form.
pub(super) async fn form(State(pages): State<Arc<Pages>>) -> Response {
    page(&pages, StatusCode::OK, &NewSweep::Empty)
}

/// Checks the text that was sent, or submits it.
pub(super) async fn sent(State(pages): State<Arc<Pages>>, body: Bytes) -> Response {
    let Sent { sweep, uuid } = Sent::read(&body);
    drop(body);
    if sweep.len() > SWEEP_BYTES_MAX {
        let problem = format!(
            "the sweep has {} bytes; the limit is {SWEEP_BYTES_MAX}: axes and ranges make cells",
            sweep.len()
        );
        return refused(&Refusal::new(Reason::Malformed, problem, "describe it in fewer"));
    }
    match uuid {
        None => check(&pages, sweep).await,
        Some(uuid) => submit(&pages, sweep, uuid).await,
    }
}

async fn check(pages: &Pages, sweep: String) -> Response {
    if let Err(refusal) = check_files(&sweep) {
        return faulty(pages, &sweep, &refusal);
    }
    let plan = pages.api.plan(PlanSweep { sweep_toml: sweep.clone(), ..Default::default() }).await;
    match plan {
        Ok(plan) => {
            let uuid = Uuid::new_v4().to_string();
            page(
                pages,
                StatusCode::OK,
                &NewSweep::Planned { text: &sweep, plan: &plan, uuid: &uuid },
            )
        }
        Err(refusal) => faulty(pages, &sweep, &refusal),
    }
}

/// The UUID was made with the page of the plan, so that a form that is sent twice submits once.
async fn submit(pages: &Pages, sweep: String, uuid: String) -> Response {
    let submit = SubmitSweep {
        experiment_uuid: Some(uuid),
        sweep_toml: sweep.clone(),
        ..Default::default()
    };
    match pages.api.submit(submit).await {
        Ok(submitted) => {
            let path = format!("/experiments/{}", submitted.experiment_uuid);
            match HeaderValue::try_from(path) {
                Ok(path) => (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response(),
                Err(_) => page(pages, StatusCode::OK, &NewSweep::Empty),
            }
        }
        Err(refusal) => faulty(pages, &sweep, &refusal),
    }
}

/// Refuses a sweep that names files, which are on its user's machine.
fn check_files(sweep: &str) -> Result<(), Refusal> {
    let text = SweepText::new("", sweep);
    let Some(file) = text.named_files().into_iter().next() else { return Ok(()) };
    let problem =
        format!("the sweep names the file `{}`, and a page cannot read files beside it", file.name);
    let remedy = "submit it with `spelrum submit`, which sends the file too, or write its positions into the sweep: \
                  positions = [\"…\"]";
    Err(bad_sweep(text.error_at(file.place, problem, remedy)))
}

/// The text with its fault, as an answer of the refusal's status.
fn faulty(pages: &Pages, text: &str, refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.reason.http_status());
    let place = refusal.place.map(|place| place.offset..place.offset.saturating_add(place.length));
    let fault = Fault { problem: &refusal.problem, remedy: &refusal.remedy, place };
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    page(pages, status, &NewSweep::Faulty { text, fault })
}

fn page(pages: &Pages, status: StatusCode, sweep: &NewSweep<'_>) -> Response {
    let contents = pages::submit(sweep);
    html(status, pages::page(Place::Submit, "New sweep", "", &contents, pages.api.may_play()))
}
