//! The decisions of a coordinator about the journal, over a server that tests can replace.
//!
//! Their correctness rests on one row of the server, the head: each statement that writes names the term that it is
//! for, and is a single statement, so that the server executes it as a whole or not at all.

use std::time::Duration;

use spelrum_store::shared::Place;

use crate::error::JournalError;
use crate::owner::Owner;
use crate::patience::{Patience, SILENCE};
use crate::trouble::Trouble;

/// Waits between two attempts: the first, and the longest.
const BACKOFF: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// How long an append is tried, and how often at least.
const APPEND_TRIED: (Duration, u32) = (Duration::from_secs(60), 2);
/// An append that took longer is confirmed by another write.
const APPEND_FAST: Duration = Duration::from_secs(1);
/// How often a part of a base is tried, and the wait between.
pub(crate) const PART_TRIED: (u32, Duration) = (20, Duration::from_millis(500));
/// Time between two looks at the journal.
const LOOK: Duration = Duration::from_secs(1);
/// How often a base is looked for that is not there to its end.
const BASE_TRIED: u32 = 20;

/// The row that says who owns the database, and what the journal has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Grows with each takeover, and is never used again, not even on a server that was restored to an earlier state.
    pub(crate) term: i64,
    /// Grows with each write of the owner, and at least every second.
    pub(crate) beat: i64,
    /// The number of the last change.
    pub(crate) last: i64,
    /// The random id of the owner's process.
    pub(crate) holder: String,
    /// How the owner is called and reached.
    pub(crate) owner: Owner,
    /// Whether the owner has left.
    pub(crate) is_released: bool,
    /// `None` until a coordinator has made a database.
    pub(crate) database: Option<Database>,
}

impl Head {
    /// The coordinator that owns the database now.
    pub(crate) fn current_owner(&self) -> Option<Owner> {
        (!self.is_released).then(|| self.owner.clone())
    }
}

/// What the journal is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Database {
    pub(crate) uuid: String,
    /// The last migration of the coordinator that appends.
    pub(crate) schema: i64,
    pub(crate) base: Base,
}

/// A complete file of the database, to which the changes after it can be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// The last change that is in it.
    pub(crate) place: Place,
    /// The random id of its upload: the key of its parts.
    pub(crate) upload: i64,
    pub(crate) parts: i64,
    pub(crate) bytes: i64,
    pub(crate) sha256: Vec<u8>,
}

/// Changes in a row, as the server has them at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The database at that moment.
    pub(crate) database: Option<Database>,
    /// The change with the number that was asked for, without its bytes, and those after it: as many as are worth a
    /// message.
    pub(crate) changes: Vec<(Place, Vec<u8>)>,
}

/// The server, and this coordinator's clock.
pub(crate) trait Log: Send {
    /// This coordinator's monotonic clock.
    fn now(&self) -> Duration;

    /// Waits, by that clock.
    fn wait(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Reads the head.
    fn head(&mut self) -> impl Future<Output = Result<Head, JournalError>> + Send;

    /// Appends a compressed change after the one before it, and raises the beat, if the place's term is the head's and the database
    /// is not released; returns whether it was.
    fn append(
        &mut self,
        place: Place,
        changes: &[u8],
    ) -> impl Future<Output = Result<bool, JournalError>> + Send;

    /// Raises the beat if the last change is this one, and the term is still its; returns whether it is. `None` asks for
    /// the term alone.
    fn beat(
        &mut self,
        term: i64,
        last: Option<i64>,
    ) -> impl Future<Output = Result<bool, JournalError>> + Send;

    /// Reads the change with this number, and those after it.
    fn read(&mut self, number: i64) -> impl Future<Output = Result<Reading, JournalError>> + Send;

    /// Reads a part of a base; `None` if the base is there no more.
    fn part(
        &mut self,
        base: &Base,
        part: i64,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, JournalError>> + Send;

    /// Makes this coordinator the owner, under a term greater than the head's and `above` that was never used, if the head
    /// is still as it was seen; returns the term.
    fn take(
        &mut self,
        seen: &Head,
        above: i64,
        claim: &Claim,
    ) -> impl Future<Output = Result<Option<i64>, JournalError>> + Send;
}

/// Who takes over.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// A random id of this process.
    pub(crate) holder: String,
    pub(crate) owner: Owner,
}

/// What a copy has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The last change that is in it.
    pub(crate) place: Place,
    /// The number of its last migration.
    pub(crate) schema: i64,
    pub(crate) uuid: String,
}

