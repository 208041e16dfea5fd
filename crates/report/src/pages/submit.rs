//! The page of a new sweep: a form for its text, the text with the fault beside its line, or the plan's figures with the
//! button that submits.

use std::ops::Range;

use maud::{Markup, html};
use spelrum_answers::SweepPlan;

use super::layout::shown;
use crate::changes::{build_remarks, change_lines};
use crate::text::{count, counted, duration_us, shortened};

/// Lines shown before and after that with the fault.
const LINES_AROUND: usize = 100;

/// Longest line shown.
const LINE_CHARACTERS_MAX: usize = 1_000;

/// What the page shows.
#[derive(Debug)]
pub enum NewSweep<'a> {
    /// No sweep yet.
    Empty,
    /// A sweep that is refused.
    Faulty {
        /// Its text.
        text: &'a str,
        /// Why it is refused.
        fault: Fault<'a>,
    },
    /// A sweep that can be submitted.
    Planned {
        /// Its text.
        text: &'a str,
        /// What submitting it would do.
        plan: &'a SweepPlan,
        /// The UUID under which it is submitted.
        uuid: &'a str,
    },
}

/// Why a sweep is refused.
#[derive(Debug)]
pub struct Fault<'a> {
    /// The problem.
    pub problem: &'a str,
    /// The remedy; may be empty.
    pub remedy: &'a str,
    /// Bytes of the text where the problem is; `None` if it is nowhere in particular.
    pub place: Option<Range<usize>>,
}

/// The contents of the page.
#[must_use]
pub fn submit(sweep: &NewSweep<'_>) -> Markup {
    let text = match sweep {
        NewSweep::Empty => "",
        NewSweep::Faulty { text, .. } | NewSweep::Planned { text, .. } => text,
    };
    html! {
        header {
            h1 { "New sweep" }
            p class="about" { "Paste the text of a sweep file. It is checked and planned first; nothing is submitted yet." }
        }
        @match sweep {
            NewSweep::Empty => {}
            NewSweep::Faulty { text, fault } => (faulty(text, fault)),
            NewSweep::Planned { text, plan, uuid } => (planned(text, plan, uuid)),
        }
        form method="post" action="/submit" class="sweep" {
            p {
                label for="sweep" { "Sweep" }
                span class="file" hidden {
                    " " label for="file" { "or a file, chosen or dropped: " } input type="file" id="file" accept=".toml,text/plain";
                }
            }
            // A browser leaves out the first end of a line.
            textarea id="sweep" name="sweep" rows="20" spellcheck="false" autocapitalize="off" autocomplete="off" required
                aria-describedby="said" { "\n" (text) }
            p id="said" role="status" {}
            button { "Check and plan" }
        }
    }
}

/// The problem, and the lines around its place.
fn faulty(text: &str, fault: &Fault<'_>) -> Markup {
    let problem = html! {
        div role="alert" class="fault" {
            p { strong { (shortened(fault.problem, 2_000)) } }
            @if !fault.remedy.is_empty() { p { (shortened(fault.remedy, 2_000)) } }
        }
    };
    let Some(place) = &fault.place else {
        return html! { section aria-label="Problem" { (problem) } };
    };
    let lines = lines(text);
    let at = lines.iter().rposition(|line| line.start <= place.start).unwrap_or_default();
    let first = at.saturating_sub(LINES_AROUND);
    let last = (at + LINES_AROUND + 1).min(lines.len());
    html! {
        section aria-label="Problem" {
            ol class="lines" start=(first + 1) {
                @for (index, line) in lines[first..last].iter().enumerate() {
                    @if first + index == at {
                        li class="marked" { (marked(text, line, place)) (problem) }
                    } @else {
                        li { code { (shortened(&text[line.clone()], LINE_CHARACTERS_MAX)) } }
                    }
                }
            }
        }
    }
}

/// A line with the place marked.
fn marked(text: &str, line: &Range<usize>, place: &Range<usize>) -> Markup {
    let within = |at: usize| text.floor_char_boundary(at.clamp(line.start, line.end));
    let (from, to) = (within(place.start), within(place.end.max(place.start)));
    let part = |range: Range<usize>| shortened(&text[range], LINE_CHARACTERS_MAX);
    html! {
        code { (part(line.start..from)) mark { (part(from..to)) } (part(to..line.end)) }
    }
}

/// The places of a text's lines, without their ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |line: &str| {
        let at = start..start + line.len();
        start = at.end + 1;
        at
    };
    text.split('\n').map(line).collect()
}

