//! Chess as a beginner would program it: a board of letters, every move tried, and checks searched from every
//! piece. It shares only the notation with the engine.

/// A square: file and rank, from 0.
pub(super) type At = (i32, i32);

const STRAIGHT: [At; 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [At; 4] = [(1, 1), (1, -1), (-1, 1), (-1, -1)];
const KNIGHT: [At; 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlowChess {
    /// By rank and file; white's pieces are capitals.
    cells: [[char; 8]; 8],
    pub(super) is_white: bool,
    /// Letters and files of the rooks that may castle: `('K', 7)`.
    rights: Vec<(char, i32)>,
    /// What a pawn has just passed.
    passed: Option<At>,
    clock: u32,
    number: u32,
    is_chess960: bool,
}

fn name((file, rank): At) -> String {
    format!("{}{}", (b'a' + file as u8) as char, rank + 1)
}

pub(super) fn square(text: &str) -> At {
    let bytes = text.as_bytes();
    (i32::from(bytes[0] - b'a'), i32::from(bytes[1] - b'1'))
}

impl SlowChess {
    pub(super) fn from_fen(fen: &str, is_chess960: bool) -> Self {
        let fields: Vec<&str> = fen.split(' ').collect();
        let mut cells = [['.'; 8]; 8];
        for (row, text) in fields[0].split('/').enumerate() {
            let mut file = 0;
            for character in text.chars() {
                match character.to_digit(10) {
                    Some(empty) => file += empty as usize,
                    None => {
                        cells[7 - row][file] = character;
                        file += 1;
                    }
                }
            }
        }
        let mut chess = Self {
            cells,
            is_white: fields[1] == "w",
            rights: Vec::new(),
            passed: Some(fields[3]).filter(|text| *text != "-").map(square),
            clock: fields[4].parse().unwrap(),
            number: fields[5].parse().unwrap(),
            is_chess960,
        };
        for character in fields[2].chars().filter(|c| *c != '-') {
            let is_white = character.is_ascii_uppercase();
            let file = match character.to_ascii_lowercase() {
                'k' => 7,
                'q' => 0,
                letter => i32::from(letter as u8 - b'a'),
            };
            let letter = if file > chess.king(is_white).0 { 'k' } else { 'q' };
            let letter = if is_white { letter.to_ascii_uppercase() } else { letter };
            chess.rights.push((letter, file));
        }
        chess
    }

    pub(super) fn fen(&self) -> String {
        let row = |rank: usize| {
            let mut text: String = self.cells[rank].iter().collect();
            for empty in (1..=8).rev() {
                text = text.replace(&".".repeat(empty), &empty.to_string());
            }
            text
        };
        let rows: Vec<String> = (0..8).rev().map(row).collect();
        let mut rights: Vec<(char, i32)> = self.rights.clone();
        rights.sort_unstable_by_key(|(letter, _)| "KQkq".find(*letter));
        let letter = |&(letter, file): &(char, i32)| match (self.is_chess960, letter) {
            (false, letter) => letter,
            (true, 'K' | 'Q') => (b'A' + file as u8) as char,
            (true, _) => (b'a' + file as u8) as char,
        };
        let rights: String = rights.iter().map(letter).collect();
        let takes = |at: At| {
            self.legal_moves().iter().any(|text| {
                let from = square(text);
                text[2..] == name(at) && self.at(from).eq_ignore_ascii_case(&'p')
            })
        };
        format!(
            "{} {} {} {} {} {}",
            rows.join("/"),
            if self.is_white { 'w' } else { 'b' },
            if rights.is_empty() { "-".to_owned() } else { rights },
            self.passed.filter(|&at| takes(at)).map_or("-".to_owned(), name),
            self.clock,
            self.number
        )
    }

    /// The letter on a square: `.` where it is empty, a space beyond the board.
    pub(super) fn at(&self, (file, rank): At) -> char {
        if (0..8).contains(&file) && (0..8).contains(&rank) {
            self.cells[rank as usize][file as usize]
        } else {
            ' '
        }
    }

    pub(super) fn put(&mut self, (file, rank): At, letter: char) {
        self.cells[rank as usize][file as usize] = letter;
    }

    fn is_of(&self, at: At, is_white: bool) -> bool {
        let letter = self.at(at);
        letter.is_ascii_alphabetic() && letter.is_ascii_uppercase() == is_white
    }

    pub(super) fn pieces(&self, is_white: bool) -> Vec<(At, char)> {
        let squares = (0..8).flat_map(|rank| (0..8).map(move |file| (file, rank)));
        squares
            .filter(|&at| self.is_of(at, is_white))
            .map(|at| (at, self.at(at).to_ascii_lowercase()))
            .collect()
    }

    fn king(&self, is_white: bool) -> At {
        self.pieces(is_white).into_iter().find(|(_, piece)| *piece == 'k').unwrap().0
    }

    /// The squares that a piece attacks, taken by whomever.
    pub(super) fn attacked_by(&self, from: At) -> Vec<At> {
        let letter = self.at(from);
        let up = if letter.is_ascii_uppercase() { 1 } else { -1 };
        let (steps, reach): (Vec<At>, i32) = match letter.to_ascii_lowercase() {
            'p' => (vec![(-1, up), (1, up)], 1),
            'n' => (KNIGHT.to_vec(), 1),
            'b' => (DIAGONAL.to_vec(), 7),
            'r' => (STRAIGHT.to_vec(), 7),
            'q' => ([STRAIGHT, DIAGONAL].concat(), 7),
            'k' => ([STRAIGHT, DIAGONAL].concat(), 1),
            _ => (Vec::new(), 0),
        };
        let mut attacked = Vec::new();
        for (right, up) in steps {
            for distance in 1..=reach {
                let at = (from.0 + right * distance, from.1 + up * distance);
                if self.at(at) == ' ' {
                    break;
                }
                attacked.push(at);
                if self.at(at) != '.' {
                    break;
                }
            }
        }
        attacked
    }

    pub(super) fn is_attacked(&self, at: At, by_white: bool) -> bool {
        self.pieces(by_white).into_iter().any(|(from, _)| self.attacked_by(from).contains(&at))
    }

    pub(super) fn is_check(&self) -> bool {
        self.is_attacked(self.king(self.is_white), !self.is_white)
    }

    /// The legal moves in the engine's notation, in no particular order.
    pub(super) fn legal_moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        for (from, piece) in self.pieces(self.is_white) {
            let mut targets: Vec<At> = match piece {
                'p' => self.pawn_targets(from),
                _ => self.attacked_by(from),
            };
            targets.retain(|&to| !self.is_of(to, self.is_white));
            for to in targets {
                let text = name(from) + &name(to);
                if piece == 'p' && (to.1 == 0 || to.1 == 7) {
                    moves.extend("nbrq".chars().map(|letter| format!("{text}{letter}")));
                } else {
                    moves.push(text);
                }
            }
        }
        moves.extend(self.castling_moves());
        moves.retain(|text| {
            let after = self.play(text);
            !after.is_attacked(after.king(self.is_white), !self.is_white)
        });
        moves
    }

    fn pawn_targets(&self, from: At) -> Vec<At> {
        let (up, first) = if self.is_white { (1, 1) } else { (-1, 6) };
        let mut targets = Vec::new();
        let one = (from.0, from.1 + up);
        if self.at(one) == '.' {
            targets.push(one);
            let two = (from.0, from.1 + 2 * up);
            if from.1 == first && self.at(two) == '.' {
                targets.push(two);
            }
        }
        let takes = |&at: &At| self.is_of(at, !self.is_white) || self.passed == Some(at);
        targets.extend(self.attacked_by(from).into_iter().filter(takes));
        targets
    }

    fn castling_moves(&self) -> Vec<String> {
        let king = self.king(self.is_white);
        let mut moves = Vec::new();
        for &(letter, file) in &self.rights {
            if letter.is_ascii_uppercase() != self.is_white {
                continue;
            }
            let rook = (file, king.1);
            let files = if letter.eq_ignore_ascii_case(&'k') { [6, 5] } else { [2, 3] };
            let [king_to, rook_to] = files.map(|file| (file, king.1));
            let between = |a: At, b: At| (a.0.min(b.0)..=a.0.max(b.0)).map(|file| (file, king.1));
            let is_free = |at: At| at == king || at == rook || self.at(at) == '.';
            let is_open = between(king, king_to).chain(between(rook, rook_to)).all(is_free)
                && between(king, rook).all(is_free);
            let is_safe = between(king, king_to).all(|at| !self.is_attacked(at, !self.is_white));
            if is_open && is_safe {
                moves.push(name(king) + &name(if self.is_chess960 { rook } else { king_to }));
            }
        }
        moves
    }

    /// The rook's file if the move is castling.
    fn castles(&self, from: At, to: At) -> Option<i32> {
        if !self.at(from).eq_ignore_ascii_case(&'k') {
            return None;
        }
        if self.is_chess960 {
            return self.is_of(to, self.is_white).then_some(to.0);
        }
        match to.0 - from.0 {
            2 => Some(7),
            -2 => Some(0),
            _ => None,
        }
    }

    /// The position after a move, legal or not.
    pub(super) fn play(&self, text: &str) -> Self {
        let (from, to) = (square(text), square(&text[2..]));
        let (piece, victim) = (self.at(from), self.at(to));
        let is_pawn = piece.eq_ignore_ascii_case(&'p');
        let mut after = self.clone();
        after.is_white = !self.is_white;
        after.number += u32::from(!self.is_white);
        after.passed = None;
        after.clock += 1;
        if let Some(file) = self.castles(from, to) {
            let files = if file > from.0 { [6, 5] } else { [2, 3] };
            let rook = self.at((file, from.1));
            after.put(from, '.');
            after.put((file, from.1), '.');
            after.put((files[0], from.1), piece);
            after.put((files[1], from.1), rook);
        } else {
            after.put(from, '.');
            after.put(to, piece);
            if is_pawn && self.passed == Some(to) && from.0 != to.0 {
                after.put((to.0, from.1), '.');
            }
            if is_pawn && (to.1 - from.1).abs() == 2 {
                after.passed = Some((from.0, (from.1 + to.1) / 2));
            }
            if let Some(promotion) = text[4..].chars().next() {
                let is_white = self.is_white;
                let letter = if is_white { promotion.to_ascii_uppercase() } else { promotion };
                after.put(to, letter);
            }
            if is_pawn || victim != '.' {
                after.clock = 0;
            }
        }
        after.rights.retain(|&(letter, file)| {
            let is_white = letter.is_ascii_uppercase();
            let home = if is_white { 0 } else { 7 };
            let rook = (file, home);
            let king_moves = piece.eq_ignore_ascii_case(&'k') && is_white == self.is_white;
            !king_moves && from != rook && to != rook
        });
        after
    }

    /// Why the position is over, by itself.
    pub(super) fn ending(&self) -> Option<&'static str> {
        let mut men = [self.pieces(true), self.pieces(false)].concat();
        men.retain(|(_, piece)| *piece != 'k');
        let colour = |&(at, _): &(At, char)| (at.0 + at.1) % 2;
        let are_bishops = men.iter().all(|(_, piece)| *piece == 'b')
            && men.windows(2).all(|pair| colour(&pair[0]) == colour(&pair[1]));
        let is_knight = men.len() == 1 && men[0].1 == 'n';
        if are_bishops || is_knight {
            return Some("insufficient_material");
        }
        if self.legal_moves().is_empty() {
            return Some(if self.is_check() { "checkmate" } else { "stalemate" });
        }
        (self.clock >= 100).then_some("fifty_moves")
    }
}
