//! The simulated server, the messages to it, and what must be true of it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use spelrum_store::shared::Place;

use crate::log::{Base, Claim, Database, Head, Reading};
use crate::patience::SILENCE;

pub(super) const MILLISECOND: u64 = 1_000;
pub(super) const SECOND: u64 = 1_000 * MILLISECOND;
pub(super) const NODES: usize = 3;
/// Faults happen until here; then everything works until the end.
pub(super) const FAULTS_END: u64 = 60 * SECOND;
pub(super) const END: u64 = 85 * SECOND;
/// From here on, something must be acknowledged again.
pub(super) const WORKS_AGAIN: u64 = 80 * SECOND;

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    None,
    /// The server does not compare terms.
    IgnoresTerms,
    /// A standby waits for half as long as it should.
    TakesEarly,
    /// A takeover does not compare the beat.
    TakesUnseen,
    /// A term is one more than the last one that the server knows of.
    ReusesTerms,
    /// An append without an answer counts as done.
    GuessesDone,
    /// An append without an answer counts as not done: the results are appended once more, as another change.
    GuessesUndone,
}

pub(super) type Entry = (Place, u64);

pub(super) enum Question {
    Head,
    Append(Place, u64),
    Beat(i64, Option<i64>),
    Read(i64),
    Part(Place),
    Take { term: i64, beat: i64, last: i64, above: i64, claim: Claim },
    Release(i64),
    SetBase(i64, Vec<Entry>),
}

pub(super) enum Answer {
    Head(Head),
    Done(bool),
    Reading(Reading),
    Part(Option<Vec<u8>>),
    Term(Option<i64>),
}

pub(super) struct Message {
    pub(super) task: usize,
    pub(super) node: usize,
    pub(super) question: Question,
    pub(super) slot: Arc<Mutex<Option<Answer>>>,
}

#[derive(Default)]
pub(super) struct Node {
    /// The copy, which outlives the process.
    pub(super) disk: Vec<Entry>,
    /// The clock's speed in percent.
    pub(super) rate: u64,
    pub(super) is_cut_off: bool,
    pub(super) paused_until: u64,
    /// Of the processes of this node: the latest one.
    pub(super) generation: u32,
    /// How often the server had been restored when it last answered with changes.
    pub(super) read_in: u32,
}

/// A state of the server, to which it is restored.
pub(super) struct Saved {
    head: Head,
    journal: Vec<Entry>,
    base: Vec<Entry>,
    oldest: i64,
}

pub(super) struct World {
    pub(super) mistake: Mistake,
    pub(super) seed: u64,
    /// Whether the server is restored to earlier states, which loses what was acknowledged.
    pub(super) has_restores: bool,
    pub(super) restores: u32,
    pub(super) saved: Option<Saved>,
    pub(super) now: u64,
    pub(super) order: u64,
    pub(super) head: Head,
    /// When the head's beat was last raised.
    pub(super) beaten: u64,
    pub(super) journal: Vec<Entry>,
    pub(super) base: Vec<Entry>,
    /// Changes before this one are deleted.
    pub(super) oldest: i64,
    /// Those under way, by the time of their arrival.
    pub(super) messages: BTreeMap<(u64, u64), Message>,
    pub(super) nodes: Vec<Node>,
    /// When each task is to be polled.
    pub(super) wake: Vec<u64>,
    pub(super) current: usize,
    pub(super) spawned: Vec<Task>,
    pub(super) acknowledged: Vec<(u64, u64)>,
    pub(super) takeovers: u64,
    pub(super) wrong: Vec<String>,
}

