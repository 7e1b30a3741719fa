import path from "node:path";
import type { UnhealthyScript } from "../ports/edge-platform.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { adviseToSet } from "../shared/missing-variables.ts";

/** Where a server can write, and where files of the system are that no server replaces. */
const OTHER_FOLDERS = /^\/(?:build|data|tmp|dev|proc|sys|run|opt)(?:\/|$)/;

/** What Node.js says about a path that does not exist or that the server must not write to. */
const PATH_ERROR = /\b(ENOENT|EACCES|EPERM|EROFS): [\w ,-]+?, (\w+) '(\/[^'\n]{1,300})'/;
/** What SQLite says about a file that it cannot create. It does not name the file. */
const DATABASE_ERROR = /\bSQLITE_CANTOPEN\b|unable to open (?:the )?database file/i;

/** A file of the server in a stack trace. Packages are not files of the project. */
const STACK_FILE = /\/build\/((?!(?:[^\s:)]*\/)?node_modules\/)[^\s:)]{1,300}\.[cm]?[jt]sx?):\d+/g;
/** A variable with an absolute path as its default: `process.env.A || "/b"`, `process.env["A"] ?? "/b"`. */
const PATH_VARIABLE =
  /\bprocess\.env(?:\.([A-Z][A-Z\d_]*)|\[["']([A-Z][A-Z\d_]*)["']\])\s*(?:\|\||\?\?)\s*["'`](\/[^"'`\s]{1,300})["'`]/g;

/** How many files of a stack trace are searched. */
const MAX_FILES = 5;

/**
 * Says where to write instead, if a Node server failed because it uses a path outside its folder: a variable to set if a file of its
 * stack trace reads the path from one.
 *
 * @param workspace - with the source that was built; `null` for a deployment without source
 */
export async function adviseOnPath(workspace: Workspace | null, error: UnhealthyScript): Promise<string | null> {
  const lines = [...error.message.split("\n"), ...error.printed];
  const [, code, call, found] = lines.map((line) => PATH_ERROR.exec(line)).find((match) => match !== null) ?? [];
  if (found !== undefined && OTHER_FOLDERS.test(found)) return null;
  if (found === undefined && !lines.some((line) => DATABASE_ERROR.test(line))) return null;
  const variable = workspace === null ? null : await findVariable(workspace, lines, found);
  const used = found ?? variable?.value ?? null;
  const rule = `A server can write only to its folder and to /data, which stays${used === null ? "" : `, and not to ${used}`}.`;
  const suggested = suggestPath(variable?.value ?? used ?? "/app.db");
  if (variable !== null)
    return `${rule} Let ${variable.name} name a path below /data, such as ${suggested}. ${adviseToSet([variable.name], "start")}`;
  const isRead = code === "ENOENT" && call === "open";
  const read = isRead ? " If the server only reads the file, add it to the repository." : "";
  return `${rule} Use a path below /data, such as ${suggested}, and deploy again.${read}`;
}

interface PathVariable {
  name: string;
  value: string;
}

/** Finds a variable whose default is the path, in it, or above it; without a path, any path outside the folder of the server. */
async function findVariable(
  workspace: Workspace,
  lines: readonly string[],
  used: string | undefined,
): Promise<PathVariable | null> {
  const files = new Set([...lines.join("\n").matchAll(STACK_FILE)].map(([, file = ""]) => path.posix.normalize(file)));
  for (const file of [...files].slice(0, MAX_FILES)) {
    const text = await workspace.readSourceText(file);
    for (const [, plain, quoted, value = ""] of (text ?? "").matchAll(PATH_VARIABLE)) {
      const isUsed = used === undefined ? !OTHER_FOLDERS.test(value) : isRelated(value, used);
      if (isUsed) return { name: plain ?? quoted ?? "", value };
    }
  }
  return null;
}

function isRelated(one: string, other: string): boolean {
  const [first, second] = [one, other].map((each) => `${path.posix.normalize(each)}/`.replace(/\/+$/, "/"));
  return first !== undefined && second !== undefined && (first.startsWith(second) || second.startsWith(first));
}

function suggestPath(used: string): string {
  const name = path.posix.basename(used);
  return name === "data" ? "/data" : `/data/${name}`;
}
