import { ServiceError } from "../../../sdk/src/client.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandSpec, ParameterSpec } from "../command-spec.ts";
import { listServers, type Server } from "../list-servers.ts";
import { callProcedure, type ProcedureCall, type ProcedureResult } from "./procedure-command.ts";

/** How many servers are read at once. */
const CONCURRENCY = 8;
/** Errors that concern one server, and not every further one. */
const OF_ONE_SERVER: readonly ServiceError["code"][] = ["unavailable", "conflict", "not_found"];

/** The page of one server. */
interface Page {
  items: Record<string, unknown>[];
  next: string | null;
}

interface AllServers {
  /** The list in the output of the procedure. */
  list: string;
  /** The field by which the lists of several servers are merged, the latest first; `null` for one server after another. */
  latest: string | null;
}

/** Procedures that read one server in each call. Their commands read all servers. */
const PROCEDURES: Readonly<Record<string, AllServers>> = {
  "sessions.list": { list: "sessions", latest: "updated_at" },
  "sessions.search": { list: "hits", latest: null },
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  server_id: "only this server; by default all servers, or that of the agent",
  limit: "maximum number for each server",
};

export function readsAllServers({ procedure }: CommandSpec): boolean {
  return Object.hasOwn(PROCEDURES, procedure);
}

/** Describes the options of the command, which differ from the fields of the procedure. */
export function describeAllServers(spec: CommandSpec): CommandSpec {
  const describe = (parameter: ParameterSpec): ParameterSpec => {
    const description = DESCRIPTIONS[parameter.field];
    return description === undefined ? parameter : { ...parameter, description };
  };
  return { ...spec, parameters: spec.parameters.map(describe) };
}

/**
 * Calls a procedure for each server of the organization. The `next_cursor` of the output has the cursors of all servers that
 * have more. A server that cannot be read does not hide the others.
 *
 * @throws {CliError} for a cursor of another kind
 */
export async function callForAllServers(call: ProcedureCall): Promise<ProcedureResult> {
  const { client, procedure, input, context } = call;
  const { list, latest } = PROCEDURES[procedure] ?? { list: "", latest: null };
  if (input["server_id"] !== undefined || input["agent_id"] !== undefined) return { output: await callProcedure(call) };
  const servers = await listServers(client, context.signal);
  const [only, ...others] = servers;
  if (only !== undefined && others.length === 0)
    return { output: await callProcedure({ ...call, input: { ...input, server_id: only.server_id } }) };
  const { cursor, ...fields } = input;
  const cursors = typeof cursor === "string" ? parseCursor(cursor) : null;
  const wanted = servers.filter(({ server_id: id }) => cursors === null || cursors.has(id));
  const pages = new Map<string, Page>();
  for (let start = 0; start < wanted.length; start += CONCURRENCY)
    await Promise.all(
      wanted.slice(start, start + CONCURRENCY).map(async (server) => {
        const own = cursors?.get(server.server_id);
        const request = { ...fields, server_id: server.server_id, ...(own !== undefined && { cursor: own }) };
        const page = await readServer({ ...call, input: request }, server, list);
        if (page !== null) pages.set(server.server_id, page);
      }),
    );
  // In the order of the servers, and not of their responses.
  const read = wanted.flatMap(({ server_id: id }) => {
    const page = pages.get(id);
    return page === undefined ? [] : [{ id, ...page }];
  });
  const items = read.flatMap((page) => page.items);
  if (latest !== null) items.sort((a, b) => String(b[latest]).localeCompare(String(a[latest])));
  const more = read.flatMap(({ id, next }) => (next === null ? [] : [[id, next] as const]));
  const failed = wanted.length - read.length;
  return {
    output: { [list]: items, next_cursor: more.length === 0 ? null : renderCursor(more) },
    error: failed === 0 ? undefined : new CliError(`${failed} of ${wanted.length} servers could not be read.`),
  };
}

/** @returns `null` for a server that cannot be read, after a message */
async function readServer(call: ProcedureCall, { name }: Server, list: string): Promise<Page | null> {
  try {
    const output = (await callProcedure(call)) as Record<string, unknown>;
    return { items: output[list] as Page["items"], next: output["next_cursor"] as string | null };
  } catch (error) {
    if (!(error instanceof ServiceError) || !OF_ONE_SERVER.includes(error.code)) throw error;
    call.context.output.message(`${name}: ${error.message}`);
    return null;
  }
}

function renderCursor(cursors: readonly (readonly [server: string, cursor: string])[]): string {
  return Buffer.from(JSON.stringify(Object.fromEntries(cursors))).toString("base64url");
}

function parseCursor(cursor: string): ReadonlyMap<string, string> {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const entries = Object.entries(value ?? {});
    if (entries.length > 0 && entries.every(([, each]) => typeof each === "string")) return new Map(entries);
  } catch {
    // The error below says it.
  }
  throw usageError("cursor: is not the next_cursor of all servers. Add the --server-id that it belongs to.");
}
