//! Several coordinators with one server, all simulated: time, messages, kills, partitions and pauses come from a seed.
//! The decisions are those of the product; what is wrong on purpose must be noticed.

mod world;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use spelrum_store::shared::Place;

use self::world::{
    Answer, END, Entry, FAULTS_END, MILLISECOND, Message, Mistake, NODES, Node, Question, SECOND,
    Task, World, bytes, number,
};
use crate::error::JournalError;
use crate::log::{Base, Claim, Database, Head, Log, Reading, Replica, State, append, follow};
use crate::owner::Owner;
use crate::patience::{Patience, SILENCE};

#[derive(Clone)]
struct Sim(Arc<Mutex<World>>);

impl Sim {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }
}

/// A node's way to the server, and its clock.
#[derive(Clone)]
struct Way {
    sim: Sim,
    node: usize,
}

impl Way {
    /// Sends a question, and waits for 5 s of the own clock.
    async fn ask(&self, question: Question) -> Result<Answer, JournalError> {
        let slot = Arc::new(Mutex::new(None));
        let until = {
            let mut world = self.sim.world();
            if !world.is_lost(self.node) {
                let arrival = world.now + world.latency();
                world.order += 1;
                let (order, task, node) = (world.order, world.current, self.node);
                let slot = Arc::clone(&slot);
                let message = Message { task, node, question, slot };
                world.messages.insert((arrival, order), message);
            }
            world.clock(self.node) + 5 * SECOND
        };
        std::future::poll_fn(|_| {
            if let Some(answer) = slot.lock().unwrap().take() {
                return Poll::Ready(Ok(answer));
            }
            if self.poll_until(until).is_ready() {
                let problem = "no answer".to_owned();
                let server = String::new();
                return Poll::Ready(Err(JournalError::Unreachable { server, problem }));
            }
            Poll::Pending
        })
        .await
    }

    fn poll_until(&self, until: u64) -> Poll<()> {
        let mut world = self.sim.world();
        let clock = world.clock(self.node);
        if clock >= until {
            return Poll::Ready(());
        }
        let time = world.now + (until - clock) * 100 / world.nodes[self.node].rate + 1_000;
        world.wake_current_at(time);
        Poll::Pending
    }

    async fn done(&self, question: Question) -> Result<bool, JournalError> {
        let Answer::Done(is_done) = self.ask(question).await? else { unreachable!() };
        Ok(is_done)
    }

    async fn wait_us(&self, time: u64) {
        let until = self.sim.world().clock(self.node) + time;
        std::future::poll_fn(|_| self.poll_until(until)).await;
    }
}

impl Log for Way {
    fn now(&self) -> Duration {
        Duration::from_micros(self.sim.world().clock(self.node))
    }

    async fn wait(&self, time: Duration) {
        self.wait_us(u64::try_from(time.as_micros()).unwrap()).await;
    }

    async fn head(&mut self) -> Result<Head, JournalError> {
        let Answer::Head(head) = self.ask(Question::Head).await? else { unreachable!() };
        Ok(head)
    }

    async fn append(&mut self, place: Place, changes: &[u8]) -> Result<bool, JournalError> {
        let answer = self.done(Question::Append(place, number(changes))).await;
        let mistake = self.sim.world().mistake;
        match answer {
            Err(_) if mistake == Mistake::GuessesDone => Ok(true),
            Err(_) if mistake == Mistake::GuessesUndone => Err(JournalError::NoDatabase),
            answer => answer,
        }
    }

    async fn beat(&mut self, term: i64, last: Option<i64>) -> Result<bool, JournalError> {
        if last.is_some() && self.sim.world().mistake == Mistake::GuessesDone {
            return Ok(true);
        }
        self.done(Question::Beat(term, last)).await
    }

    async fn read(&mut self, number: i64) -> Result<Reading, JournalError> {
        let Answer::Reading(reading) = self.ask(Question::Read(number)).await? else {
            unreachable!()
        };
        Ok(reading)
    }

    async fn part(&mut self, base: &Base, _: i64) -> Result<Option<Vec<u8>>, JournalError> {
        let Answer::Part(part) = self.ask(Question::Part(base.place)).await? else {
            unreachable!()
        };
        Ok(part)
    }

