"""When to pass where passing is a choice: to end a won game, and never into a lost score."""

import numpy as np

from saz_jax.play.thinking import Analysis


def sensible(
    analysis: Analysis, *, board: np.ndarray, legal: np.ndarray, side: int, to_play: int, margin: float,
    ends: bool,
) -> int:  # fmt: skip
    """The action to play instead of the one of the analysis, or that one.

    board: int8[n, n]; legal: bool[V]; side: the padded side; margin: the score as the board stands, seen by
    the player to move; ends: whether a pass ends the game now.

    A won game is ended.  In a lost one dead stones may stand that count as alive until they are captured, so
    the best other move is played as long as there is one that fills no eye of its own.
    """
    skip = len(legal) - 1
    if ends and margin > 0 and legal[skip]:
        return skip
    if analysis.action != skip or margin > 0:
        return analysis.action
    ranked = [candidate.action for candidate in sorted(analysis.candidates, key=lambda c: -c.visits)]
    if analysis.policy is not None:
        ranked += np.argsort(-analysis.policy, kind="stable").tolist()
    ranked += np.flatnonzero(legal).tolist()
    for action in ranked:
        if action != skip and legal[action] and not is_own_eye(board, divmod(action, side), to_play):
            return action
    return skip


def is_own_eye(board: np.ndarray, point: tuple[int, int], colour: int) -> bool:
    """Whether all neighbours of a point are stones of `colour`, or off the board."""
    row, column = point
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    on_board = [(r, c) for r, c in around if 0 <= r < board.shape[0] and 0 <= c < board.shape[1]]
    return all(board[r, c] == colour for r, c in on_board)
