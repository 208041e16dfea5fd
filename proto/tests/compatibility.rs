//! The contract beside the one that was last released (`proto/released`): who speaks that one is still
//! understood, and understands.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;

use prost::Message as _;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet,
    MethodDescriptorProto,
};

/// The contract that was last released.
fn released() -> FileDescriptorSet {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("released");
    let folder = directory.join("spelrum/v1");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "proto"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there is a contract in {}", folder.display());
    protox::compile(files, [directory]).unwrap()
}

/// The contract of this build.
fn ours() -> FileDescriptorSet {
    FileDescriptorSet::decode(spelrum_proto::FILE_DESCRIPTOR_SET).unwrap()
}

/// Everything that others may rely on: what it is called, and what must not change about it.
type Promises = BTreeMap<String, String>;

/// What a contract promises.
fn promises(contract: &FileDescriptorSet) -> Promises {
    let mut promises = Promises::new();
    for file in &contract.file {
        let package = file.package();
        for message in &file.message_type {
            promise_message(&mut promises, package, message);
        }
        for enumeration in &file.enum_type {
            promise_enum(&mut promises, package, enumeration);
        }
        for service in &file.service {
            let name = format!("{package}.{}", service.name());
            for method in &service.method {
                promises.insert(format!("method {name}/{}", method.name()), signature(method));
            }
            promises.insert(format!("service {name}"), String::new());
        }
    }
    promises
}

fn promise_message(promises: &mut Promises, scope: &str, message: &DescriptorProto) {
    let name = format!("{scope}.{}", message.name());
    for field in &message.field {
        promises.insert(format!("field {} of {name}", field.number()), nature(message, field));
    }
    for range in &message.reserved_range {
        for number in range.start()..range.end() {
            promises.insert(format!("reserved number {number} of {name}"), String::new());
        }
    }
    for reserved in &message.reserved_name {
        promises.insert(format!("reserved name {reserved} of {name}"), String::new());
    }
    for nested in &message.nested_type {
        promise_message(promises, &name, nested);
    }
    for enumeration in &message.enum_type {
        promise_enum(promises, &name, enumeration);
    }
    promises.insert(format!("message {name}"), String::new());
}

fn promise_enum(promises: &mut Promises, scope: &str, enumeration: &EnumDescriptorProto) {
    let name = format!("{scope}.{}", enumeration.name());
    for value in &enumeration.value {
        promises.insert(format!("value {} of {name}", value.number()), value.name().to_owned());
    }
    for range in &enumeration.reserved_range {
        for number in range.start()..=range.end() {
            promises.insert(format!("reserved number {number} of {name}"), String::new());
        }
    }
    for reserved in &enumeration.reserved_name {
        promises.insert(format!("reserved name {reserved} of {name}"), String::new());
    }
    promises.insert(format!("enum {name}"), String::new());
}

/// What a field is: its name is that of its JSON, and what a person reads in code.
fn nature(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let index = |index: i32| usize::try_from(index).ok();
    let group = field.oneof_index.and_then(index).map(|oneof| message.oneof_decl[oneof].name());
    format!(
        "{} {:?} {:?} {} in {}{}",
        field.name(),
        field.label(),
        field.r#type(),
        field.type_name(),
        group.unwrap_or("no oneof"),
        if field.proto3_optional() { ", optional" } else { "" },
    )
}

fn signature(method: &MethodDescriptorProto) -> String {
    format!(
        "{} (stream: {}) to {} (stream: {})",
        method.input_type(),
        method.client_streaming(),
        method.output_type(),
        method.server_streaming(),
    )
}

/// What others relied on and cannot any more.
fn broken(released: &FileDescriptorSet, ours: &FileDescriptorSet) -> Vec<String> {
    let ours = promises(ours);
    promises(released)
        .into_iter()
        .filter_map(|(what, was)| match ours.get(&what) {
            Some(is) if *is == was => None,
            Some(is) => Some(format!("{what} was {was}, is {is}")),
            None => Some(format!("{what} ({was}) is not there any more")),
        })
        .collect()
}

#[test]
fn who_speaks_the_released_protocol_is_understood() {
    let broken = broken(&released(), &ours());
    assert!(broken.is_empty(), "the contract only grows (proto/released/README.md): {broken:#?}");
}

