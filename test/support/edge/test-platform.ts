import { once } from "node:events";
import http from "node:http";
import path from "node:path";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import { appsPostgres, openNodeServers } from "../../../server/composition/edge.ts";
import {
  type EmbeddedPlatform,
  type EmbeddedPlatformOptions,
  openEmbeddedPlatform,
} from "../../../server/platforms/embedded/open-embedded-platform.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { TestVariables } from "./test-variables.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type FormOptions, writeUploadForm } from "./upload-form.ts";

export interface RequestOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}

export interface AppResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

export interface LogEntry extends Record<string, unknown> {
  message: string;
}

/** An embedded platform with its own data folder, and functions to use it in tests. */
export interface TestPlatform extends AsyncDisposable {
  platform: EmbeddedPlatform;
  dataDirectory: string;
  variables: TestVariables;
  /** The folder of the edge in the data folder. */
  root: string;
  /** The log entries of the platform, in order. */
  log: LogEntry[];
  /** Sends a request to the app at `slug`, as a client would. */
  request(slug: string, target?: string, options?: RequestOptions): Promise<AppResponse>;
  /** Publishes a script. By default the slug determines its app id and database id. */
  publish(slug: string, script: string, options?: FormOptions & Partial<Script>): Promise<{ url: string }>;
  /** Waits for a log entry with this message and these fields. */
  logged(message: string, fields?: Record<string, unknown>): Promise<LogEntry>;
}

export async function openTestPlatform(options: Partial<EmbeddedPlatformOptions> = {}): Promise<TestPlatform> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const dataDirectory = options.dataDirectory ?? path.join(folder.path, "data");
  const variables = new TestVariables();
  const log: LogEntry[] = [];
  const addEntry = (fields: object, message: string) => void log.push({ ...fields, message });
  const platform = opening.use(
    await openEmbeddedPlatform({
      dataDirectory,
      host: "127.0.0.1",
      port: 0,
      appsDomain: null,
      scheme: "http",
      sandbox: "bubblewrap",
      nodeServers: openNodeServers({ sandbox: "bubblewrap" }),
      postgres: appsPostgres({ appsDatabaseUrl: null, databaseUrl: null, dataDirectory }, createLogger("silent")),
      trustedProxies: [],
      variables,
      log: { info: addEntry, warn: addEntry },
      ...options,
    }),
  );
  const stack = opening.move();
  let forms = 0;
  return {
    platform,
    dataDirectory,
    variables,
    root: path.join(dataDirectory, "edge"),
    log,
    request: (slug, target, requestOptions) =>
      sendRequest(platform.port, `${slug}.localhost:${platform.port}`, target, requestOptions),
    async publish(slug, script, choices = {}) {
      const scriptPath = await writeUploadForm(path.join(folder.path, `${forms++}.form`), script, choices);
      const published = {
        appId: `app-${slug}`,
        generation: 1,
        code: { runtime: "worker", scriptPath } as const,
        assets: null,
        databaseId: `db-${slug}`,
        ...pickScriptFields(choices),
      };
      return platform.scripts.publish(slug, published, AbortSignal.timeout(60_000));
    },
    logged: (message, fields = {}) =>
      eventually(() => log.find((entry) => entry.message === message && hasFields(entry, fields))),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Sends one request over a new connection. */
export async function sendRequest(
  port: number,
  host: string,
  target = "/",
  { method = "GET", headers = {}, body }: RequestOptions = {},
): Promise<AppResponse> {
  const request = http.request({
    host: "127.0.0.1",
    port,
    path: target,
    method,
    headers: { host, ...headers },
    agent: false,
    maxHeaderSize: 128 * 1024,
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

/** Calls `read` until it returns a value. The time limit of the test ends the wait. */
export async function eventually<T>(read: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const SCRIPT_FIELDS = ["appId", "generation", "code", "assets", "databaseId"] as const;

function pickScriptFields(choices: FormOptions & Partial<Script>): Partial<Script> {
  return Object.fromEntries(SCRIPT_FIELDS.filter((field) => field in choices).map((field) => [field, choices[field]]));
}

function hasFields(entry: LogEntry, fields: Record<string, unknown>): boolean {
  return Object.entries(fields).every(([name, value]) => entry[name] === value);
}
