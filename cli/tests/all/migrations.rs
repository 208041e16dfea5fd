//! Migrations that databases have been through are never changed: a database knows the checksum of each,
//! and a release refuses one whose history is not its own.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

/// Every migration with the SHA-256 of its file.
const RELEASED: [(&str, &str); 28] = [
    ("0001_tables.sql", "545c1643c6607764fc45aa5bbc5971c8d64fcbea168c90215d6c549ec45f77c3"),
    ("0002_views.sql", "36e5f5e2454ef680f347a04448e91d7b5f42dffb77a27835e68f040564e71024"),
    ("0003_stop_rules.sql", "2474e2925fd7afbe1e6cd42e8504b9367b597084badd4d5013853801ef2cfe8c"),
    ("0004_openings.sql", "2a82b0b1e685e285666bea033135a1b24c4bb5c1358b7064b42fca45921fdb69"),
    ("0005_allocation.sql", "3ce7a1a6f1bf3396fd85960f4646c7ab772a719da246154f2ee4166ece7180bf"),
    ("0006_claims.sql", "218140ba71aec2c7a0e521e5c2666b10929e3ab676a49b239361baf70cd938a4"),
    ("0007_machines.sql", "c8bf5a3cb8c561963d31a7d9035b0a4ae7a5dc967d339b62a25571dd0d594907"),
    ("0008_accuracy.sql", "a52b515419baebac65c17d7cad9f34cb873f9d224177fff88b536e5908fbd5c5"),
    ("0009_engines.sql", "fccc40e5309fd755102d8d346ae21e981b01d80492737024f306215151020d78"),
    ("0010_courses.sql", "0c327385f0d477eb532954215fcdb9552bb2067d2ec5acd1330181f58f01e8f9"),
    ("0011_margins.sql", "dfbde93fc1dc6a166b472cee0a6fd3bd08fa63100e4f57f0c7e7444ad74263ea"),
    ("0012_evolution.sql", "0cde8256b71195086f6c678aeac293221fde0ca2b5b114fc154437cab5778c82"),
    ("0013_endings.sql", "d8525f8f84576620f9339e957b82ed949db67fa90673c8a22a50a97b00a70d62"),
    ("0014_winning_moves.sql", "253f62791deeaafefa81ff6d5db14eaf07862b52e77a3157b1319938d54ef48c"),
    ("0015_networks.sql", "dee8c997429eef563b9bc8c56de96a68a54db596b4224cbd8ba7a8188b5cb610"),
    ("0016_exclusions.sql", "b6bee716b08b4339ef253e48131393e7ba830aef3addcf0712b71cda11f916a9"),
    ("0017_verifications.sql", "a87d4920c408aa856431df6af393b0dcd0070c5518f7af1f13cdabf95ecdb713"),
    ("0018_timing.sql", "382244358c13e1f63ff0493982264ff781f7205f2950fc79f2c76e164241122e"),
    ("0019_disturbance.sql", "52173f2d528666d336b4d112a129cfb8361e13d1b17fc30a96a683b5afa129bd"),
    ("0020_cpu_times.sql", "7eff3bcd013edb862776c9e787ea9d76a5ae55eecfbe4bb651bcf284ce0e390b"),
    ("0021_speeds.sql", "685bf60110c8a821c041e3790657501e40b3eb34d83f88cfdbe29f74719fb6d9"),
    ("0022_placement.sql", "4d7ef3c9832141d0e983b268205a2e68a52da99001ff2aac89d1838b7681f1aa"),
    ("0023_digests.sql", "a9b7b6a0a17021f129caaf3d9b80fc0e06fb5efe0b8c3b9f0752175fbb6be073"),
    ("0024_worker_secrets.sql", "c1fbd1e45239e8e432a6ed9752191c1ebb7d99cf1c6259ebbbed3e8db7351e17"),
    ("0025_forfeits.sql", "ff229e3610579f7554ebaa9083a772ef28af139557af359955c39f485cb6f127"),
    ("0026_builds.sql", "fbf08600d3e81ee2c8d896c550d6adf057206e084ec9dad2210b6d061f93141b"),
    ("0027_repeats.sql", "8fea9202269776f1618d885cf308b6791f26d1a4f5401769068f3a1ad4b09abf"),
    ("0028_older_sqlite.sql", "967f047fe928e1ff5d9ce84b1674bb277ba0d6cc0afa2caa1c622003513e58c8"),
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
