import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { createInstallation, type Installation, type ServiceProcess } from "../support/service/service-process.ts";
import { waitFor } from "../support/time-limits.ts";

const OBJECTS = 60;
/** More than the system buffers for a connection, in bytes, and not compressible. */
const OBJECT_BYTES = 512 * 1024;

const FILES = {
  "wrangler.json": JSON.stringify({
    name: "objects",
    main: "index.js",
    compatibility_date: "2026-07-01",
    r2_buckets: [{ binding: "BUCKET", bucket_name: "objects" }],
  }),
  "index.js": `export default { async fetch(request, { BUCKET }) {
    if (request.method === "POST")
      for (let n = 0; n < ${OBJECTS}; n++) {
        const content = new Uint8Array(${OBJECT_BYTES});
        for (let at = 0; at < content.length; at += 65536) crypto.getRandomValues(content.subarray(at, at + 65536));
        await BUCKET.put("object " + n, content);
      }
    return Response.json((await BUCKET.list()).objects.length);
  } }`,
};

async function deployFilled({ rest }: ServiceProcess): Promise<string> {
  const { body } = await rest.deploy({ files: FILES, name: "objects" });
  const id = String(body["app_id"]);
  await waitFor(async () => expect((await rest.get(`/v1/apps/${id}`)).body["status"]).toBe("ready"));
  const { url } = (await rest.get(`/v1/apps/${id}`)).body;
  expect(await appRequest(String(url), { method: "POST" })).toEqual({ status: 200, text: String(OBJECTS) });
  return id;
}

function post({ publicUrl, tokens }: ServiceProcess, target: string, headers = {}): ClientRequest {
  const authorization = `Bearer ${tokens.api_key}`;
  return request(`${publicUrl}${target}`, { method: "POST", headers: { authorization, ...headers }, agent: false });
}

/** Starts an export, and returns the response with nothing read of its body. */
async function startExport(service: ServiceProcess, id: string): Promise<IncomingMessage> {
  const [response] = (await once(post(service, `/v1/apps/${id}/export`).end(), "response")) as [IncomingMessage];
  return response;
}

async function readResponse(response: IncomingMessage): Promise<{ status: number | undefined; body: Buffer }> {
  return { status: response.statusCode, body: await buffer(response) };
}

const readExport = async (service: ServiceProcess, id: string) => readResponse(await startExport(service, id));

/** The number of the objects in an export, by its manifest, which comes first. */
function countObjects(file: Buffer): number {
  const tar = gunzipSync(file);
  const size = Number.parseInt(tar.toString("latin1", 124, 135), 8);
  const { members } = JSON.parse(tar.toString("utf8", 512, 512 + size)) as { members: { path: string }[] };
  return members.filter(({ path: name }) => name.includes("/blobs/")).length;
}

/** The errors in the log, but those about too many exports. */
function readErrors(service: ServiceProcess): string[] {
  const lines = service.output().split("\n");
  return lines.filter((line) => line.includes('"level":50') && !line.includes("Other apps are being exported."));
}

const copiesOf = ({ dataDirectory }: Installation) => readdir(path.join(dataDirectory, "app-data-copies"));

test("an export whose download is aborted leaves no copy, and does not keep others from theirs", async () => {
  await using installation = await createInstallation();
  const service = await installation.start();
  const id = await deployFilled(service);
  for (let turn = 0; turn < 3; turn++) {
    const response = await startExport(service, id);
    expect(response.statusCode).toBe(200);
    await once(response, "readable");
    expect(await copiesOf(installation)).toHaveLength(1);
    // The organization has one export at a time.
    const { status, body } = await readExport(service, id);
    expect([status, String(body)]).toEqual([503, expect.stringContaining("Other apps are being exported.")]);
    response.destroy();
    await expect.poll(() => copiesOf(installation)).toEqual([]);
  }
  // Also while the data is copied.
  const copying = post(service, `/v1/apps/${id}/export`).on("error", () => undefined);
  copying.end();
  await expect.poll(() => copiesOf(installation)).toHaveLength(1);
  copying.destroy();
  await expect.poll(() => copiesOf(installation)).toEqual([]);
  const { status, body } = await readExport(service, id);
  expect([status, countObjects(body)]).toEqual([200, OBJECTS]);
  expect(readErrors(service)).toEqual([]);
});

test("an export of an app that is deleted meanwhile is complete, or says that there is no such app", async () => {
  await using installation = await createInstallation();
  const service = await installation.start();
  const statuses = new Set<number | undefined>();
  for (const waitMs of [0, 60, 300, null]) {
    const id = await deployFilled(service);
    const starting = startExport(service, id);
    if (waitMs === null) await starting;
    else await delay(waitMs);
    const { status } = await service.rest.delete(`/v1/apps/${id}`);
    expect([200, 202]).toContain(status);
    const exported = await readResponse(await starting);
    statuses.add(exported.status);
    const result =
      exported.status === 200 ? `200 ${countObjects(exported.body)}` : `${exported.status} ${String(exported.body)}`;
    expect([`200 ${OBJECTS}`, '404 {"error":"App not found"}']).toContain(result);
    await expect.poll(() => copiesOf(installation)).toEqual([]);
  }
  expect(statuses).toContain(200);
  expect(readErrors(service)).toEqual([]);
});

test("an import whose service is killed while it is uploaded or checked leaves nothing, and can be repeated", async () => {
  await using installation = await createInstallation();
  let service = await installation.start();
  const { status, body: file } = await readExport(service, await deployFilled(service));
  expect(status).toBe(200);
  const headers = { "content-type": "application/gzip", "idempotency-key": "move-1", "content-length": file.length };
  const apps = async () => (await service.rest.get("/v1/apps")).body["apps"] as { name: string; status: string }[];
  for (const [share, waitMs] of [
    [0.5, 200],
    [1, 0],
    [1, 100],
  ] as const) {
    const upload = post(service, "/v1/apps/import?name=moved", headers).on("error", () => undefined);
    upload.write(file.subarray(0, Math.floor(file.length * share)));
    await new Promise((resolve) => upload.once("drain", resolve));
    await delay(waitMs);
    await service.end("SIGKILL");
    service = await installation.start();
    expect(await copiesOf(installation)).toEqual([]);
  }
  const imported = await service.rest.send("POST", "/v1/apps/import?name=moved", {
    body: file as Buffer<ArrayBuffer>,
    headers: { "content-type": "application/gzip", "idempotency-key": "move-1" },
  });
  expect([imported.status, imported.text]).toEqual([201, imported.text]);
  // An import that was recorded before the crash is the same one.
  await expect
    .poll(async () => (await apps()).map(({ name, status }) => `${name} ${status}`).toSorted())
    .toEqual(["moved ready", "objects ready"]);
  const { url } = (await service.rest.get(`/v1/apps/${String(imported.body["app_id"])}`)).body;
  expect((await appRequest(String(url))).text).toBe(String(OBJECTS));
});