    async fn take(
        &mut self,
        seen: &Head,
        above: i64,
        claim: &Claim,
    ) -> Result<Option<i64>, JournalError> {
        let (term, beat, last) = (seen.term, seen.beat, seen.last);
        let question = Question::Take { term, beat, last, above, claim: claim.clone() };
        let Answer::Term(term) = self.ask(question).await? else { unreachable!() };
        Ok(term)
    }
}

/// The copy on a node's disk.
struct Disk {
    sim: Sim,
    node: usize,
}

impl Replica for Disk {
    fn state(&self) -> Option<State> {
        let place = self.sim.world().nodes[self.node].disk.last().map(|(place, _)| *place);
        Some(State { place: place?, schema: 1, uuid: String::new() })
    }

    async fn apply(&mut self, changes: Vec<(Place, Vec<u8>)>) -> Result<(), JournalError> {
        let mut world = self.sim.world();
        let entries = changes.iter().map(|(place, changes)| (*place, number(changes)));
        world.nodes[self.node].disk.extend(entries);
        world.check_copy(self.node);
        Ok(())
    }

    async fn replace<L: Log>(
        &mut self,
        log: &mut L,
        database: &Database,
        _: bool,
    ) -> Result<bool, JournalError> {
        let Some(part) = log.part(&database.base, 0).await? else { return Ok(false) };
        let numbers: Vec<_> = part.chunks(8).map(number).collect();
        let entry = |entry: &[u64]| {
            let place = Place { number: entry[0].cast_signed(), term: entry[1].cast_signed() };
            (place, entry[2])
        };
        let mut world = self.sim.world();
        world.nodes[self.node].disk = numbers.chunks(3).map(entry).collect();
        world.check_copy(self.node);
        Ok(true)
    }
}

/// A process of a coordinator.
async fn coordinate(way: Way, generation: u32) {
    let holder = format!("{}.{generation}", way.node);
    let owner = Owner { name: holder.clone(), address: String::new() };
    let claim = Claim { holder, owner };
    let mistake = way.sim.world().mistake;
    let silence = if mistake == Mistake::TakesEarly { SILENCE / 2 } else { SILENCE };
    let mut log = way.clone();
    loop {
        let mut disk = Disk { sim: way.sim.clone(), node: way.node };
        let mut patience = Patience::new(silence);
        match follow(&mut log, &mut disk, &mut patience, &claim, |_| ()).await {
            Ok(term) => own(&way, term).await,
            Err(error) => way.sim.world().accuse(format!("node {} ended: {error}", way.node)),
        }
        way.wait_us(100 * MILLISECOND).await;
    }
}

async fn own(way: &Way, term: i64) {
    let mut log = way.clone();
    let is_alive = Arc::new(());
    let beating = Arc::downgrade(&is_alive);
    let mut beats = way.clone();
    let beat = async move {
        while beating.strong_count() > 0 && beats.beat(term, None).await.unwrap_or(true) {
            beats.wait_us(SECOND).await;
        }
    };
    way.sim.world().spawned.push(Task { node: way.node, work: Box::pin(beat) });
    let mut last = {
        let mut world = way.sim.world();
        let Node { disk, read_in, .. } = &world.nodes[way.node];
        let (last, is_present) = (disk.len(), *read_in == world.restores);
        if is_present && world.head.term == term && *disk != world.journal {
            world.accuse(format!("node {} took over without all changes", way.node));
        }
        last
    };
    if last == 0 {
        // The first change is what makes the database.
        let first = vec![(Place { number: 1, term }, u64::MAX)];
        let mut world = way.sim.world();
        if world.head.term != term || world.head.last > 0 {
            return;
        }
        world.head.last = 1;
        world.journal.clone_from(&first);
        world.nodes[way.node].disk.clone_from(&first);
        world.execute(way.node, Question::SetBase(term, first));
        last = 1;
    }
    // Results that no answer came for are given once more.
    let mut again = None;
    loop {
        let (pause, chance, fresh) = {
            let mut world = way.sim.world();
            (world.random(600) * MILLISECOND, world.random(100), world.random(u64::MAX))
        };
        way.wait_us(pause).await;
        if chance == 0 {
            let _ = way.done(Question::Release(term)).await;
            return;
        }
        if chance < 4 {
            let entries = way.sim.world().nodes[way.node].disk.clone();
            let _ = way.done(Question::SetBase(term, entries)).await;
        }
        let payload = again.take().unwrap_or(fresh);
        let restores = way.sim.world().restores;
        let place = Place { number: i64::try_from(last).unwrap() + 1, term };
        match append(&mut log, place, &bytes(payload)).await {
            Ok(()) => {}
            // Only by mistake.
            Err(JournalError::NoDatabase) => {
                again = Some(payload);
                if let Ok(head) = log.head().await {
                    last = usize::try_from(head.last).unwrap();
                }
                continue;
            }
            Err(JournalError::TakenOver { .. } | JournalError::Unreachable { .. }) => return,
            Err(JournalError::ChangesLost { .. }) if way.sim.world().has_restores => return,
            Err(error) => {
                return way.sim.world().accuse(format!("node {}: {error}", way.node));
            }
        }
        // A kill between the answer, the local commit and the answer to a caller.
        way.wait_us(MILLISECOND).await;
        {
            let mut world = way.sim.world();
            world.nodes[way.node].disk.push((place, payload));
            if world.restores == restores {
                world.nodes[way.node].read_in = restores;
                world.check_copy(way.node);
            }
        }
        last += 1;
        way.wait_us(MILLISECOND).await;
        let mut world = way.sim.world();
        let now = world.now;
        if world.restores == restores {
            world.acknowledged.push((now, payload));
        }
    }
}