pub(super) struct Task {
    pub(super) node: usize,
    pub(super) work: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl World {
    pub(super) fn random(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    /// How long a message takes: mostly milliseconds, now and then longer than anybody waits.
    pub(super) fn latency(&mut self) -> u64 {
        if self.now < FAULTS_END && self.random(25) == 0 {
            return self.random(8 * SECOND);
        }
        MILLISECOND + self.random(10 * MILLISECOND)
    }

    pub(super) fn is_lost(&mut self, node: usize) -> bool {
        self.nodes[node].is_cut_off || self.now < FAULTS_END && self.random(200) == 0
    }

    pub(super) fn clock(&self, node: usize) -> u64 {
        self.now / 100 * self.nodes[node].rate
    }

    pub(super) fn wake_current_at(&mut self, time: u64) {
        let current = self.current;
        self.wake[current] = self.wake[current].min(time.max(self.now));
    }

    pub(super) fn accuse(&mut self, what: String) {
        self.wrong.push(format!("at {} ms: {what}", self.now / MILLISECOND));
    }

    pub(super) fn has_term(&self, term: i64) -> bool {
        self.mistake == Mistake::IgnoresTerms || self.head.term == term
    }

    pub(super) fn raise_beat(&mut self) {
        self.head.beat += 1;
        self.beaten = self.now;
    }

    pub(super) fn database(&self) -> Option<Database> {
        self.head.database.clone()
    }

    pub(super) fn save(&mut self) {
        if self.head.database.is_some() {
            let (head, journal, base) =
                (self.head.clone(), self.journal.clone(), self.base.clone());
            self.saved = Some(Saved { head, journal, base, oldest: self.oldest });
        }
    }

    pub(super) fn restore(&mut self) {
        let Some(Saved { head, journal, base, oldest }) = self.saved.take() else { return };
        self.restores += 1;
        (self.head, self.journal, self.base, self.oldest) = (head, journal, base, oldest);
        self.beaten = self.now;
        let stored: BTreeSet<_> = self.journal.iter().map(|(_, payload)| *payload).collect();
        self.acknowledged.retain(|(_, payload)| stored.contains(payload));
    }

    pub(super) fn execute(&mut self, node: usize, question: Question) -> Answer {
        match question {
            Question::Head => Answer::Head(self.head.clone()),
            Question::Append(place, payload) => {
                let may = self.has_term(place.term) && !self.head.is_released;
                if !may || self.head.last + 1 != place.number {
                    return Answer::Done(false);
                }
                if self.head.term != place.term {
                    self.accuse(format!("{place:?} was appended in term {}", self.head.term));
                }
                self.head.last = place.number;
                self.journal.push((place, payload));
                self.raise_beat();
                Answer::Done(true)
            }
            Question::Beat(term, last) => {
                let is_done = self.has_term(term) && last.is_none_or(|last| last == self.head.last);
                if is_done {
                    self.raise_beat();
                }
                Answer::Done(is_done)
            }
            Question::Read(number) => {
                self.nodes[node].read_in = self.restores;
                let first = number.max(self.oldest);
                let changes = self.journal.iter().filter(|(place, _)| place.number >= first);
                let changes = changes.take(20).map(|(place, payload)| (*place, bytes(*payload)));
                Answer::Reading(Reading { database: self.database(), changes: changes.collect() })
            }
            Question::Part(place) => {
                self.nodes[node].read_in = self.restores;
                let is_there = self.database().is_some_and(|database| database.base.place == place);
                let entries = self.base.iter().flat_map(|(place, payload)| {
                    [place.number.to_le_bytes(), place.term.to_le_bytes(), payload.to_le_bytes()]
                });
                Answer::Part(is_there.then(|| entries.flatten().collect()))
            }
            Question::Take { term, beat, last, above, claim } => {
                let is_seen = (self.head.beat, self.head.last) == (beat, last)
                    || self.mistake == Mistake::TakesUnseen;
                if self.head.term != term || !is_seen {
                    return Answer::Term(None);
                }
                let silence = (self.now - self.beaten) / 100 * self.nodes[node].rate;
                let is_free = self.head.is_released || self.head.holder == claim.holder;
                // A restored head may repeat a beat.
                if !is_free
                    && !self.has_restores
                    && u128::from(silence) + 1_000 < SILENCE.as_micros()
                {
                    self.accuse(format!(
                        "node {node} took over after {} ms by its own clock",
                        silence / MILLISECOND
                    ));
                }
                self.nodes[node].read_in = self.restores;
                self.takeovers += 1;
                self.raise_beat();
                let has_clock = self.mistake != Mistake::ReusesTerms;
                let clock = if has_clock { self.now / MILLISECOND } else { 0 };
                let clock = i64::try_from(clock).unwrap();
                self.head.term = self.head.term.max(above).max(clock) + 1;
                self.head.is_released = false;
                (self.head.holder, self.head.owner) = (claim.holder, claim.owner);
                Answer::Term(Some(self.head.term))
            }
            Question::Release(term) => {
                let is_done = self.head.term == term;
                self.head.is_released |= is_done;
                Answer::Done(is_done)
            }
            Question::SetBase(term, entries) => {
                let place = entries.last().map(|(place, _)| *place).unwrap_or_default();
                if self.head.term != term || place.number > self.head.last {
                    return Answer::Done(false);
                }
                self.raise_beat();
                let sha256 = Vec::new();
                let base = Base { place, upload: term, parts: 1, bytes: 0, sha256 };
                let uuid = String::new();
                self.head.database = Some(Database { uuid, schema: 1, base });
                self.base = entries;
                self.oldest = place.number.min(self.head.last - 3);
                Answer::Done(true)
            }
        }
    }

    /// Each copy that was accepted is a beginning of the journal, unless the server was restored since it answered.
    pub(super) fn check_copy(&mut self, node: usize) {
        let Node { disk, read_in, .. } = &self.nodes[node];
        if *read_in == self.restores && !self.journal.starts_with(disk) {
            let last = disk.last().copied();
            self.accuse(format!("the copy of node {node} is not in the journal: {last:?}"));
        }
    }

    pub(super) fn check_end(&mut self) {
        let payloads: Vec<_> = self.journal.iter().map(|(_, payload)| *payload).collect();
        let stored: BTreeSet<_> = payloads.iter().copied().collect();
        if stored.len() != payloads.len() {
            self.accuse("results are in the journal twice".to_owned());
        }
        let lost = self.acknowledged.iter().find(|(_, payload)| !stored.contains(payload));
        if let Some((time, payload)) = lost.copied() {
            self.accuse(format!("what was acknowledged at {time} is lost: {payload}"));
        }
        if self.acknowledged.last().is_none_or(|(time, _)| *time < WORKS_AGAIN) {
            self.accuse("nothing was acknowledged at the end".to_owned());
        }
    }
}

pub(super) fn bytes(payload: u64) -> Vec<u8> {
    payload.to_le_bytes().to_vec()
}

pub(super) fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}
