"""Hex on a dict of stones, written for reading: a search from one side along stones of one colour."""

import heapq

from tests.oracles.shapes import points_of

NEIGHBOURS = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))


class Hex:
    """One game on an n x n board, or on any set of points (row, column); the swap is None."""

    def __init__(self, board, swap=False, stones=None, to_play=1):
        self.points, self.swap, self.stones, self.to_play = (
            points_of(board),
            swap,
            dict(stones or {}),
            to_play,
        )
        self.moves = 0

    def needed(self, player):
        """Stones that `player` lacks to join its sides, by Dijkstra; None if it is cut off."""
        along = 0 if player == 1 else 1
        first, last = (end(point[along] for point in self.points) for end in (min, max))
        waiting, seen = [], set()
        for point in self.points:
            if point[along] == first and self.cost(point, player) is not None:
                heapq.heappush(waiting, (self.cost(point, player), point))
        while waiting:
            so_far, (row, column) = heapq.heappop(waiting)
            if (row, column) in seen:
                continue
            seen.add((row, column))
            if (row, column)[along] == last:
                return so_far
            for dr, dc in NEIGHBOURS:
                point = row + dr, column + dc
                if point in self.points and self.cost(point, player) is not None:
                    heapq.heappush(waiting, (so_far + self.cost(point, player), point))
        return None

    def cost(self, point, player):
        """0 for an own stone, 1 for a free point, None for the other side's stone."""
        return {player: 0, None: 1, -player: None}[self.stones.get(point)]

    def chain_of(self, point):
        """All stones that are joined to the one at `point`."""
        waiting, chain = [point], {point}
        while waiting:
            row, column = waiting.pop()
            near = {(row + dr, column + dc) for dr, dc in NEIGHBOURS} - chain
            near = {other for other in near if self.stones.get(other) == self.stones[point]}
            chain |= near
            waiting += near
        return chain

    @property
    def ownership(self):
        """{point: winner} of the winner's chains that reach from one of its sides to the other."""
        along = 0 if self.outcome == 1 else 1
        sides = {end(point[along] for point in self.points) for end in (min, max)}
        own = [point for point, colour in self.stones.items() if colour == self.outcome]
        return {p: self.outcome for p in own if sides <= {other[along] for other in self.chain_of(p)}}

    @property
    def outcome(self):
        return next((player for player in (1, -1) if self.needed(player) == 0), 0)

    @property
    def over(self):
        return self.outcome != 0 or len(self.stones) == len(self.points)

    @property
    def legal(self):
        if self.over:
            return {None}
        free = self.points - set(self.stones)
        mirrored = {(column, row) for row, column in self.points}
        can_swap = self.swap and self.moves == 1 and list(self.stones.values()) == [1]
        return free | {None} if can_swap and mirrored == self.points else free

    def play(self, point):
        """A stone of the player to move, or the swap: dark's stone becomes light's, mirrored."""
        if point is None:
            ((row, column),) = self.stones
            self.stones = {}
            point = column, row
        self.stones[point] = self.to_play
        self.to_play, self.moves = -self.to_play, self.moves + 1
