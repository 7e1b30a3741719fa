import { readdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import type { AppStatus } from "../../domain/apps/app-status.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { SERVICES } from "../support/service/databases.ts";
import { install, type Installation, type ServiceProcess, stillThere } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

const APP = { "src/index.ts": `export default { fetch: () => new Response("alive") };` };
const SLOW = { ...APP, "package.json": JSON.stringify({ scripts: { build: "sleep 3" } }) };

async function statusOf(service: ServiceProcess, id: string): Promise<string> {
  return String((await service.rest.get(`/v1/apps/${id}`)).body["status"]);
}

/** @param pollMs - short to catch a moment that passes quickly */
async function until(
  service: ServiceProcess,
  id: string,
  statuses: string[],
  pollMs = 200,
): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await service.rest.get(`/v1/apps/${id}`);
    if (statuses.includes(String(body["status"]))) return body;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function withRepository<T>(
  use: (installation: Installation, env: Record<string, string>) => Promise<T>,
): Promise<T> {
  await using folder = await temporaryFolder();
  await using installation = await install();
  await (await Repository.create(folder.path, "acme/slow")).commitFiles(SLOW);
  return await use(installation, { GIT_BASE_URL: pathToFileURL(folder.path).href });
}

/** Most of the time passes until the lease of a killed process expires, so the tests run at the same time. */
const TOGETHER = { timeout: 180_000, concurrent: true };

/** On outside servers, a crash differs in what happens to connections, and that is the same at every moment. */
const MOMENTS: AppStatus[] = SERVICES === null ? ["queued", "cloning", "building", "provisioning"] : ["building"];

for (const moment of MOMENTS) {
  verifies(
    [hazard(41), hazard(42)],
    `a service that is killed while an app is ${moment} finishes the deployment after the next start, and leaves no process`,
    async () => {
      await withRepository(async (installation, env) => {
        const first = await installation.start(env);
        const { body } = await first.rest.deploy({ repo: "acme/slow" });
        const id = String(body["app_id"]);
        if (moment !== "queued") await until(first, id, [moment, "ready"], 10);
        const children = await first.descendants();
        await first.end("SIGKILL");
        const second = await installation.start(env);
        const app = await until(second, id, ["ready", "failed", "canceled"]);
        expect(app).toMatchObject({ status: "ready", error: null });
        expect(await appRequest(String(app["url"]).replace(/:\d+$/, `:${portOf(app)}`))).toEqual({
          status: 200,
          text: "alive",
        });
        expect(await stillThere(children)).toEqual([]);
        expect((await second.rest.get("/v1/apps")).body["apps"]).toHaveLength(1);
        await second.end("SIGTERM");
        expect(await readdir(path.join(installation.dataDirectory, "builds")).catch(() => [])).toEqual([]);
      });
    },
    TOGETHER,
  );
}

/** The address of an app follows the port of the process that is asked. */
function portOf(app: Record<string, unknown>): string {
  return new URL(String(app["url"])).port;
}

verifies(
  [hazard(41), hazard(46)],
  "a service that stops during a build requeues it, leaves no process, and finishes the build after the next start",
  async () => {
    await withRepository(async (installation, env) => {
      const first = await installation.start(env);
      const live = await first.rest.deploy({ repo: "examples/hello" });
      await until(first, String(live.body["app_id"]), ["ready"]);
      expect((await appRequest(String(live.body["url"]))).status).toBe(200);
      const { body } = await first.rest.deploy({ repo: "acme/slow" });
      const id = String(body["app_id"]);
      await until(first, id, ["building"]);
      const children = await first.descendants();
      expect(await first.end("SIGTERM")).toBe(0);
      expect(await stillThere(children)).toEqual([]);
      const second = await installation.start(env);
      expect((await until(second, id, ["ready", "failed"]))["status"]).toBe("ready");
      const { body: log } = await second.rest.get(`/v1/apps/${id}/logs`);
      expect(log["logs"]).toContain("interrupted by a restart");
      await second.end("SIGTERM");
    });
  },
  TOGETHER,
);

verifies(
  hazard(60),
  "a service that is killed during a deletion finishes it after the next start",
  async () => {
    await withRepository(async (installation, env) => {
      const first = await installation.start(env);
      const { body } = await first.rest.deploy({ repo: "acme/slow" });
      const id = String(body["app_id"]);
      await until(first, id, ["ready"]);
      const deletion = first.rest.delete(`/v1/apps/${id}`).catch(() => undefined);
      await until(first, id, ["deleting", "undefined"], 10).catch(() => undefined);
      await first.end("SIGKILL");
      await deletion;
      const second = await installation.start(env);
      await until(second, id, ["undefined"]);
      expect(await statusOf(second, id)).toBe("undefined");
      for (const kept of ["objects", "auth-entries"])
        expect(
          (await readdir(path.join(installation.dataDirectory, kept), { recursive: true })).filter((name) =>
            name.includes(id),
          ),
        ).toEqual([]);
      await second.end("SIGTERM");
    });
  },
  TOGETHER,
);
