import { readFile } from "node:fs/promises";
import path from "node:path";
import { StreamableHTTPClientTransport as HttpTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { PROJECT } from "../support/service/service-process.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let cli: TestCli;
let entry: RegistryEntry;

interface Input {
  name: string;
  value?: string;
  isRequired?: boolean;
  isSecret?: boolean;
}

/** What the MCP registry publishes about the server (server.json, schema of 2025-12-11). */
interface RegistryEntry {
  name: string;
  title: string;
  description: string;
  version: string;
  packages: [{ identifier: string; version: string; packageArguments: Input[]; environmentVariables: Input[] }];
  remotes: [{ url: string; headers: Input[] }];
}

beforeAll(async () => {
  cli = await createCli({});
  entry = await readJson<RegistryEntry>("server.json");
});
afterAll(() => cli[Symbol.asyncDispose]());

async function readJson<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(path.join(PROJECT, "clients/cli", name), "utf8")) as T;
}

async function listTools(transport: StdioClientTransport | HttpTransport): Promise<string[]> {
  const client = new Client({ name: "a-client", version: "1.0.0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

test("server.json describes the package of the command line, which names it too", async () => {
  const manifest = await readJson<{ name: string; version: string; mcpName: string }>("package.json");
  const [{ identifier, version }] = entry.packages;
  expect([entry.name, entry.version]).toEqual([manifest.mcpName, manifest.version]);
  expect([identifier, version]).toEqual([manifest.name, manifest.version]);
  // Limits of the registry.
  expect(entry.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]{1,100}$/);
  expect(Math.max(entry.title.length, entry.description.length)).toBeLessThanOrEqual(100);
});

test("the package lists the tools with the arguments and the required variables of server.json", async () => {
  const { personal_access_token: token } = await service().tenant();
  const [{ packageArguments, environmentVariables }] = entry.packages;
  const values: Record<string, string> = { SVC_URL: service().service.publicUrl, SVC_TOKEN: token };
  const required = environmentVariables.filter(({ isRequired }) => isRequired === true).map(({ name }) => name);
  expect(required).toEqual(Object.keys(values));
  expect(environmentVariables.filter(({ isSecret }) => isSecret === true)).toMatchObject([{ name: "SVC_TOKEN" }]);
  const args = [path.join(cli.folder, "svc.js"), ...packageArguments.map(({ value = "" }) => value)];
  const transport = new StdioClientTransport({ command: process.execPath, args, env: { ...cli.env, ...values } });
  expect(await listTools(transport)).toContain("service_list_apps");
});

test("the remote server lists the tools with the URL and the headers of server.json", async () => {
  const tenant = await service().tenant();
  const [{ url, headers }] = entry.remotes;
  const { host } = new URL(service().service.publicUrl);
  const values = new Map([
    ["Authorization", tenant.personal_access_token],
    ["X-Service-Org-Id", tenant.org_id],
  ]);
  const filled = headers.map(({ name, value = "{value}" }) => [name, value.replace(/\{\w+\}/, values.get(name) ?? "")]);
  const target = new URL(url.replace("{host}", host).replace("https:", "http:"));
  const transport = new HttpTransport(target, { requestInit: { headers: filled as [string, string][] } });
  expect(await listTools(transport)).toContain("service_list_apps");
});
