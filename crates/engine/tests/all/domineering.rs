//! Domineering (Andersson 1974), which no catalogue has here: a game on boards of several sizes whose sides differ by
//! where they play. It goes through the tests that every game must pass.

use std::fmt;

use spelrum_engine::evaluation::{GameEvaluation, NoEvaluation};
use spelrum_engine::search::Evaluate;
use spelrum_engine::{
    Ending, EvaluationInfo, Game, KeyProblem, Knowledge, ParameterInfo, PlainSolver, Position,
    Problem, Rules, Settings, Side, SideExchange, SideName, Sketch, Solvable, Termination,
    TerminationInfo, evaluations,
};

use crate::common::sample_rules;
use crate::conformance::conformance;

/// The longest side of a board; cells are numbered as on a board of this size, so that a move has one code on all.
const SIDE_MAX: u32 = 7;

const BLOCKED: Termination =
    Termination::new(&TerminationInfo { name: "blocked", words: "no domino can be placed" });

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Size {
    rows: u32,
    columns: u32,
}

/// One side places dominoes upright, the other lengthwise; who cannot place one loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Domineering {
    covered: u64,
    size: Size,
    to_move: Side,
}

/// A domino by the cell of its upper or left half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Domino {
    cell: u32,
    is_upright: bool,
}

impl Domino {
    fn bits(self) -> u64 {
        (1 | 1 << if self.is_upright { SIDE_MAX } else { 1 }) << self.cell
    }
}

impl fmt::Display for Domino {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = char::from(b'a' + (self.cell % SIDE_MAX) as u8);
        let direction = if self.is_upright { 'v' } else { 'h' };
        write!(f, "{column}{}{direction}", self.cell / SIDE_MAX + 1)
    }
}

/// Which of the board's sides are exchanged. It has the size, which a move's code lacks.
#[derive(Clone, Copy, Debug, Default)]
struct Turned {
    size: Option<Size>,
    top_to_bottom: bool,
    left_to_right: bool,
}

impl Turned {
    fn oriented(self, code: u16) -> u16 {
        let Some(size) = self.size else { return code };
        let (cell, is_upright) = (u32::from(code) / 2, code % 2 == 1);
        let [mut row, mut column] = [cell / SIDE_MAX, cell % SIDE_MAX];
        if self.top_to_bottom {
            row = size.rows - 1 - row - u32::from(is_upright);
        }
        if self.left_to_right {
            column = size.columns - 1 - column - u32::from(!is_upright);
        }
        (2 * (row * SIDE_MAX + column) + u32::from(is_upright)) as u16
    }
}

impl Domineering {
    fn cells(self) -> impl Iterator<Item = u32> {
        let Size { rows, columns } = self.size;
        (0..rows).flat_map(move |row| (0..columns).map(move |column| row * SIDE_MAX + column))
    }

    fn is_covered(self, cell: u32) -> bool {
        self.covered >> cell & 1 == 1
    }

    fn dominoes(self, side: Side) -> impl Iterator<Item = Domino> {
        let is_upright = side == Side::First;
        let cells = self.cells().map(move |cell| Domino { cell, is_upright });
        cells.filter(move |domino| {
            let Size { rows, columns } = self.size;
            let [row, column] = [domino.cell / SIDE_MAX, domino.cell % SIDE_MAX];
            let fits = if is_upright { row + 1 < rows } else { column + 1 < columns };
            fits && self.covered & domino.bits() == 0
        })
    }

    fn mapped(self, cell_of: impl Fn(u32, u32) -> u32) -> u64 {
        let covered = self.cells().filter(|&cell| self.is_covered(cell));
        covered.fold(0, |bits, cell| bits | 1 << cell_of(cell / SIDE_MAX, cell % SIDE_MAX))
    }

    /// The board on its other side: upright dominoes lie then.
    fn transposed(self) -> Self {
        let covered = self.mapped(|row, column| column * SIDE_MAX + row);
        Self { covered, to_move: self.to_move.other(), ..self }
    }
}

