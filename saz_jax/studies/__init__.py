"""The paper's experiments: who plays, under which budget, what is kept, and what is made of it."""
