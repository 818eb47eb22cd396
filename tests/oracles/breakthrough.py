"""Breakthrough in plain Python: dark (1) goes up and begins, light (-1) goes down."""


def start(rows, columns, deep=None):
    """The opening position: {(row, column): colour}; `deep` rows of stones a side."""
    deep = deep or (2 if rows >= 5 else 1)
    stones = {(row, column): -1 for row in range(deep) for column in range(columns)}
    return stones | {(rows - 1 - row, column): 1 for row in range(deep) for column in range(columns)}


def moves(stones, rows, columns, player):
    """All ((row, column), (row, column)) that `player` may make."""
    found = []
    for (row, column), colour in stones.items():
        if colour != player:
            continue
        for sideways in (-1, 0, 1):
            end = (row - player, column + sideways)
            on_board = 0 <= end[0] < rows and 0 <= end[1] < columns
            if on_board and (end not in stones or (sideways and stones[end] == -player)):
                found.append(((row, column), end))
    return sorted(found)


def play(stones, move):
    """The stones after a move."""
    start, end = move
    after = dict(stones)
    after[end] = after.pop(start)
    return after


def winner(stones, rows):
    """1, -1, or 0 while the game lasts."""
    colours = set(stones.values())
    for player, goal in ((1, 0), (-1, rows - 1)):
        if -player not in colours or any(c == player and row == goal for (row, _), c in stones.items()):
            return player
    return 0


def solve(stones, rows, columns, player, known):
    """The winner with best play; `known` remembers positions."""
    key = (frozenset(stones.items()), player)
    if key not in known:
        value = winner(stones, rows)
        if value == 0:
            # Moves far ahead first: wins are found sooner.
            order = sorted(moves(stones, rows, columns, player), key=lambda move: move[1][0] * player)
            value = -player
            for move in order:
                if solve(play(stones, move), rows, columns, -player, known) == player:
                    value = player
                    break
        known[key] = value
    return known[key]
