//! Features of games, against counts on their boards as text.

use spelrum_engine::evaluation::Features;
use spelrum_engine::games::{Chess, ConnectFour, Pentago, TicTacToe};
use spelrum_engine::{Game, Random, Rules, Side};

use crate::common::{key, random_position};

/// A board as text, the upper left cell first.
struct Grid {
    cells: Vec<char>,
    width: i32,
    height: i32,
}

const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];

impl Grid {
    fn at(&self, row: i32, column: i32) -> Option<char> {
        let is_inside = (0..self.height).contains(&row) && (0..self.width).contains(&column);
        is_inside.then(|| self.cells[(row * self.width + column) as usize])
    }

    fn places(&self) -> impl Iterator<Item = (i32, i32)> + use<> {
        let (width, height) = (self.width, self.height);
        (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)))
    }

    fn count(&self, letter: char) -> usize {
        self.cells.iter().filter(|&&cell| cell == letter).count()
    }

    /// The cells of every line of so many.
    fn lines(&self, length: i32) -> Vec<Vec<(i32, i32)>> {
        let line = |(row, column), (down, right)| -> Vec<_> {
            (0..length).map(|step| (row + down * step, column + right * step)).collect()
        };
        let lines = self.places().flat_map(|place| DIRECTIONS.map(|way| line(place, way)));
        lines.filter(|line| line.iter().all(|&(r, c)| self.at(r, c).is_some())).collect()
    }

    /// Lines with so many of one letter and none of another.
    fn lines_with(&self, length: i32, number: Option<usize>, own: char, other: char) -> usize {
        let count = |line: &[(i32, i32)], letter| {
            line.iter().filter(|&&(r, c)| self.at(r, c) == Some(letter)).count()
        };
        let is_it = |line: &&Vec<(i32, i32)>| {
            count(line, other) == 0 && number.is_none_or(|number| count(line, own) == number)
        };
        self.lines(length).iter().filter(is_it).count()
    }

    /// Free cells that complete a line.
    fn completing(&self, length: i32, own: char) -> usize {
        let lines = self.lines(length);
        let completes = |place: &(i32, i32)| {
            let is_own = |&(r, c): &(i32, i32)| (r, c) == *place || self.at(r, c) == Some(own);
            let is_free = self.at(place.0, place.1) == Some('.');
            is_free && lines.iter().any(|line| line.contains(place) && line.iter().all(is_own))
        };
        self.places().filter(completes).count()
    }

    /// Runs of exactly so many.
    fn runs(&self, length: i32, own: char) -> usize {
        let is_own = |row, column| self.at(row, column) == Some(own);
        let mut runs = 0;
        for (row, column) in self.places() {
            for (down, right) in DIRECTIONS {
                let cell = |step: i32| is_own(row + down * step, column + right * step);
                let is_whole = (0..length).all(cell) && !cell(-1) && !cell(length);
                runs += usize::from(is_whole);
            }
        }
        runs
    }

    fn count_at(&self, places: &[(i32, i32)], own: char) -> usize {
        places.iter().filter(|&&(r, c)| self.at(r, c) == Some(own)).count()
    }
}

/// What a feature is that is written without `own_` and `opp_`.
type Count = fn(&Grid, &str, char, char) -> usize;

fn pentago(grid: &Grid, name: &str, own: char, other: char) -> usize {
    match name {
        "marbles" => grid.count(own),
        "run3" => grid.runs(3, own),
        "run4" => grid.runs(4, own),
        "centres" => grid.count_at(&[(1, 1), (1, 4), (4, 1), (4, 4)], own),
        "fives" => grid.completing(5, own),
        line => grid.lines_with(5, line.strip_prefix("line").unwrap().parse().ok(), own, other),
    }
}

fn connect_four(grid: &Grid, name: &str, own: char, other: char) -> usize {
    match name {
        "discs" => grid.count(own),
        "fours" => grid.completing(4, own),
        "middle" => grid.count_at(&[0, 1, 2, 3, 4, 5].map(|row| (row, 3)), own),
        line => grid.lines_with(4, line.strip_prefix("line").unwrap().parse().ok(), own, other),
    }
}

fn tic_tac_toe(grid: &Grid, name: &str, own: char, other: char) -> usize {
    match name {
        "marks" => grid.count(own),
        "open_lines" => grid.lines_with(3, None, own, other),
        "centre" => grid.count_at(&[(1, 1)], own),
        "corners" => grid.count_at(&[(0, 0), (0, 2), (2, 0), (2, 2)], own),
        line => grid.lines_with(3, line.strip_prefix("line").unwrap().parse().ok(), own, other),
    }
}

fn check<G: Game + Features>(rules: &Rules, width: i32, plies_max: u32, count: Count) {
    for seed in 0..150 {
        let mut random = Random::from_key(key(seed));
        let plies = random.below(plies_max);
        let position: G = random_position(rules, plies, &mut random);
        let [first, second] = G::SIDES.map(|side| side.letter);
        let is_cell = |c: &char| [first, second, '.'].contains(c);
        let text = position.to_string();
        let cells: Vec<char> = text.chars().filter(is_cell).collect();
        let height = cells.len() as i32 / width;
        let grid = Grid { cells, width, height };
        for side in [Side::First, Side::Second] {
            let (own, other) = if side == Side::First { (first, second) } else { (second, first) };
            for (index, info) in G::FEATURES.iter().enumerate() {
                let mut value = [f64::NAN];
                position.features(side, &[index as u16], &mut value);
                let expected = match info.name.split_once('_') {
                    Some(("own", name)) => count(&grid, name, own, other),
                    Some(("opp", name)) => count(&grid, name, other, own),
                    _ => grid.count('.'),
                };
                assert_eq!(value[0], expected as f64, "{} of {text} for {side:?}", info.name);
            }
        }
    }
}

