//! Pushing programs to a coordinator.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use spelrum_programs::Sha256Hex;
use spelrum_proto::api::Api;
use spelrum_proto::limits::PROGRAM_PIECE_BYTES_MAX;
use spelrum_proto::v1;
use uuid::Uuid;

use super::retry_when_busy::take_turn;
use crate::error::conversions::failed_call;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A program file.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    file: File,
    /// Its size in bytes.
    pub(crate) size: u64,
    pub(crate) sha256: Sha256Hex,
}

impl ProgramFile {
    /// Reads a file to its end.
    ///
    /// # Errors
    /// If it is no ordinary file, is empty, or cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        Self::open(path).map_err(|error| {
            CliError::new(Exit::Input, format!("read the program {}", path.display()))
                .because(error)
                .help("name a file that was built for the workers' machines")
        })
    }

    /// As [`ProgramFile::read`].
    ///
    /// # Errors
    /// The problem alone.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        // Opening a pipe would wait for its writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no ordinary file"));
        }
        let mut file = File::open(path)?;
        let (mut hash, mut size, mut piece) = (Sha256::new(), 0, Vec::new());
        while read_piece(&mut file, &mut piece)? {
            hash.update(&piece);
            size += piece.len() as u64;
        }
        if size == 0 {
            return Err(io::Error::other("it is empty"));
        }
        Ok(Self { file, size, sha256: <[u8; 32]>::from(hash.finalize()).into() })
    }

    /// Pushes it, unless the coordinator has it. Returns whether it had to be pushed.
    ///
    /// # Errors
    /// If it cannot be read, or the coordinator refuses it.
    pub(crate) async fn push(mut self, api: &Api) -> Result<bool> {
        let unread = |error: io::Error| {
            CliError::new(Exit::Input, "read the program").because(error).help("push it again")
        };
        let (mut client, upload) = (api.programs(), Uuid::new_v4().into_bytes().to_vec());
        self.file.rewind().map_err(unread)?;
        // Without a piece it is a question.
        let (mut offset, mut piece) = (0, Vec::new());
        loop {
            let request = v1::PushRequest {
                sha256: self.sha256.to_bytes().to_vec(),
                size: self.size,
                upload: upload.clone(),
                offset,
                piece: piece.clone(),
            };
            let pushed = take_turn(async || client.push(request.clone()).await).await;
            let pushed = pushed.map_err(|status| failed_call("push the program", &status))?;
            offset += piece.len() as u64;
            if pushed.into_inner().stored {
                return Ok(offset > 0);
            }
            if !read_piece(&mut self.file, &mut piece).map_err(unread)? {
                return Err(unread(io::Error::other("it changed while it was pushed")));
            }
        }
    }
}

/// Reads the next piece of a file. Returns whether there is one.
fn read_piece(file: &mut File, piece: &mut Vec<u8>) -> io::Result<bool> {
    piece.clear();
    file.take(PROGRAM_PIECE_BYTES_MAX as u64).read_to_end(piece)?;
    Ok(!piece.is_empty())
}
