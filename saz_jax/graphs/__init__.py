"""The padded board as a graph, and subgraphs of it."""
