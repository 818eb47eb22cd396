"""Slow, plain-Python rules that share no code with the package; the tests compare against them."""
