//! What stands between a worker and its coordinator, and may do to what they say what a network may: cut it,
//! let it wait, let little of it pass, swallow one direction. It knows the frames of HTTP/2, and so can stop
//! everything in the middle of a report.

use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing that is waited for takes nearly so long.
const DEADLINE: Duration = Duration::from_secs(600);

/// What a client begins with (RFC 9113, section 3.4).
const PREFACE_BYTES: usize = 24;

/// In front of every frame (RFC 9113, section 4.1).
const HEADER_BYTES: usize = 9;

/// No other message of a worker is so long as its reports are.
const REPORT_BYTES_MIN: usize = 1_000;

/// So much passes at once where the network is slow, and then nothing for so long.
const SLOW: (usize, Duration) = (100, Duration::from_millis(4));

/// Where a report is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Half of it has passed.
    HalfSent,
    /// All of it has passed.
    Sent,
    /// The answer has come, and not passed.
    Answered,
    /// Half of the answer has passed.
    HalfHeard,
    /// The answer has passed.
    Heard,
}

/// What the network is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weather {
    Clear,
    /// Nothing passes until it is clear again.
    Stalled,
    /// Little passes at once.
    Slow,
    /// There is no connection, and none is made.
    Cut,
}

/// Which way something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    ToCoordinator,
    ToWorker,
}

pub(super) struct Proxy {
    /// Where workers find the coordinator.
    pub(super) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    to: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    weather: Weather,
    connections: Vec<Connection>,
    /// How many there have been.
    made: u64,
    trap: Trap,
    is_over: bool,
}

struct Connection {
    number: u64,
    worker: TcpStream,
    coordinator: TcpStream,
    /// What goes this way never arrives.
    deaf: Option<Direction>,
}

enum Trap {
    Open,
    /// The next report is to be stopped.
    Set(Moment),
    /// This one is under way, and its answer may have begun.
    Following {
        until: Moment,
        stream: Stream,
        is_answered: bool,
    },
    /// It stands still, with all that there is.
    Sprung,
}

/// A call, as the proxy knows it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stream {
    connection: u64,
    id: u32,
}

impl Proxy {
    /// One in front of this coordinator.
    pub(super) fn to(coordinator: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            weather: Weather::Clear,
            connections: Vec::new(),
            made: 0,
            trap: Trap::Open,
            is_over: false,
        };
        let to = coordinator.parse().unwrap();
        let shared = Arc::new(Shared { to, state: Mutex::new(state), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || serving.serve(&listener));
        Self { url, shared }
    }

    pub(super) fn set_weather(&self, weather: Weather) {
        let mut state = self.shared.lock();
        state.weather = weather;
        if weather == Weather::Cut {
            state.close();
        }
        self.shared.changed.notify_all();
    }

    /// Lets what goes this way vanish on all connections that there are. New ones are well.
    pub(super) fn deafen(&self, direction: Direction) {
        for connection in &mut self.shared.lock().connections {
            connection.deaf = Some(direction);
        }
    }

    /// Says on all connections that this way nothing more will come, and lets them be otherwise.
    pub(super) fn half_close(&self, direction: Direction) {
        for connection in &self.shared.lock().connections {
            let _gone = connection.end(direction).shutdown(Shutdown::Write);
        }
    }

    /// How many connections there have been.
    pub(super) fn connections_made(&self) -> u64 {
        self.shared.lock().made
    }

    /// Waits until there have been more.
    pub(super) fn wait_for_another(&self, made: u64) {
        self.shared.wait_while("a connection was made", |state| state.made <= made);
    }

    /// Stops the next report, and everything else, at this moment. Returns when it stands still. Meanwhile something
    /// is done again and again, so that there is one.
    pub(super) fn stop_report(&self, at: Moment, mut meanwhile: impl FnMut()) {
        self.shared.lock().trap = Trap::Set(at);
        let start = Instant::now();
        while !matches!(self.shared.lock().trap, Trap::Sprung) {
            assert!(start.elapsed() < DEADLINE, "no report was stopped at {at:?}");
            meanwhile();
        }
    }