impl fmt::Display for Domineering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for cell in self.cells() {
            if cell > 0 && cell % SIDE_MAX == 0 {
                f.write_str("/")?;
            }
            f.write_str(if self.is_covered(cell) { "#" } else { "." })?;
        }
        write!(f, "/{}", Self::SIDES[self.to_move.index()].letter)
    }
}

impl Position for Domineering {
    type Move = Domino;

    const SIDES: [SideName; 2] =
        [SideName { word: "vertical", letter: 'v' }, SideName { word: "horizontal", letter: 'h' }];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        self.to_move
    }

    fn ending(&self) -> Option<Ending> {
        let winner = Some(self.to_move.other());
        let is_blocked = self.dominoes(self.to_move).next().is_none();
        is_blocked.then_some(Ending { winner, termination: BLOCKED })
    }

    fn legal_moves(&self, moves: &mut Vec<Domino>) {
        moves.extend(self.dominoes(self.to_move));
    }

    fn legal_move_count(&self) -> u32 {
        self.dominoes(self.to_move).count() as u32
    }

    fn nth_legal_move(&self, index: u32) -> Domino {
        self.dominoes(self.to_move).nth(index as usize).unwrap()
    }

    fn is_legal(&self, mv: Domino) -> bool {
        self.dominoes(self.to_move).any(|domino| domino == mv)
    }

    fn play_unchecked(&mut self, mv: Domino) {
        self.covered |= mv.bits();
        self.to_move = self.to_move.other();
    }

    fn canonical_key(&self) -> u64 {
        self.reduced_key().0
    }

    fn board(&self) -> String {
        let text = self.to_string();
        let rows: Vec<&str> = text.split('/').collect();
        format!("{}\n{}", rows[..rows.len() - 1].join("\n"), self.status())
    }

    fn parse_move(&self, text: &str) -> Result<Domino, Problem> {
        let error = || Problem::new(format!("`{text}` is not a domino"), "write a cell and v or h");
        let &[column, row, direction] = text.as_bytes() else { return Err(error()) };
        let side = SIDE_MAX as u8;
        if !(b'a'..b'a' + side).contains(&column)
            || !(b'1'..b'1' + side).contains(&row)
            || !matches!(direction, b'v' | b'h')
        {
            return Err(error());
        }
        let cell = u32::from(row - b'1') * SIDE_MAX + u32::from(column - b'a');
        Ok(Domino { cell, is_upright: direction == b'v' })
    }
}

impl Knowledge for Domineering {
    const MOVE_CODES: usize = 2 * (SIDE_MAX * SIDE_MAX) as usize;

    type Orientation = Turned;

    fn move_code(mv: Domino) -> u16 {
        (2 * mv.cell + u32::from(mv.is_upright)) as u16
    }

    fn table_key(&self) -> u64 {
        self.covered << 1 | self.to_move.index() as u64
    }

    fn reduced_key(&self) -> (u64, Turned) {
        let Size { rows, columns } = self.size;
        let turns = [(false, false), (false, true), (true, false), (true, true)];
        let keys = turns.map(|(top_to_bottom, left_to_right)| {
            let covered = self.mapped(|row, column| {
                let row = if top_to_bottom { rows - 1 - row } else { row };
                let column = if left_to_right { columns - 1 - column } else { column };
                row * SIDE_MAX + column
            });
            let turned = Turned { size: Some(self.size), top_to_bottom, left_to_right };
            (covered << 1 | self.to_move.index() as u64, turned)
        });
        keys.into_iter().min_by_key(|(key, _)| *key).unwrap()
    }

    fn oriented(code: u16, turned: Turned) -> u16 {
        turned.oriented(code)
    }

    fn restored(code: u16, turned: Turned) -> u16 {
        turned.oriented(code)
    }

    fn plies_left(&self) -> u32 {
        (self.size.rows * self.size.columns - self.covered.count_ones()) / 2
    }
}

impl Solvable for Domineering {
    type Solver = PlainSolver;
}

/// The dominoes that the side to move could place, less the other side's.
#[derive(Clone, Copy, Debug)]
struct Room;

