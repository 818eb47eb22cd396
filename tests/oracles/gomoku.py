"""Gomoku on a dict of stones, written for reading: look along every line from every stone."""

from tests.oracles.shapes import points_of


class Gomoku:
    """One game on an n x n board, or on any set of points (row, column); a pass is None."""

    def __init__(self, board, k=5, stones=None, to_play=1):
        self.points, self.k, self.stones, self.to_play = points_of(board), k, dict(stones or {}), to_play

    def longest(self, player):
        """Stones in the longest row, column or diagonal of `player`."""
        best = 0
        for row, column in self.stones:
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                length = 0
                while self.stones.get((row + length * dr, column + length * dc)) == player:
                    length += 1
                best = max(best, length)
        return best

    @property
    def outcome(self):
        return (self.longest(1) >= self.k) - (self.longest(-1) >= self.k)

    @property
    def over(self):
        longest = max(self.longest(1), self.longest(-1))
        return longest >= self.k or len(self.stones) == len(self.points)

    @property
    def legal(self):
        if self.over:
            return {None}
        return self.points - set(self.stones)

    def play(self, point):
        assert point in self.legal
        assert not self.over
        self.stones[point] = self.to_play
        self.to_play = -self.to_play
