export interface EntryForm {
  name: string;
  message: string;
}

export interface Entry extends EntryForm {
  id: number;
  /** UTC in SQLite's format, such as `2026-07-01 12:30:00`. */
  written_at: string;
}

/** Returns the latest 50 entries, newest first. */
export async function latestEntries(db: D1Database): Promise<Entry[]> {
  const { results } = await db.prepare("SELECT id, name, message, written_at FROM entries ORDER BY id DESC LIMIT 50").all<Entry>();
  return results;
}

export async function addEntry(db: D1Database, { name, message }: EntryForm): Promise<void> {
  await db.prepare("INSERT INTO entries (name, message) VALUES (?, ?)").bind(name, message).run();
}
