//! Random uses of external engines.

use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{MixedCell, PlayerForfeits, UsedEngine};
use spelrum_model::CellId;
use spelrum_model::engines::{EngineIdentity, Forfeit};

use super::{count, id, name};

prop_compose! {
    pub(crate) fn identity()(
        name in "[a-zλ]{0,8}",
        author in "[a-zλ]{0,8}",
        sha256 in any::<[u8; 32]>(),
    ) -> EngineIdentity {
        EngineIdentity { name, author, sha256 }
    }
}

prop_compose! {
    pub(crate) fn used_engine()(
        player in name(),
        engine in identity(),
        build in option::of("[0-9a-f]{64}"),
        counts in [count(), count()],
    ) -> UsedEngine {
        let [cells, games] = counts;
        UsedEngine { player, engine, build, cells, games }
    }
}

prop_compose! {
    pub(crate) fn mixed_cell()(cell in id(), player in name(), programs in count()) -> MixedCell {
        MixedCell { cell: CellId(cell), player, programs }
    }
}

prop_compose! {
    pub(crate) fn player_forfeits()(
        player in name(),
        games in count(),
        by_kind in [count(), count(), count(), count()],
    ) -> PlayerForfeits {
        PlayerForfeits { player, games, by_kind }
    }
}

pub(crate) fn forfeit() -> impl Strategy<Value = Forfeit> {
    ("[a-zλ]{1,8}", "([a-z<>! ]{0,9}\n){0,3}")
        .prop_map(|(message, output)| Forfeit { message, output })
}
