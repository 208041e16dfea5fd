//! The parameters of alpha-beta.

use crate::core::parameters::{
    AlgorithmInfo, ParameterDefault, ParameterInfo, Parameters, Preset, Promise, Settings, Value,
    count_of, shared,
};
use crate::core::solver::SOLVER_BYTES_MAX;
use crate::search::{Limits, WIN_MIN, root};

/// The default size of a transposition table.
const TABLE_MIB: u64 = 16;

/// The default depth of quiescence.
const QUIESCENCE_PLIES: u32 = 32;

/// The default reduction of a search after a pass (Donninger 1993).
const NULL_REDUCTION: u32 = 2;

/// The greatest margin of a static value in points, far above what any position is worth.
const MARGIN_MAX: i64 = 100_000;

/// The values of `ties`.
const FIRST: &str = "first";
const RANDOM: &str = "random";

/// The table of its parameters.
pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "alpha-beta",
    meaning: "Searches every move to its depth, but for what cannot change the result.",
    parameters: &[
        shared::EVALUATION,
        shared::DEPTH,
        shared::NODES,
        shared::EVALUATIONS,
        shared::MOVE_TIME,
        shared::CLOCK,
        shared::CLOCK_MARGIN,
        ParameterInfo::switch(
            "iterative",
            false,
            "Whether it searches to depth 1, 2, 3 and so on, the best move so far first, instead \
             of to one fixed depth.",
        )
        .promises(Promise::ValuePreserving),
        ParameterInfo::switch(
            "order",
            false,
            "Whether moves are tried in the order of the static evaluation of where they lead. \
             Those evaluations count.",
        )
        .promises(Promise::ValuePreserving),
        root::SHUFFLE.promises(Promise::ValuePreserving),
        ParameterInfo::word(
            "ties",
            &[FIRST, RANDOM],
            FIRST,
            "Which of the root moves of the best value is played: the first that was tried, or each \
             with the same chance by the game's seed.",
        )
        .promises(Promise::ValuePreserving)
        .added_later(),
        refinement(
            "pvs",
            "Principal-variation search: whether every move after the first is first asked only \
             whether it is better, with a window of one point.",
        ),
        ParameterInfo::integer(
            "aspiration",
            0..=WIN_MIN as i64,
            0,
            "Half the width of the window around the last value of the same parity in which an \
             iteration begins, in points of the evaluation; 0 begins with the whole range.",
        )
        .only_with("iterative", ParameterDefault::Bool(true))
        .promises(Promise::ValuePreserving)
        .added_later(),
        refinement(
            "table",
            "Whether a transposition table keeps what is found of positions that may come up \
             again, from one move of a game to the next as well.",
        )
        .unless_history_matters(),
        ParameterInfo::integer(
            "table_mib",
            1..=65_536,
            TABLE_MIB as i64,
            "Size of the transposition table in MiB. Every game being played has its own.",
        )
        .only_with("table", ParameterDefault::Bool(true))
        .promises(Promise::ValuePreserving)
        .unless_history_matters()
        .added_later(),
        refinement(
            "table_symmetry",
            "Whether positions that the board's symmetries map to each other share an entry of \
             the transposition table.",
        )
        .only_with("table", ParameterDefault::Bool(true))
        .unless_history_matters(),
        refinement(
            "killers",
            "Whether the newest two moves that refuted something at the same ply are tried first.",
        ),
        refinement(
            "history",
            "Whether moves that refuted something elsewhere in the tree are tried before others; \
             with `order` or `combined`, among moves of equal evaluation.",
        ),
        refinement(
            "combined",
            "Whether each level has its own order: by static evaluation where three or more plies \
             are left, by history where two are, by the kind of move where one is (with `history`, by \
             that). It takes the place of `order` below the root.",
        ),
        refinement(
            "distinct",
            "Whether of several moves that lead to the same position only one is tried.",
        ),
        refinement(
            "threats",
            "Whether wins with the next move, and the moves that do not prevent the opponent's, \
             are found by table instead of by search.",
        ),
        refinement(
            "distance",
            "Whether a position is cut off where too few plies are left for a win or loss that \
             would matter.",
        ),
        refinement(
            "last_ply",
            "Whether the last ply's moves are evaluated together from tables instead of being \
             made one by one.",
        ),
        ParameterInfo::switch(
            "extension",
            false,
            "Whether a position where the search ends is lost, instead of evaluated, if the side \
             to move there can win at once: for wins, one ply more.",
        )
        .promises(Promise::DepthExtending)
        .added_later(),
        ParameterInfo::integer(
            "exact_plies",
            0..=1_000,
            0,
            "How many plies the game may still last at most (in Pentago: empty cells) for a move \
             to be chosen by the exact solver, as far as the limits allow; 0 for never.",
        )
        .promises(Promise::DepthExtending)
        .added_later(),
        ParameterInfo::switch(
            "table_deeper",
            false,
            "Whether the transposition table also answers with what a search deeper than asked for \
             has found.",
        )
        .only_with("table", ParameterDefault::Bool(true))
        .promises(Promise::DepthExtending)
        .unless_history_matters()
        .added_later(),
        refinement(
            "captures",
            "Whether tactical moves (in chess: captures and promotions) are tried first, by what they \
             take and with what, but those that lose material in the exchange last.",
        ),
        ParameterInfo::switch(
            "quiescence",
            false,
            "Whether, where the search ends, tactical moves are searched on until the position is \
             quiet, and every move where the side to move is in check.",
        )
        .promises(Promise::DepthExtending)
        .unless_history_matters()
        .added_later(),
        ParameterInfo::integer(
            "quiescence_plies",
            1..=100,
            QUIESCENCE_PLIES as i64,
            "Maximum plies of the quiescence search.",
        )
        .only_with("quiescence", ParameterDefault::Bool(true))
        .promises(Promise::DepthExtending)
        .unless_history_matters()
        .added_later(),
        ParameterInfo::switch(
            "exchange",
            false,
            "Whether it leaves out tactical moves that lose material in the exchange.",
        )
        .only_with("quiescence", ParameterDefault::Bool(true))
        .promises(Promise::DepthExtending)
        .unless_history_matters()
        .added_later(),
        ParameterInfo::switch(
            "check_extension",
            false,
            "Whether moves that give check are searched one ply deeper, until a line is twice as long \
             as the depth.",
        )
        .promises(Promise::DepthExtending)
        .added_later(),
        ParameterInfo::switch(
            "null_move",
            false,
            "Whether a position is cut off that is too good even if the side to move passes, as a \
             search that is less deep finds.",
        )
        .promises(Promise::Heuristic)
        .added_later(),
        ParameterInfo::integer(
            "null_reduction",
            1..=4,
            NULL_REDUCTION as i64,
            "By how many plies that search is less deep, beside the one that the pass takes.",
        )
        .only_with("null_move", ParameterDefault::Bool(true))
        .promises(Promise::Heuristic)
        .added_later(),
        ParameterInfo::switch(
            "reductions",
            false,
            "Late move reductions: whether moves late in the order are searched less deep at first, \
             and as deep as the others only if they turn out to be better.",
        )
        .promises(Promise::Heuristic)
        .added_later(),
        ParameterInfo::switch(
            "repetition",
            false,
            "Whether a position that comes again on the line that is searched is a draw the first \
             time, where the rules wait for it to come more often.",
        )
        .promises(Promise::Heuristic)
        .added_later(),
        refinement(
            "history_malus",
            "Whether the history of a move also falls, where another refutes a position after it, \
             and changes the less the farther it is from that of an unknown move.",
        )
        .only_with("history", ParameterDefault::Bool(true)),
        refinement(
            "countermoves",
            "Whether the last quiet move that refuted the opponent's last move elsewhere is tried \
             before other quiet moves, behind killers.",
        ),
        ParameterInfo::switch(
            "null_adaptive",
            false,
            "Whether the search after a pass is less deep by another fourth of the depth.",
        )
        .only_with("null_move", ParameterDefault::Bool(true))
        .promises(Promise::Heuristic)
        .added_later(),
        ParameterInfo::switch(
            "log_reductions",
            false,
            "Whether reductions grow with the logarithms of the depth and of the move's place in the \
             order, and with `history_malus` by its history, from the third move on.",
        )
        .only_with("reductions", ParameterDefault::Bool(true))
        .promises(Promise::Heuristic)
        .added_later(),
        ParameterInfo::switch(
            "internal_reduction",
            false,
            "Internal iterative reduction: whether a position of which the table knows no move is \
             searched one ply less deep, where four or more are left.",
        )
        .only_with("table", ParameterDefault::Bool(true))
        .promises(Promise::Heuristic)
        .added_later(),
        ParameterInfo::switch(
            "late_move_pruning",
            false,
            "Whether quiet moves late in the order are left out where at most four plies are left: \
             those behind the third and the square of that number.",
        )
        .promises(Promise::Heuristic)
        .added_later(),
        margin(
            "futility",
            "Points for each of the plies that are left, at most four, by which the static value may \
             be below what is asked for before quiet moves are left out; 0 for never.",
        ),
        margin(
            "reverse_futility",
            "Points for each of the plies that are left, at most six, by which the static value must \
             exceed what is asked for to be taken for the value; 0 for never.",
        ),
        margin(
            "delta",
            "Points by which the static value and what a tactical move gains in the exchange may be \
             below what is asked for before quiescence leaves the move out; 0 for never.",
        )
        .only_with("quiescence", ParameterDefault::Bool(true)),
        ParameterInfo::switch(
            "exchange_pruning",
            false,
            "Whether tactical moves that lose more than a pawn for each of the plies that are left, at \
             most four, are left out.",
        )
        .promises(Promise::Heuristic)
        .added_later(),
    ],
    presets: &[
        Preset { name: "plain", values: &[] },
        Preset {
            name: "full",
            values: &[
                ("iterative", ParameterDefault::Bool(true)),
                ("pvs", ParameterDefault::Bool(true)),
                ("aspiration", ParameterDefault::Integer(50)),
                ("table", ParameterDefault::Bool(true)),
                ("table_symmetry", ParameterDefault::Bool(true)),
                ("history", ParameterDefault::Bool(true)),
                ("combined", ParameterDefault::Bool(true)),
                ("distinct", ParameterDefault::Bool(true)),
                ("threats", ParameterDefault::Bool(true)),
                ("distance", ParameterDefault::Bool(true)),
                ("last_ply", ParameterDefault::Bool(true)),
                ("extension", ParameterDefault::Bool(true)),
                ("exact_plies", ParameterDefault::Integer(12)),
            ],
        },
        Preset {
            name: "chess",
            values: &[
                ("iterative", ParameterDefault::Bool(true)),
                ("pvs", ParameterDefault::Bool(true)),
                ("aspiration", ParameterDefault::Integer(50)),
                ("table", ParameterDefault::Bool(true)),
                ("table_deeper", ParameterDefault::Bool(true)),
                ("killers", ParameterDefault::Bool(true)),
                ("history", ParameterDefault::Bool(true)),
                ("captures", ParameterDefault::Bool(true)),
                ("quiescence", ParameterDefault::Bool(true)),
                ("exchange", ParameterDefault::Bool(true)),
                ("check_extension", ParameterDefault::Bool(true)),
                ("null_move", ParameterDefault::Bool(true)),
                ("reductions", ParameterDefault::Bool(true)),
                ("repetition", ParameterDefault::Bool(true)),
            ],
        },
        Preset {
            name: "selective",
            values: &[
                ("iterative", ParameterDefault::Bool(true)),
                ("pvs", ParameterDefault::Bool(true)),
                ("aspiration", ParameterDefault::Integer(50)),
                ("table", ParameterDefault::Bool(true)),
                ("table_deeper", ParameterDefault::Bool(true)),
                ("killers", ParameterDefault::Bool(true)),
                ("history", ParameterDefault::Bool(true)),
                ("captures", ParameterDefault::Bool(true)),
                ("quiescence", ParameterDefault::Bool(true)),
                ("exchange", ParameterDefault::Bool(true)),
                ("check_extension", ParameterDefault::Bool(true)),
                ("null_move", ParameterDefault::Bool(true)),
                ("reductions", ParameterDefault::Bool(true)),
                ("repetition", ParameterDefault::Bool(true)),
                ("history_malus", ParameterDefault::Bool(true)),
                ("countermoves", ParameterDefault::Bool(true)),
                ("null_adaptive", ParameterDefault::Bool(true)),
                ("log_reductions", ParameterDefault::Bool(true)),
                ("internal_reduction", ParameterDefault::Bool(true)),
                ("late_move_pruning", ParameterDefault::Bool(true)),
                ("futility", ParameterDefault::Integer(100)),
                ("reverse_futility", ParameterDefault::Integer(90)),
                ("delta", ParameterDefault::Integer(100)),
                ("exchange_pruning", ParameterDefault::Bool(true)),
            ],
        },
    ],
    bounded_by: &["depth", "nodes", "evaluations", "move_time", "clock"],
};

