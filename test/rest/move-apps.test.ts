import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { Archive } from "../../domain/archives/archive.entity.ts";
import { App } from "../../domain/apps/app.entity.ts";
import { IMPORT_BUCKET } from "../../domain/exports/import-objects.ts";
import { type GivenEntry, tarOfFiles } from "../support/archives.ts";
import { exportOf } from "../support/builds/given-export.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const parts = () => service().service.parts;
const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

/** Sends an export as the body of a request. */
function send(owner: Tenant, file: Uint8Array, headers: Record<string, string> = {}) {
  const body = Buffer.from(file);
  return owner.rest.send("POST", "/v1/apps/import", {
    body,
    headers: { "content-type": "application/gzip", ...headers },
  });
}

verifies("apps.import", "an export becomes a new app, once for each idempotency key", async () => {
  const owner = await service().tenant();
  const file = await exportOf();
  const headers = { "idempotency-key": "move-1" };
  const first = await send(owner, file, headers);
  expect(first).toMatchObject({ status: 201, body: { missing_variables: ["REGION"], warnings: [] } });
  expect((await send(owner, file, headers)).body).toEqual(first.body);
  const em = parts().orm.em.fork();
  expect(await em.find(App, { orgId: owner.org_id })).toMatchObject([{ name: "moved", importKey: expect.any(String) }]);
});

test("400 says what is wrong with a file, and nothing of it is stored", async () => {
  const good = await exportOf();
  const member = (name: string, more: Partial<GivenEntry> = {}): GivenEntry => ({ name, ...more });
  const hostile: [Buffer, string][] = [
    [Buffer.from("no export"), "file: it is not compressed by gzip"],
    [gzipSync(await tarOfFiles({ a: "a" })), "manifest.json is not its first file"],
    [good.subarray(0, good.length - 40), "file: the file ends too early"],
    [await exportOf({ manifest: { version: 3 } }), "it has version 3 of the format"],
    [await exportOf({ manifest: { members: [] } }), "manifest.json is damaged"],
    [await exportOf({ entries: [member("../x")] }), '"../x" is not a safe path'],
    [await exportOf({ entries: [member("/etc/x")] }), '"/etc/x" is not a safe path'],
    [await exportOf({ entries: [member("l", { type: "symlink", linkname: "/etc/passwd" })] }), "is not a regular file"],
    [await exportOf({ entries: [member("l", { type: "link", linkname: "manifest.json" })] }), "is not a regular file"],
    [await exportOf({ entries: [member("data/more")] }), '"data/more" is not as manifest.json says'],
    [await exportOf({ entries: [] }), "it does not have all files"],
    [await exportOf({ data: { "other/x": "1" } }), '"other/x" is not a path of an app'],
    [await exportOf({ data: { "data/escape/x": "1" } }), '"data/escape/x" is not a path of an app'],
    [await exportOf({ data: { "data/postgres/x": "1" } }), '"data/postgres/x" is not a path of an app'],
    // The database of an app that is not a Node server, and one that the version of the format does not have.
    [await exportOf({ manifest: { version: 2 }, data: { "data/postgres/0-schema.sql": "1" } }), "is damaged"],
    [await exportOf({ manifest: { runtime: "node" }, data: { "data/postgres/0-schema.sql": "1" } }), "is damaged"],
  ];
  for (const [file, error] of hostile) {
    // Each attempt counts against the deploy limit.
    const owner = await service().tenant();
    expect(await send(owner, file)).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } });
    const em = parts().orm.em.fork();
    expect(await em.count(App, { orgId: owner.org_id })).toBe(0);
    expect(await em.count(Archive, { orgId: owner.org_id })).toBe(0);
    const stored = await parts().service.objects.list(IMPORT_BUCKET);
    expect(stored.filter(({ key }) => key.startsWith(owner.org_id))).toEqual([]);
  }
});

test("an export that unpacks to more than the plan permits is refused before it is unpacked", async () => {
  const owner = await service().tenant();
  const huge = { path: "data/storage/data/x", size: 2 ** 50, sha256: sha256(Buffer.alloc(0)) };
  const source = { path: "source.archive", size: 1, sha256: sha256(Buffer.alloc(0)) };
  const response = await send(owner, await exportOf({ manifest: { members: [source, huge] } }));
  expect(response).toMatchObject({ status: 403, body: { error: expect.stringContaining("The plan permits") } });
});

verifies("apps.export", "only the organization of a live app can export it", async () => {
  const other = await service().tenant();
  const { body } = await send(tenant, await exportOf());
  const path = `/v1/apps/${String(body["app_id"])}/export`;
  expect(await other.rest.send("POST", path, {})).toMatchObject({ status: 404 });
  expect(await tenant.rest.send("POST", path, {})).toMatchObject({
    status: 409,
    body: { error: "The app is not live. Deploy it, and export it then." },
  });
});
