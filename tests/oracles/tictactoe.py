"""Tic-tac-toe solved by plain minimax: boards are tuples of nine +1, -1 and 0; +1 moves first."""

import functools

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
Board = tuple[int, ...]
EMPTY: Board = (0,) * 9


def player(board: Board) -> int:
    return 1 if sum(board) == 0 else -1


def moves(board: Board) -> list[int]:
    return [point for point in range(9) if board[point] == 0]


def play(board: Board, point: int) -> Board:
    return (*board[:point], player(board), *board[point + 1 :])


def result(board: Board) -> int | None:
    """+1, 0 or -1 seen by the first player; None while the game lasts."""
    for line in LINES:
        total = sum(board[point] for point in line)
        if abs(total) == 3:
            return total // 3
    return None if 0 in board else 0


@functools.cache
def perfect(board: Board) -> int:
    """The value under perfect play, seen by the player to move."""
    over = result(board)
    if over is not None:
        return over * player(board)
    return max(-perfect(play(board, point)) for point in moves(board))


@functools.cache
def reachable() -> frozenset[Board]:
    """Every position that play can reach, finished ones included."""
    seen, frontier = {EMPTY}, [EMPTY]
    while frontier:
        board = frontier.pop()
        if result(board) is None:
            new = {play(board, point) for point in moves(board)} - seen
            seen |= new
            frontier += new
    return frozenset(seen)
