-- The form validates this too. The database guarantees it.
CREATE TRIGGER no_empty_entries BEFORE INSERT ON entries
WHEN trim(new.name) = '' OR trim(new.message) = ''
BEGIN
  SELECT RAISE(ABORT, 'An entry has a name and a message');
END;
