import { readdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import type { AppStatus } from "../../domain/apps/app-status.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { Repository } from "../support/builds/git-repository.ts";
import {
  createInstallation,
  type Installation,
  type ServiceProcess,
  stillRunning,
} from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

const APP = { "src/index.ts": `export default { fetch: () => new Response("alive") };` };
const SLOW = { ...APP, "package.json": JSON.stringify({ scripts: { build: "sleep 3" } }) };

/** The status of an app without a record. */
const ABSENT = "absent";

/**
 * Waits until an app has one of the statuses, and returns its details.
 *
 * @param pollMs - short to observe a status that lasts for a moment only
 */
async function until(
  service: ServiceProcess,
  id: string,
  statuses: string[],
  pollMs = 200,
): Promise<Record<string, unknown>> {
  for (;;) {
    const { status, body } = await service.rest.get(`/v1/apps/${id}`);
    if (statuses.includes(status === 404 ? ABSENT : String(body["status"]))) return body;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function withRepository<T>(
  use: (installation: Installation, env: Record<string, string>) => Promise<T>,
): Promise<T> {
  await using folder = await temporaryFolder();
  await using installation = await createInstallation();
  await (await Repository.create(folder.path, "acme/slow")).commitFiles(SLOW);
  return await use(installation, { GIT_BASE_URL: pathToFileURL(folder.path).href });
}

/** The tests run concurrently, because most of their time they wait until the lease of a killed process expires. */
const CONCURRENT = { concurrent: true };

/** `npm run test:crash` kills the service in every status. A crash beside outside servers differs only in its connections. */
const STATUSES: AppStatus[] =
  process.env["TEST_KILLS"] === undefined ? ["building"] : ["queued", "cloning", "building", "provisioning"];

for (const status of STATUSES) {
  verifies(
    [hazard(41), hazard(42)],
    `a service that is killed while an app is ${status} finishes the deployment after the next start, and leaves no process`,
    async () => {
      await withRepository(async (installation, env) => {
        const first = await installation.start(env);
        const { body } = await first.rest.deploy({ repo: "acme/slow" });
        const id = String(body["app_id"]);
        if (status !== "queued") await until(first, id, [status, "ready"], 10);
        const children = await first.descendants();
        expect(children.length).toBeGreaterThan(0);
        await first.end("SIGKILL");
        const second = await installation.start(env);
        const app = await until(second, id, ["ready", "failed", "canceled"]);
        expect(app).toMatchObject({ status: "ready", error: null });
        expect(await appRequest(String(app["url"]))).toEqual({ status: 200, text: "alive" });
        expect(await stillRunning(children)).toEqual([]);
        expect((await second.rest.get("/v1/apps")).body["apps"]).toHaveLength(1);
        await second.end("SIGTERM");
        expect(await readdir(path.join(installation.dataDirectory, "builds"))).toEqual([]);
      });
    },
    CONCURRENT,
  );
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
      expect(children.length).toBeGreaterThan(0);
      expect(await first.end("SIGTERM")).toBe(0);
      expect(await stillRunning(children)).toEqual([]);
      const second = await installation.start(env);
      expect((await until(second, id, ["ready", "failed"]))["status"]).toBe("ready");
      const { body: log } = await second.rest.get(`/v1/apps/${id}/logs`);
      expect(log["logs"]).toContain("interrupted by a restart");
      await second.end("SIGTERM");
    });
  },
  CONCURRENT,
);

/** Folders with files whose name contains the id of their app. */
const FOLDERS_OF_APPS = ["objects", "auth-entries"];

verifies(
  hazard(60),
  "a service that is killed during a deletion finishes it after the next start",
  async () => {
    await withRepository(async (installation, env) => {
      const first = await installation.start(env);
      const { body } = await first.rest.deploy({ repo: "acme/slow" });
      const id = String(body["app_id"]);
      await until(first, id, ["ready"]);
      const filesOfApp = async (folder: string) => {
        const names = await readdir(path.join(installation.dataDirectory, folder), { recursive: true });
        return names.filter((name) => name.includes(id));
      };
      for (const folder of FOLDERS_OF_APPS) expect([folder, await filesOfApp(folder)]).not.toEqual([folder, []]);
      const deletion = first.rest.delete(`/v1/apps/${id}`).catch(() => undefined);
      await until(first, id, ["deleting", ABSENT], 10);
      await first.end("SIGKILL");
      await deletion;
      const second = await installation.start(env);
      await until(second, id, [ABSENT]);
      for (const folder of FOLDERS_OF_APPS) expect([folder, await filesOfApp(folder)]).toEqual([folder, []]);
      await second.end("SIGTERM");
    });
  },
  CONCURRENT,
);
