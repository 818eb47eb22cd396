"""Positions as text and pictures, games as SGF, results as tables and figures."""
