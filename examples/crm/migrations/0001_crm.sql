CREATE TABLE companies (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  website TEXT
);

CREATE TABLE contacts (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  companyId INTEGER REFERENCES companies (id)
);

CREATE TABLE deals (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  companyId INTEGER NOT NULL REFERENCES companies (id),
  cents INTEGER NOT NULL CHECK (cents >= 0),
  stage TEXT NOT NULL DEFAULT 'lead'
);

CREATE INDEX contacts_by_company ON contacts (companyId);

CREATE INDEX deals_by_stage ON deals (stage, id);
