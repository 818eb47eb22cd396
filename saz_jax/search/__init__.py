"""Tree search guided by an `EvaluateFn`."""
