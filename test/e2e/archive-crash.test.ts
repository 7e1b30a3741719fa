import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { expect } from "vitest";
import { tarOf, tarOfFiles } from "../support/archives.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation, type ServiceProcess, stillRunning } from "../support/service/service-process.ts";
import { uploadArchive } from "../support/service/upload-archive.ts";
import { waitFor } from "../support/time-limits.ts";
import { hazard, verifies } from "../support/verifies.ts";

const SLOW = {
  "src/index.js": `export default { fetch: () => new Response("alive") };`,
  "package.json": JSON.stringify({ scripts: { build: "sleep 3" } }),
};

/** The files of archives in the data folder: stored ones, and copies while they are received and read. */
async function archivesIn(dataDirectory: string): Promise<string[]> {
  const folders = ["objects/archives", "imports", "archive-checks"];
  const listed = folders.map(async (folder) => {
    const all = await readdir(path.join(dataDirectory, folder), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    return all.filter((entry) => entry.isFile()).map(() => folder);
  });
  return (await Promise.all(listed)).flat();
}

async function waitForApp(service: ServiceProcess, id: string, status: string): Promise<Record<string, unknown>> {
  return waitFor(async () => {
    const { body } = await service.rest.get(`/v1/apps/${id}`);
    expect(body["status"]).toBe(status);
    return body;
  });
}

/** Sends the first half of an archive, and keeps the connection open. */
async function sendHalf({ publicUrl, tokens }: ServiceProcess, archive: Buffer): Promise<void> {
  const sent = request(`${publicUrl}/v1/archives`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tokens.api_key}`,
      "content-type": "application/x-tar",
      "content-length": archive.length,
    },
  });
  sent.on("error", () => undefined);
  await new Promise((resolve) => sent.write(archive.subarray(0, archive.length / 2), resolve));
  await once(sent, "socket").catch(() => undefined);
}

verifies(
  [hazard(41), hazard(46)],
  "a service that is killed during an upload keeps nothing of it, and the upload can be repeated",
  async () => {
    await using installation = await createInstallation();
    const first = await installation.start();
    const archive = await tarOf([{ name: "data", text: randomBytes(8 * 1024 * 1024) }]);
    const kept = await uploadArchive(first.rest, await tarOfFiles(SLOW));
    void sendHalf(first, archive);
    // The body has begun to arrive: its file has no name, so only its folder exists.
    await waitFor(async () => expect(await readdir(path.join(installation.dataDirectory, "imports"))).toEqual([]));
    // Another one is killed while it is inspected or stored.
    const uploading = uploadArchive(first.rest, archive).catch(() => null);
    await waitFor(async () => expect(await archivesIn(installation.dataDirectory)).not.toEqual(["objects/archives"]));
    await first.end("SIGKILL");
    const response = await uploading;
    const second = await installation.start();
    const expected = ["objects/archives", ...(response?.status === 201 ? ["objects/archives"] : [])];
    expect(await archivesIn(installation.dataDirectory)).toEqual(expected);
    expect(await uploadArchive(second.rest, archive)).toMatchObject({ status: 201, body: { file_count: 1 } });
    // What was acknowledged before the kill can be deployed.
    expect((await second.rest.deploy({ archive: kept.body.id })).status).toBe(201);
    await second.end("SIGTERM");
  },
);

/** The status of the deployment when the service is killed. A short one may have passed between two looks. */
const MOMENTS = ["queued", "cloning", "building", "provisioning"] as const;

verifies(
  [hazard(41), hazard(42)],
  "a service that is killed while an archive is deployed finishes this one deployment after the next start",
  async () => {
    await using installation = await createInstallation();
    let service = await installation.start();
    const { body: archive } = await uploadArchive(service.rest, await tarOfFiles(SLOW));
    for (const [at, moment] of MOMENTS.entries()) {
      const headers = { "idempotency-key": moment };
      const { body } = await service.rest.deploy({ archive: archive.id }, headers);
      const id = String(body["app_id"]);
      await waitFor(async () => {
        const { body: app } = await service.rest.get(`/v1/apps/${id}`);
        expect([...MOMENTS, "ready"].slice(at)).toContain(app["status"]);
      });
      const children = await service.descendants();
      await service.end("SIGKILL");
      service = await installation.start();
      expect((await service.rest.deploy({ archive: archive.id }, headers)).body["app_id"]).toBe(id);
      const app = await waitForApp(service, id, "ready");
      expect(await appRequest(String(app["url"]))).toEqual({ status: 200, text: "alive" });
      expect(await stillRunning(children)).toEqual([]);
      expect((await service.rest.get("/v1/apps")).body["apps"]).toHaveLength(at + 1);
      const { deployments } = (await service.rest.get(`/v1/apps/${id}/deployments`)).body;
      expect(deployments).toMatchObject([{ number: 1, status: "ready", commit: archive.id.slice(0, 40) }]);
    }
    await service.end("SIGTERM");
    expect(await readdir(path.join(installation.dataDirectory, "builds"))).toEqual([]);
  },
);
