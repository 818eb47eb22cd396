"""Go in plain Python, slow and obvious: sets of points, flood fills and a list of every position."""

from tests.oracles.shapes import points_of

DARK, LIGHT = 1, -1


class GoOracle:
    """One game on an n x n board, or on any set of points (row, column); None is a pass."""

    def __init__(self, board, *, komi, superko=True, move_cap=None, stones=None, to_play=DARK):
        self.points, self.komi, self.superko = points_of(board), komi, superko
        self.move_cap = 2 * len(self.points) if move_cap is None else move_cap
        self.stones = dict(stones or {})
        self.to_play = to_play
        self.positions = [frozenset(self.stones.items())]
        self.passes = 0
        self.moves = 0

    def neighbours(self, point):
        row, column = point
        around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [point for point in around if point in self.points]

    def chain(self, stones, point):
        """The chain of stones at `point` and its liberties, as two sets."""
        colour, chain, liberties, todo = stones[point], {point}, set(), [point]
        while todo:
            for neighbour in self.neighbours(todo.pop()):
                if neighbour not in stones:
                    liberties.add(neighbour)
                elif stones[neighbour] == colour and neighbour not in chain:
                    chain.add(neighbour)
                    todo.append(neighbour)
        return chain, liberties

    def after(self, point):
        """The stones after the player to move plays at `point`; None if occupied or suicide."""
        if point in self.stones:
            return None
        stones = {**self.stones, point: self.to_play}
        for neighbour in self.neighbours(point):
            if stones.get(neighbour) == -self.to_play:
                chain, liberties = self.chain(stones, neighbour)
                if not liberties:
                    for captured in chain:
                        del stones[captured]
        return stones if self.chain(stones, point)[1] else None

    def is_legal(self, point):
        if self.ended():
            return point is None
        if point is None:
            return True
        stones = self.after(point)
        if stones is None:
            return False
        forbidden = self.positions if self.superko else self.positions[-2:]
        return frozenset(stones.items()) not in forbidden

    def legal(self):
        """Every legal point, without the pass."""
        return {point for point in self.points if self.is_legal(point)}

    def play(self, point):
        assert self.is_legal(point)
        if point is None:
            self.passes += 1
        else:
            stones = self.after(point)
            assert stones is not None
            self.stones = stones
            self.passes = 0
        self.positions.append(frozenset(self.stones.items()))
        self.to_play = -self.to_play
        self.moves += 1

    def ended(self):
        return self.passes >= 2 or self.moves >= self.move_cap

    def area(self):
        """Dark's points minus light's: stones and free regions that border on one colour only."""
        total = sum(self.stones.values())
        seen = set(self.stones)
        for point in self.points:
            if point in seen:
                continue
            region, borders, todo = {point}, set(), [point]
            while todo:
                for neighbour in self.neighbours(todo.pop()):
                    if neighbour in self.stones:
                        borders.add(self.stones[neighbour])
                    elif neighbour not in region:
                        region.add(neighbour)
                        todo.append(neighbour)
            seen |= region
            if len(borders) == 1:
                total += len(region) * borders.pop()
        return total

    def outcome(self):
        """+1 dark wins, 0 tie, -1 light wins; 0 until the end."""
        margin = self.area() - self.komi
        return 0 if not self.ended() else (margin > 0) - (margin < 0)