/// The copy of a coordinator that does not write.
pub(crate) trait Replica: Send {
    /// What is in it; `None` while there is no usable copy.
    fn state(&self) -> Option<State>;

    /// Applies changes that follow its place.
    fn apply(
        &mut self,
        changes: Vec<(Place, Vec<u8>)>,
    ) -> impl Future<Output = Result<(), JournalError>> + Send;

    /// Replaces it by the base; returns whether the base was there. Unless all that is in the copy is known to be in the
    /// journal, it is kept beside.
    fn replace<L: Log>(
        &mut self,
        log: &mut L,
        database: &Database,
        is_known: bool,
    ) -> impl Future<Output = Result<bool, JournalError>> + Send;
}

/// Waits that become longer.
struct Backoff(Duration);

impl Backoff {
    fn new() -> Self {
        Self(BACKOFF[0])
    }

    async fn wait(&mut self, log: &impl Log) {
        log.wait(self.0).await;
        self.0 = (self.0 * 2).min(BACKOFF[1]);
    }
}

/// Appends a change, and finds out whether it was where no answer arrives.
///
/// A change of a number and a term is only ever appended by the one coordinator that has the term, which gives the same
/// bytes each time. So the head tells: while the term is ours, its last change is the one before, and the change was not
/// appended (or not yet: then a second append is refused, since the number before is not the last any more), or it is
/// this one, and it was.
pub(crate) async fn append(
    log: &mut impl Log,
    place: Place,
    changes: &[u8],
) -> Result<(), JournalError> {
    let began = log.now();
    let mut backoff = Backoff::new();
    let (time, mut left) = APPEND_TRIED;
    let mut trouble = Trouble::new("to append to the journal");
    loop {
        left = left.saturating_sub(1);
        match attempt(log, place, changes).await {
            Ok(()) => {
                trouble.over();
                return Ok(());
            }
            Err(error) if error.is_lasting() => return Err(error),
            Err(error) if left == 0 && log.now().saturating_sub(began) >= time => {
                return Err(error);
            }
            Err(error) => trouble.met(&error),
        }
        backoff.wait(log).await;
    }
}

/// Appends once; an error that does not last says that the change is not appended, as far as can be seen.
async fn attempt(log: &mut impl Log, place: Place, changes: &[u8]) -> Result<(), JournalError> {
    let asked = log.now();
    let trouble = match log.append(place, changes).await {
        // Where somebody ends the wait for a synchronous standby, the server answers as if the change were on it.
        Ok(true) if log.now().saturating_sub(asked) > APPEND_FAST => JournalError::Refused,
        Ok(true) => return Ok(()),
        Ok(false) => JournalError::Refused,
        Err(error) if error.is_lasting() => return Err(error),
        Err(error) => error,
    };
    // This is a write: where a synchronous standby is asked for, it is answered when the change, which is before it in the
    // server's log, is on the standby as well. That the change can be read would not say so.
    if log.beat(place.term, Some(place.number)).await? {
        return Ok(());
    }
    let head = log.head().await?;
    if head.term != place.term {
        return Err(JournalError::TakenOver { term: head.term, own: place.term });
    }
    // Between the beat and this, the first statement may have been executed at last.
    if head.last != place.number && head.last + 1 != place.number {
        return Err(JournalError::ChangesLost { last: head.last, own: place.number - 1 });
    }
    if head.is_released {
        return Err(JournalError::TakenOver { term: head.term, own: place.term });
    }
    Err(trouble)
}

/// Keeps a copy up to date until this coordinator may take the database over, and does; returns its term.
///
/// When this returns, the copy has all changes of the journal. Each append raises the beat in the statement that appends.
/// The takeover is refused unless the beat is the one of the head that was read *before* the changes were read to their
/// end: so nothing was appended since that reading. After the takeover, appends of other terms are refused.
pub(crate) async fn follow<L: Log>(
    log: &mut L,
    copy: &mut impl Replica,
    patience: &mut Patience,
    claim: &Claim,
    mut publish: impl FnMut(Option<Owner>) + Send,
) -> Result<i64, JournalError> {
    let mut backoff = Backoff::new();
    let mut trouble = Trouble::new("to follow the journal");
    let mut reached = log.now();
    loop {
        match look(log, copy, patience, claim, &mut publish).await {
            Ok(Some(term)) => {
                trouble.over();
                return Ok(term);
            }
            Ok(None) => {
                trouble.over();
                backoff = Backoff::new();
                log.wait(LOOK).await;
                reached = log.now();
            }
            Err(error) if error.is_lasting() => return Err(error),
            Err(error) => {
                trouble.met(&error);
                patience.begin_anew();
                if log.now().saturating_sub(reached) > SILENCE {
                    publish(None);
                }
                backoff.wait(log).await;
            }
        }
    }
}

