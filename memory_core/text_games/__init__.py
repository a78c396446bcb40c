"""Text games in words: their commands, their runs, and what is said of them."""
