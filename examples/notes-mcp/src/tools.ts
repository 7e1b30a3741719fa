export interface Context {
  db: D1Database;
  /** Whether the request has a valid app token. */
  trusted: boolean;
}

const id = { type: "integer", description: "The id of the note" };
const note = {
  type: "object",
  properties: { id, text: { type: "string" }, written: { type: "string", description: "The time in UTC" } },
  required: ["id", "text", "written"],
};

/** The result of `tools/list`. The platform treats tools with `readOnlyHint` as queries. */
export const tools = [
  {
    name: "search_notes",
    description: "Finds up to 50 notes that contain a text, newest first.",
    inputSchema: { type: "object", properties: { text: { type: "string", description: "Empty: all notes" } } },
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
    description: "Deletes a note permanently. Safe to repeat.",
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
    if (typeof text !== "string" || text === "") throw new TypeError("text: must not be empty");
    const statement = db.prepare("INSERT INTO notes (text) VALUES (?) RETURNING *");
    return (await statement.bind(text).first<object>()) ?? {};
  },
  async delete_note({ id }, db) {
    const { meta } = await db.prepare("DELETE FROM notes WHERE id = ?").bind(Number(id)).run();
    return { deleted: meta.changes > 0 };
  },
};

/** @throws {TypeError} when the tool is unknown or its input is invalid */
export async function callTool({ name, arguments: input }: Input, { db, trusted }: Context): Promise<object> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new TypeError("Unknown tool");
  if (!trusted && !tool.annotations.readOnlyHint) return errorResult("App token required");
  const result = await TOOLS[tool.name]?.((input ?? {}) as Input, db);
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

function errorResult(text: string): object {
  return { content: [{ type: "text", text }], isError: true };
}
