"""Small games without rhyme, in plain Python, and what is true and what is proven about them.

Moves, ends, outcomes and whose turn it is are hashes of the path, so turns do not alternate.  The arithmetic
is that of 32 bits: jax can compute the same.
"""

import functools

ACTIONS, DEPTH, MASK = 10, 4, 2**32 - 1


def mixed(x: int) -> int:
    """A hash of 32 bits."""
    x = ((x ^ (x >> 16)) * 0x45D9F3B) & MASK
    x = ((x ^ (x >> 16)) * 0x45D9F3B) & MASK
    return x ^ (x >> 16)


def after(path: int, action: int) -> int:
    return (path * ACTIONS + action + 1) & MASK


def ended(path: int, depth: int) -> bool:
    return depth > 0 and (depth == DEPTH or mixed(path) % 5 == 0)


def player(path: int) -> int:
    return 1 if mixed(path + 1) % 2 == 0 else -1


def outcome(path: int) -> int:
    """Seen by player +1."""
    return mixed(path + 2) % 3 - 1


def legal(path: int) -> list[int]:
    """Three of the moves, or fewer where they coincide."""
    return sorted({mixed(path + 3 + i) % ACTIONS for i in range(3)})


@functools.cache
def minimax(path: int, depth: int) -> int:
    """The true outcome, seen by the player to move."""
    if ended(path, depth):
        return outcome(path) * player(path)
    return max(move_value(path, action, depth) for action in legal(path))


def move_value(path: int, action: int, depth: int) -> int:
    """The true outcome of a move, seen by who makes it."""
    child = after(path, action)
    return minimax(child, depth + 1) * player(child) * player(path)


def bounds(path: int, depth: int, seen: frozenset[int]) -> tuple[int, int]:
    """What is proven to who moves at `path` by a tree that holds the positions `seen`."""
    if ended(path, depth):
        known = minimax(path, depth)
        return known, known
    lower, upper = [], []
    for action in legal(path):
        child = after(path, action)
        low, high = bounds(child, depth + 1, seen) if child in seen else (-1, 1)
        same = player(child) == player(path)
        lower.append(low if same else -high)
        upper.append(high if same else -low)
    return max(lower), max(upper)
