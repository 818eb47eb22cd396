"""Boards as plain sets of points, without any padding."""

import numbers


def points_of(board):
    """{(row, column)}: those of a square, given by its side, or any others."""
    if isinstance(board, numbers.Integral):
        return {(row, column) for row in range(board) for column in range(board)}
    return set(board)


def middle_block(points):
    """The upper left point of the 2x2 nearest to the middle of the rows and columns in use."""
    rows, columns = zip(*points, strict=True)
    middle = (min(rows) + max(rows)) / 2, (min(columns) + max(columns)) / 2

    def is_block(row, column):
        return {(row, column), (row, column + 1), (row + 1, column), (row + 1, column + 1)} <= points

    def distance(point):
        return (point[0] + 0.5 - middle[0]) ** 2 + (point[1] + 0.5 - middle[1]) ** 2

    return min((point for point in sorted(points) if is_block(*point)), key=distance)
