import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { expect, test } from "vitest";
import type { BucketGrant } from "../../../../server/platforms/embedded/cluster/bucket-forwarder.ts";
import { signRequest } from "../../../../server/platforms/embedded/cluster/sign-request.ts";
import { SharedBucket } from "../../../../server/platforms/embedded/cluster/shared-bucket.ts";
import { BUCKET_PREFIX } from "../../../support/object-store/disk-bucket.ts";
import { openForwarder } from "../../../support/object-store/open-forwarder.ts";
import { waitFor } from "../../../support/time-limits.ts";

const OTHER = "/apps/apps/10/secret";

function clientOf({ endpoint, bucketName: bucket, ...credentials }: BucketGrant, prefix: string): SharedBucket {
  const { accessKeyId, secretAccessKey } = credentials;
  return new SharedBucket({ endpoint, bucket, region: "auto", accessKeyId, secretAccessKey, prefix }, { attempts: 1 });
}

test("a client reads, writes, lists and removes objects below its prefix", async () => {
  await using h = await openForwarder();
  using client = clientOf(h.grant, "apps/1/");
  const body = randomBytes(3_000_000);
  const written = await client.write("b/ü (1)", body, { ifNoneMatch: "*" });
  expect(await client.read("b/ü (1)")).toEqual({ bytes: body, etag: written?.etag });
  expect(await client.write("b/ü (1)", body, { ifNoneMatch: "*" })).toBeNull();
  expect(await client.write("b/ü (1)", Buffer.from("2"), { ifMatch: '"other"' })).toBeNull();
  expect(await client.write("b/ü (1)", Buffer.from("2"), { ifMatch: written!.etag })).not.toBeNull();
  expect(await Array.fromAsync(client.list(""))).toEqual([
    { key: "a", size: 4 },
    { key: "b/ü (1)", size: 1 },
  ]);
  await client.removeAll("b/");
  expect(await client.read("b/ü (1)")).toBeNull();
  expect(await h.bucket.read("apps/10/secret")).not.toBeNull();
});

test("a list has the keys that the client asked for, in pages and folders, without the prefix of the bucket", async () => {
  await using h = await openForwarder();
  using client = clientOf(h.grant, "");
  for (const key of ["b/1", "b/2", "c/1", "d&<>\"'"]) await client.write(`apps/1/${key}`, Buffer.from("x"));
  const first = await client.listPage({ prefix: "apps/1/", delimiter: "/", "max-keys": "2" });
  expect(first).toMatchObject({ objects: [{ key: "apps/1/a", size: 4 }], folders: ["apps/1/b/"] });
  const next = { prefix: "apps/1/", delimiter: "/", "continuation-token": first.nextToken! };
  expect(await client.listPage(next)).toMatchObject({
    objects: [{ key: "apps/1/d&<>\"'" }],
    folders: ["apps/1/c/"],
    nextToken: null,
  });
  const after = await client.listPage({ prefix: "apps/1/b", "start-after": "apps/1/b/1" });
  expect(after.objects.map(({ key }) => key)).toEqual(["apps/1/b/2"]);
  const { body } = await h.send({ path: "/apps", query: { "list-type": "2", prefix: "apps/1/" } });
  expect(body).not.toContain(BUCKET_PREFIX);
});

test("conditions, ranges and metadata are passed on", async () => {
  await using h = await openForwarder();
  const md5 = createHash("md5").update("0123456789").digest();
  const headers = { "content-type": "text/plain", "content-md5": md5.toString("base64"), "x-amz-meta-a": "b" };
  const { status, headers: written } = await h.send({ method: "PUT", body: "0123456789", headers });
  expect([status, written.etag]).toEqual([200, `"${md5.toString("hex")}"`]);
  const part = await h.send({ headers: { range: "bytes=2-4" } });
  expect([part.status, part.body, part.headers["content-range"]]).toEqual([206, "234", "bytes 2-4/10"]);
  expect(part.headers).toMatchObject({ "content-type": "text/plain", "x-amz-meta-a": "b", "content-length": "3" });
  const head = await h.send({ method: "HEAD" });
  expect([head.status, head.headers["content-length"], head.body]).toEqual([200, "10", ""]);
  expect((await h.send({ headers: { "if-none-match": written.etag! } })).status).toBe(304);
  expect((await h.send({ headers: { "if-match": '"other"' } })).code).toBe("PreconditionFailed");
  expect((await h.send({ headers: { range: "bytes=90-" } })).code).toBe("InvalidRange");
  expect((await h.send({ method: "HEAD", path: "/apps/apps/1/none" })).status).toBe(404);
});

test("a body that differs from its signed hash is not stored", async () => {
  await using h = await openForwarder();
  const headers = { "x-amz-content-sha256": createHash("sha256").update("other").digest("hex") };
  expect((await h.send({ method: "PUT", body: "text 2", headers })).code).toBe("XAmzContentSHA256Mismatch");
  expect((await h.bucket.read("apps/1/a"))?.bytes.toString()).toBe("text");
});