/// A value-preserving switch, off by default.
const fn refinement(name: &'static str, meaning: &'static str) -> ParameterInfo {
    ParameterInfo::switch(name, false, meaning).promises(Promise::ValuePreserving).added_later()
}

/// A margin of the static value, 0 by default: heuristic.
const fn margin(name: &'static str, meaning: &'static str) -> ParameterInfo {
    ParameterInfo::integer(name, 0..=MARGIN_MAX, 0, meaning)
        .promises(Promise::Heuristic)
        .added_later()
}

/// The greatest number of plies from the end at which the solver needs little memory, and that
/// amount.
const EXACT_PLIES_CHEAP: u64 = 13;
const EXACT_CHEAP_BYTES: u64 = 8 << 20;

/// The most memory in bytes that a search with these parameters reserves.
pub(super) fn memory_bytes(parameters: &Parameters) -> u64 {
    let has_table = parameters.get("table") == Some(&Value::Bool(true));
    // The canonical map omits the default.
    let mebibytes = match count_of(parameters, "table_mib") {
        0 => TABLE_MIB,
        mebibytes => mebibytes,
    };
    let table = if has_table { mebibytes << 20 } else { 0 };
    let solver = match count_of(parameters, "exact_plies") {
        0 => 0,
        plies if plies <= EXACT_PLIES_CHEAP => EXACT_CHEAP_BYTES,
        _ => SOLVER_BYTES_MAX,
    };
    table + solver
}

