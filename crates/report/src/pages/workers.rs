//! The page of the workers: what each plays, how it does beside the others, and what is withheld from it.

use maud::{Markup, html};
use spelrum_answers::{Attention, AttentionKind, Status, WorkerConduct, WorkerSummary};
use spelrum_model::builds::short;
use spelrum_model::engines::build_text;

use super::layout::shown;
use super::overview::slots;
use crate::text::{count, counted, duration_us, percent};

/// Engines named of a worker.
const ENGINES_MAX: usize = 20;

/// Games that workers reported, and those among them that failed or were forfeited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Games {
    reported: u64,
    failed: u64,
    forfeited: u64,
}

impl Games {
    fn of_worker(worker: &WorkerSummary) -> Self {
        let WorkerConduct { failed_games: failed, forfeited_games: forfeited, .. } = worker.conduct;
        Self { reported: worker.reported_games, failed, forfeited }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            reported: self.reported.saturating_add(other.reported),
            failed: self.failed.saturating_add(other.failed),
            forfeited: self.forfeited.saturating_add(other.forfeited),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            reported: self.reported.saturating_sub(other.reported),
            failed: self.failed.saturating_sub(other.failed),
            forfeited: self.forfeited.saturating_sub(other.forfeited),
        }
    }
}

/// The contents of the page.
#[must_use]
pub fn workers(status: &Status) -> Markup {
    let coordinator = status.coordinator.as_ref();
    let workers = coordinator.map_or(&[][..], |coordinator| &coordinator.workers);
    let total = coordinator.map_or(0, |coordinator| coordinator.workers_total);
    let all = workers.iter().map(Games::of_worker).fold(Games::default(), Games::plus);
    html! {
        header {
            h1 { "Workers" }
            @if let Some(coordinator) = coordinator {
                p class="about" {
                    (counted(total, "worker")) ", " (counted(slots(workers), "slot"))
                    "; coordinator version " (coordinator.version) ", running for "
                    (duration_us(coordinator.uptime_ms as f64 * 1e3))
                }
            }
        }
        @if workers.is_empty() {
            p { "No worker is connected. " code { "spelrum worker --coordinator URL" } " starts one." }
        } @else {
            div class="wide" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" class="n" { "id" } th scope="col" { "worker" } th scope="col" { "gets games" } th scope="col" { "host" }
                        th scope="col" { "version" } th scope="col" class="n" { "slots" }
                        th scope="col" class="n" { "playing" } th scope="col" class="n" { "leased" }
                        th scope="col" class="n" { "reported" } th scope="col" class="n" { "a minute" }
                        th scope="col" class="n" { "failed" } th scope="col" class="n" { "forfeited" }
                        th scope="col" class="n" { "lost" } th scope="col" class="n" { "last heard" }
                        th scope="col" { "engines and builds" } th scope="col" { "labels" }
                    } }
                    tbody { @for worker in workers { (row(worker, all)) } }
                }
            }
            @if total > workers.len() as u64 {
                p class="note" {
                    "The " (count(workers.len() as u64)) " busiest of " (counted(total, "worker")) "; slots and shares are of these."
                }
            }
            p class="note" {
                "Reported, failed and forfeited are games since this coordinator started, with the share of a worker\u{2019}s games, \
                 and in brackets that of the other workers. Lost are games whose leases ended while it was silent."
            }
        }
    }
}

fn row(worker: &WorkerSummary, all: Games) -> Markup {
    let WorkerConduct { version, known_ms, withheld, .. } = &worker.conduct;
    let build = |engine: &spelrum_model::engines::OfferedEngine| {
        format!("{} {}", engine.engine, short(&build_text(engine.build)))
    };
    let mut engines: Vec<String> = worker.engines.iter().take(ENGINES_MAX).map(build).collect();
    if worker.engines_total > engines.len() as u64 {
        engines.push(format!("and {} more", count(worker.engines_total - engines.len() as u64)));
    }
    let labels: Vec<String> =
        worker.labels.iter().map(|label| format!("{}={}", label.name, label.value)).collect();
    let (own, others) = (Games::of_worker(worker), all.minus(Games::of_worker(worker)));
    let minutes = *known_ms as f64 / 60e3;
    html! {
        tr {
            td class="n" { (worker.worker.0) } td { (shown(&worker.name)) }
            td class="long withheld" { (games(worker, withheld)) } td { (shown(&worker.host)) }
            td { (shown(version)) } td class="n" { (worker.slots) } td class="n" { (count(worker.playing_games)) }
            td class="n" { (count(worker.leased_games)) } td class="n" { (count(worker.reported_games)) }
            td class="n" { @if minutes > 0.0 { (speed(own.reported as f64 / minutes)) } }
            td class="n" { (beside([own.failed, own.reported], [others.failed, others.reported])) }
            td class="n" { (beside([own.forfeited, own.reported], [others.forfeited, others.reported])) }
            td class="n" { (count(worker.lost_games)) }
            td class="n" { (duration_us(worker.silent_ms as f64 * 1e3)) " ago" }
            td class="long" { (engines.iter().map(|engine| shown(engine)).collect::<Vec<_>>().join(", ")) }
            td class="long" { (shown(&labels.join(", "))) }
        }
    }
}

/// Games a minute.
fn speed(games: f64) -> String {
    if games < 10.0 { format!("{games:.1}") } else { count(games.round() as u64) }
}

/// A count of a worker's games with their share, and the share of the others; without the share of those who reported no game.
fn beside([games, reported]: [u64; 2], [of_others, reported_others]: [u64; 2]) -> String {
    if games == 0 && of_others == 0 {
        return "0".to_owned();
    }
    let share =
        |games: u64, reported: u64| (reported > 0).then(|| percent(games as f64 / reported as f64));
    let own = share(games, reported).map_or(String::new(), |share| format!(", {share}"));
    let others = share(of_others, reported_others);
    let others = others.map_or(String::new(), |share| format!(" ({share})"));
    format!("{}{own}{others}", count(games))
}

/// Whether a worker gets games, and the buttons for it.
fn games(worker: &WorkerSummary, withheld: &[Attention]) -> Markup {
    let is_excluded = withheld.iter().any(|why| why.kind == AttentionKind::Excluded);
    let id = |name: &str| format!("{name}-{}", worker.worker.0);
    // After a click, the other button has the id, and with it the focus.
    let readmit = id(if is_excluded { "exclusion" } else { "readmit" });
    let button = |id: &str, what: &str, words: &str| {
        html! {
            button type="button" hidden id=(id) data-exclusion=(what) data-worker=(worker.worker.0)
                aria-label={ (words) " worker " (worker.worker.0) } { (words) }
        }
    };
    html! {
        @for why in withheld { p { (shown(&why.problem)) } }
        @if !withheld.is_empty() { (button(&readmit, "readmit", "Readmit")) }
        @if !is_excluded { (button(&id("exclusion"), "exclude", "Exclude")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_beside_that_of_the_others() {
        assert_eq!(beside([0, 10], [0, 20]), "0");
        assert_eq!(beside([3, 400], [1, 1_000]), "3, 0.75 % (0.10 %)");
        assert_eq!(beside([0, 5], [7, 7]), "0, 0.0 % (100.0 %)");
        assert_eq!(beside([0, 0], [7, 7]), "0 (100.0 %)");
        assert_eq!(beside([3, 400], [0, 0]), "3, 0.75 %");
        assert_eq!([0.04, 9.94, 10.0, 1234.5].map(speed), ["0.0", "9.9", "10", "1,235"]);
    }
}