test("a signature in the query is refused", async () => {
  await using h = await openForwarder();
  const url = `/apps/apps/1/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${h.grant.accessKeyId}`;
  expect((await h.send({ url, unsignedHeaders: { authorization: "" } })).status).toBe(403);
});

test("credentials are valid for their own prefix only, also those of another grant for the same one", async () => {
  await using h = await openForwarder();
  using other = h.forwarder.grant("apps/10/");
  expect((await h.send({ ...other, path: OTHER })).body).toBe("secret");
  expect((await h.send({ ...other })).code).toBe("AccessDenied");
  expect((await h.send({ accessKeyId: other.accessKeyId })).code).toBe("SignatureDoesNotMatch");
});

test.each(["", "apps/1", "/", "../", "apps//", "apps/../", "a%2Fb/"])(
  "a grant for the prefix %j is refused",
  async (prefix) => {
    await using h = await openForwarder();
    expect(() => h.forwarder.grant(prefix)).toThrow("Invalid prefix");
  },
);

test("revoked credentials are refused at once, and their requests in progress end", async () => {
  await using h = await openForwarder();
  h.server.inject({ method: "GET", outcome: "hang-after-effect" });
  const waiting = h.send({}).catch((error: Error) => error);
  await waitFor(() => expect(h.server.requests).toHaveLength(1));
  h.grant[Symbol.dispose]();
  expect(await waiting).toMatchObject({ status: 403, code: "AccessDenied" });
  expect(await h.send({})).toMatchObject({ status: 403, code: "InvalidAccessKeyId" });
});

test("one client cannot have more than 128 requests in progress", async () => {
  await using h = await openForwarder();
  for (let n = 0; n < 128; n++) h.server.inject({ method: "GET", outcome: "hang-after-effect" });
  const waiting = Array.from({ length: 128 }, () => h.send({}).catch((error: Error) => error));
  await waitFor(() => expect(h.server.openRequests()).toBe(128));
  expect(await h.send({})).toMatchObject({ status: 503, code: "SlowDown" });
  using other = h.forwarder.grant("apps/10/");
  expect((await h.send({ ...other, path: OTHER })).body).toBe("secret");
  h.grant[Symbol.dispose]();
  expect(await Promise.all(waiting)).toHaveLength(128);
});

test("errors of the store are passed on without its text, so that a client can repeat the request", async () => {
  await using h = await openForwarder();
  h.server.inject({ method: "PUT", outcome: "SlowDown" });
  const slow = await h.send({ method: "PUT", body: "x" });
  expect([slow.status, slow.code]).toEqual([503, "SlowDown"]);
  // workerd does not repeat a request after 500.
  h.server.inject({ method: "PUT", outcome: "InternalError" });
  expect(await h.send({ method: "PUT", body: "x" })).toMatchObject({ status: 503, code: "InternalError" });
  h.server.inject({ method: "PUT", outcome: "close-after-effect" });
  expect(await h.send({ method: "PUT", body: "x" })).toMatchObject({ status: 503, code: "ServiceUnavailable" });
  const none = await h.send({ path: "/apps/apps/1/none" });
  expect([none.status, none.code]).toEqual([404, "NoSuchKey"]);
  expect(slow.body + none.body).not.toContain(BUCKET_PREFIX);
});

test("a client that still sends a large body gets the error of the store, on a connection that stays open", async () => {
  await using h = await openForwarder();
  using client = clientOf(h.grant, "apps/1/");
  const body = randomBytes(30_000_000);
  for (const outcome of ["SlowDown", "close-before-effect"] as const) {
    h.server.inject({ method: "PUT", outcome });
    await expect(client.write("large", body)).rejects.toThrow("503");
  }
  expect(await client.write("large", body)).not.toBeNull();
});

test("a client that disconnects during a write leaves the earlier object, and ends the request to the store", async () => {
  await using h = await openForwarder();
  const before = await h.bucket.read("apps/1/a");
  const path = "/apps/apps/1/a";
  const headers = { host: new URL(h.grant.endpoint).host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
  const signature = await signRequest({ method: "PUT", path, query: {}, headers }, h.grant, "auto");
  const outgoing = request(h.grant.endpoint, {
    method: "PUT",
    path,
    headers: { ...headers, ...signature, "content-length": 1_000_000 },
  });
  outgoing.on("error", () => undefined).write("half");
  await waitFor(() => expect(h.server.requests).toContain("PUT production/apps/1/a"));
  outgoing.destroy();
  await waitFor(() => expect(h.server.openRequests()).toBe(0));
  expect(await h.bucket.read("apps/1/a")).toEqual(before);
});
