import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { SharedBucket } from "../../../../server/platforms/embedded/cluster/shared-bucket.ts";
import { openDiskBucket } from "../../../support/object-store/disk-bucket.ts";
import { startDiskS3 } from "../../../support/object-store/disk-s3.ts";
import { startFauxqsS3, startMiniflareS3 } from "../../../support/object-store/s3-servers.ts";
import { recordRequests, startLoopbackServer } from "../../../support/loopback-server.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const SHORT_PAUSES = { backOffMs: 5 };
/** For tests in which the server does not respond. */
const SHORT_TIMEOUT = { ...SHORT_PAUSES, idleTimeoutMs: 1000 };
const bytes = (text: string) => Buffer.from(text);

async function readText(bucket: SharedBucket, key: string): Promise<string | undefined> {
  return (await bucket.read(key))?.bytes.toString();
}

test("an object is read with its ETag, and an absent one is null", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  const written = await h.bucket.write("a/ü (1)+=&.txt", bytes("text"));
  expect(await h.bucket.read("a/ü (1)+=&.txt")).toEqual({ bytes: bytes("text"), etag: written?.etag });
  expect([await h.bucket.read("a"), await h.bucket.openRead("a")]).toEqual([null, null]);
});

test("all keys are below the prefix of the bucket", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  await h.bucket.write("a", bytes("x"));
  using whole = new SharedBucket({ ...h.server.settings, prefix: "" });
  expect(await Array.fromAsync(whole.list(""))).toEqual([{ key: "production/a", size: 1 }]);
  await whole.write("other/a", bytes("x"));
  expect(await Array.fromAsync(h.bucket.list(""))).toEqual([{ key: "a", size: 1 }]);
});

test.each(["", "/a", "a/", "a//b", "..", "a/../b", "a%2Fb", "a\\b", "a\nb", "a".repeat(1100), "\ud800"])(
  "the key %j is refused before a request is sent",
  async (key) => {
    await using h = await openDiskBucket(SHORT_PAUSES);
    await expect(h.bucket.write(key, bytes("x"))).rejects.toThrow("Invalid object key");
    expect(h.server.requests).toEqual([]);
  },
);

test("a write with If-None-Match: * creates an object only once", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  const writes = Array.from({ length: 20 }, (_, n) => h.bucket.write("a", bytes(`writer ${n}`), { ifNoneMatch: "*" }));
  const results = await Promise.all(writes);
  const winners = results.flatMap((result, n) => (result === null ? [] : [n]));
  expect(winners).toHaveLength(1);
  expect(await readText(h.bucket, "a")).toBe(`writer ${winners[0]}`);
});

test("a write with If-Match replaces only the object that was read", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  const first = await h.bucket.write("a", bytes("1"));
  expect(await h.bucket.write("a", bytes("2"), { ifMatch: first!.etag })).not.toBeNull();
  expect(await h.bucket.write("a", bytes("3"), { ifMatch: first!.etag })).toBeNull();
  expect(await h.bucket.write("none", bytes("3"), { ifMatch: first!.etag })).toBeNull();
  expect([await readText(h.bucket, "a"), await readText(h.bucket, "none")]).toEqual(["2", undefined]);
});

test.each(["close-after-effect", "hang-after-effect"] as const)(
  "a conditional write whose response is lost (%s) succeeds once",
  async (outcome) => {
    await using h = await openDiskBucket(SHORT_TIMEOUT);
    h.server.inject({ method: "PUT", outcome });
    const created = await h.bucket.write("a", bytes("1"), { ifNoneMatch: "*" });
    expect(created).toEqual({ etag: (await h.bucket.read("a"))?.etag });
    h.server.inject({ method: "PUT", outcome });
    expect(await h.bucket.write("a", bytes("2"), { ifMatch: created!.etag })).not.toBeNull();
    expect(await readText(h.bucket, "a")).toBe("2");
  },
);

test("a write that another one with the same bytes preceded does not succeed when its response is lost", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  await h.bucket.write("a", bytes("same"));
  h.server.inject({ method: "PUT", outcome: "SlowDown" });
  expect(await h.bucket.write("a", bytes("same"), { ifNoneMatch: "*" })).toBeNull();
});

test("a write that conflicts with another one in progress is repeated", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  h.server.inject({ method: "PUT", outcome: "ConditionalRequestConflict" });
  expect(await h.bucket.write("a", bytes("1"), { ifNoneMatch: "*" })).not.toBeNull();
});

test.each(["InternalError", "SlowDown", "close-after-effect", "hang-after-effect"] as const)(
  "every operation is repeated after %s",
  async (outcome) => {
    await using h = await openDiskBucket(SHORT_TIMEOUT);
    await h.bucket.write("a", bytes("text"));
    for (const method of ["GET", "PUT", "DELETE"]) h.server.inject({ method, outcome });
    expect(await readText(h.bucket, "a")).toBe("text");
    expect(await h.bucket.write("b", bytes("text"))).not.toBeNull();
    await h.bucket.remove("a");
    h.server.inject({ method: "GET", key: "", outcome });
    expect(await Array.fromAsync(h.bucket.list(""))).toEqual([{ key: "b", size: 4 }]);
  },
);

test("an operation fails after four attempts, without the credentials in its error", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  for (let n = 0; n < 4; n++) h.server.inject({ method: "GET", outcome: "SlowDown" });
  const failure = await h.bucket.read("a").catch((error: unknown) => error);
  const { accessKeyId, secretAccessKey } = h.server.settings;
  expect(inspect(failure)).toContain("The S3 server did not complete GET a: 503 SlowDown");
  for (const secret of [accessKeyId, secretAccessKey]) expect(inspect(failure, { depth: 10 })).not.toContain(secret);
  expect(h.server.requests).toHaveLength(4);
});

