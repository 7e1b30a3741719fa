export interface Context {
  db: D1Database;
  /** Whether the caller has shown the app's token. */
  trusted: boolean;
}

const id = { type: "integer", description: "The note's number" };
const note = {
  type: "object",
  properties: { id, text: { type: "string" }, written: { type: "string", description: "When, in UTC" } },
  required: ["id", "text", "written"],
};

/** What `tools/list` answers. Agents take a tool as harmless when it says that it only reads. */
export const tools = [
  {
    name: "search_notes",
    description: "Finds notes that contain a text, newest first, up to 50.",
    inputSchema: { type: "object", properties: { text: { type: "string", description: "Empty for all" } } },
    outputSchema: { type: "object", properties: { notes: { type: "array", items: note } }, required: ["notes"] },
    annotations: { readOnlyHint: true },
  },
  {
    name: "write_note",
    description: "Writes a note.",
    inputSchema: { type: "object", properties: { text: { type: "string", minLength: 1 } }, required: ["text"] },
    outputSchema: note,
    annotations: { readOnlyHint: false, destructiveHint: false },
  },
  {
    name: "delete_note",
    description: "Deletes a note for good. Repeating it changes nothing.",
    inputSchema: { type: "object", properties: { id }, required: ["id"] },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  },
];

type Input = Record<string, unknown>;

const TOOLS: Record<string, (input: Input, db: D1Database) => Promise<object>> = {
  async search_notes({ text = "" }, db) {
    const statement = db.prepare("SELECT * FROM notes WHERE instr(lower(text), lower(?)) > 0 ORDER BY id DESC LIMIT 50");
    return { notes: (await statement.bind(String(text)).all()).results };
  },
  async write_note({ text }, db) {
    if (typeof text !== "string" || text === "") throw new TypeError("A note needs a text");
    const statement = db.prepare("INSERT INTO notes (text) VALUES (?) RETURNING *");
    return (await statement.bind(text).first<object>()) ?? {};
  },
  async delete_note({ id }, db) {
    const { meta } = await db.prepare("DELETE FROM notes WHERE id = ?").bind(Number(id)).run();
    return { deleted: meta.changes > 0 };
  },
};

/** @throws {TypeError} when there is no such tool, or its input is wrong */
export async function callTool({ name, arguments: input }: Input, { db, trusted }: Context): Promise<object> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new TypeError("There is no such tool");
  if (!trusted && !tool.annotations.readOnlyHint) return refusal("This needs the app's token");
  const result = await TOOLS[tool.name]?.((input ?? {}) as Input, db);
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

function refusal(text: string): object {
  return { content: [{ type: "text", text }], isError: true };
}