/// Everything that is in the contract is held: whatever is taken away or changed is noticed, and nothing
/// but that.
#[test]
fn every_change_is_noticed() {
    let released = released();
    let notices = |what: &str, change: &dyn Fn(&mut FileDescriptorSet)| {
        let mut changed = released.clone();
        change(&mut changed);
        let broken = broken(&released, &changed);
        assert!(!broken.is_empty(), "nobody notices that {what}");
    };
    let mut tried = 0;
    for (f, file) in released.file.iter().enumerate() {
        for (m, message) in file.message_type.iter().enumerate() {
            notices("a message is removed", &|set| drop(set.file[f].message_type.remove(m)));
            for i in 0..message.field.len() {
                let with = |what, change: fn(&mut FieldDescriptorProto)| {
                    notices(what, &|set| change(&mut set.file[f].message_type[m].field[i]));
                };
                with("a field has another number", |field| *field.number.as_mut().unwrap() += 1000);
                with("a field has another name", |field| field.name.as_mut().unwrap().push('x'));
                with("a field is of another type", |field| {
                    use prost_types::field_descriptor_proto::Type;
                    let other =
                        if field.r#type() == Type::Sint64 { Type::Bytes } else { Type::Sint64 };
                    field.set_type(other);
                });
                with("a field is of another message", |field| {
                    field.type_name = Some(".spelrum.v1.Another".to_owned());
                });
                with("a field is or is not repeated", |field| {
                    use prost_types::field_descriptor_proto::Label;
                    let is_repeated = field.label() == Label::Repeated;
                    field.set_label(if is_repeated { Label::Optional } else { Label::Repeated });
                });
                with("a field is or is not optional", |field| {
                    field.proto3_optional = Some(!field.proto3_optional());
                });
                notices("a field is removed", &|set| {
                    drop(set.file[f].message_type[m].field.remove(i));
                });
                tried += 7;
            }
            for e in 0..message.enum_type.len() {
                notices("a nested enum is removed", &|set| {
                    drop(set.file[f].message_type[m].enum_type.remove(e));
                });
            }
            for n in 0..message.nested_type.len() {
                notices("a nested message is removed", &|set| {
                    drop(set.file[f].message_type[m].nested_type.remove(n));
                });
            }
        }
        for (e, enumeration) in file.enum_type.iter().enumerate() {
            for v in 0..enumeration.value.len() {
                notices("a value is removed", &|set| {
                    drop(set.file[f].enum_type[e].value.remove(v));
                });
                notices("a value has another number", &|set| {
                    *set.file[f].enum_type[e].value[v].number.as_mut().unwrap() += 1000;
                });
                tried += 2;
            }
        }
        for (s, service) in file.service.iter().enumerate() {
            notices("a service is removed", &|set| drop(set.file[f].service.remove(s)));
            for m in 0..service.method.len() {
                notices("a method is removed", &|set| {
                    drop(set.file[f].service[s].method.remove(m));
                });
                notices("a method streams, or no longer does", &|set| {
                    let method = &mut set.file[f].service[s].method[m];
                    method.server_streaming = Some(!method.server_streaming());
                });
                notices("a method answers otherwise", &|set| {
                    set.file[f].service[s].method[m].output_type = Some(".other".to_owned());
                });
                tried += 3;
            }
        }
    }
    assert!(tried > 500, "the contract was not understood: {tried}");
}

/// A contract as text.
fn contract(text: &str) -> FileDescriptorSet {
    let text = format!("syntax = \"proto3\"; package t; {text}");
    let file = protox::file::File::from_source("t.proto", &text).unwrap();
    FileDescriptorSet { file: vec![file.file_descriptor_proto().clone()] }
}

#[test]
fn what_grows_is_not_broken_and_what_moves_is() {
    let before = contract(
        "message A { reserved 9; reserved \"gone\"; int32 x = 1; oneof o { int32 y = 2; } }
        enum E { reserved 7; E_NONE = 0; } service S { rpc Do(A) returns (A); }",
    );
    let after = contract(
        "message A { reserved 9; reserved \"gone\"; int32 x = 1; oneof o { int32 y = 2; B z = 3; }
            repeated int32 more = 4; }
        message B {} enum E { reserved 7; E_NONE = 0; E_SOME = 1; }
        service S { rpc Do(A) returns (A); rpc More(B) returns (B); } service T {}",
    );
    assert_eq!(broken(&before, &after), [""; 0]);
    let moved = contract(
        "message A { reserved \"gone\"; int32 x = 1; int32 y = 2; int32 again = 9; }
        enum E { E_NONE = 0; E_AGAIN = 7; } service S { rpc Do(A) returns (A); }",
    );
    assert_eq!(
        broken(&before, &moved),
        [
            "field 2 of t.A was y Optional Int32  in o, is y Optional Int32  in no oneof",
            "reserved number 7 of t.E () is not there any more",
            "reserved number 9 of t.A () is not there any more",
        ]
    );
}
