import { cut, displayWidth, pad } from "./display-width.ts";

/** Columns that say most about an object of a list, in their order. Other scalar fields follow while there are few. */
const COLUMNS_BY_LIST: Readonly<Record<string, readonly string[]>> = {
  deliveries: ["created_at", "commit", "message", "result", "reason"],
  apps: ["slug", "status", "updated_at", "id"],
  deployments: ["number", "status", "is_live", "trigger", "branch", "commit", "created_at"],
  environments: ["name", "slug", "status", "branch", "live_commit", "created_at"],
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

/** The widest cell of a table, in columns of the terminal. */
const MAX_CELL = 60;
const MIN_CELL = 10;
const GAP = "  ";
/** Ids are copied into other commands, so they are never cut. */
const ID = /(^| )ID$/;

type Row = readonly string[];

/**
 * Renders rows under their headings. Cells are cut so that rows fit, and a terminal that is too narrow for that gets a line
 * for each cell instead, which it may wrap.
 *
 * @param width - the width of the terminal; `null` for a pipe, whose cells are not cut
 */
export function renderTable(headings: Row, rows: readonly Row[], width: number | null): string {
  const natural = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => displayWidth(row[at] ?? ""))),
  );
  if (width === null) return renderRows([headings, ...rows], natural);
  const widths = fit(headings, natural, width);
  return widths === null ? renderRecords(headings, rows) : renderRows([headings, ...rows], widths);
}

/** Cuts the widest columns until all columns fit; `null` when even short columns do not. */
function fit(headings: Row, natural: readonly number[], width: number): number[] | null {
  const isFixed = (at: number) => ID.test(headings[at] ?? "");
  const widths = natural.map((each, at) => (isFixed(at) ? each : Math.min(each, MAX_CELL)));
  const total = () => widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  while (total() > width) {
    const widest = Math.max(0, ...widths.filter((_, at) => !isFixed(at)));
    if (widest <= MIN_CELL) return null;
    widths[widths.findLastIndex((each, at) => each === widest && !isFixed(at))] = widest - 1;
  }
  return widths;
}

function renderRows(rows: readonly Row[], widths: readonly number[]): string {
  const fill = (cell: string, at: number) => pad(cut(cell, widths[at] ?? 0), widths[at] ?? 0);
  return rows.map((row) => row.map(fill).join(GAP).trimEnd()).join("\n");
}

function renderRecords(headings: Row, rows: readonly Row[]): string {
  return rows.map((row) => row.map((cell, at) => `${headings[at] ?? ""}: ${cell}`).join("\n")).join("\n\n");
}