test("an error that a repetition cannot help is not repeated", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  using wrong = new SharedBucket({ ...h.server.settings, secretAccessKey: "wrong" });
  await expect(wrong.read("a")).rejects.toThrow("403 SignatureDoesNotMatch");
  using missing = new SharedBucket({ ...h.server.settings, bucket: "missing" });
  await expect(missing.read("a")).rejects.toThrow("404 NoSuchBucket");
  await expect(missing.write("a", bytes("x"), { ifNoneMatch: "*" })).rejects.toThrow("404 NoSuchBucket");
  expect(h.server.requests).toHaveLength(3);
});

test("a server that does not listen, or responds with something else, is an error", async () => {
  const settings = { bucket: "b", region: "auto", accessKeyId: "k", secretAccessKey: "the-secret", prefix: "" };
  await using page = await startLoopbackServer((_, response) => response.end("<html>Welcome</html>"));
  using other = new SharedBucket({ ...settings, endpoint: page.url });
  await expect(Array.fromAsync(other.list(""))).rejects.toThrow("the response is not a list");
  using none = new SharedBucket({ ...settings, endpoint: "http://127.0.0.1:1" }, { backOffMs: 1 });
  await expect(none.read("a")).rejects.toThrow("ECONNREFUSED");
});

test("the path of the endpoint is part of every URL, and its host alone is the header Host", async () => {
  const { record, requests } = recordRequests((_, response) => response.writeHead(404).end());
  await using server = await startLoopbackServer(record);
  const settings = { bucket: "b", region: "auto", accessKeyId: "k", secretAccessKey: "s", prefix: "p/" };
  using bucket = new SharedBucket({ ...settings, endpoint: `${server.url}/some/path/` });
  expect(await bucket.read("a b")).toBeNull();
  expect(requests.map(({ url, headers }) => [url, headers.host])).toEqual([
    ["/some/path/b/p/a%20b", new URL(server.url).host],
  ]);
});

test("a list has all pages, and removeAll removes exactly what is below its prefix", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  const keys = Array.from({ length: 2100 }, (_, n) => `apps/1/${String(n).padStart(4, "0")}`);
  for (let at = 0; at < keys.length; at += 100)
    await Promise.all(keys.slice(at, at + 100).map((key) => h.bucket.write(key, bytes("x"))));
  await h.bucket.write("apps/10/a", bytes("x"));
  const listed = await Array.fromAsync(h.bucket.list("apps/1/"));
  expect(listed.map(({ key }) => key)).toEqual(keys);
  await h.bucket.removeAll("apps/1/");
  expect(await Array.fromAsync(h.bucket.list(""))).toEqual([{ key: "apps/10/a", size: 1 }]);
});

test("a file is written from disk and read as a stream", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  const body = randomBytes(20 * 1024 * 1024);
  const path = join(h.folder, "upload");
  await writeFile(path, body);
  h.server.inject({ method: "PUT", outcome: "SlowDown" });
  await h.bucket.writeFile("file", path);
  const stream = await h.bucket.openRead("file");
  expect(Buffer.concat(await Array.fromAsync(stream!)).equals(body)).toBe(true);
  await writeFile(path, "");
  await h.bucket.writeFile("empty", path);
  expect(await readText(h.bucket, "empty")).toBe("");
});

test("a stream whose connection is lost fails, so that half an object is not taken for a whole one", async () => {
  await using server = await startLoopbackServer((_, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("half");
    setImmediate(() => response.destroy());
  });
  const settings = { bucket: "b", region: "auto", accessKeyId: "k", secretAccessKey: "s", prefix: "" };
  using bucket = new SharedBucket({ ...settings, endpoint: server.url }, { backOffMs: 1 });
  const stream = await bucket.openRead("a");
  await expect(Array.fromAsync(stream!)).rejects.toThrow("aborted");
  await expect(bucket.read("a")).rejects.toThrow("aborted");
});

test("the objects of the server with files survive its restart", async () => {
  await using folder = await temporaryFolder();
  const first = await startDiskS3(folder.path);
  using before = new SharedBucket(first.settings);
  const written = await before.write("a", bytes("kept"));
  await first[Symbol.asyncDispose]();
  await using second = await startDiskS3(folder.path);
  using after = new SharedBucket(second.settings);
  expect(await after.read("a")).toEqual({ bytes: bytes("kept"), etag: written?.etag });
});

test("the check of conditional writes passes on servers that apply them, and leaves nothing behind", async () => {
  await using h = await openDiskBucket(SHORT_PAUSES);
  await h.bucket.checkConditionalWrites();
  expect(await Array.fromAsync(h.bucket.list(""))).toEqual([]);
  await using r2 = await startMiniflareS3();
  using bucket = new SharedBucket(r2.settings);
  await bucket.checkConditionalWrites();
  expect(await Array.fromAsync(bucket.list(""))).toEqual([]);
});

test("the check of conditional writes tells the operator that a server ignores them", async () => {
  await using server = await startFauxqsS3();
  using bucket = new SharedBucket(server.settings);
  await expect(bucket.checkConditionalWrites()).rejects.toThrow(
    "The object store does not support conditional writes: If-None-Match: * is ignored.",
  );
  expect(await Array.fromAsync(bucket.list(""))).toEqual([]);
});