/// Alpha-beta's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Plies to search, at least 1; `None`: until another limit ends it.
    pub depth: Option<u32>,
    /// Whether it deepens ply by ply.
    pub iterative: bool,
    /// Whether moves are ordered by static evaluation.
    pub order: bool,
    /// Whether root moves are tried in random order.
    pub shuffle: bool,
    /// Whether one of the best root moves is drawn, rather than the first played.
    pub draw_ties: bool,
    /// Whether moves after the first are searched with a null window first.
    pub pvs: bool,
    /// Half the width of an iteration's first window; 0: the whole range.
    pub aspiration: u32,
    /// The size of the transposition table in MiB; `None` for no table.
    pub table_mib: Option<u32>,
    /// Whether positions equal up to symmetry share an entry of the table.
    pub table_symmetry: bool,
    /// Whether killer moves are tried first.
    pub killers: bool,
    /// Whether moves are ordered by the history heuristic.
    pub history: bool,
    /// Whether each level has its own order.
    pub combined: bool,
    /// Whether only one of several moves with equal results is tried.
    pub distinct: bool,
    /// Whether immediate wins and forced blocks come from tables.
    pub threats: bool,
    /// Whether it cuts off if no relevant win or loss is near enough.
    pub distance: bool,
    /// Whether the last ply is evaluated from tables.
    pub last_ply: bool,
    /// Whether wins one ply beyond the depth are seen.
    pub extension: bool,
    /// The number of remaining plies from which the exact solver chooses; 0 for never.
    pub exact_plies: u32,
    /// Whether the table also uses results of deeper searches.
    pub table_deeper: bool,
    /// Whether tactical moves are ordered separately.
    pub captures: bool,
    /// The most plies of quiescence search beyond the horizon; 0 for none.
    pub quiescence_plies: u32,
    /// Whether it omits those that lose material in the exchange.
    pub exchange: bool,
    /// Whether moves that give check are searched deeper.
    pub check_extension: bool,
    /// The reduction in plies of a search after a pass; 0 for no pass.
    pub null_reduction: u32,
    /// Whether late moves are searched to a reduced depth.
    pub reductions: bool,
    /// Whether a repeated position is a draw.
    pub repetition: bool,
    /// Whether history also falls.
    pub history_malus: bool,
    /// Whether refutations of the opponent's last move come first.
    pub countermoves: bool,
    /// Whether the reduction after a pass grows with the depth.
    pub null_adaptive: bool,
    /// Whether reductions grow with logarithms.
    pub log_reductions: bool,
    /// Whether positions without a known move are searched to a reduced depth.
    pub internal_reduction: bool,
    /// Whether late quiet moves are left out.
    pub late_move_pruning: bool,
    /// The margin a ply of futility pruning; 0 for none.
    pub futility: u32,
    /// The margin a ply of reverse futility pruning; 0 for none.
    pub reverse_futility: u32,
    /// The margin of delta pruning; 0 for none.
    pub delta: u32,
    /// Whether losing tactical moves are left out.
    pub exchange_pruning: bool,
}