impl Evaluate<Domineering> for Room {
    fn evaluate(&self, position: &Domineering) -> i32 {
        let [own, other] = [position.to_move, position.to_move.other()]
            .map(|side| position.dominoes(side).count() as i32);
        own - other
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

impl GameEvaluation<Domineering> for Room {
    const INFO: EvaluationInfo =
        EvaluationInfo { name: "room", meaning: "Room for dominoes.", parameters: &[] };

    fn from_settings(
        _settings: &Settings,
        _contents: &dyn spelrum_engine::evaluation::Contents,
    ) -> Result<Self, KeyProblem> {
        Ok(Self)
    }
}

impl Game for Domineering {
    const NAME: &'static str = "domineering";
    const MEANING: &'static str =
        "Dominoes on a board, upright by the one side, lengthwise by the other.";
    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("rows", 2..=SIDE_MAX as i64, 5, "Rows of the board."),
        ParameterInfo::integer("columns", 2..=SIDE_MAX as i64, 5, "Columns of the board."),
    ];
    const SAMPLE_RULES: &'static [&'static str] = &[
        r#"{"rows": 4, "columns": 4}"#,
        r#"{"rows": 3, "columns": 6}"#,
        r#"{"rows": 7, "columns": 7}"#,
    ];
    const TERMINATIONS: &'static [Termination] = &[BLOCKED];
    const LEAF_KINDS: &'static [&'static str] = &["blocked"];

    evaluations!(Room, NoEvaluation);

    fn from_rules(rules: &Rules) -> Self {
        let [rows, columns] = ["rows", "columns"].map(|name| rules.integer(name) as u32);
        Self { covered: 0, size: Size { rows, columns }, to_move: Side::First }
    }

    fn side_exchange(rules: &Rules) -> SideExchange<Self> {
        if rules.integer("rows") == rules.integer("columns") {
            SideExchange::By(|position| Some(position.transposed()))
        } else {
            SideExchange::Impossible
        }
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        let error = || Problem::new(format!("`{text}` is not a board"), "write rows and v or h");
        let (board, to_move) = match text.split_at_checked(text.len().saturating_sub(2)) {
            Some((board, "/v")) => (board, Side::First),
            Some((board, "/h")) => (board, Side::Second),
            Some(_) | None => return Err(error()),
        };
        let rows: Vec<&str> = board.split('/').collect();
        let is_row = |row: &&str| {
            row.len() == start.size.columns as usize
                && row.bytes().all(|c| matches!(c, b'.' | b'#'))
        };
        if rows.len() != start.size.rows as usize || !rows.iter().all(is_row) {
            return Err(error());
        }
        let cells = start.cells().zip(rows.iter().flat_map(|row| row.bytes()));
        let covered = cells.fold(0, |bits, (cell, c)| bits | u64::from(c == b'#') << cell);
        if covered.count_ones() % 2 == 1 {
            return Err(error());
        }
        Ok(Self { covered, to_move, ..start })
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        0
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a cell and v or h.".to_owned()
    }

    fn sketch(&self) -> Sketch {
        let cells = self.cells().map(|cell| self.is_covered(cell).then_some('#')).collect();
        Sketch::Pieces { columns: self.size.columns as usize, cells }
    }
}

#[test]
fn a_game_with_sizes_and_sides_that_play_differently_conforms() {
    conformance::<Domineering>(&Rules::usual::<Domineering>());
    sample_rules::<Domineering>().for_each(|rules| conformance::<Domineering>(&rules));
}

/// Who wins on the smallest squares, both beginning (Breuker, Uiterwijk & van den Herik 2000, "Solving 8×8
/// Domineering").
#[test]
fn small_boards_are_won_by_who_is_known_to_win() {
    use crate::common::brute_force::ExactScores;
    for (rows, columns, by_the_first) in [(2, 2, true), (3, 3, true), (4, 4, true), (5, 5, false)] {
        let size = Size { rows, columns };
        let start = Domineering { covered: 0, size, to_move: Side::First };
        let score = ExactScores::default().score(&start, 1_000_000).unwrap();
        assert_eq!(score > 0, by_the_first, "{rows}×{columns}");
    }
}
