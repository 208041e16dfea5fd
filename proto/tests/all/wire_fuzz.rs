//! Random messages of every type of the contract, with changed bytes: parsing one ends in a value or a
//! refusal, never in a panic, and parsed values are written back identically. `PROPTEST_CASES=1000000` is the
//! long form.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorSet};
use spelrum_proto::limits::NUMBER_MAX;
use spelrum_proto::work::{self, Grant, ReportedWhat};
use spelrum_proto::{FILE_DESCRIPTOR_SET, WireError, engines, game, training, v1};

/// The greatest depth of nested messages.
const DEPTH_MAX: u32 = 8;

/// The contract, by the full names of its types.
struct Contract {
    messages: BTreeMap<String, DescriptorProto>,
    enums: BTreeMap<String, EnumDescriptorProto>,
}

impl Contract {
    fn read() -> Self {
        let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
        let mut contract = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        for file in files.file {
            let package = format!(".{}", file.package());
            contract.add(&package, file.message_type, file.enum_type);
        }
        contract
    }

    fn add(
        &mut self,
        scope: &str,
        messages: Vec<DescriptorProto>,
        enums: Vec<EnumDescriptorProto>,
    ) {
        for enumeration in enums {
            self.enums.insert(format!("{scope}.{}", enumeration.name()), enumeration);
        }
        for message in messages {
            let name = format!("{scope}.{}", message.name());
            self.add(&name, message.nested_type.clone(), message.enum_type.clone());
            self.messages.insert(name, message);
        }
    }

    /// The bytes of a message of this type.
    fn message(&self, name: &str, rng: &mut TestRng, depth: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in &self.messages[name].field {
            let times = match field.label() {
                // As many as pairs have sums, now and then.
                Label::Repeated if field.r#type() == Type::Uint64 && below(rng, 2) == 0 => 5,
                Label::Repeated => below(rng, 5).saturating_sub(2),
                // Of the members of a oneof the last one wins.
                Label::Optional | Label::Required if field.oneof_index.is_some() => below(rng, 2),
                Label::Optional | Label::Required => u64::from(below(rng, 16) > 0),
            };
            for _ in 0..times {
                let tag = u64::from(field.number().unsigned_abs()) << 3;
                match field.r#type() {
                    Type::Double => {
                        varint(&mut bytes, tag | 1);
                        bytes.extend(figure(rng).to_le_bytes());
                    }
                    Type::String => block(&mut bytes, tag, &text(field.name(), rng)),
                    Type::Bytes => block(&mut bytes, tag, &hash(rng)),
                    Type::Message if depth < DEPTH_MAX => {
                        let inner = self.message(field.type_name(), rng, depth + 1);
                        block(&mut bytes, tag, &inner);
                    }
                    Type::Message => {}
                    Type::Enum => {
                        varint(&mut bytes, tag);
                        varint(&mut bytes, self.variant(field.type_name(), rng));
                    }
                    Type::Sint32 | Type::Sint64 => {
                        varint(&mut bytes, tag);
                        // The sign is the lowest bit.
                        varint(&mut bytes, number(rng));
                    }
                    Type::Bool => {
                        varint(&mut bytes, tag);
                        varint(&mut bytes, below(rng, 2));
                    }
                    Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 => {
                        varint(&mut bytes, tag);
                        varint(&mut bytes, number(rng));
                    }
                    other @ (Type::Float
                    | Type::Fixed32
                    | Type::Fixed64
                    | Type::Sfixed32
                    | Type::Sfixed64
                    | Type::Group) => panic!("the contract has {other:?} now"),
                }
            }
        }
        bytes
    }

    fn variant(&self, name: &str, rng: &mut TestRng) -> u64 {
        let variants = &self.enums[name].value;
        match below(rng, 40) {
            0 => number(rng),
            _ => {
                let at = usize::try_from(below(rng, variants.len() as u64)).unwrap();
                u64::from(variants[at].number().unsigned_abs())
            }
        }
    }
}

fn below(rng: &mut TestRng, bound: u64) -> u64 {
    rng.next_u64() % bound
}

/// Mostly small numbers, and boundary values.
fn number(rng: &mut TestRng) -> u64 {
    const ENDS: [u64; 10] = [
        NUMBER_MAX,
        NUMBER_MAX + 1,
        1 << 31,
        u32::MAX as u64,
        1 << 32,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
        i32::MIN as u64,
        1 << 52,
    ];
    match below(rng, 64) {
        0 => ENDS[usize::try_from(below(rng, 10)).unwrap()],
        1..8 => 0,
        8..24 => 1,
        _ => below(rng, 40),
    }
}

fn figure(rng: &mut TestRng) -> f64 {
    match below(rng, 64) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => -1e300,
        3 => f64::MIN_POSITIVE,
        4..30 => 0.0,
        30..48 => 0.5,
        _ => 1.0,
    }
}

