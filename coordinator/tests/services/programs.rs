//! Programs are pushed in pieces, stored by their hash, and fetched in pieces.

use sha2::{Digest as _, Sha256};
use spelrum_proto::limits::PROGRAM_PIECE_BYTES_MAX;
use spelrum_proto::v1::programs_client::ProgramsClient;
use spelrum_proto::v1::{self, work_client::WorkClient};
use spelrum_proto::{Reason, Refusal};
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use spelrum_test_support::{Served, Site, eventually, quick_sweep, reason, submission};

async fn channel(served: &Served) -> Channel {
    Endpoint::new(served.url()).unwrap().connect().await.unwrap()
}

fn piece(program: &[u8], upload: u8, from: usize, to: usize) -> v1::PushRequest {
    v1::PushRequest {
        sha256: Sha256::digest(program).to_vec(),
        size: program.len() as u64,
        upload: vec![upload; 16],
        offset: from as u64,
        piece: program[from..to].to_vec(),
    }
}

/// What is in the folder of programs.
fn files(site: &Site) -> Vec<String> {
    let folder = site.db().with_file_name("results.db-programs");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn a_program_arrives_whole_and_is_fetched_whole() {
    let site = Site::new();
    let served = site.serve().await;
    let mut push = ProgramsClient::new(channel(&served).await);
    let mut work = WorkClient::new(channel(&served).await);
    let program: Vec<u8> = (0..PROGRAM_PIECE_BYTES_MAX + 5).map(|n| (n / 7) as u8).collect();
    let (middle, end) = (PROGRAM_PIECE_BYTES_MAX, program.len());
    let mut stored = async |piece| push.push(piece).await.unwrap().into_inner().stored;
    assert!(!stored(piece(&program, 1, 0, 0)).await, "a question");
    assert!(!stored(piece(&program, 1, 0, middle)).await);
    assert!(!stored(piece(&program, 1, 0, middle)).await, "again, from the start");
    // Two at once, and pieces that come twice, since an answer was lost.
    assert!(!stored(piece(&program, 2, 0, 9)).await);
    assert!(!stored(piece(&program, 2, 9, 99)).await);
    assert!(!stored(piece(&program, 2, 9, 99)).await);
    assert_eq!(files(&site).len(), 2);
    assert!(stored(piece(&program, 1, middle, end)).await);
    assert!(stored(piece(&program, 1, middle, end)).await);
    assert!(stored(piece(&program, 2, 99, 999)).await, "the other was sooner");
    assert!(stored(piece(&program, 3, 0, 0)).await);
    let sha256 = Sha256::digest(&program).to_vec();
    let hex: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(files(&site), [hex]);
    let mut fetched = Vec::new();
    loop {
        let request =
            v1::GetProgramRequest { sha256: sha256.clone(), offset: fetched.len() as u64 };
        let v1::GetProgramResponse { size, piece } =
            work.get_program(request).await.unwrap().into_inner();
        assert_eq!(size, end as u64);
        assert!(piece.len() <= PROGRAM_PIECE_BYTES_MAX);
        if piece.is_empty() {
            break;
        }
        fetched.extend(piece);
    }
    assert!(fetched == program);
    served.stop().await.unwrap();
    // A restart keeps it.
    let served = site.serve().await;
    let mut work = WorkClient::new(channel(&served).await);
    work.get_program(v1::GetProgramRequest { sha256, offset: 0 }).await.unwrap();
    let unknown = v1::GetProgramRequest { sha256: vec![7; 32], offset: 0 };
    assert_eq!(reason(work.get_program(unknown).await), Reason::UnknownProgram);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn uploads_that_begin_together_are_bounded() {
    let site = Site::new();
    let served = site.serve().await;
    let begin = async |upload: u8| {
        let mut push = ProgramsClient::new(channel(&served).await);
        push.push(piece(b"program", upload, 0, 3)).await
    };
    let begun = futures_util::future::join_all((0..24).map(begin)).await;
    let refused = begun.into_iter().filter(Result::is_err).map(reason).collect::<Vec<_>>();
    assert_eq!(refused, [Reason::Busy; 8]);
    // That which begins anew keeps its place.
    let mut push = ProgramsClient::new(channel(&served).await);
    for upload in 0..24 {
        let again = push.push(piece(b"program", upload, 0, 3)).await;
        let end = push.push(piece(b"program", upload, 3, 6)).await;
        assert_eq!(again.is_ok(), end.is_ok());
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn what_is_no_program_is_refused_and_leaves_nothing() {
    let site = Site::new();
    let served = site.serve().await;
    let mut push = ProgramsClient::new(channel(&served).await);
    let good = || piece(b"program", 1, 0, 7);
    let mut refused = async |piece: v1::PushRequest| reason(push.push(piece).await);
    for malformed in [
        v1::PushRequest { sha256: vec![0; 32], ..good() },
        v1::PushRequest { sha256: vec![0; 31], ..good() },
        v1::PushRequest { sha256: b"../../../../../../../tmp/spelrum".to_vec(), ..good() },
        v1::PushRequest { upload: vec![0; 15], ..good() },
        v1::PushRequest { size: 0, ..good() },
        v1::PushRequest { size: 6, ..good() },
        v1::PushRequest { offset: 7, ..good() },
        v1::PushRequest { offset: 1, piece: Vec::new(), ..good() },
        v1::PushRequest { piece: vec![0; PROGRAM_PIECE_BYTES_MAX + 1], size: 2 << 20, ..good() },
    ] {
        assert_eq!(refused(malformed.clone()).await, Reason::Malformed, "{malformed:?}");
    }
    assert_eq!(refused(piece(b"program", 1, 3, 7)).await, Reason::WrongState, "nothing is before");
    let large = v1::PushRequest { size: 5 << 30, ..good() };
    assert_eq!(refused(large).await, Reason::TooMany);
    assert_eq!(files(&site), [""; 0]);
    // One that stops in the middle goes with the coordinator, and one that skips a piece at once.
    push.push(piece(b"program", 2, 0, 3)).await.unwrap();
    push.push(piece(b"program", 3, 0, 3)).await.unwrap();
    assert_eq!(reason(push.push(piece(b"program", 3, 4, 7)).await), Reason::Malformed);
    assert_eq!(files(&site).len(), 1);
    served.stop().await.unwrap();
    eventually("the upload is gone", async || files(&site).is_empty().then_some(())).await;
    // What cannot be written is said.
    let folder = site.db().with_file_name("results.db-programs");
    std::fs::remove_dir(&folder).unwrap();
    std::fs::write(&folder, "").unwrap();
    let served = site.serve().await;
    let mut push = ProgramsClient::new(channel(&served).await);
    let status: Status = push.push(good()).await.unwrap_err();
    let refusal = Refusal::from_status(&status).unwrap();
    assert!(refusal.problem.contains("for programs cannot be written: "), "{refusal}");
    // And nothing else is held up by it.
    let api =
        spelrum_proto::api::Api::new(channel(&served).await, spelrum_proto::Bearer::new(None));
    api.call(&submission(&quick_sweep("x", 2))).await.unwrap();
    served.stop().await.unwrap();
}
