//! What is in `deploy/`: what each file says is looked at, and what each starts is started.

mod allocate;
mod compose;
mod files;
mod image;
mod kubernetes;
mod launch;
mod readmes;
mod shared;
mod slurm;
mod units;
