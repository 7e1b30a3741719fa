import { once } from "node:events";
import http from "node:http";
import path from "node:path";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import { FilesystemAuthEntries } from "../../../server/platforms/embedded/auth-entries.ts";
import {
  openEmbeddedEdge,
  type EmbeddedEdgeOptions,
  type RunningEdge,
} from "../../../server/platforms/embedded/open-embedded-platform.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { writeUploadForm, type FormOptions } from "./upload-form.ts";

export interface Visit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

export interface LogEntry extends Record<string, unknown> {
  message: string;
}

/** An embedded edge of its own, in a folder of its own, with what tests want to do to it. */
export interface TestEdge extends AsyncDisposable {
  edge: RunningEdge;
  entries: FilesystemAuthEntries;
  root: string;
  /** What the edge reported, in order. */
  log: LogEntry[];
  /** Asks the app at `slug` as a clientInfo would. */
  visit(slug: string, target?: string, visit?: Visit): Promise<Answer>;
  /** Publishes a script under the given slug; its app id and database follow from the slug. */
  publish(slug: string, script: string, options?: FormOptions & Partial<Script>): Promise<{ url: string }>;
  /** Waits for the log entry with this message and these fields. */
  logged(message: string, fields?: Record<string, unknown>): Promise<LogEntry>;
}

export async function openTestEdge(options: Partial<EmbeddedEdgeOptions> = {}): Promise<TestEdge> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const root = options.root ?? path.join(folder.path, "edge");
  const entries = new FilesystemAuthEntries(path.join(folder.path, "auth"));
  const log: LogEntry[] = [];
  const note = (fields: object, message: string) => void log.push({ ...fields, message });
  const defaults = {
    ...({ host: "127.0.0.1", port: 0, appsDomain: null, scheme: "http", sandbox: "bubblewrap" } as const),
    ...{ trustedProxies: [], root, entries, log: { info: note, warn: note } },
  };
  const edge = opening.use(await openEmbeddedEdge({ ...defaults, ...options }));
  const stack = opening.move();
  let forms = 0;
  return {
    edge,
    entries,
    root,
    log,
    visit: (slug, target, visit) => ask(edge.port, `${slug}.localhost:${edge.port}`, target, visit),
    async publish(slug, script, choices = {}) {
      const scriptPath = await writeUploadForm(path.join(folder.path, `${forms++}.form`), script, choices);
      const published = {
        appId: `app-${slug}`,
        generation: 1,
        scriptPath,
        assets: null,
        databaseId: `db-${slug}`,
        ...only(choices),
      };
      return edge.platform.publish(slug, published, AbortSignal.timeout(60_000));
    },
    logged: (message, fields = {}) =>
      eventually(() => log.find((entry) => entry.message === message && includes(entry, fields))),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** One request over a connection of its own. */
export async function ask(
  port: number,
  host: string,
  target = "/",
  { method = "GET", headers = {}, body }: Visit = {},
): Promise<Answer> {
  const request = http.request({
    host: "127.0.0.1",
    port,
    path: target,
    method,
    headers: { host, ...headers },
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

/** Polls until `look` finds something; the test's own time limit ends the waiting. */
export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const SCRIPT_FIELDS = ["appId", "generation", "scriptPath", "assets", "databaseId"] as const;

function only(choices: FormOptions & Partial<Script>): Partial<Script> {
  return Object.fromEntries(SCRIPT_FIELDS.filter((field) => field in choices).map((field) => [field, choices[field]]));
}

function includes(entry: LogEntry, fields: Record<string, unknown>): boolean {
  return Object.entries(fields).every(([name, value]) => entry[name] === value);
}
