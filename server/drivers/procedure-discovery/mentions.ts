import { readFile } from "node:fs/promises";

/** What no script can do without that offers procedures: a router's own property, a document's path, a protocol's words. */
const MARKS = ["_def", "openapi", "jsonrpc", "tools/list"];

/**
 * Whether a script could offer procedures at all. Most apps offer none, and need not be started to be asked. A script
 * may mention any of the words for another reason; then it is asked.
 */
export async function mentionsProcedures(scriptPath: string): Promise<boolean> {
  const script = await readFile(scriptPath);
  return MARKS.some((mark) => script.includes(mark));
}
