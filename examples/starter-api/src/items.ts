export interface Item {
  id: number;
  name: string;
  created_at: string;
}

export type NewItem = Pick<Item, "name">;

export async function listItems(db: D1Database): Promise<Item[]> {
  const { results } = await db.prepare("SELECT * FROM items ORDER BY id LIMIT 100").all<Item>();
  return results;
}

export async function getItem(db: D1Database, id: number): Promise<Item | null> {
  return db.prepare("SELECT * FROM items WHERE id = ?").bind(id).first<Item>();
}

export async function addItem(db: D1Database, { name }: NewItem): Promise<Item | null> {
  return db.prepare("INSERT INTO items (name) VALUES (?) RETURNING *").bind(name).first<Item>();
}

/** Returns whether there was such an item. */
export async function deleteItem(db: D1Database, id: number): Promise<boolean> {
  const { meta } = await db.prepare("DELETE FROM items WHERE id = ?").bind(id).run();
  return meta.changes > 0;
}

/** Returns `null` when the body is not a valid item. */
export function readNewItem(body: unknown): NewItem | null {
  const { name } = (body ?? {}) as { name?: unknown };
  if (typeof name !== "string" || name.trim() === "" || name.length > 200) return null;
  return { name: name.trim() };
}
