export interface Task {
  id: number;
  title: string;
  due: string | null;
  done: boolean;
}

export type NewTask = Pick<Task, "title" | "due">;

/** SQLite stores booleans as 0 and 1. */
type Row = Omit<Task, "done"> & { done: 0 | 1 };

export async function listTasks(db: D1Database, done: boolean | null): Promise<Task[]> {
  const { results } = await db
    .prepare("SELECT * FROM tasks WHERE ?1 IS NULL OR done = ?1 ORDER BY due IS NULL, due, id LIMIT 100")
    .bind(done === null ? null : Number(done))
    .all<Row>();
  return results.map(toTask);
}

export async function getTask(db: D1Database, id: number): Promise<Task | null> {
  return toTaskOrNull(await db.prepare("SELECT * FROM tasks WHERE id = ?").bind(id).first<Row>());
}

export async function addTask(db: D1Database, { title, due }: NewTask): Promise<Task | null> {
  return toTaskOrNull(await db.prepare("INSERT INTO tasks (title, due) VALUES (?, ?) RETURNING *").bind(title, due).first<Row>());
}

export async function finishTask(db: D1Database, id: number, done: boolean): Promise<Task | null> {
  const statement = db.prepare("UPDATE tasks SET done = ? WHERE id = ? RETURNING *");
  return toTaskOrNull(await statement.bind(Number(done), id).first<Row>());
}

/** Returns `null` when the body is not a valid task. */
export function readNewTask(body: unknown): NewTask | null {
  const { title, due = null } = (body ?? {}) as { title?: unknown; due?: unknown };
  if (typeof title !== "string" || title.trim() === "" || title.length > 200) return null;
  if (due !== null && (typeof due !== "string" || !/^\d{4}-\d\d-\d\d$/.test(due))) return null;
  return { title: title.trim(), due };
}

function toTaskOrNull(row: Row | null): Task | null {
  return row === null ? null : toTask(row);
}

function toTask(row: Row): Task {
  return { ...row, done: row.done === 1 };
}
