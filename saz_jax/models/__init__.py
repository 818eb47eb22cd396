"""How a network is asked for a prior and a value: alone, with subgraphs, or slid over the board."""
