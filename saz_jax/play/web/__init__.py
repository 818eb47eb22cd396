"""The game in the browser: a table for each tab, and the server that seats people at them."""
