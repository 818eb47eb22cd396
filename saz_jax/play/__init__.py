"""Games in progress, and the faces that show them: terminal, GTP, Gomocup and NBoard."""
