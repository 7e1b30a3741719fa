/** A quoted text, a quoted name, a comment, or one character. An open text, name or comment matches only its first character. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\s\S]/g;
const READS = /^(?:select|values|with)\b/i;

/**
 * Returns a statement that can only read, for a database whose API also accepts statements that write: as a subquery, in which
 * SQLite accepts nothing else.
 *
 * @param limit - how many rows it returns at most
 * @returns `null` if the text is not exactly one statement that reads
 */
export function toSubquery(sql: string, limit: number): string | null {
  const tokens = sql.match(TOKEN) ?? [];
  const kept: string[] = [];
  let depth = 0;
  for (const token of tokens) {
    if (token.startsWith("--") || token.startsWith("/*")) {
      kept.push(" ");
      continue;
    }
    // An open quote would continue into what follows the subquery.
    if (["'", '"', "`", "["].includes(token)) return null;
    if (token === "(") depth++;
    if (token === ")" && --depth < 0) return null;
    kept.push(token);
  }
  const text = kept
    .join("")
    .trim()
    .replace(/[;\s]+$/, "");
  const isSingle = (text.match(TOKEN) ?? []).every((token) => token !== ";");
  return depth === 0 && isSingle && READS.test(text) ? `SELECT * FROM (${text}\n) LIMIT ${limit}` : null;
}
