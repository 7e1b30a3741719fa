import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { expect, test } from "vitest";
import { type BucketGrant, BucketForwarder } from "../../../../server/platforms/embedded/cluster/bucket-forwarder.ts";
import { SharedBucket } from "../../../../server/platforms/embedded/cluster/shared-bucket.ts";
import { BUCKET_PREFIX, openDiskBucket } from "../../../support/object-store/disk-bucket.ts";
import { sendSigned, type SignedRequest } from "../../../support/object-store/send-signed.ts";
import { waitFor } from "../../../support/time-limits.ts";

/** A forwarder with an app that has the object `apps/1/a`, and another app with `apps/10/secret`. */
async function openForwarder() {
  const disk = await openDiskBucket();
  const forwarder = await BucketForwarder.listen(disk.bucket);
  const grant = forwarder.grant("apps/1/");
  await disk.bucket.write("apps/1/a", Buffer.from("text"));
  await disk.bucket.write("apps/10/secret", Buffer.from("secret"));
  disk.server.requests.length = 0;
  return {
    ...disk,
    forwarder,
    grant,
    send: (changes: Partial<SignedRequest>) =>
      sendSigned({ ...grant, method: "GET", path: `/${grant.bucketName}/apps/1/a`, ...changes }),
    [Symbol.asyncDispose]: async () => {
      await forwarder[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    },
  };
}

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

const OTHER = "/apps/apps/10/secret";
const list = (query: Record<string, string>) => ({ path: "/apps", query: { "list-type": "2", ...query } });

/** Requests with a valid signature that the forwarder refuses. */
const REFUSED: Record<string, [status: number, code: string, request: Partial<SignedRequest>]> = {
  "the object of another app": [403, "AccessDenied", { path: OTHER }],
  "a write to another app": [403, "AccessDenied", { method: "PUT", path: OTHER, body: "x" }],
  "a deletion in another app": [403, "AccessDenied", { method: "DELETE", path: OTHER }],
  "a key beside the prefix": [403, "AccessDenied", { path: "/apps/apps/1" }],
  "another bucket": [404, "NoSuchBucket", { path: "/objects/apps/1/a" }],
  "a bucket whose name begins with the name": [404, "NoSuchBucket", { path: "/appsapps/1/a" }],
  "a path above the prefix": [400, "InvalidURI", { path: "/apps/apps/1/../10/secret" }],
  "an encoded path above the prefix": [400, "InvalidURI", { path: "/apps/apps/1/%2E%2E/10/secret" }],
  "an encoded slash": [400, "InvalidURI", { path: "/apps/apps/1/..%2F10%2Fsecret" }],
  "a double encoding": [400, "InvalidURI", { path: "/apps/apps/1/%252E%252E/10/secret" }],
  "an encoding in lower case": [400, "InvalidURI", { path: "/apps/apps/1/%c3%bc" }],
  "an encoding that is not necessary": [400, "InvalidURI", { path: "/apps/apps/1/%61" }],
  "an incomplete encoding": [400, "InvalidURI", { path: "/apps/apps/1/%E0%A4" }],
  "an empty segment": [400, "InvalidURI", { path: "/apps/apps/1//a" }],
  "a slash at the end": [400, "InvalidURI", { path: "/apps/apps/1/" }],
  "a backslash": [400, "InvalidURI", { path: "/apps/apps/1/..%5Ca" }],
  "a control character": [400, "InvalidURI", { path: "/apps/apps/1/%0A" }],
  "a URL with a host": [404, "NoSuchBucket", { url: "http://other/apps/apps/1/a" }],
  "a list of the bucket": [403, "AccessDenied", list({})],
  "a list of another app": [403, "AccessDenied", list({ prefix: "apps/10/" })],
  "a list above the prefix": [403, "AccessDenied", list({ prefix: "apps/1" })],
  "a list with a path above the prefix": [403, "AccessDenied", list({ prefix: "apps/1/../10/" })],
  "a list with a double encoding": [403, "AccessDenied", list({ prefix: "apps/1/%2E%2E/10/" })],
  "a list that starts outside the prefix": [403, "AccessDenied", list({ prefix: "apps/1/", "start-after": "apps/0" })],
  "a list with another delimiter": [501, "NotImplemented", list({ prefix: "apps/1/", delimiter: "1" })],
  "a list with an encoding": [501, "NotImplemented", list({ prefix: "apps/1/", "encoding-type": "url" })],
  "a list with more keys than S3 allows": [400, "InvalidArgument", list({ prefix: "apps/1/", "max-keys": "1001" })],
  "a list of version 1": [501, "NotImplemented", { path: "/apps", query: { prefix: "apps/1/" } }],
  "the list of buckets": [404, "NoSuchBucket", { path: "/" }],
  "the creation of a bucket": [501, "NotImplemented", { method: "PUT", path: "/apps", body: "x" }],
  "the deletion of the bucket": [501, "NotImplemented", { method: "DELETE", path: "/apps" }],
  "a deletion of several objects": [501, "NotImplemented", { method: "POST", path: "/apps", query: { delete: "" } }],
  "the start of a multipart upload": [501, "NotImplemented", { method: "POST", query: { uploads: "" } }],
  "a part of an upload": [501, "NotImplemented", { method: "PUT", query: { partNumber: "1", uploadId: "x" } }],
  "a form upload": [501, "NotImplemented", { method: "POST", path: "/apps" }],
  "another method": [501, "NotImplemented", { method: "PATCH" }],
  "an unknown parameter": [501, "NotImplemented", { query: { "x-id": "GetObject" } }],
  "an override of response headers": [501, "NotImplemented", { query: { "response-content-type": "text/html" } }],
  "a body without a length": [
    501,
    "NotImplemented",
    { method: "PUT", unsignedHeaders: { "transfer-encoding": "chunked" } },
  ],
  "a body that is too large": [
    400,
    "EntityTooLarge",
    { method: "PUT", headers: { "content-length": String(512 * 1024 * 1024 + 1) } },
  ],
  "a body with signed chunks": [
    501,
    "NotImplemented",
    { method: "PUT", body: "x", headers: { "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" } },
  ],
  "a body with a content encoding": [
    501,
    "NotImplemented",
    { method: "PUT", body: "x", headers: { "content-encoding": "aws-chunked" } },
  ],
};
for (const subresource of ["acl", "tagging", "policy", "versions", "lifecycle", "uploads", "attributes", "retention"]) {
  REFUSED[`the subresource ${subresource} of an object`] = [501, "NotImplemented", { query: { [subresource]: "" } }];
  REFUSED[`the subresource ${subresource} of the bucket`] = [
    501,
    "NotImplemented",
    { path: "/apps", query: { [subresource]: "" } },
  ];
}
for (const header of [
  "x-amz-copy-source",
  "x-amz-acl",
  "x-amz-tagging",
  "x-amz-storage-class",
  "x-amz-server-side-encryption",
  "x-amz-website-redirect-location",
  "x-amz-object-lock-mode",
  "x-amz-security-token",
  "x-amz-trailer",
  "if-unmodified-since",
])
  REFUSED[`a write with the header ${header}`] = [
    501,
    "NotImplemented",
    { method: "PUT", body: "x", headers: { [header]: "production/apps/10/secret" } },
  ];

test.each(Object.entries(REFUSED))("refuses %s", async (_, [status, code, changes]) => {
  await using h = await openForwarder();
  const response = await h.send(changes);
  expect([response.status, response.code]).toEqual([status, code]);
  expect(response.headers["content-type"]).toBe("application/xml");
  expect(h.server.requests).toEqual([]);
});

const FORGED: Record<string, [code: string, request: Partial<SignedRequest>]> = {
  "another secret": ["SignatureDoesNotMatch", { secretAccessKey: "wrong" }],
  "an unknown access key": ["InvalidAccessKeyId", { accessKeyId: "UNKNOWN" }],
  "a time 16 minutes ago": ["RequestTimeTooSkewed", { date: new Date(Date.now() - 16 * 60_000) }],
  "a time in 16 minutes": ["RequestTimeTooSkewed", { date: new Date(Date.now() + 16 * 60_000) }],
  "the signature of another key": ["SignatureDoesNotMatch", { url: "/apps/apps/1/b" }],
  "the signature of another query": ["SignatureDoesNotMatch", { url: "/apps/apps/1/a?acl=" }],
  "the signature of another method": [
    "SignatureDoesNotMatch",
    { unsignedHeaders: { "x-amz-date": "20200101T000000Z" } },
  ],
  "a hash of the body that is not signed": [
    "SignatureDoesNotMatch",
    { unsignedHeaders: { "x-amz-content-sha256": createHash("sha256").digest("hex") } },
  ],
  "a header of S3 that is not signed": ["AccessDenied", { unsignedHeaders: { "x-amz-acl": "public-read" } }],
  "no signature": ["AccessDenied", { unsignedHeaders: { authorization: "" } }],
  "basic authorization": ["AccessDenied", { unsignedHeaders: { authorization: "Basic a2V5OnNlY3JldA==" } }],
  "another host": ["AccessDenied", { unsignedHeaders: { host: "example.com" } }],
};

test.each(Object.entries(FORGED))("refuses a request with %s", async (name, [code, changes]) => {
  await using h = await openForwarder();
  const isDate = name === "the signature of another method";
  const response = await h.send(changes);
  // The date of the credential, and the time of the request, are those of one day.
  expect([response.status, response.code]).toEqual([403, isDate ? "AccessDenied" : code]);
  expect(response.body).not.toContain(h.grant.secretAccessKey);
  expect(h.server.requests).toEqual([]);
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

test("errors of the store are passed on without its text, so that a client can repeat the request", async () => {
  await using h = await openForwarder();
  h.server.inject({ method: "PUT", outcome: "SlowDown" });
  const slow = await h.send({ method: "PUT", body: "x" });
  expect([slow.status, slow.code]).toEqual([503, "SlowDown"]);
  h.server.inject({ method: "PUT", outcome: "close-after-effect" });
  expect(await h.send({ method: "PUT", body: "x" })).toMatchObject({ status: 503, code: "ServiceUnavailable" });
  const none = await h.send({ path: "/apps/apps/1/none" });
  expect([none.status, none.code]).toEqual([404, "NoSuchKey"]);
  expect(slow.body + none.body).not.toContain(BUCKET_PREFIX);
});

test("a client that disconnects during a write leaves the earlier object, and ends the request to the store", async () => {
  await using h = await openForwarder();
  const before = await h.bucket.read("apps/1/a");
  // A body that is shorter than its length: the connection closes in the middle.
  const { signRequest } = await import("../../../../server/platforms/embedded/cluster/sign-request.ts");
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
