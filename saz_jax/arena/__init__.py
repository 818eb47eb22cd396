"""Matches, series of matches, tournaments and ratings."""
