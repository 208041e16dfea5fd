//! The SQLite store: the contract's methods, delegated by name.

use std::collections::BTreeSet;

use spelrum_answers::Removing;
use spelrum_model::ExperimentState;
use spelrum_model::course::Noted;
use spelrum_model::speed::Speed;
use spelrum_model::withheld::Barred;
use spelrum_model::{
    CellId, ExperimentId, FinishedTraining, GameId, LeaseId, Plan, PlayedGame, PlayedVerification,
    WorkerId,
};
use spelrum_scheduling::course::CellOutcome;
use spelrum_scheduling::scheduler::{CellState, Changes, Snapshot};

use crate::contract::{Store, Term, WriteTransaction};
use crate::error::StoreError;
use crate::open::checkpoint::WAL_RESTART_BYTES;
use crate::open::writer::Writer;
use crate::write::barred_workers::{self, StoppedForForfeits};
use crate::write::courses::{self, OpenCourse};
use crate::write::exclusion::{self, Excludable, TakenOut};
use crate::write::experiments::{self, Found, OtherRevision};
use crate::write::leased_cells::{self, LeasedCell};
use crate::write::refused_results::{self, Refused};
use crate::write::removal::{self, Removed};
use crate::write::reported_games::{self, GameFacts};
use crate::write::retry::{self, Retry};
use crate::write::scheduling::{self, LeaseHolder};
use crate::write::submit::{self, Submitted, Sweep};
use crate::write::transaction::Transaction;
use crate::write::verifications::{self, Deviation, ToVerify};
use crate::write::workers::{self, WorkerIntroduction, WorkerProof};
use crate::write::{
    disturbed_games, excluded_workers, forgetting, networks, settled_games, uncounted_games,
    worker_speeds,
};

impl Store for Writer {
    type Transaction<'s> = Transaction<'s>;

    fn term(&self) -> Term {
        Term(self.epoch())
    }

    async fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        Self::begin(self).await
    }

    async fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        scheduling::snapshot(self).await
    }

    async fn lease_holders(&mut self) -> Result<Vec<LeaseHolder>, StoreError> {
        scheduling::lease_holders(self).await
    }

    async fn unfinished_of_other_revisions(
        &mut self,
        engine_revision: u32,
    ) -> Result<Vec<OtherRevision>, StoreError> {
        experiments::unfinished_of_other_revisions(self, engine_revision).await
    }

    async fn open_courses(&mut self) -> Result<Vec<OpenCourse>, StoreError> {
        courses::all_open(self).await
    }

    async fn is_removing(&mut self) -> Result<bool, StoreError> {
        removal::is_removing(self).await
    }

    async fn is_excluding(&mut self) -> Result<bool, StoreError> {
        exclusion::is_excluding(self).await
    }

    async fn shrink(&mut self) -> Result<bool, StoreError> {
        removal::shrink(self).await
    }

    fn damaged(&self) -> impl Future<Output = StoreError> + Send {
        let alarm = self.alarm();
        async move { alarm.raised().await }
    }

    fn is_upkeep_due(&self) -> bool {
        self.wal_bytes() >= WAL_RESTART_BYTES
    }

    async fn upkeep(&mut self) -> Result<bool, StoreError> {
        let done = self.checkpoint().await?;
        tracing::debug!(?done, "checkpoint by the writer");
        Ok(done.complete)
    }
}