fn text(field: &str, rng: &mut TestRng) -> Vec<u8> {
    // Words that have a meaning in their field.
    let words: &[&str] = match field {
        "kind" => &["tune", "find", "evolve", "", "accuracy", "games"],
        "state" => &["running", "paused", "finished"],
        "unit" => &["plies", "empty_cells"],
        _ => &[],
    };
    if !words.is_empty() && below(rng, 8) > 0 {
        return words[usize::try_from(below(rng, words.len() as u64)).unwrap()].into();
    }
    const TEXTS: [&str; 11] = [
        "a",
        "a1",
        "c3 TL+",
        "tic-tac-toe",
        "depth",
        "00000000-0000-4000-8000-000000000001",
        "λ, 0:1",
        "1.5",
        "",
        "line\nof two",
        "\u{0}\u{202e}",
    ];
    match below(rng, 64) {
        0 => vec![b'x'; usize::try_from(below(rng, 20_000)).unwrap()],
        // Not UTF-8.
        1 => vec![0xff, 0xfe],
        2..6 => TEXTS[usize::try_from(8 + below(rng, 3)).unwrap()].into(),
        _ => TEXTS[usize::try_from(below(rng, 8)).unwrap()].into(),
    }
}

fn hash(rng: &mut TestRng) -> Vec<u8> {
    let length = match below(rng, 32) {
        0 => below(rng, 70),
        1 => 0,
        _ => 32,
    };
    vec![0xab; usize::try_from(length).unwrap()]
}

fn varint(bytes: &mut Vec<u8>, value: u64) {
    prost::encoding::encode_varint(value, bytes);
}

fn block(bytes: &mut Vec<u8>, tag: u64, content: &[u8]) {
    varint(bytes, tag | 2);
    varint(bytes, content.len() as u64);
    bytes.extend(content);
}

/// Changes some bytes, or none.
fn damage(bytes: &mut Vec<u8>, rng: &mut TestRng) {
    for _ in 0..below(rng, 12).saturating_sub(8) {
        let at = usize::try_from(below(rng, bytes.len() as u64 + 1)).unwrap();
        match below(rng, 4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.next_u64().to_le_bytes()[0]),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ if at < bytes.len() => bytes[at] = rng.next_u64().to_le_bytes()[0],
            _ => {}
        }
    }
}

/// Parses a message of a type; returns whether it was accepted.
type Reader = fn(&[u8]) -> bool;

/// Parses a message with conversions both ways: writing and parsing the value again gives the same.
fn both_ways<W, T>(bytes: &[u8]) -> bool
where
    W: prost::Message + Default + From<T>,
    T: TryFrom<W, Error = WireError>,
{
    let Some(read) = W::decode(bytes).ok().and_then(|message| T::try_from(message).ok()) else {
        return false;
    };
    let bytes = W::from(read).encode_to_vec();
    let again = T::try_from(W::decode(&bytes[..]).unwrap()).unwrap();
    // As bytes, where NaN equals itself.
    assert_eq!(W::from(again).encode_to_vec(), bytes);
    true
}

fn read<W: prost::Message + Default, T>(
    bytes: &[u8],
    reader: impl Fn(W) -> Result<T, WireError>,
) -> bool {
    W::decode(bytes).is_ok_and(|message| reader(message).is_ok())
}

fn report(bytes: &[u8]) -> bool {
    read(bytes, |report: v1::ReportRequest| {
        work::caller(report.worker_id, report.coordinator_epoch)?;
        for result in work::results(report.results)? {
            assert!((1..1 << 53).contains(&result.lease.0));
            assert!(result.game.number <= NUMBER_MAX);
            if let ReportedWhat::Played(played) = result.what {
                assert_eq!(played.check(), Ok(()));
                let sent = game::to_wire(played);
                assert_eq!(game::to_wire(game::from_wire(sent.clone()).unwrap()), sent);
            }
        }
        Ok(())
    })
}

fn hello(bytes: &[u8]) -> bool {
    read(bytes, |hello: v1::HelloRequest| {
        work::check_hello(&hello)?;
        work::machine(&hello)?;
        engines::offers(&hello.engines)
    })
}

fn heartbeat(bytes: &[u8]) -> bool {
    read(bytes, |heartbeat: v1::HeartbeatRequest| {
        work::lease_ids(&heartbeat.lease_ids)?;
        work::playing(&heartbeat.playing)
    })
}

/// The parser of each type.
const READERS: &[(&str, Reader)] = &[
    ("ReportRequest", report),
    ("HelloRequest", hello),
    ("HeartbeatRequest", heartbeat),
    ("Training", |bytes| read(bytes, training::from_wire)),
    ("Grant", both_ways::<v1::Grant, Grant>),
    ("LeaseResponse", |bytes| {
        read(bytes, |lease: v1::LeaseResponse| work::leased_cells(lease.cells))
    }),
];

/// A message of a type, and whether its parser accepts it.
fn is_taken(contract: &Contract, (name, reader): (&str, Reader), rng: &mut TestRng) -> bool {
    let mut bytes = contract.message(&format!(".spelrum.v1.{name}"), rng, 0);
    damage(&mut bytes, rng);
    reader(&bytes)
}

/// Otherwise the fields after the first would never be checked.
#[test]
fn messages_of_every_type_are_taken_now_and_then() {
    let contract = Contract::read();
    let never: Vec<&str> = READERS
        .iter()
        .copied()
        .filter(|&reader| {
            let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            !(0..20_000).any(|_| is_taken(&contract, reader, &mut rng))
        })
        .map(|(name, _)| name)
        .collect();
    assert!(never.is_empty(), "never taken: {never:?}");
}

thread_local! {
    static CONTRACT: Contract = Contract::read();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_message_has_it_is_read_or_refused(
        which in 0..READERS.len(),
        mut rng in Just(()).prop_perturb(|(), rng| rng),
    ) {
        CONTRACT.with(|contract| is_taken(contract, READERS[which], &mut rng));
    }
}
