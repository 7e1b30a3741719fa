import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { McpClientName } from "../../domain/agents/mcp-clients.ts";
import type { ClientRun } from "./client-run.ts";
import { SERVER } from "./server-name.ts";

const SVC = path.resolve(import.meta.dirname, "../../clients/cli/svc.mjs");
/** The environment variable of a client with the personal access token. */
export const TOKEN_VARIABLE = "SERVICE_TOKEN";

/** Adds the service to the settings of a client with `svc mcp install`; without a token, only its URL. */
export async function addServer(run: ClientRun, client: McpClientName, token: string | null): Promise<void> {
  const service = ["--service", new URL(run.gatewayUrl).origin, "--name", SERVER];
  const variable = token === null ? [] : ["--token-env", TOKEN_VARIABLE];
  const options = { cwd: run.workFolder, env: run.env };
  await promisify(execFile)(process.execPath, [SVC, "mcp", "install", client, ...service, ...variable], options);
}
