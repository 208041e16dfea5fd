//! What is generated from the contract and checked in: building then needs no generator.

use std::path::Path;

use prost::Message as _;
use tonic_prost_build::configure;

/// Messages with a worker's secret: `src/secret.rs` prints them without it.
const SECRETIVE: [&str; 6] = [
    "spelrum.v1.HelloRequest",
    "spelrum.v1.HelloResponse",
    "spelrum.v1.LeaseRequest",
    "spelrum.v1.ReportRequest",
    "spelrum.v1.HeartbeatRequest",
    "spelrum.v1.GiveBackRequest",
];

/// With `INSTA_UPDATE=always`, as for snapshots, writes them instead.
#[test]
fn the_messages_are_those_of_the_contract() {
    let descriptors =
        protox::compile(["spelrum/v1/spelrum.proto"], [env!("CARGO_MANIFEST_DIR")]).unwrap();
    let bytes = descriptors.encode_to_vec();
    let out = tempfile::tempdir().unwrap();
    configure().skip_debug(SECRETIVE).out_dir(out.path()).compile_fds(descriptors).unwrap();
    let code = std::fs::read(out.path().join("spelrum.v1.rs")).unwrap();
    let generated = Path::new(env!("CARGO_MANIFEST_DIR")).join("generated");
    for (file, made) in [("spelrum.v1.bin", bytes), ("spelrum.v1.rs", code)] {
        let file = generated.join(file);
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            std::fs::write(&file, made).unwrap();
        } else {
            let is_same = std::fs::read(&file).unwrap() == made;
            assert!(is_same, "{} is old: run this test with INSTA_UPDATE=always", file.display());
        }
    }
}
