import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import type { RestClient } from "../support/clients/rest-client.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { claudeCode } from "./drivers/claude-code.ts";
import { codex } from "./drivers/codex.ts";
import { geminiCli } from "./drivers/gemini-cli.ts";
import { opencode } from "./drivers/opencode.ts";
import { installClient } from "./install-client.ts";
import { runWithModel } from "./run-with-model.ts";

/** Clients that send the tools of an organization to a model, which refuses the whole request for one tool that it cannot read. */
const CLIENTS = [claudeCode, codex, opencode, geminiCli];
const SMALL_APPS = 80;
const SETUP_TIMEOUT_MS = 15 * 60_000;
const POLL_MS = 500;
const READY_TIMEOUT_MS = 120_000;

const UNION_APP = {
  "package.json": JSON.stringify({
    type: "module",
    main: "index.js",
    dependencies: { "@trpc/server": "11.4.3", zod: "4.0.5" },
  }),
  "index.js": `
    import { initTRPC } from "@trpc/server";
    import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
    import { z } from "zod";
    const t = initTRPC.create();
    const circle = z.object({ kind: z.literal("circle"), radius: z.number() });
    const square = z.object({ kind: z.literal("square"), "side (cm)": z.int(), tags: z.array(z.unknown()) });
    export const appRouter = t.router({
      area: t.procedure.input(z.discriminatedUnion("kind", [circle, square])).query(() => 1),
      byId: t.procedure.input(z.string()).query(({ input }) => input),
      [${JSON.stringify("aVeryLongNameOfAProcedure".repeat(4))}]: t.procedure.query(() => 1),
    });
    export default {
      fetch: (req) => fetchRequestHandler({ endpoint: "/trpc", req, router: appRouter, createContext: () => ({}) }),
    };`,
};

const SMALL_APP = {
  "index.js": `export default { fetch: (request) => new Response(new URL(request.url).pathname) };`,
  "openapi.json": JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Small", version: "1" },
    paths: {
      "/items/{id}": {
        get: {
          operationId: "findItem",
          parameters: [
            { name: "id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
            { name: "filter[name]", in: "query", schema: { anyOf: [{ type: "string" }, { type: "integer" }] } },
          ],
          responses: { 200: { description: "An item" } },
        },
      },
    },
  }),
};

const resources = new AsyncDisposableStack();
let folder: string;
let service: ServiceProcess;

async function deploy(rest: RestClient, repo: string): Promise<string> {
  const { status, body, text } = await rest.post("/v1/apps/deploy", { repo });
  if (status !== 201) throw new Error(`the deployment of ${repo} was rejected: ${text}`);
  return String(body["app_id"]);
}

async function waitUntilReady(rest: RestClient, appId: string): Promise<void> {
  const isReady = async () => expect((await rest.get(`/v1/apps/${appId}`)).body["status"]).toBe("ready");
  await vi.waitFor(isReady, { interval: POLL_MS, timeout: READY_TIMEOUT_MS });
}

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  const plans = path.join(folder, "plans.json");
  const plan = { apps: SMALL_APPS + 10, deploys: { limit: 1000, window_seconds: 300 }, storage_mb: 512 };
  await writeFile(plans, JSON.stringify({ free: plan }));
  await (await Repository.create(folder, "acme/an-app-with-a-rather-long-name-for-a-tool")).commitFiles(UNION_APP);
  await (await Repository.create(folder, "acme/small")).commitFiles(SMALL_APP);
  const installation = resources.use(await createInstallation());
  service = await installation.start({ GIT_BASE_URL: `file://${folder}`, PLANS_FILE: plans });
  const repos = [
    "acme/an-app-with-a-rather-long-name-for-a-tool",
    ...Array.from({ length: SMALL_APPS }, () => "acme/small"),
  ];
  const apps: string[] = [];
  for (const repo of repos) apps.push(await deploy(service.rest, repo));
  for (const app of apps) await waitUntilReady(service.rest, app);
}, SETUP_TIMEOUT_MS);

afterAll(() => resources.disposeAsync());

describe.each(CLIENTS)("$name", (client) => {
  test(`works in an organization with a union, a long name and ${SMALL_APPS} small apps`, async () => {
    const installed = path.join(folder, client.packageName.replaceAll("/", "-"));
    await mkdir(installed);
    const signal = AbortSignal.timeout(SETUP_TIMEOUT_MS);
    const programs = await installClient(client, installed, signal);
    const gatewayUrl = `${service.publicUrl}/mcp`;
    const authorize = () => Promise.reject(new Error("no sign-in is needed"));
    const { tools, toolResult } = await runWithModel({ programs, signal, gatewayUrl, authorize }, async (run) => {
      const result = await client.connectWithToken(run, service.tokens.personal_access_token);
      expect(run.model.requests().filter((request) => request.startsWith("refused"))).toEqual([]);
      return result;
    });
    expect(toolResult).toContain("small");
    // Codex replaces hyphens.
    expect(tools.filter((name) => /^small[-_]/.test(name))).toHaveLength(SMALL_APPS);
    expect(tools.filter((name) => /^an[-_]app[-_]/.test(name))).toHaveLength(3);
  });
});
