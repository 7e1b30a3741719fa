import { readFile } from "node:fs/promises";
import path from "node:path";
import { StreamableHTTPClientTransport as HttpTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { PROJECT } from "../support/service/service-process.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let cli: TestCli;
let entry: z.infer<typeof registryEntry>;

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const label = z.string().min(1).max(100);
/** Not a range, and not `latest`. */
const version = z.string().regex(/^\d+\.\d+\.\d+$/);
const setting = z.strictObject({
  description: z.string(),
  placeholder: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
});
const named = setting.extend({
  name: z.string(),
  value: z.string().optional(),
  variables: z.record(z.string(), setting).optional(),
});

/**
 * The rules of the MCP registry for the fields that server.json uses. The schema of the registry has no package that could be
 * installed, and permits fields that it does not know; here a misspelled one is an error.
 */
const registryEntry = z.strictObject({
  $schema: z.literal(SCHEMA),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: label,
  description: label,
  version,
  packages: z.tuple([
    z.strictObject({
      registryType: z.literal("npm"),
      identifier: z.string(),
      version,
      runtimeHint: z.literal("npx"),
      transport: z.strictObject({ type: z.literal("stdio") }),
      packageArguments: z.array(z.strictObject({ type: z.literal("positional"), value: z.string() })),
      environmentVariables: z.array(named),
    }),
  ]),
  remotes: z.tuple([
    z.strictObject({
      type: z.literal("streamable-http"),
      url: z.string().regex(/^https?:\/\/[^\s]+$/),
      variables: z.record(z.string(), setting),
      headers: z.array(named),
    }),
  ]),
});

beforeAll(async () => {
  cli = await createCli({});
  entry = registryEntry.parse(await readJson("server.json"));
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
});

test("every variable in a template of server.json is described, and every described one is used", () => {
  const [remote] = entry.remotes;
  for (const { template, variables } of [
    { template: remote.url, variables: remote.variables },
    ...remote.headers.map((header) => ({ template: header.value ?? "", variables: header.variables ?? {} })),
  ]) {
    const used = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect([template, used]).toEqual([template, Object.keys(variables)]);
  }
});

test("the package lists the tools with the arguments and the required variables of server.json", async () => {
  const { personal_access_token: token } = await service().tenant();
  const [{ packageArguments, environmentVariables }] = entry.packages;
  const values: Record<string, string> = { SVC_URL: service().service.publicUrl, SVC_TOKEN: token };
  const required = environmentVariables.filter(({ isRequired }) => isRequired === true).map(({ name }) => name);
  expect(required).toEqual(Object.keys(values));
  expect(environmentVariables.filter(({ isSecret }) => isSecret === true)).toMatchObject([{ name: "SVC_TOKEN" }]);
  const args = [path.join(cli.folder, "svc.js"), ...packageArguments.map(({ value }) => value)];
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
