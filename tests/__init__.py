"""The tests; a package, because pgx installs a top-level package called `tests` too."""
