"""Files: checkpoints, exported agents, metrics and results, each written whole or not at all."""