/// What a seed has come to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    wrong: Vec<String>,
    takeovers: u64,
    journal: Vec<Entry>,
    acknowledged: usize,
    restores: u32,
}

fn run(seed: u64, mistake: Mistake) -> Outcome {
    run_with(seed, mistake, false)
}

fn run_with(seed: u64, mistake: Mistake, has_restores: bool) -> Outcome {
    let owner = Owner { name: String::new(), address: String::new() };
    let head = Head {
        term: 0,
        beat: 0,
        last: 0,
        holder: String::new(),
        owner,
        is_released: true,
        database: None,
    };
    let sim = Sim(Arc::new(Mutex::new(World {
        mistake,
        seed,
        has_restores,
        restores: 0,
        saved: None,
        now: 0,
        order: 0,
        head,
        beaten: 0,
        journal: Vec::new(),
        base: Vec::new(),
        oldest: 1,
        messages: BTreeMap::new(),
        nodes: Vec::new(),
        wake: Vec::new(),
        current: 0,
        spawned: Vec::new(),
        acknowledged: Vec::new(),
        takeovers: 0,
        wrong: Vec::new(),
    })));
    let start = |node: usize| {
        let generation = sim.world().nodes[node].generation;
        let work = Box::pin(coordinate(Way { sim: sim.clone(), node }, generation));
        Task { node, work }
    };
    let mut tasks: Vec<Option<Task>> = Vec::new();
    for node in 0..NODES {
        let rate = 80 + sim.world().random(50);
        sim.world().nodes.push(Node { rate, ..Node::default() });
        let task = start(node);
        sim.world().spawned.push(task);
    }
    let mut next_fault = SECOND;
    // When killed nodes start again.
    let mut starting: Vec<(u64, usize)> = Vec::new();
    loop {
        let spawned = std::mem::take(&mut sim.world().spawned);
        for task in spawned {
            tasks.push(Some(task));
            let mut world = sim.world();
            let now = world.now;
            world.wake.push(now);
        }
        let mut world = sim.world();
        let wake = (0..tasks.len()).filter(|at| tasks[*at].is_some()).map(|at| {
            let paused = tasks[at].as_ref().map_or(0, |task| world.nodes[task.node].paused_until);
            world.wake[at].max(paused)
        });
        let message = world.messages.keys().next().map(|(time, _)| *time);
        let start_at = starting.iter().map(|(time, _)| *time).min();
        let next = wake.chain(message).chain(start_at).chain([next_fault]).min().unwrap();
        world.now = next.max(world.now);
        let now = world.now;
        if now >= END {
            break;
        }
        while let Some(arrived) = world.messages.first_entry()
            && arrived.key().0 <= now
        {
            let Message { task, node, question, slot } = arrived.remove();
            let answer = world.execute(node, question);
            if !world.is_lost(node) {
                // The way back takes no time: the way there can.
                *slot.lock().unwrap() = Some(answer);
                world.wake[task] = world.wake[task].min(now);
            }
        }
        if now >= next_fault {
            let node = usize::try_from(world.random(NODES as u64)).unwrap();
            let kind = world.random(if has_restores { 7 } else { 4 });
            if now >= FAULTS_END {
                next_fault = END;
                world.nodes.iter_mut().for_each(|node| node.is_cut_off = false);
            } else {
                next_fault = now + world.random(6 * SECOND);
                let pause = world.random(20 * SECOND);
                match kind {
                    4 | 5 if world.saved.is_none() => world.save(),
                    4..=6 => world.restore(),
                    _ => {}
                }
                let node_state = &mut world.nodes[node];
                match kind {
                    0 => node_state.is_cut_off = true,
                    1 => node_state.is_cut_off = false,
                    2 => node_state.paused_until = (now + pause).min(FAULTS_END),
                    3 if starting.iter().all(|(_, killed)| *killed != node) => {
                        node_state.generation += 1;
                        node_state.paused_until = 0;
                        starting.push((now + pause / 2, node));
                        for task in tasks.iter_mut() {
                            task.take_if(|task| task.node == node);
                        }
                    }
                    _ => {}
                }
            }
        }
        drop(world);
        for (_, node) in starting.extract_if(.., |(time, _)| *time <= now) {
            let task = start(node);
            sim.world().spawned.push(task);
        }
        for (at, slot) in tasks.iter_mut().enumerate() {
            let Some(task) = slot else { continue };
            {
                let mut world = sim.world();
                if world.wake[at] > now || world.nodes[task.node].paused_until > now {
                    continue;
                }
                (world.wake[at], world.current) = (u64::MAX, at);
            }
            if task.work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                *slot = None;
            }
        }
    }
    drop(tasks);
    let mut world = sim.world();
    world.spawned.clear();
    world.messages.clear();
    world.check_end();
    Outcome {
        wrong: std::mem::take(&mut world.wrong),
        takeovers: world.takeovers,
        journal: std::mem::take(&mut world.journal),
        acknowledged: world.acknowledged.len(),
        restores: world.restores,
    }
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_and_one_appends() {
    let (mut takeovers, mut acknowledged) = (0, 0);
    for seed in 0..200 {
        let outcome = run(seed, Mistake::None);
        assert!(outcome.wrong.is_empty(), "seed {seed}: {:#?}", outcome.wrong);
        takeovers += outcome.takeovers;
        acknowledged += outcome.acknowledged;
    }
    assert!(takeovers > 200 * 3, "{takeovers} takeovers");
    assert!(acknowledged > 200 * 50, "{acknowledged} results");
}

