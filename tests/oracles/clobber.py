"""Clobber in plain Python, on any set of points: dark (1) begins."""


def start(points):
    """{point: colour}: dark and light in turn, like the squares of a chessboard."""
    return {(row, column): 1 if (row + column) % 2 == 0 else -1 for row, column in points}


def moves(stones, player):
    """All (from, to) of `player`: onto a neighbouring stone of the other side."""
    return sorted(
        ((row, column), end)
        for (row, column), colour in stones.items()
        for end in ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
        if colour == player and stones.get(end) == -player
    )


def play(stones, move):
    """The stones after a move."""
    after = dict(stones)
    after[move[1]] = after.pop(move[0])
    return after


def stones_that_move(stones, player):
    return len({origin for origin, _ in moves(stones, player)})
