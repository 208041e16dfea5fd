"""Reads positions and books as python-chess does: cases as JSON lines in, what each says as JSON lines out.

An entry is a FEN, "over" where the game is over there, or "bad" where python-chess complains.
"""

import io
import json
import sys

import chess
import chess.pgn


def fen(board):
    if board.status() != chess.STATUS_VALID:
        return "bad"
    return board.fen(shredder=board.chess960, en_passant="legal")


def entry(board):
    is_dead = board.is_insufficient_material() or board.halfmove_clock >= 100
    is_over = is_dead or not any(board.legal_moves)
    text = fen(board)
    return "over" if is_over and text != "bad" else text


def games(text, plies):
    handle = io.StringIO(text)
    while (game := chess.pgn.read_game(handle)) is not None:
        if game.errors:
            yield "bad"
            continue
        board = game.board()
        moves = list(game.mainline_moves())
        if board.status() != chess.STATUS_VALID or not all(moves):
            yield "bad"
            continue
        for move in moves[:plies]:
            board.push(move)
        yield entry(board)


def read(kind, is_960, text, plies):
    if kind == "pgn":
        try:
            return list(games(text, plies))
        except IndexError:
            # It fails itself where moves follow a bracket too many.
            return ["bad"]
    board = chess.Board(chess960=is_960)
    try:
        if kind == "epd":
            board.set_epd(text)
            return [entry(board)]
        board.set_fen(text)
        return [fen(board)]
    except ValueError:
        return ["bad"]


# What python-chess logs of games that it complains of says nothing more.
chess.pgn.LOGGER.setLevel("CRITICAL")
for line in sys.stdin:
    print(json.dumps(read(*json.loads(line))))
