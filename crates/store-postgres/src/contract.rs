//! The contract's methods, delegated by name.

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
use spelrum_store::contract::{Store, Term, WriteTransaction};
use spelrum_store::{
    Deviation, Excludable, Found, GameFacts, LeaseHolder, LeasedCell, OpenCourse, OtherRevision,
    Refused, Removed, Retry, StoppedForForfeits, StoreError, Submitted, Sweep, TakenOut, ToVerify,
    WorkerIntroduction, WorkerProof,
};

use crate::transaction::{PgStore, PgTransaction};
use crate::{
    courses, exclusion, experiments, removal, results, scheduling, sweeps, tasks, workers,
};

/// Reads in a transaction of its own.
macro_rules! reading {
    ($store:expr, $tx:ident, $read:expr) => {{
        let mut $tx = $store.start().await?;
        let answer = $read;
        $tx.undo().await?;
        Ok(answer)
    }};
}

impl Store for PgStore {
    type Transaction<'s> = PgTransaction<'s>;

    fn term(&self) -> Term {
        Term(self.term)
    }

    async fn begin(&mut self) -> Result<PgTransaction<'_>, StoreError> {
        self.start().await
    }

    async fn snapshot(&mut self) -> Result<Snapshot, StoreError> {
        reading!(self, tx, scheduling::snapshot(&mut tx).await?)
    }

    async fn lease_holders(&mut self) -> Result<Vec<LeaseHolder>, StoreError> {
        reading!(self, tx, workers::lease_holders(&mut tx).await?)
    }

    async fn unfinished_of_other_revisions(
        &mut self,
        engine_revision: u32,
    ) -> Result<Vec<OtherRevision>, StoreError> {
        reading!(
            self,
            tx,
            experiments::unfinished_of_other_revisions(&mut tx, engine_revision).await?
        )
    }

    async fn open_courses(&mut self) -> Result<Vec<OpenCourse>, StoreError> {
        reading!(self, tx, courses::all_open(&mut tx).await?)
    }

    async fn is_removing(&mut self) -> Result<bool, StoreError> {
        reading!(self, tx, value!(tx, bool, "SELECT EXISTS (SELECT 1 FROM removals)"))
    }

    async fn is_excluding(&mut self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM exclusions WHERE done_unix_us IS NULL)";
        reading!(self, tx, value!(tx, bool, sql))
    }

    /// The server reuses the space of removed rows by itself (autovacuum): there is no file of ours to make smaller.
    async fn shrink(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// The server guards its pages by checksums of its own, and fails the statement that meets a wrong one: nothing
    /// here watches for damage.
    async fn damaged(&self) -> StoreError {
        std::future::pending().await
    }

    /// The server writes its checkpoints by itself.
    fn is_upkeep_due(&self) -> bool {
        false
    }

    /// As [`is_upkeep_due`](Store::is_upkeep_due): there is none.
    async fn upkeep(&mut self) -> Result<bool, StoreError> {
        Ok(true)
    }
}

impl WriteTransaction for PgTransaction<'_> {
    async fn submit(&mut self, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
        sweeps::submit(self, sweep).await
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
        courses::set(self, experiment, "open").await
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
        courses::set(self, experiment, "ended").await
    }

    async fn retry_failed(&mut self, experiment: ExperimentId) -> Result<Retry, StoreError> {
        experiments::retry_failed(self, experiment).await
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
        exclusion::readmit(self, workers, engine).await
    }

    async fn bar(&mut self, worker: WorkerId, barred: &Barred) -> Result<(), StoreError> {
        exclusion::bar(self, worker, barred).await
    }

    async fn inherit_bars(&mut self, worker: WorkerId) -> Result<Vec<Barred>, StoreError> {
        exclusion::inherit_bars(self, worker).await
    }

    async fn engines_of_sides(&mut self, game: GameId) -> Result<[Option<String>; 2], StoreError> {
        exclusion::engines_of_sides(self, game).await
    }

    async fn stop_for_forfeits(
        &mut self,
        cells: &[CellId],
    ) -> Result<Vec<StoppedForForfeits>, StoreError> {
        exclusion::stop_for_forfeits(self, cells).await
    }

    async fn inherit_exclusions(
        &mut self,
        worker: WorkerId,
    ) -> Result<Vec<Option<ExperimentId>>, StoreError> {
        exclusion::inherit(self, worker).await
    }

    async fn exclude_some(&mut self) -> Result<Option<Vec<TakenOut>>, StoreError> {
        exclusion::exclude_some(self).await
    }

    async fn reload_experiment(&mut self, experiment: ExperimentId) -> Result<Retry, StoreError> {
        experiments::reload(self, experiment).await
    }

    async fn touch(&mut self) -> Result<(), StoreError> {
        // Locking the ownership has assigned no transaction id yet; this does, so that the commit writes.
        run!(self, "UPDATE ownership SET term = term");
        Ok(())
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
        workers::store_speeds(self, worker, speeds).await
    }

    async fn leased_cells(&mut self, cells: &[CellId]) -> Result<Vec<LeasedCell>, StoreError> {
        scheduling::leased_cells(self, cells).await
    }

    async fn facts(
        &mut self,
        games: &[(WorkerId, LeaseId, GameId)],
    ) -> Result<Vec<GameFacts>, StoreError> {
        scheduling::facts(self, games).await
    }

    async fn store_games(&mut self, games: &[(WorkerId, PlayedGame)]) -> Result<(), StoreError> {
        results::store(self, games).await
    }

    async fn store_uncounted(
        &mut self,
        games: &[(WorkerId, PlayedGame)],
        after_cancel: bool,
    ) -> Result<(), StoreError> {
        results::store_uncounted(self, games, after_cancel).await
    }

    async fn store_disturbed(
        &mut self,
        games: &[(WorkerId, LeaseId, PlayedGame)],
    ) -> Result<(), StoreError> {
        results::store_disturbed(self, games).await
    }

    async fn store_trainings(
        &mut self,
        trainings: &[(WorkerId, FinishedTraining)],
    ) -> Result<(), StoreError> {
        tasks::store_trainings(self, trainings).await
    }

    async fn order_verifications(
        &mut self,
        experiment: ExperimentId,
        games: &[ToVerify],
    ) -> Result<Vec<CellState>, StoreError> {
        tasks::order_verifications(self, experiment, games).await
    }

    async fn store_verifications(
        &mut self,
        verifications: &[(WorkerId, PlayedVerification)],
    ) -> Result<Vec<Deviation>, StoreError> {
        tasks::store_verifications(self, verifications).await
    }

    async fn keep_refused(&mut self, refused: &[Refused]) -> Result<Vec<bool>, StoreError> {
        workers::keep_refused(self, refused).await
    }

    async fn note_failures(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        scheduling::note_failures(self, games).await
    }

    async fn settle_failed(&mut self, games: &[(GameId, String)]) -> Result<(), StoreError> {
        results::settle_failed(self, games).await
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
        scheduling::forget_leases(self, after, kept).await
    }

    async fn forget_workers(
        &mut self,
        after: WorkerId,
        before_unix_us: i64,
        known: &BTreeSet<WorkerId>,
    ) -> Result<Option<WorkerId>, StoreError> {
        workers::forget(self, after, before_unix_us, known).await
    }

    async fn commit(self) -> Result<(), StoreError> {
        self.end().await
    }
}
