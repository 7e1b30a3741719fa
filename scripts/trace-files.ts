// Lists the files of this project that each request runs through: `npm run trace`. It starts the service on the embedded
// defaults in a temporary folder, sends the requests that docs/architecture.md describes, and reads V8's precise coverage
// of the service's process. Files that run in a sandbox (`**/inside/`) are in another process and are not listed.
import { readFile, mkdtemp, rm } from "node:fs/promises";
import { type Profiler, Session } from "node:inspector/promises";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startService } from "../server/composition/start-service.ts";
import { readConfig } from "../server/config.ts";
import { createLogger } from "../server/telemetry/logger.ts";

/** How often a request is traced. Only files of all rounds are listed, so a timer that fires in one round adds none. */
const ROUNDS = 5;
/** The duration of the worker's first sweep, which must not be traced with the first request. In milliseconds. */
const SWEEP_MS = 3000;
const ROOT = path.join(import.meta.dirname, "..");

interface Tokens {
  api_key: string;
  personal_access_token: string;
}

const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

const folder = await mkdtemp(path.join(os.tmpdir(), "trace-"));
const { PATH, HOME } = process.env;
const settings = { PORT: "0", EDGE_PORT: "0", DATA_DIR: folder, LOG_LEVEL: "error" };
const service = await startService(readConfig({ PATH, HOME, ...settings }), createLogger("error"));
try {
  await sleep(SWEEP_MS);
  await traceAll(service.publicUrl);
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();

async function traceAll(publicUrl: string): Promise<void> {
  const tokens = JSON.parse(await readFile(path.join(folder, "bootstrap.json"), "utf8")) as Tokens;
  let url = "";
  const deploy = async (): Promise<void> => {
    url = await deployExample(publicUrl, tokens.api_key);
  };
  const callTool = (name: string, input: object) => () => callGateway(publicUrl, tokens, { name, arguments: input });
  const listApps = callTool("service_list_apps", {});

  print("One deployment of examples/hello", await filesRun(deploy));
  print("One tool call, service_list_apps, the first one", await filesRun(listApps));
  print("One tool call, service_list_apps, repeated", await filesOfEveryRound(listApps));
  await get(url);
  print("One request to a running app", await filesOfEveryRound(() => get(url)));
  const program = callTool("service_execute", { code: "console.log(await service.tools.service_list_apps({}))" });
  await program();
  print("One program that calls a tool", await filesOfEveryRound(program));
}

async function deployExample(publicUrl: string, apiKey: string): Promise<string> {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ repo: "examples/hello" });
  const response = await fetch(`${publicUrl}/v1/apps/deploy`, { method: "POST", headers, body });
  const { app_id: id, url } = (await response.json()) as { app_id: string; url: string };
  for (;;) {
    // The status is read from the database, so that no other request of the service is traced with the deployment.
    const { status } = await service.parts.db
      .selectFrom("apps")
      .select("status")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (status === "ready") return url;
    if (status === "failed") throw new Error("the example could not be deployed");
    await sleep(200);
  }
}

async function callGateway(publicUrl: string, tokens: Tokens, params: object): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.personal_access_token}`, "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const response = await fetch(`${publicUrl}/mcp`, { method: "POST", headers, body });
  const { result } = (await response.json()) as { result?: { isError?: boolean } };
  if (result === undefined || result.isError === true) throw new Error("the tool call failed");
}

/** `fetch` would not resolve `*.localhost` on every machine, so the request goes to the loopback address. */
async function get(url: string): Promise<void> {
  const { host, port } = new URL(url);
  await new Promise<void>((resolve, reject) => {
    const request = http.get({ host: "127.0.0.1", port, headers: { host } }, (response) => {
      response.resume().on("end", resolve);
    });
    request.on("error", reject);
  });
}

async function filesOfEveryRound(act: () => Promise<void>): Promise<string[]> {
  let common = new Set(await filesRun(act));
  for (let round = 1; round < ROUNDS; round++) common = common.intersection(new Set(await filesRun(act)));
  return [...common];
}

/** The project's files with at least one function that was called while `act` ran. */
async function filesRun(act: () => Promise<void>): Promise<string[]> {
  await inspector.post("Profiler.takePreciseCoverage");
  await act();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url, functions }) => url.startsWith("file://") && functions.some(wasCalled))
    .map(({ url }) => path.relative(ROOT, fileURLToPath(url)))
    .filter((file) => !/^(\.\.|node_modules|scripts)(\/|$)/.test(file))
    .toSorted();
}

/** The function at offset 0 is the module itself, which runs once, when the file is imported. */
function wasCalled({ ranges: [range] }: Profiler.FunctionCoverage): boolean {
  return range !== undefined && range.startOffset > 0 && range.count > 0;
}

function print(title: string, files: string[]): void {
  console.log(`\n${title}: ${files.length} files\n${files.map((file) => `  ${file}`).join("\n")}`);
}
