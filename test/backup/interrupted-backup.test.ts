import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { expect } from "vitest";
import { readInstallation } from "../../server/installation/installation.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { deployReady } from "../support/service/backup-apps.ts";
import { readInstallationFiles } from "../support/service/installation-files.ts";
import { runAdmin, startAdmin } from "../support/service/run-admin.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** In milliseconds after the start of the command. `npm run test:crash` kills at more moments. */
const KILLS =
  process.env["TEST_KILLS"] === undefined
    ? [700, 1000]
    : Array.from({ length: Number(process.env["TEST_KILLS"]) }, (_, index) => 400 + index * 100);

/** An installation with one app, which runs. */
async function givenInstallation() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  await (await Repository.create(folder.path, "acme/site")).commitFiles({ "index.html": "<h1>Hello</h1>" });
  const installation = opening.use(await createInstallation());
  const service = await installation.start({ GIT_BASE_URL: pathToFileURL(folder.path).href });
  const app = await deployReady(service.rest, "acme/site");
  const opened = opening.move();
  return {
    ...{ installation, service, app },
    env: { DATA_DIR: installation.dataDirectory },
    place: path.join(folder.path, "backups"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Returns whether the command was killed before its end. */
async function runUntil(killMs: number, env: Record<string, string>, ...args: string[]): Promise<boolean> {
  const child = startAdmin(env, ...args);
  const ended = once(child, "exit");
  await delay(killMs);
  child.kill("SIGKILL");
  const [, signal] = (await ended) as [number | null, string | null];
  return signal === "SIGKILL";
}

verifies(
  hazard(70),
  "a backup that is killed does not exist, leaves nothing behind in PostgreSQL, and the next one completes it",
  async () => {
    await using given = await givenInstallation();
    const { env, installation, place } = given;
    let complete = 0;
    for (const killMs of KILLS) if (!(await runUntil(killMs, env, "backup", place))) complete++;
    const backups = await readdir(path.join(place, "backups")).catch(() => []);
    expect(backups).toHaveLength(complete);
    const last = await runAdmin(env, "backup", place, "--keep", "1", "--json");
    expect([last.stderr, last.code]).toEqual(["", 0]);
    const client = new pg.Client({
      host: path.join(env.DATA_DIR, "database/run"),
      user: "service",
      database: "postgres",
    });
    await client.connect();
    expect((await client.query("select slot_name from pg_replication_slots")).rows).toEqual([]);
    await client.end();
    await using copy = await createInstallation();
    const restored = await runAdmin({ DATA_DIR: copy.dataDirectory }, "restore", place);
    expect([restored.stderr, restored.code]).toEqual(["", 0]);
    expect(await readInstallationFiles(copy.dataDirectory)).toEqual(
      await readInstallationFiles(installation.dataDirectory),
    );
  },
);

verifies(
  hazard(70),
  "the service does not start on the remains of a restore that was killed, and the next restore begins again",
  async () => {
    await using given = await givenInstallation();
    const { env, installation, service, app, place } = given;
    expect((await runAdmin(env, "backup", place)).code).toBe(0);
    await using copy = await createInstallation();
    const copied = { DATA_DIR: copy.dataDirectory };
    for (const killMs of KILLS) {
      await runUntil(killMs, copied, "restore", place);
      const state = (await readInstallation(copy.dataDirectory))?.state;
      if (state === "restored") break;
      if (state === "restoring")
        await expect(copy.start()).rejects.toThrow("is incomplete, because a restore was interrupted");
    }
    const restored = await runAdmin(copied, "restore", place);
    const wasComplete = restored.stderr.includes("is not empty");
    expect([restored.code, restored.stderr]).toEqual(wasComplete ? [1, restored.stderr] : [0, ""]);
    expect(await readInstallationFiles(copy.dataDirectory)).toEqual(
      await readInstallationFiles(installation.dataDirectory),
    );
    const second = await copy.start();
    expect((await second.rest.get(`/v1/apps/${app.id}`)).body).toMatchObject({ status: "ready" });
    expect((await service.rest.get(`/v1/apps/${app.id}`)).body).toMatchObject({ status: "ready" });
  },
);

verifies(
  hazard(70),
  "a restore refuses a folder with data, a damaged backup and an unknown one, and leaves the folder as it was",
  async () => {
    await using given = await givenInstallation();
    const { env, place } = given;
    await using folder = await temporaryFolder();
    const target = path.join(folder.path, "data");
    const restore = async (...args: string[]) => (await runAdmin({ DATA_DIR: target }, "restore", ...args)).stderr;
    expect(await restore(place)).toBe("There is no backup at this place.\n");
    expect(await restore()).toContain("The place of the backups is missing");
    expect((await runAdmin(env, "backup", folder.path)).code).toBe(0);
    expect((await runAdmin(env, "backup", place)).code).toBe(0);
    await mkdir(target);
    await writeFile(path.join(target, "notes.txt"), "mine");
    expect(await restore(place)).toContain("is not empty");
    expect(await readdir(target)).toEqual(["notes.txt"]);
    expect((await runAdmin(env, "restore", place)).stderr).toContain("is not empty");
    expect((await runAdmin(env, "backup", target)).stderr).toContain("has other content (notes.txt)");
    const empty = { DATA_DIR: path.join(folder.path, "empty") };
    expect((await runAdmin(empty, "backup", place)).stderr).toContain("has no installation of the service");
    expect((await runAdmin(empty, "restore", place, "--backup", "20200101T000000Z-000000")).stderr).toContain(
      "no backup 2020",
    );
    for (const chunk of await readdir(path.join(place, "chunks"), { recursive: true, withFileTypes: true }))
      if (chunk.isFile()) await writeFile(path.join(chunk.parentPath, chunk.name), "damaged");
    expect((await runAdmin(empty, "restore", place)).stderr).toContain("The backup is damaged: chunk");
  },
);