#[test]
fn no_copy_of_a_restored_server_is_taken_for_the_present_one() {
    let mut restores = 0;
    for seed in 0..200 {
        let outcome = run_with(seed, Mistake::None, true);
        assert!(outcome.wrong.is_empty(), "seed {seed}: {:#?}", outcome.wrong);
        restores += outcome.restores;
    }
    assert!(restores > 200, "{restores} restores");
}

#[test]
fn a_seed_gives_the_same_history() {
    assert_eq!(run(7, Mistake::None), run(7, Mistake::None));
}

#[test]
fn deliberate_mistakes_are_noticed() {
    let cases = [
        (Mistake::IgnoresTerms, "was appended in term"),
        (Mistake::TakesEarly, "by its own clock"),
        (Mistake::TakesUnseen, "took over"),
        (Mistake::ReusesTerms, "without all changes"),
        (Mistake::GuessesDone, "is lost"),
        (Mistake::GuessesUndone, "twice"),
    ];
    for (mistake, accusation) in cases {
        let has_restores = mistake == Mistake::ReusesTerms;
        let outcome = |seed| run_with(seed, mistake, has_restores);
        let is_noticed = |seed| outcome(seed).wrong.iter().any(|wrong| wrong.contains(accusation));
        assert!((0..200).any(is_noticed), "{mistake:?} is not noticed as \"{accusation}\"");
    }
}