/// Looks once; returns the term if this coordinator took over.
async fn look<L: Log>(
    log: &mut L,
    copy: &mut impl Replica,
    patience: &mut Patience,
    claim: &Claim,
    publish: &mut (impl FnMut(Option<Owner>) + Send),
) -> Result<Option<i64>, JournalError> {
    let asked = log.now();
    let head = log.head().await?;
    let is_silent = patience.is_over((head.term, head.beat), asked, log.now());
    publish(head.current_owner());
    match (&head.database, copy.state()) {
        (Some(_), _) => catch_up(log, copy).await?,
        (None, None) => {}
        // The journal was emptied: this copy is the last there is.
        (None, Some(_)) => return Err(JournalError::NoDatabase),
    }
    // Where this process is the owner, it took over without learning so, or its writer was closed: no other coordinator appends.
    if !(is_silent || head.is_released || head.holder == claim.holder) {
        return Ok(None);
    }
    let above = copy.state().map_or(0, |state| state.place.term);
    log.take(&head, above, claim).await
}

/// Brings the copy up to the end of the journal.
pub(crate) async fn catch_up<L: Log>(
    log: &mut L,
    copy: &mut impl Replica,
) -> Result<(), JournalError> {
    let mut left = BASE_TRIED;
    loop {
        let state = copy.state();
        let number = state.as_ref().map_or(i64::MAX, |state| state.place.number);
        let Reading { database, changes } = log.read(number).await?;
        let Some(database) = database else { return Ok(()) };
        let is_known = state.as_ref().is_some_and(|state| has(&database, &changes, state.place));
        let next = state.and_then(|state| follow_on(&state, &database, changes));
        match next {
            Some(changes) if changes.is_empty() => return Ok(()),
            Some(changes) => copy.apply(changes).await?,
            None if copy.replace(log, &database, is_known).await? => left = BASE_TRIED,
            None if left == 0 => {
                let problem = "parts of it are missing".to_owned();
                return Err(JournalError::DamagedBase { problem });
            }
            // Another one may have taken its place.
            None => {
                left -= 1;
                log.wait(LOOK).await;
            }
        }
    }
}

/// Whether a copy's last change is proven to be in the journal, and so all before it. No term is ever used again, and in
/// each term one coordinator appends one change after the other.
fn has(database: &Database, changes: &[(Place, Vec<u8>)], place: Place) -> bool {
    let is_before = |known: Place| known.term == place.term && known.number >= place.number;
    place.number > 0
        && (is_before(database.base.place) || changes.iter().any(|(known, _)| is_before(*known)))
}

