import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { getMcpConfigForManifest, v0_3 } from "@anthropic-ai/mcpb/node";
import { StdioClientTransport as Transport2 } from "@modelcontextprotocol/client/stdio";
import { StdioClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { downloadsPlugin } from "../../server/web/downloads.ts";
import { packBundle, unpackBundle } from "../../server/web/extension-bundle.ts";
import { MCP_CLIENTS, useTools } from "../support/clients/mcp-scenarios.ts";
import { PROJECT } from "../support/service/service-process.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { temporaryFolder, type TemporaryFolder } from "../support/temporary-folder.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
const server = fastify();
const run = promisify(execFile);
const MCPB = path.join(PROJECT, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");
let folder: TemporaryFolder;
/** The extension as the service of the tests serves it. */
let bundle: Buffer;

beforeAll(async () => {
  folder = await temporaryFolder();
  await buildExtension(folder.path);
  await server.register(downloadsPlugin({ publicUrl: () => service().service.publicUrl, folder: folder.path }));
  bundle = (await server.inject("/downloads/service.mcpb")).rawPayload;
});
afterAll(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

/** Zip files contain local times. */
async function buildExtension(target: string, timeZone = "Asia/Tokyo"): Promise<Buffer> {
  const env = { ...process.env, TZ: timeZone };
  await run(process.execPath, [path.join(PROJECT, "scripts/build-extension.ts"), target], { env });
  return readFile(path.join(target, "service.mcpb"));
}

/** Installs the extension as a desktop application does, and returns how it starts the server with the settings of the user. */
async function install(userConfig: Record<string, string>) {
  const file = path.join(folder.path, "downloaded.mcpb");
  const extensionPath = path.join(folder.path, "installed");
  await writeFile(file, bundle);
  await mkdir(extensionPath, { recursive: true });
  await run(process.execPath, [MCPB, "unpack", file, extensionPath]);
  const manifest = v0_3.McpbManifestSchema.parse(readManifest());
  return getMcpConfigForManifest({ manifest, extensionPath, userConfig, systemDirs: {}, pathSeparator: path.sep });
}

interface Manifest {
  version: string;
  user_config: Record<string, { default?: string; sensitive?: boolean; required?: boolean }>;
}

function readManifest(): Manifest {
  return JSON.parse(Buffer.from(unpackBundle(bundle)["manifest.json"]!).toString()) as Manifest;
}

verifies(
  ["gateway.clients.extension", "gateway.auth.extension"],
  "an installed extension asks for a personal access token only, and its server lists and calls the tools",
  async () => {
    expect(await install({})).toBeUndefined();
    const { user_config: asked } = readManifest();
    expect(Object.keys(asked).filter((name) => asked[name]?.required === true)).toEqual(["token"]);
    expect(asked["token"]).toMatchObject({ sensitive: true });
    const tenant = await service().tenant();
    const app = await service().givenApp(tenant);
    const config = await install({ token: tenant.personal_access_token });
    const parameters = { command: process.execPath, args: config?.args ?? [], env: config?.env ?? {} };
    expect(config).toMatchObject({ command: "node", env: { SVC_URL: service().service.publicUrl } });
    for (const connect of Object.values(MCP_CLIENTS)) {
      const client = await connect({ v1: () => new Transport1(parameters), v2: () => new Transport2(parameters) });
      await useTools(client, app.id);
      await client.close();
    }
  },
);

test("the server of the extension uses the organization that the user enters, and none if the setting is empty or left out", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const config = await install({ token: tenant.personal_access_token });
  const call = async (env: Record<string, string>): Promise<string> => {
    const child = run(process.execPath, config?.args ?? [], { env: { ...config?.env, ...env } });
    child.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    return (await child).stdout;
  };
  for (const SVC_ORG of ["", "${user_config.organization}", tenant.org_id])
    expect(await call({ SVC_ORG })).toContain('"service_list_apps"');
  expect(await call({ SVC_ORG: other.org_id })).toContain('"code":-32003');
  expect(await call({ SVC_TOKEN: "" })).toMatch(
    /-32001.*Create one at http.*enter it in the settings of this extension/,
  );
  expect(await call({ SVC_TOKEN: "svp_x" })).toMatch(/-32001.*, and enter it in the settings of this extension/);
});

test("the same sources give the same bytes in another time zone, with the version of the command line", async () => {
  await using other = await temporaryFolder();
  const built = await readFile(path.join(folder.path, "service.mcpb"));
  expect(await buildExtension(other.path, "America/New_York")).toEqual(built);
  const manifest = JSON.parse(await readFile(path.join(PROJECT, "clients/cli/package.json"), "utf8")) as Manifest;
  expect(readManifest().version).toBe(manifest.version);
});

test("200 serves the extension without authentication, with the URL by which the client knows the service", async () => {
  const alias = `localhost:${new URL(service().service.publicUrl).port}`;
  for (const [host, url] of [
    ["elsewhere.example.com", service().service.publicUrl],
    [alias, `http://${alias}`],
  ] as const) {
    const { statusCode, headers, rawPayload } = await server.inject({
      url: "/downloads/service.mcpb",
      headers: { host },
    });
    expect([statusCode, headers["content-type"], headers["content-disposition"]]).toEqual([
      200,
      "application/octet-stream",
      'attachment; filename="service.mcpb"',
    ]);
    const files = unpackBundle(rawPayload);
    const { user_config: settings } = JSON.parse(Buffer.from(files["manifest.json"]!).toString()) as Manifest;
    expect([host, settings["url"]?.default]).toEqual([host, url]);
    expect(files["server/index.mjs"]).toEqual(unpackBundle(bundle)["server/index.mjs"]);
  }
});

test("503 says how to build an extension that is not built, and the next build is served", async () => {
  await using empty = await temporaryFolder();
  const unbuilt = fastify();
  await unbuilt.register(downloadsPlugin({ publicUrl: () => "https://apps.example.com", folder: empty.path }));
  const missing = await unbuilt.inject("/downloads/service.mcpb");
  expect([missing.statusCode, missing.body, missing.headers["content-disposition"]]).toEqual([
    503,
    expect.stringContaining("npm run setup"),
    undefined,
  ]);
  const first = await readFile(path.join(folder.path, "service.mcpb"));
  for (const content of [first, Buffer.from(packBundle({ ...unpackBundle(first), LICENSE: new Uint8Array(1) }))]) {
    await writeFile(path.join(empty.path, "service.mcpb"), content);
    const served = (await unbuilt.inject("/downloads/service.mcpb")).rawPayload;
    expect(unpackBundle(served)["LICENSE"]).toEqual(unpackBundle(content)["LICENSE"]);
  }
});
