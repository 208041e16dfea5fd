//! The coordinator's addresses, and which of them calls go to.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spelrum_proto::Bearer;
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1::work_client::WorkClient;

use crate::Address;
use crate::requests::Client;

/// How long connecting may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// The interval of keep-alive pings on an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The addresses, in the order in which they are tried.
pub(crate) struct Places {
    places: Vec<Place>,
    choice: Mutex<Choice>,
}

/// An address of the coordinator.
pub(crate) struct Place {
    /// For people.
    pub(crate) address: String,
    pub(crate) client: Client,
}

/// The address that calls go to: a number for each.
#[derive(Debug, Default)]
struct Choice {
    addresses: usize,
    /// The address of the latest answer, or the next one to try.
    current: usize,
    /// Counts answers and moves: a call that fails says nothing about an address that answered another one since.
    version: u64,
    /// How often calls moved on since the last answer of any address.
    moves: usize,
    /// Addresses that refused the worker, or are no coordinator, since the last answer of any.
    refusing: BTreeSet<usize>,
}

/// The address of a call, as it was when the call began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tried {
    number: usize,
    version: u64,
}

impl Choice {
    const fn tried(&self) -> Tried {
        Tried { number: self.current, version: self.version }
    }

    fn answered(&mut self, tried: Tried) {
        self.refusing.clear();
        self.moves = 0;
        if tried.number == self.current {
            self.version += 1;
        }
    }

    fn absent(&mut self, tried: Tried) {
        self.refusing.remove(&tried.number);
        self.move_on(tried);
    }

    fn refused(&mut self, tried: Tried) -> bool {
        self.refusing.insert(tried.number);
        self.move_on(tried);
        self.refusing.len() == self.addresses
    }

    fn move_on(&mut self, tried: Tried) {
        if tried == self.tried() {
            self.current = (self.current + 1) % self.addresses;
            self.version += 1;
            self.moves += 1;
        }
    }

    fn has_untried(&self) -> bool {
        !self.moves.is_multiple_of(self.addresses)
    }
}

impl Places {
    pub(crate) fn new<'a>(addresses: impl Iterator<Item = &'a Address>) -> Self {
        let places: Vec<_> = addresses.map(Place::new).collect();
        let choice = Choice { addresses: places.len(), ..Choice::default() };
        Self { places, choice: Mutex::new(choice) }
    }

    /// The address for the next call.
    pub(crate) fn current(&self) -> (&Place, Tried) {
        let tried = self.choice().tried();
        (&self.places[tried.number], tried)
    }

    /// The coordinator answered there.
    pub(crate) fn answered(&self, tried: Tried) {
        self.choice().answered(tried);
    }

    /// Moves on to the next address, since the coordinator did not answer at this one; not if another call has moved
    /// on, or had an answer there, since this one began.
    pub(crate) fn absent(&self, tried: Tried) {
        self.choice().absent(tried);
    }

    /// Moves on as well, since this worker was refused there. Returns whether every address has refused it.
    pub(crate) fn refused(&self, tried: Tried) -> bool {
        self.choice().refused(tried)
    }

    /// Whether the next call goes to an address that was not tried since the last answer, or since all were tried.
    pub(crate) fn has_untried(&self) -> bool {
        self.choice().has_untried()
    }

    fn choice(&self) -> MutexGuard<'_, Choice> {
        self.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn new(Address { endpoint, token }: &Address) -> Self {
        let address = endpoint.uri().to_string();
        let channel = endpoint
            .clone()
            .connect_timeout(CONNECT_PATIENCE)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .http2_adaptive_window(true)
            .connect_lazy();
        let client = WorkClient::with_interceptor(channel, Bearer::new(token.as_ref()))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        Self { address, client }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(addresses: usize) -> Choice {
        Choice { addresses, ..Choice::default() }
    }

    #[test]
    fn calls_that_fail_together_move_on_once() {
        let mut choice = choice(2);
        let (first, second) = (choice.tried(), choice.tried());
        choice.absent(first);
        assert_eq!(choice.current, 1);
        choice.absent(second);
        assert_eq!(choice.current, 1, "it was no call to this address");
        choice.absent(choice.tried());
        choice.absent(second);
        assert_eq!(choice.current, 0, "it was called before the others were tried");
    }

    #[test]
    fn an_address_that_answers_is_kept() {
        let mut choice = choice(2);
        let (stalled, other) = (choice.tried(), choice.tried());
        choice.answered(other);
        choice.absent(stalled);
        assert_eq!(choice.current, 0);
        choice.absent(choice.tried());
        assert_eq!(choice.current, 1);
    }

    #[test]
    fn each_address_is_tried_before_waits_grow() {
        let mut three = choice(3);
        let mut rounds = Vec::new();
        for _ in 0..6 {
            three.absent(three.tried());
            rounds.push(three.has_untried());
        }
        assert_eq!(rounds, [true, true, false, true, true, false]);
        three.absent(three.tried());
        three.answered(three.tried());
        assert!(!three.has_untried());
        let mut alone = choice(1);
        alone.absent(alone.tried());
        assert!(!alone.has_untried());
    }

    #[test]
    fn a_worker_is_refused_once_all_addresses_refuse_it() {
        let mut alone = choice(1);
        assert!(alone.refused(alone.tried()));

        let mut choice = choice(2);
        assert!(!choice.refused(choice.tried()));
        choice.absent(choice.tried());
        assert!(!choice.refused(choice.tried()), "the other may be the coordinator");
        choice.answered(choice.tried());
        assert!(!choice.refused(choice.tried()));
        assert!(choice.refused(choice.tried()));
    }
}
