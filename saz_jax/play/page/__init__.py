"""A page that plays without a server: rules and networks as programs that the browser runs."""
