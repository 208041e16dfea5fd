//! The migrations, and the columns' types, are part of the program: it is built again when one is added or changed.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
    println!("cargo:rerun-if-changed=sqlx.toml");
}
