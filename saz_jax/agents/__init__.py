"""Trained agents and the reference opponents."""
