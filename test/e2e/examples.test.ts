import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { createEmptyDatabase, SERVICES } from "../support/service/test-databases.ts";
import {
  createInstallation,
  type ServiceProcess,
  stillRunning,
  withoutHelpers,
} from "../support/service/service-process.ts";
import { verifies } from "../support/verifies.ts";

interface DeployedApp {
  id: string;
  url: string;
  token: string;
}

async function deploy(service: ServiceProcess, example: string): Promise<DeployedApp> {
  const { status, body } = await service.rest.deploy({ repo: `examples/${example}` });
  expect([example, status]).toEqual([example, 201]);
  return { id: String(body["app_id"]), url: String(body["url"]), token: String(body["app_token"]) };
}

/** Waits until an app is ready, and returns its details. */
async function waitUntilReady(service: ServiceProcess, { id }: DeployedApp): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await service.rest.get(`/v1/apps/${id}`);
    if (body["status"] === "ready") return body;
    if (body["status"] === "failed")
      throw new Error(JSON.stringify([body, (await service.rest.get(`/v1/apps/${id}/logs`)).body]));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Checks the responses of each example. */
const CHECKS: Record<string, (app: DeployedApp) => Promise<void>> = {
  async hello({ url }) {
    expect(await appRequest(url)).toEqual({ status: 200, text: expect.stringContaining("Hello") });
  },
  async site({ url }) {
    const page = await appRequest(url);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("<!doctype html>")]);
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1];
    expect((await appRequest(new URL(script ?? "/missing.js", url).href)).status).toBe(200);
  },
  async guestbook({ url }) {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const signed = await appRequest(url, {
      method: "POST",
      headers: form,
      body: "name=Ada&message=%3Cb%3Ehello%3C%2Fb%3E",
    });
    expect(signed.status).toBe(303);
    const page = await appRequest(url);
    expect(page.text).toContain("&lt;b&gt;hello&lt;/b&gt;");
    expect(page.text).not.toContain("<b>hello</b>");
  },
  async invoices({ url, token }) {
    const invoice = JSON.stringify({ customer: "Acme", cents: 1250, due: "2026-12-24" });
    const headers = { "content-type": "application/json" };
    const call = (extra: object) =>
      appRequest(`${url}/trpc/create`, { method: "POST", headers: { ...headers, ...extra }, body: invoice });
    expect((await call({})).status).toBe(401);
    expect((await call({ "x-service-auth": "app" })).status).toBe(401);
    expect((await call({ authorization: `Bearer ${token}` })).status).toBe(200);
    const sum = await appRequest(`${url}/trpc/outstanding`);
    expect(JSON.parse(sum.text)).toEqual({ result: { data: { count: 1, cents: 1250 } } });
  },
  async crm({ url, token }) {
    const post = { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${token}` } };
    const call = async (name: string, input: object) => {
      const { text } = await appRequest(`${url}/trpc/${name}`, { ...post, body: JSON.stringify(input) });
      return (JSON.parse(text) as { result: { data: { id: number } } }).result.data;
    };
    const { id: companyId } = await call("companies.create", { name: "Acme" });
    const { id } = await call("deals.create", { title: "A first order", companyId, cents: 4200 });
    await call("deals.move", { id, stage: "won" });
    const pipeline = await appRequest(`${url}/trpc/deals.pipeline`);
    expect(JSON.parse(pipeline.text)).toEqual({ result: { data: [{ stage: "won", count: 1, cents: 4200 }] } });
    const input = encodeURIComponent(JSON.stringify({ text: "ada" }));
    await call("contacts.create", { name: "Ada", email: "ada@example.com", companyId });
    expect((await appRequest(`${url}/trpc/contacts.search?input=${input}`)).text).toContain("ada@example.com");
  },
  async "tasks-api"({ url, token }) {
    const headers = { "content-type": "application/json" };
    const trusted = { ...headers, authorization: `Bearer ${token}` };
    const body = JSON.stringify({ title: "Water the plants", due: "2026-12-24" });
    expect((await appRequest(`${url}/tasks`, { method: "POST", headers, body })).status).toBe(401);
    const added = await appRequest(`${url}/tasks`, { method: "POST", headers: trusted, body });
    expect([added.status, JSON.parse(added.text)]).toMatchObject([201, { id: 1, done: false }]);
    const patch = { method: "PATCH", headers: trusted, body: `{"done":true}` };
    expect(JSON.parse((await appRequest(`${url}/tasks/1`, patch)).text)).toMatchObject({ id: 1, done: true });
    expect(JSON.parse((await appRequest(`${url}/tasks?done=false`)).text)).toEqual([]);
    expect((await appRequest(`${url}/tasks/2`)).status).toBe(404);
  },
  async "notes-mcp"({ url, token }) {
    const headers = { "content-type": "application/json" };
    const call = async (name: string, input: object, extra: object = {}) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } });
      const response = await appRequest(`${url}/mcp`, { method: "POST", headers: { ...headers, ...extra }, body });
      return (JSON.parse(response.text) as { result: object }).result;
    };
    const text = "Water the plants";
    expect(await call("write_note", { text })).toMatchObject({ isError: true });
    const written = await call("write_note", { text }, { authorization: `Bearer ${token}` });
    expect(written).toMatchObject({ structuredContent: { id: 1, text } });
    expect(await call("search_notes", { text: "plants" })).toMatchObject({ structuredContent: { notes: [{ text }] } });
  },
};

/** Finds the files and folders in `folder` whose name or content contains `text`. */
async function findMentions(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const isInContent =
        entry.isFile() &&
        (await readFile(file).then(
          (content) => content.includes(text),
          () => false,
        ));
      return entry.name.includes(text) || isInContent ? [file] : [];
    }),
  );
  return found.flat();
}

const FRAMEWORKS: Record<string, string> = { site: "vite", guestbook: "hono", "tasks-api": "hono" };

const EXAMPLES = Object.entries(CHECKS);

/**
 * The examples that one service deploys. An organization can deploy only 5 times in 5 minutes, so there are two services.
 * On outside servers, only the records and the jobs are elsewhere, which one example with a database and a token shows.
 */
const GROUPS =
  SERVICES === null
    ? [EXAMPLES.slice(0, 4), EXAMPLES.slice(4)]
    : [EXAMPLES.filter(([example]) => example === "invoices")];

for (const group of GROUPS) {
  const examples = group.map(([example]) => example);
  verifies(
    [
      "apps.state.ready",
      "apps.token.bearer",
      "apps.delete.script",
      "apps.delete.database",
      "apps.delete.sources",
      "apps.delete.auth_entry",
      "rest.get.manifest.framework",
    ],
    `the examples ${examples.join(", ")} are deployed, respond, and leave no data and no process when they are deleted`,
    async () => {
      // On an outside PostgreSQL, the service migrates an empty database, as at its first start.
      await using installation = await createInstallation(createEmptyDatabase);
      const service = await installation.start();
      const ownProcesses = new Set(await service.descendants());
      const apps = await Promise.all(examples.map((example) => deploy(service, example)));
      const details = await Promise.all(apps.map((app) => waitUntilReady(service, app)));
      expect(details.map(({ manifest }) => (manifest as { framework?: string }).framework)).toEqual(
        examples.map((example) => FRAMEWORKS[example]),
      );
      for (const [at, [, check]] of group.entries()) await check(apps[at]!);
      const started = (await service.descendants()).filter((pid) => !ownProcesses.has(pid));
      const processes = await withoutHelpers(started);
      expect(processes.length).toBeGreaterThanOrEqual(apps.length);
      for (const { id } of apps)
        expect((await service.rest.delete(`/v1/apps/${id}`)).body).toEqual({ status: "deleted" });
      for (const { id, url, token } of apps) {
        expect((await appRequest(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
        for (const folder of ["edge", "objects", "auth-entries", "builds"])
          expect(await findMentions(path.join(installation.dataDirectory, folder), id)).toEqual([]);
      }
      expect(await stillRunning(processes)).toEqual([]);
      expect(service.output()).not.toContain(apps[0]?.token);
      expect(await service.end("SIGTERM")).toBe(0);
    },
  );
}