    /// Drops what stands still, with its connections.
    pub(super) fn release(&self) {
        let mut state = self.shared.lock();
        state.trap = Trap::Open;
        state.close();
        self.shared.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        state.close();
        self.shared.changed.notify_all();
        drop(state);
        // Whoever waits for a connection learns of it by one.
        let _gone = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

impl State {
    fn close(&mut self) {
        for connection in std::mem::take(&mut self.connections) {
            connection.close();
            self.forget(connection.number);
        }
    }

    /// A connection is over. A report on it will not be answered.
    fn forget(&mut self, connection: u64) {
        self.connections.retain(|entry| entry.number != connection);
        if let Trap::Following { until, stream, .. } = self.trap
            && stream.connection == connection
        {
            self.trap = Trap::Set(until);
        }
    }

    fn is_there(&self, connection: u64) -> bool {
        self.connections.iter().any(|entry| entry.number == connection)
    }
}

impl Connection {
    /// Where what goes this way comes out.
    fn end(&self, direction: Direction) -> &TcpStream {
        match direction {
            Direction::ToCoordinator => &self.coordinator,
            Direction::ToWorker => &self.worker,
        }
    }

    fn close(&self) {
        let _gone = self.worker.shutdown(Shutdown::Both);
        let _gone = self.coordinator.shutdown(Shutdown::Both);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn wait_while(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let waited = self.changed.wait_timeout_while(self.lock(), DEADLINE, |state| is_so(state));
        assert!(!waited.unwrap().1.timed_out(), "waited in vain: {what}");
    }

    fn serve(self: Arc<Self>, listener: &TcpListener) {
        loop {
            let (worker, _) = listener.accept().unwrap();
            let coordinator = TcpStream::connect(self.to);
            // From here on nobody changes what it is like.
            let mut state = self.lock();
            if state.is_over {
                return;
            }
            let Some(coordinator) = coordinator.ok().filter(|_| state.weather != Weather::Cut)
            else {
                continue;
            };
            worker.set_nodelay(true).unwrap();
            coordinator.set_nodelay(true).unwrap();
            state.made += 1;
            let number = state.made;
            state.connections.push(Connection {
                number,
                worker: worker.try_clone().unwrap(),
                coordinator: coordinator.try_clone().unwrap(),
                deaf: None,
            });
            self.changed.notify_all();
            drop(state);
            let ends = [&worker, &coordinator].map(|end| end.try_clone().unwrap());
            let [from_worker, from_coordinator] = ends;
            let (up, down) = (Arc::clone(&self), Arc::clone(&self));
            thread::spawn(move || {
                up.carry(number, Direction::ToCoordinator, from_worker, coordinator);
            });
            thread::spawn(move || {
                down.carry(number, Direction::ToWorker, from_coordinator, worker);
            });
        }
    }

    /// Carries frame after frame until one end is closed.
    fn carry(&self, number: u64, direction: Direction, mut from: TcpStream, mut to: TcpStream) {
        let mut preface = [0; PREFACE_BYTES];
        let begun = direction == Direction::ToWorker
            || from.read_exact(&mut preface).and_then(|()| to.write_all(&preface)).is_ok();
        if begun {
            while let Some(frame) = Frame::read(&mut from) {
                if self.pass(number, direction, &frame, &mut to).is_none() {
                    break;
                }
            }
        }
        // An end goes on, as far as it has not.
        let _gone = to.shutdown(Shutdown::Write);
        if direction == Direction::ToWorker {
            self.lock().forget(number);
            let _gone = to.shutdown(Shutdown::Both);
            let _gone = from.shutdown(Shutdown::Both);
        }
    }

    /// Lets one frame pass, or as much of it as may. `None` if its connection is over.
    fn pass(
        &self,
        connection: u64,
        direction: Direction,
        frame: &Frame,
        to: &mut TcpStream,
    ) -> Option<()> {
        let state = self.wait_for_way(self.lock(), connection)?;
        let is_deaf = state
            .connections
            .iter()
            .any(|entry| entry.number == connection && entry.deaf == Some(direction));
        if is_deaf {
            return Some(());
        }
        let is_slow = state.weather == Weather::Slow;
        let (before, is_the_moment) = meet(state, connection, direction, frame);
        self.write(&frame.bytes[..before], is_slow, to)?;
        if is_the_moment {
            let mut state = self.lock();
            state.trap = Trap::Sprung;
            self.changed.notify_all();
            let state = self.wait_for_way(state, connection)?;
            drop(state);
            self.write(&frame.bytes[before..], is_slow, to)?;
        }
        Some(())
    }

    /// Waits until something may pass. `None` if its connection is over.
    fn wait_for_way<'s>(
        &self,
        state: MutexGuard<'s, State>,
        connection: u64,
    ) -> Option<MutexGuard<'s, State>> {
        let stands_still = |state: &mut State| {
            let is_held = state.weather == Weather::Stalled || matches!(state.trap, Trap::Sprung);
            is_held && state.is_there(connection)
        };
        let state = self.changed.wait_while(state, stands_still).unwrap();
        state.is_there(connection).then_some(state)
    }

    fn write(&self, bytes: &[u8], is_slow: bool, to: &mut TcpStream) -> Option<()> {
        let (at_once, pause) = if is_slow { SLOW } else { (usize::MAX, Duration::ZERO) };
        for piece in bytes.chunks(at_once) {
            to.write_all(piece).ok()?;
            if is_slow {
                let over = |state: &mut State| !state.is_over;
                let _waited = self.changed.wait_timeout_while(self.lock(), pause, over).unwrap();
            }
        }
        Some(())
    }
}

/// How much of a frame passes before the trap springs, and whether it does.
fn meet(
    mut state: MutexGuard<'_, State>,
    connection: u64,
    direction: Direction,
    frame: &Frame,
) -> (usize, bool) {
    let whole = frame.bytes.len();
    let half = HEADER_BYTES + (whole - HEADER_BYTES) / 2;
    let stream = Stream { connection, id: frame.stream() };
    let is_up = direction == Direction::ToCoordinator;
    if let Trap::Set(until) = state.trap
        && is_up
        && frame.is_data()
        && whole >= REPORT_BYTES_MIN
    {
        state.trap = Trap::Following { until, stream, is_answered: false };
    }
    let Trap::Following { until, stream: followed, is_answered } = state.trap else {
        return (whole, false);
    };
    if followed != stream {
        return (whole, false);
    }
    if !is_up && !is_answered {
        // An answer that ends where it begins is a refusal.
        state.trap = match frame.is_last() {
            true => Trap::Set(until),
            false => Trap::Following { until, stream, is_answered: true },
        };
        if frame.is_last() {
            return (whole, false);
        }
    }
    match until {
        Moment::HalfSent if is_up => (half, true),
        Moment::Sent if is_up => (whole, frame.is_last()),
        Moment::Answered if !is_up => (0, true),
        Moment::HalfHeard if !is_up && frame.is_data() => (half, true),
        Moment::Heard if !is_up => (whole, frame.is_last()),
        Moment::HalfSent | Moment::Sent | Moment::Answered | Moment::HalfHeard | Moment::Heard => {
            (whole, false)
        }
    }
}

/// A frame of HTTP/2, with its header.
struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    /// The next one, if it comes whole.
    fn read(from: &mut impl Read) -> Option<Self> {
        let mut bytes = vec![0; HEADER_BYTES];
        from.read_exact(&mut bytes).ok()?;
        let length =
            usize::from(bytes[0]) << 16 | usize::from(bytes[1]) << 8 | usize::from(bytes[2]);
        bytes.resize(HEADER_BYTES + length, 0);
        from.read_exact(&mut bytes[HEADER_BYTES..]).ok()?;
        Some(Self { bytes })
    }

    fn is_data(&self) -> bool {
        self.bytes[3] == 0
    }

    /// Whether it is the last one that its sender has to say on its stream: of headers or data.
    fn is_last(&self) -> bool {
        self.bytes[3] <= 1 && self.bytes[4] & 1 == 1
    }

    fn stream(&self) -> u32 {
        u32::from_be_bytes([self.bytes[5] & 0x7f, self.bytes[6], self.bytes[7], self.bytes[8]])
    }
}
