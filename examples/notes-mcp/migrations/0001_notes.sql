CREATE TABLE notes (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  written TEXT NOT NULL DEFAULT (datetime('now'))
);