#[test]
fn boards_are_counted() {
    check::<Pentago>(&Pentago::rules(true), 6, 36, pentago);
    check::<ConnectFour>(&ConnectFour::rules(), 7, 42, connect_four);
    check::<TicTacToe>(&TicTacToe::rules(), 3, 9, tic_tac_toe);
}

#[test]
fn chess_is_counted() {
    let rules = Rules::usual::<Chess>();
    for seed in 0..100 {
        let mut random = Random::from_key(key(seed));
        let plies = random.below(80);
        let position: Chess = random_position(&rules, plies, &mut random);
        let fen = position.to_string();
        let mut cells = Vec::new();
        for letter in fen.split(' ').next().unwrap().chars().filter(|c| *c != '/') {
            match letter.to_digit(10) {
                Some(free) => cells.extend(vec!['.'; free as usize]),
                None => cells.push(letter),
            }
        }
        let grid = Grid { cells, width: 8, height: 8 };
        for side in [Side::First, Side::Second] {
            for (index, info) in Chess::FEATURES.iter().enumerate() {
                let mut value = [f64::NAN];
                position.features(side, &[index as u16], &mut value);
                let (whose, name) = info.name.split_once('_').unwrap();
                let is_white = (side == Side::First) == (whose == "own");
                let expected = of_chess(&grid, name, is_white);
                assert_eq!(value[0], expected as f64, "{} of {fen} for {side:?}", info.name);
            }
        }
    }
}

fn of_chess(grid: &Grid, name: &str, is_white: bool) -> usize {
    let is_own = |letter: char| letter.is_alphabetic() && letter.is_uppercase() == is_white;
    let pieces = || {
        grid.places().filter_map(|(row, column)| {
            let letter = grid.at(row, column).filter(|&letter| is_own(letter))?;
            Some((letter.to_ascii_lowercase(), row, column))
        })
    };
    let number = |wanted: char| pieces().filter(|(letter, ..)| *letter == wanted).count();
    match name {
        "pawns" => number('p'),
        "knights" => number('n'),
        "bishops" => number('b'),
        "rooks" => number('r'),
        "queens" => number('q'),
        "advance" => {
            let advanced = |row: i32| if is_white { 6 - row } else { row - 1 };
            let pawns = pieces().filter(|(letter, ..)| *letter == 'p');
            pawns.map(|(_, row, _)| advanced(row) as usize).sum()
        }
        "shelter" => {
            let (_, row, column) = pieces().find(|(letter, ..)| *letter == 'k').unwrap();
            let is_beside = |r: i32, c: i32| (r - row).abs().max((c - column).abs()) == 1;
            pieces().filter(|&(_, r, c)| is_beside(r, c)).count()
        }
        "mobility" => {
            let (straight, diagonal) = ([(0, 1), (1, 0)], [(1, 1), (1, -1)]);
            let leaps = [(1, 2), (2, 1), (-1, 2), (-2, 1)];
            let mobility = |(letter, row, column): (char, i32, i32)| {
                let (ways, reach) = match letter {
                    'n' => (leaps.to_vec(), 1),
                    'b' => (diagonal.to_vec(), 7),
                    'r' => (straight.to_vec(), 7),
                    'q' => ([straight, diagonal].concat(), 7),
                    _ => return 0,
                };
                let mut attacked = 0;
                for (down, right) in ways.into_iter().flat_map(|(d, r)| [(d, r), (-d, -r)]) {
                    for step in 1..=reach {
                        let Some(at) = grid.at(row + down * step, column + right * step) else {
                            break;
                        };
                        attacked += usize::from(!is_own(at));
                        if at != '.' {
                            break;
                        }
                    }
                }
                attacked
            };
            pieces().map(mobility).sum()
        }
        other => panic!("{other}"),
    }
}

/// Several at once are each what they are alone, and names are fit for formulas.
#[test]
fn features_are_named_well_and_computed_together() {
    fn check_features<G: Game + Features>() {
        let rules = Rules::usual::<G>();
        let position: G = random_position(&rules, 7, &mut Random::from_key(key(1)));
        let all: Vec<u16> = (0..G::FEATURES.len() as u16).collect();
        let mut values = vec![f64::NAN; all.len()];
        position.features(Side::Second, &all, &mut values);
        for (&feature, together) in all.iter().zip(values) {
            let mut alone = [f64::NAN];
            position.features(Side::Second, &[feature], &mut alone);
            assert_eq!(alone[0], together);
            let name = G::FEATURES[usize::from(feature)].name;
            let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.len() <= 24 && name.chars().all(is_fit), "{name}");
            assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
            assert_eq!(G::FEATURES.iter().filter(|other| other.name == name).count(), 1);
            if let Some(name) = name.strip_prefix("own_") {
                let opponents = format!("opp_{name}");
                let place = G::FEATURES.iter().position(|info| info.name == opponents).unwrap();
                let mut theirs = [f64::NAN];
                position.features(Side::First, &[place as u16], &mut theirs);
                assert_eq!(theirs[0], together);
            }
        }
    }
    check_features::<Pentago>();
    check_features::<ConnectFour>();
    check_features::<TicTacToe>();
    check_features::<Chess>();
}
