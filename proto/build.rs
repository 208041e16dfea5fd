//! Compiles the contract with protox, so that building needs no protoc.

use std::path::PathBuf;

use prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const FILE: &str = "spelrum/v1/spelrum.proto";
    println!("cargo:rerun-if-changed={FILE}");
    let descriptors = protox::compile([FILE], ["."])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("spelrum.v1.bin"), descriptors.encode_to_vec())?;
    // Messages with a worker's secret: src/secret.rs prints them without it.
    let secretive = [
        "HelloRequest",
        "HelloResponse",
        "LeaseRequest",
        "ReportRequest",
        "HeartbeatRequest",
        "GiveBackRequest",
    ];
    let secretive = secretive.map(|message| format!("spelrum.v1.{message}"));
    tonic_prost_build::configure().skip_debug(secretive).compile_fds(descriptors)?;
    Ok(())
}