/// What submitting a sweep would do, with the button for it.
fn planned(text: &str, plan: &SweepPlan, uuid: &str) -> Markup {
    let SweepPlan { submitted, task, .. } = plan;
    let most = plan.depends_on_results || plan.stop_rule.is_some();
    let at_most = if most { "at most " } else { "" };
    let button = match (submitted.existed, &submitted.change) {
        (false, _) => Some("Submit this plan"),
        (true, Some(_)) => Some("Change the experiment to this plan"),
        (true, None) => None,
    };
    html! {
        section aria-label="Plan" class="plan" {
            h2 { (shown(&submitted.name)) }
            @if let Some(change) = &submitted.change {
                p { "There is an experiment of this name. This sweep would change it:" }
                @for remark in build_remarks(change) { p { (shown(&remark)) } }
                pre { (change_lines(submitted.games, change).join("\n")) }
            }
            dl {
                dt { "game" } dd { (plan.game) }
                dt { @if plan.depends_on_results { "runs" } @else { "cells" } } dd { (count(submitted.cells)) }
                dt { (task.noun(2)) } dd { (at_most) (count(submitted.games)) }
                @if submitted.existed { dt { "left to play" } dd { (at_most) (count(plan.games_left)) } }
                dt { "time" } dd { (time(plan, most)) }
                @if let Some(rule) = &plan.stop_rule { dt { "stop rule" } dd { (shown(rule)) } }
                @for claim in &submitted.claims {
                    dt { "claim" }
                    dd { (shown(&claim.text)) @if claim.is_late { " (exploratory: stated after the first game was settled)" } }
                }
            }
            @if let Some(button) = button {
                form method="post" action="/submit" {
                    input type="hidden" name="uuid" value=(uuid);
                    input type="hidden" name="sweep" value=(text);
                    button { (button) }
                }
                p id="changed" role="status" {}
            } @else {
                p { a href={ "/experiments/" (submitted.experiment_uuid) } { "The experiment" } " has exactly this sweep already." }
            }
        }
    }
}

/// How long it takes, in words.
fn time(plan: &SweepPlan, most: bool) -> String {
    let Some(seconds) = plan.seconds else {
        return match plan.games_left {
            0 => "nothing is left to play".to_owned(),
            _ => "unknown: no game could be timed in a second".to_owned(),
        };
    };
    let about = match (plan.seconds_at_least, most) {
        (true, _) => "more than",
        (false, true) => "at most about",
        (false, false) => "about",
    };
    time_text(seconds, (plan.slots, plan.timed_slots), about)
}

/// A number of seconds, and the slots for which it holds.
fn time_text(seconds: f64, (slots, timed_slots): (u64, Option<u64>), about: &str) -> String {
    let (time, fast) = (duration_us(seconds * 1e6), "as fast as the coordinator's machine");
    let on_slots = || format!("{about} {time} on {} {fast}", counted(slots, "slot"));
    match timed_slots {
        _ if slots == 0 => {
            format!("no worker is connected; one slot {fast} would take {about} {time}")
        }
        Some(timed) if timed < slots => {
            format!("{}, timed games on {} of them", on_slots(), count(timed))
        }
        _ => on_slots(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faulty_page(text: &str, place: Option<Range<usize>>) -> String {
        let fault = Fault { problem: "<no>", remedy: "do", place };
        submit(&NewSweep::Faulty { text, fault }).into_string()
    }

    #[test]
    fn a_plan_says_on_which_slots_its_time_holds() {
        for (slots, timed_slots, text) in [
            (
                0,
                None,
                "no worker is connected; one slot as fast as the coordinator's machine would take about 60.0 s",
            ),
            (
                0,
                Some(0),
                "no worker is connected; one slot as fast as the coordinator's machine would take about 60.0 s",
            ),
            (1, None, "about 60.0 s on 1 slot as fast as the coordinator's machine"),
            (8, Some(8), "about 60.0 s on 8 slots as fast as the coordinator's machine"),
            (
                8,
                Some(2),
                "about 60.0 s on 8 slots as fast as the coordinator's machine, timed games on 2 of them",
            ),
        ] {
            assert_eq!(time_text(60.0, (slots, timed_slots), "about"), text);
        }
    }

    #[test]
    fn a_fault_is_beside_its_line() {
        let page = faulty_page("a = 1\nbé = <b>\nc = 3\n", Some(12..15));
        let line = "<li class=\"marked\"><code>bé = <mark>&lt;b&gt;</mark></code><div role=\"alert\" class=\"fault\"><p>\
                    <strong>&lt;no&gt;</strong></p><p>do</p></div></li>";
        assert!(page.contains(line), "{page}");
        assert!(page.contains("<li><code>c = 3</code></li>"), "{page}");
        assert!(page.contains("required"), "{page}");
    }

    #[test]
    fn places_beyond_the_text_and_within_characters_are_shown() {
        let text = "é = 1\n".repeat(1_000);
        for place in [0..1, 1..2, 7_000..7_000, 6_999..9_999, usize::MAX - 1..usize::MAX] {
            let page = faulty_page(&text, Some(place));
            assert!(page.matches("<li").count() <= 2 * LINES_AROUND + 1);
            assert_eq!(page.matches("class=\"marked\"").count(), 1);
        }
        assert!(!faulty_page("", Some(0..0)).contains("start=\"0\""));
        let page = faulty_page("x", None);
        assert!(page.contains("&lt;no&gt;") && !page.contains("<li"), "{page}");
    }
}
