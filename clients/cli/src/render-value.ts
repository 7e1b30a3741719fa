import { renderTable } from "./table.ts";

/** Columns that say most about an object of a list, in their order. Other scalar fields follow while there are few. */
const COLUMNS_BY_LIST: Readonly<Record<string, readonly string[]>> = {
  apps: ["slug", "status", "updated_at", "id"],
  deployments: ["number", "status", "is_live", "trigger", "branch", "commit", "created_at"],
  tokens: ["name", "kind", "scope", "prefix", "last_used_at", "id"],
  variables: ["name", "value", "secret", "build", "updated_at"],
  logs: ["time", "level", "message"],
  servers: ["name", "kind", "status", "server_id"],
  organizations: ["name", "role", "id", "is_selected"],
  quotas: ["metric", "used", "limit"],
  uploads: ["status", "file", "title", "version", "document_id"],
  sessions: ["title", "updated_at", "session_id"],
  // Of procedures, documents of a project, and sessions.
  hits: [
    "app",
    "procedure",
    "kind",
    "description",
    "title",
    "seq",
    "role",
    "excerpt",
    "snippet",
    "document_id",
    "session_id",
  ],
  transcripts: ["file", "added", "existing", "session_id"],
  changes: ["status", "part"],
  documents: ["title", "kind", "version", "updated_at", "document_id"],
  memories: ["content", "kind", "created_at", "memory_id"],
  events: ["time", "actor", "action", "target", "outcome"],
};
const MAX_COLUMNS = 6;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Renders the output of a procedure for a person: a list as a table, and an object as one line for each field.
 *
 * @param width - of the terminal; `null` for a pipe
 */
export function renderValue(value: unknown, width: number | null): string {
  if (!isFields(value)) return formatCell(value);
  const lists = Object.entries(value).filter((entry): entry is [string, Fields[]] => isList(entry[1]));
  const scalars = Object.entries(value).filter(([, field]) => !isList(field) && !isFields(field));
  const objects = Object.entries(value).filter((entry): entry is [string, Fields] => isFields(entry[1]));
  const isOnlyList = lists.length === 1 && objects.length === 0;
  // The cursor of the next page is a message, not a field.
  const shown = scalars.filter(([name, field]) => name !== "next_cursor" && !(isOnlyList && field === null));
  const parts = [
    renderFields(shown),
    ...objects.map(([name, fields]) => indent(name, renderValue(fields, width))),
    ...lists.map(([name, rows]) =>
      isOnlyList ? renderList(name, rows, width) : indent(name, renderList(name, rows, width)),
    ),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function renderFields(fields: readonly (readonly [string, unknown])[]): string {
  const longest = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${`${name}:`.padEnd(longest + 2)}${formatCell(value)}`).join("\n");
}

/** Renders a list as a table, with the columns of its name. */
export function renderList(name: string, rows: readonly Fields[], width: number | null): string {
  if (rows.length === 0) return "";
  const columns = selectColumns(name, rows);
  const headings = columns.map((column) => column.replaceAll("_", " ").toUpperCase());
  const cells = rows.map((row) => columns.map((column) => formatCell(row[column])));
  return renderTable(headings, cells, width);
}

function selectColumns(name: string, rows: readonly Fields[]): string[] {
  const [first = {}] = rows;
  const preferred = (COLUMNS_BY_LIST[name] ?? []).filter((column) => Object.hasOwn(first, column));
  if (preferred.length > 1) return preferred;
  const scalars = Object.keys(first).filter((column) =>
    rows.every((row) => !isList(row[column]) && !isFields(row[column])),
  );
  return scalars.slice(0, MAX_COLUMNS);
}

/** Formats a value in one line. Texts may come from apps and users, so control characters are removed. */
export function formatCell(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return Array.isArray(value) ? value.map(formatCell).join(", ") : JSON.stringify(value);
  return removeControlCharacters(typeof value === "string" ? value : JSON.stringify(value)).replaceAll("\n", " ");
}

/** Keeps line breaks and tabs. */
export function removeControlCharacters(text: string): string {
  // oxlint-disable-next-line no-control-regex -- it removes them
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function indent(name: string, text: string): string {
  return text === "" ? "" : `\n${name}:\n${text.replaceAll(/^(?=.)/gm, "  ")}`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is Fields[] {
  return Array.isArray(value) && value.every(isFields);
}
