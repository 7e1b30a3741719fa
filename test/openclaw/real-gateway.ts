import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sanitizeLog } from "../../domain/shared/sanitize-log.ts";
import { installClient } from "../clients/install-client.ts";
import { openChatModel } from "./chat-model.ts";
import { OPENCLAW_VERSION } from "./openclaw-version.ts";

const START_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 200;

/** A real OpenClaw gateway on a loopback address, with the agents `main` and `sales`, and a scripted model. */
export interface RealGateway extends AsyncDisposable {
  url: string;
  token: string;
  /** The path of the AGENTS.md of an agent. Its workspace exists. */
  instructionFile(agentId: string): string;
}

const AGENTS = ["main", "sales"];

/**
 * Installs OpenClaw from npm and starts its gateway, without an account.
 *
 * @param folder - an empty folder, which becomes the home folder and contains the installation
 */
export async function startRealGateway(folder: string, signal: AbortSignal): Promise<RealGateway> {
  await using stack = new AsyncDisposableStack();
  const installed = path.join(folder, "installed");
  await mkdir(installed);
  const programs = await installClient({ packageName: "openclaw", version: OPENCLAW_VERSION }, installed, signal);
  const model = stack.use(await openChatModel());
  const state = path.join(folder, "state");
  await mkdir(state);
  await writeFile(path.join(state, "openclaw.json"), JSON.stringify(configuration(folder, model.url)));
  for (const agentId of AGENTS) await mkdir(workspaceOf(folder, agentId));
  const port = await findFreePort();
  const token = randomUUID();
  const args = ["gateway", "run", "--allow-unconfigured", "--bind", "loopback", "--auth", "token"];
  const child = spawn(
    process.execPath,
    [path.join(programs, "..", "openclaw", "openclaw.mjs"), ...args, "--port", String(port), "--token", token],
    { cwd: folder, env: environment(folder, state), stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  stack.defer(() => stop(child));
  const output = collectOutput(child);
  await waitUntilReady(port, child, AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)])).catch(
    (cause: unknown) => {
      throw new Error(`the gateway does not start: ${sanitizeLog(output(), [])}`, { cause });
    },
  );
  const opened = stack.move();
  return {
    url: `ws://127.0.0.1:${port}`,
    token,
    instructionFile: (agentId) => path.join(workspaceOf(folder, agentId), "AGENTS.md"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function workspaceOf(folder: string, agentId: string): string {
  return path.join(folder, `workspace-${agentId}`);
}

function configuration(folder: string, modelUrl: string): object {
  const model = { id: "scripted", name: "Scripted", contextWindow: 128_000, maxTokens: 4096 };
  return {
    gateway: { mode: "local" },
    logging: { file: path.join(folder, "openclaw.log") },
    models: {
      providers: {
        scripted: { baseUrl: `${modelUrl}/v1`, apiKey: "none", api: "openai-completions", models: [model] },
      },
    },
    agents: {
      defaults: { model: { primary: "scripted/scripted" }, skipBootstrap: true },
      entries: {
        main: { default: true, workspace: workspaceOf(folder, "main") },
        sales: { name: "Sales", workspace: workspaceOf(folder, "sales") },
      },
    },
  };
}

function environment(folder: string, state: string): Record<string, string> {
  return {
    PATH: [path.dirname(process.execPath), process.env["PATH"] ?? ""].join(path.delimiter),
    HOME: folder,
    TMPDIR: folder,
    LANG: "C.UTF-8",
    NO_COLOR: "1",
    OPENCLAW_STATE_DIR: state,
    OPENCLAW_DISABLE_BONJOUR: "1",
    OPENCLAW_SKIP_CHANNELS: "1",
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Returns the end of what the process has printed so far. */
function collectOutput(child: ChildProcess): () => string {
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    });
  return () => output;
}

async function waitUntilReady(port: number, child: ChildProcess, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("the process has ended");
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch(() => null);
    if (response?.ok === true) return;
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Ends the gateway with the processes that it has started, all of which are in its process group. */
async function stop(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const closed = child.exitCode === null && child.signalCode === null ? once(child, "close") : Promise.resolve();
  signalGroup(pid, "SIGTERM");
  await Promise.race([closed, delay(STOP_TIMEOUT_MS)]);
  signalGroup(pid, "SIGKILL");
  await closed;
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    // All processes of the group have ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
