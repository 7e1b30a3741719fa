import { readFile } from "node:fs/promises";

/**
 * What no script can do without that offers procedures: a router's own property, a document's path, a protocol's words.
 * The property stands alone, because every bundle holds the bundler's own `__defProp`.
 */
const MARK = /(?<![\w$])_def(?![\w$])|openapi|jsonrpc|tools\/list/;

/**
 * Whether a script could offer procedures at all. Most apps offer none, and need not be started to be asked. A script
 * may mention any of the words for another reason; then it is asked.
 */
export async function mayOfferProcedures(scriptPath: string): Promise<boolean> {
  return MARK.test(await readFile(scriptPath, "latin1"));
}
