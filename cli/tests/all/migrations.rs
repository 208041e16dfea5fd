//! Migrations that databases have been through are never changed: a database knows the checksum of each,
//! and a release refuses one whose history is not its own.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

/// Every migration with the SHA-256 of its file.
const RELEASED: [(&str, &str); 11] = [
    ("0001_tables.sql", "a068dede7f5883dec8ff04c92ed550105154ab026e09351889dbf9ca352cba1d"),
    ("0002_views.sql", "30654f82c54b8b78dce9d65705f90475ce7b6ea58248c54ec8274b46362c8c37"),
    ("0003_games_at_once.sql", "07d5e32744bdcbf4ca5a8e32d44f4667090e7744eeebc6f4f83de8149b83c881"),
    (
        "0004_engine_cpu_known.sql",
        "2b7e8f1cb79d36f94ecc8c9cfdfb0624c90dbed98283f3699326b7fdb2c4f125",
    ),
    (
        "0005_games_planned_first.sql",
        "7ac82b511bf812cd452873c0e63b02b3515631b4a5defcb5f695a8bf9ba8d8ea",
    ),
    ("0006_replicates.sql", "c77b48b7de3cf9f64fbacebd6a24091ac99b5a0d07da36b6c3e88c3419ae0ea4"),
    ("0007_monotone.sql", "8527c188193c1f66576603f429b29089cd244876b64aa65e2d3de91d8a8f7ee6"),
    (
        "0008_engines_of_all_protocols.sql",
        "f5acf8026d6a7b9ae418c75a2e655c3f061e8c6928345aa3c595b6dffb1e0c5c",
    ),
    ("0009_move_notes.sql", "306b7e93a7c8c1bd2359a012704fc803e5e00cdbd1aff250546894f080487094"),
    ("0010_search_details.sql", "f68d02ef2ba66a3d4b551d42444995aa99351da029696355fba5a0cbfcec3763"),
    ("0011_journal_place.sql", "de08a66225e430ebed7b9d696892c9d3b8c6dc378baf36eb179ad3f46bfaaab2"),
];

#[test]
fn migrations_are_only_added() {
    let released: BTreeMap<_, _> = RELEASED.into_iter().collect();
    let directory = crate::sandbox::root().join("migrations");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            let bytes = Sha256::digest(std::fs::read(&path).unwrap());
            let sum: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            found.insert(path.file_name().unwrap().to_string_lossy().into_owned(), sum);
        }
    }
    for (name, sum) in &released {
        assert_eq!(
            found.get(*name).map(String::as_str),
            Some(*sum),
            "migrations/{name} is not what databases have been through: no release could open them any \
             more. Restore the file (git log -- migrations/{name}), and put the change into a new \
             migration with the next number"
        );
    }
    for (name, sum) in &found {
        assert!(
            released.contains_key(name.as_str()),
            "migrations/{name} is new. If it is as it will stay, add this line to RELEASED in {}:\n    \
             (\"{name}\", \"{sum}\"),",
            file!()
        );
    }
}

/// Two of one number would be one for a database.
#[test]
fn migrations_have_numbers_of_their_own_without_gaps() {
    let numbers: Vec<_> =
        RELEASED.iter().map(|(name, _)| name.split('_').next().unwrap()).collect();
    let counted: Vec<_> = (1..=numbers.len()).map(|number| format!("{number:04}")).collect();
    assert_eq!(numbers, counted);
}
