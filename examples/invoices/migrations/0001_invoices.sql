CREATE TABLE invoices (
  id INTEGER PRIMARY KEY,
  customer TEXT NOT NULL,
  cents INTEGER NOT NULL CHECK (cents > 0),
  due TEXT NOT NULL,
  paid INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX invoices_by_due ON invoices (paid, due);