/// Whether ties are drawn.
pub(super) fn draws_ties(settings: &Settings) -> bool {
    settings.word("ties") == RANDOM
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let small = |name: &str| u32::try_from(settings.integer(name)).unwrap_or(u32::MAX);
        let (iterative, table) = (settings.switch("iterative"), settings.switch("table"));
        let quiescence = settings.switch("quiescence");
        let null_move = settings.switch("null_move");
        let (history, reductions) = (settings.switch("history"), settings.switch("reductions"));
        Self {
            depth: Limits::from_settings(settings).depth,
            iterative,
            order: settings.switch("order"),
            shuffle: settings.switch("shuffle"),
            draw_ties: draws_ties(settings),
            pvs: settings.switch("pvs"),
            aspiration: if iterative { small("aspiration") } else { 0 },
            table_mib: table.then(|| small("table_mib")),
            table_symmetry: table && settings.switch("table_symmetry"),
            killers: settings.switch("killers"),
            history,
            combined: settings.switch("combined"),
            distinct: settings.switch("distinct"),
            threats: settings.switch("threats"),
            distance: settings.switch("distance"),
            last_ply: settings.switch("last_ply"),
            extension: settings.switch("extension"),
            exact_plies: small("exact_plies"),
            table_deeper: table && settings.switch("table_deeper"),
            captures: settings.switch("captures"),
            quiescence_plies: if quiescence { small("quiescence_plies") } else { 0 },
            exchange: quiescence && settings.switch("exchange"),
            check_extension: settings.switch("check_extension"),
            null_reduction: if null_move { small("null_reduction") } else { 0 },
            reductions,
            repetition: settings.switch("repetition"),
            history_malus: history && settings.switch("history_malus"),
            countermoves: settings.switch("countermoves"),
            null_adaptive: null_move && settings.switch("null_adaptive"),
            log_reductions: reductions && settings.switch("log_reductions"),
            internal_reduction: table && settings.switch("internal_reduction"),
            late_move_pruning: settings.switch("late_move_pruning"),
            futility: small("futility"),
            reverse_futility: small("reverse_futility"),
            delta: if quiescence { small("delta") } else { 0 },
            exchange_pruning: settings.switch("exchange_pruning"),
        }
    }
}