impl WriteTransaction for Transaction<'_> {
    async fn submit(&mut self, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
        submit::submit(self, sweep).await
    }

    async fn experiment(&mut self, which: &str) -> Result<Option<Found>, StoreError> {
        experiments::find(self, which).await
    }

    async fn set_state(
        &mut self,
        experiment: ExperimentId,
        state: ExperimentState,
    ) -> Result<(), StoreError> {
        experiments::set_state(self, experiment, state).await
    }

    async fn set_priority(
        &mut self,
        experiment: ExperimentId,
        priority: i32,
    ) -> Result<(), StoreError> {
        experiments::set_priority(self, experiment, priority).await
    }

    async fn open_course(&mut self, experiment: ExperimentId) -> Result<(), StoreError> {
        courses::open(self, experiment).await
    }

    async fn add_cells(
        &mut self,
        experiment: ExperimentId,
        plan: &Plan,
        results_before: u64,
    ) -> Result<Option<Vec<CellState>>, StoreError> {
        courses::add_cells(self, experiment, plan, results_before).await
    }

    async fn tell(&mut self, cell: CellId) -> Result<CellOutcome, StoreError> {
        courses::tell(self, cell).await
    }

    async fn note(&mut self, experiment: ExperimentId, notes: &[Noted]) -> Result<(), StoreError> {
        courses::note(self, experiment, notes).await
    }

    async fn end_course(&mut self, experiment: ExperimentId) -> Result<(), StoreError> {
        courses::end(self, experiment).await
    }

    async fn retry_failed(&mut self, experiment: ExperimentId) -> Result<Retry, StoreError> {
        retry::retry_failed(self, experiment).await
    }

    async fn excludable(
        &mut self,
        which: &str,
        from: Option<ExperimentId>,
    ) -> Result<Excludable, StoreError> {
        exclusion::excludable(self, which, from).await
    }

    async fn begin_exclusion(
        &mut self,
        worker: WorkerId,
        from: Option<ExperimentId>,
        since_unix_us: Option<i64>,
    ) -> Result<(), StoreError> {
        exclusion::begin(self, worker, from, since_unix_us).await
    }

    async fn readmit(
        &mut self,
        workers: &[WorkerId],
        engine: Option<&str>,
    ) -> Result<Vec<WorkerId>, StoreError> {
        excluded_workers::readmit(self, workers, engine).await
    }

    async fn bar(&mut self, worker: WorkerId, barred: &Barred) -> Result<(), StoreError> {
        barred_workers::bar(self, worker, barred).await
    }

    async fn inherit_bars(&mut self, worker: WorkerId) -> Result<Vec<Barred>, StoreError> {
        barred_workers::inherit(self, worker).await
    }

    async fn engines_of_sides(&mut self, game: GameId) -> Result<[Option<String>; 2], StoreError> {
        barred_workers::engines_of_sides(self, game).await
    }

    async fn stop_for_forfeits(
        &mut self,
        cells: &[CellId],
    ) -> Result<Vec<StoppedForForfeits>, StoreError> {
        barred_workers::stop_for_forfeits(self, cells).await
    }

    async fn inherit_exclusions(
        &mut self,
        worker: WorkerId,
    ) -> Result<Vec<Option<ExperimentId>>, StoreError> {
        excluded_workers::inherit(self, worker).await
    }

    async fn exclude_some(&mut self) -> Result<Option<Vec<TakenOut>>, StoreError> {
        exclusion::exclude_some(self).await
    }

    async fn reload_experiment(&mut self, experiment: ExperimentId) -> Result<Retry, StoreError> {
        retry::reload(self, experiment).await
    }

    async fn touch(&mut self) -> Result<(), StoreError> {
        Transaction::touch(self).await
    }

    async fn introduce(&mut self, worker: &WorkerIntroduction) -> Result<WorkerId, StoreError> {
        workers::introduce(self, worker).await
    }

    async fn worker_proof(&mut self, uuid: &str) -> Result<Option<WorkerProof>, StoreError> {
        workers::proof(self, uuid).await
    }

    async fn keep_worker_secret(
        &mut self,
        worker: WorkerId,
        sha256: [u8; 32],
    ) -> Result<(), StoreError> {
        workers::keep_secret(self, worker, sha256).await
    }

    async fn store_speeds(&mut self, worker: WorkerId, speeds: &[Speed]) -> Result<(), StoreError> {
        worker_speeds::store(self, worker, speeds).await
    }

    async fn leased_cells(&mut self, cells: &[CellId]) -> Result<Vec<LeasedCell>, StoreError> {
        leased_cells::find(self, cells).await
    }

    async fn facts(
        &mut self,
        games: &[(WorkerId, LeaseId, GameId)],
    ) -> Result<Vec<GameFacts>, StoreError> {
        reported_games::facts(self, games).await
    }

    async fn store_games(&mut self, games: &[(WorkerId, PlayedGame)]) -> Result<(), StoreError> {
        settled_games::store(self, games).await
    }

    async fn store_uncounted(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
        after_cancel: bool,
    ) -> Result<(), StoreError> {
        uncounted_games::store(self, games, after_cancel).await
    }

    async fn store_disturbed(
        &mut self,
        games: &[(WorkerId, LeaseId, PlayedGame)],
    ) -> Result<(), StoreError> {
        disturbed_games::store(self, games).await
    }

    async fn store_trainings(
        &mut self,
        trainings: &[(WorkerId, FinishedTraining)],
    ) -> Result<(), StoreError> {
        networks::store_trainings(self, trainings).await
    }

    async fn order_verifications(
        &mut self,
        experiment: ExperimentId,
        games: &[ToVerify],
    ) -> Result<Vec<CellState>, StoreError> {
        verifications::order(self, experiment, games).await
    }

    async fn store_verifications(
        &mut self,
        verifications: &[(WorkerId, PlayedVerification)],
    ) -> Result<Vec<Deviation>, StoreError> {
        verifications::store(self, verifications).await
    }

    async fn keep_refused(&mut self, refused: &[Refused]) -> Result<Vec<bool>, StoreError> {
        refused_results::keep(self, refused).await
    }

    async fn note_failures(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        scheduling::note_failures(self, games).await
    }

    async fn settle_failed(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        settled_games::settle_failed(self, games).await
    }

    async fn apply(&mut self, changes: &Changes) -> Result<(), StoreError> {
        scheduling::apply(self, changes).await
    }

    async fn begin_removal(
        &mut self,
        experiment: ExperimentId,
        what: Removing,
        games: u64,
    ) -> Result<(), StoreError> {
        removal::begin(self, experiment, what, games).await
    }

    async fn remove_some(&mut self) -> Result<Removed, StoreError> {
        removal::remove_some(self).await
    }

    async fn forget_leases(
        &mut self,
        after: LeaseId,
        kept: u64,
    ) -> Result<Option<LeaseId>, StoreError> {
        forgetting::forget_leases(self, after, kept).await
    }

    async fn forget_workers(
        &mut self,
        after: WorkerId,
        before_unix_us: i64,
        known: &BTreeSet<WorkerId>,
    ) -> Result<Option<WorkerId>, StoreError> {
        forgetting::forget_workers(self, after, before_unix_us, known).await
    }

    async fn commit(self) -> Result<(), StoreError> {
        Transaction::commit(self).await
    }
}