/// What to apply to a copy; `None` if the journal does not go on from it.
///
/// The changes are of the database's schema or an older one, read at the same moment: an owner that migrates uploads a
/// base of the new schema before its first change.
fn follow_on(
    State { place, schema, uuid }: &State,
    database: &Database,
    mut changes: Vec<(Place, Vec<u8>)>,
) -> Option<Vec<(Place, Vec<u8>)>> {
    if changes.first().is_some_and(|(first, _)| first.number == place.number) {
        let (first, _) = changes.remove(0);
        if first.term != place.term {
            return None;
        }
    } else if database.base.place != *place {
        return None;
    }
    let is_next = |(change, number): (&(Place, Vec<u8>), i64)| change.0.number == number;
    let are_next = changes.iter().zip(place.number + 1..).all(is_next)
        && (!changes.is_empty() || database.base.place.number <= place.number);
    (*schema == database.schema && *uuid == database.uuid && are_next).then_some(changes)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn changes(numbers_and_terms: &[(i64, i64)]) -> Vec<(Place, Vec<u8>)> {
        let change = |&(number, term)| (Place { number, term }, Vec::new());
        numbers_and_terms.iter().map(change).collect()
    }

    /// A server on whose disk there is room for small writes alone, and a clock that only waits move.
    #[derive(Default)]
    struct FullDisk {
        milliseconds: AtomicU64,
    }

    fn full() -> JournalError {
        let problem = "could not extend file".to_owned();
        JournalError::Server { server: "lab".to_owned(), problem, code: Some("53100".to_owned()) }
    }

    fn unasked<T>() -> Result<T, JournalError> {
        Err(JournalError::Refused)
    }

    impl Log for FullDisk {
        fn now(&self) -> Duration {
            Duration::from_millis(self.milliseconds.load(Ordering::Relaxed))
        }

        async fn wait(&self, time: Duration) {
            let time = u64::try_from(time.as_millis()).unwrap();
            self.milliseconds.fetch_add(time, Ordering::Relaxed);
        }

        async fn head(&mut self) -> Result<Head, JournalError> {
            let owner = Owner { name: String::new(), address: String::new() };
            let holder = String::new();
            Ok(Head {
                term: 3,
                beat: 9,
                last: 6,
                holder,
                owner,
                is_released: false,
                database: None,
            })
        }

        async fn append(&mut self, _: Place, _: &[u8]) -> Result<bool, JournalError> {
            Err(full())
        }

        async fn beat(&mut self, _: i64, _: Option<i64>) -> Result<bool, JournalError> {
            Ok(false)
        }

        async fn read(&mut self, _: i64) -> Result<Reading, JournalError> {
            unasked()
        }

        async fn part(&mut self, _: &Base, _: i64) -> Result<Option<Vec<u8>>, JournalError> {
            unasked()
        }

        async fn take(&mut self, _: &Head, _: i64, _: &Claim) -> Result<Option<i64>, JournalError> {
            unasked()
        }
    }

    #[tokio::test]
    async fn a_server_that_takes_no_change_says_why() {
        let mut log = FullDisk::default();
        let error = append(&mut log, Place { number: 7, term: 3 }, b"change").await.unwrap_err();
        assert_eq!(error.to_string(), full().to_string());
        assert!(error.remedy().contains("make room on the server's disk"), "{}", error.remedy());
        assert!(log.now() >= APPEND_TRIED.0, "it was tried for {:?}", log.now());
    }

    #[test]
    fn only_a_copy_from_which_the_journal_goes_on_follows() {
        let place = Place { number: 5, term: 2 };
        let base = Base { place, upload: 2, parts: 1, bytes: 1, sha256: Vec::new() };
        let database = Database { uuid: "a".to_owned(), schema: 3, base };
        let state = State { place, schema: 3, uuid: "a".to_owned() };
        let next = |state: &State, journal: &[(i64, i64)]| {
            follow_on(state, &database, changes(journal))
                .map(|changes| changes.iter().map(|(place, _)| place.number).collect::<Vec<_>>())
        };
        assert_eq!(next(&state, &[(5, 2), (6, 2), (7, 3)]), Some(vec![6, 7]));
        assert_eq!(next(&state, &[(5, 2)]), Some(vec![]));
        // The change itself is deleted, and is that of the base.
        assert_eq!(next(&state, &[(6, 2)]), Some(vec![6]));
        assert_eq!(next(&state, &[]), Some(vec![]));
        let behind = State { place: Place { number: 3, term: 1 }, ..state.clone() };
        assert_eq!(next(&behind, &[(3, 1)]), None, "what follows is in the base alone");
        let later = State { place: Place { number: 7, term: 2 }, ..state.clone() };
        assert_eq!(next(&later, &[]), None, "it is not in the journal");
        assert_eq!(next(&later, &[(8, 3)]), None, "its change is deleted");
        assert_eq!(next(&later, &[(7, 3)]), None, "another coordinator's change has its number");
        assert_eq!(next(&state, &[(5, 2), (7, 2)]), None, "a gap");
        let migrated = State { schema: 2, ..state.clone() };
        assert_eq!(next(&migrated, &[(5, 2), (6, 2)]), None, "the owner has migrated");
        let other = State { uuid: "b".to_owned(), ..state };
        assert_eq!(next(&other, &[(5, 2)]), None, "another database");
    }

    #[test]
    fn only_what_is_proven_to_be_in_the_journal_is_known() {
        let base = Place { number: 5, term: 2 };
        let base = Base { place: base, upload: 2, parts: 1, bytes: 1, sha256: Vec::new() };
        let database = Database { uuid: String::new(), schema: 3, base };
        let is_known =
            |number, term| has(&database, &changes(&[(8, 3), (9, 3)]), Place { number, term });
        assert!(is_known(5, 2) && is_known(4, 2) && is_known(8, 3) && is_known(7, 3));
        assert!(!is_known(6, 2), "the server may have lost it");
        assert!(!is_known(4, 1), "nothing of this term is known");
        assert!(!is_known(10, 3) && !is_known(-1, 2));
    }
}
