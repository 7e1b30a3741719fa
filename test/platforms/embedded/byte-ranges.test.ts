import http from "node:http";
import { expect, test } from "vitest";
import { openLocalProxy } from "../../support/edge/local-proxy.ts";
import { sendRequest } from "../../support/edge/test-platform.ts";

const FILE = "0123456789";
const ETAG = '"of the file"';
const DATE = "Tue, 01 Sep 2026 10:00:00 GMT";

/** Responds as the runtime does for a static file. With a range, it omits `cache-control`. */
const files = (headers: Record<string, string> = {}, mark = "cf-cache-status") =>
  http.createServer((request, response) => {
    const caching =
      request.headers.range === undefined ? { "cache-control": "public, max-age=0, must-revalidate" } : {};
    const own = { "content-length": FILE.length, etag: ETAG, "last-modified": DATE, [mark]: "HIT" };
    response.writeHead(200, { "content-type": "video/mp4", ...own, ...caching, ...headers });
    for (const character of request.method === "HEAD" ? "" : FILE) response.write(character);
    response.end();
  });

const get = (port: number, headers: Record<string, string>, method = "GET") =>
  sendRequest(port, "shop.localhost", "/v.mp4", { method, headers });

test.each([
  ["bytes=0-3", "0123", "bytes 0-3/10"],
  ["bytes=4-", "456789", "bytes 4-9/10"],
  ["bytes=9-9", "9", "bytes 9-9/10"],
  ["bytes=5-1000", "56789", "bytes 5-9/10"],
  ["bytes=-3", "789", "bytes 7-9/10"],
  ["bytes=-1000", FILE, "bytes 0-9/10"],
  ["Bytes=0-0", "0", "bytes 0-0/10"],
])("206 with the bytes of the range %s", async (range, body, contentRange) => {
  await using local = await openLocalProxy(files());
  const { status, text, headers } = await get(local.port, { range });
  expect([status, text]).toEqual([206, body]);
  expect(headers).toMatchObject({
    "content-range": contentRange,
    "content-length": `${body.length}`,
    "content-type": "video/mp4",
    "accept-ranges": "bytes",
    "cache-control": "public, max-age=0, must-revalidate",
    etag: ETAG,
  });
});

test.each(["bytes=10-", "bytes=10-20", "bytes=-0"])(
  "416 for the range %s, which no byte of the file is in",
  async (range) => {
    await using local = await openLocalProxy(files());
    const { status, text, headers } = await get(local.port, { range });
    expect([status, text, headers["content-range"], headers["content-length"]]).toEqual([416, "", "bytes */10", "0"]);
    expect(headers).toMatchObject({ etag: ETAG });
  },
);

test.each(["bytes=0-1,4-5", "bytes=5-4", "bytes=a-b", "bytes=-", "lines=0-3", "bytes 0-3"])(
  "200 with the whole file for the range %s",
  async (range) => {
    await using local = await openLocalProxy(files());
    const { status, text, headers } = await get(local.port, { range });
    expect([status, text, headers["content-range"], headers["accept-ranges"]]).toEqual([200, FILE, undefined, "bytes"]);
    expect(headers).toMatchObject({ "cache-control": "public, max-age=0, must-revalidate" });
  },
);

test.each([
  [ETAG, 206],
  [DATE, 206],
  [`W/${ETAG}`, 200],
  ['"of an earlier file"', 200],
  ["Tue, 01 Sep 2026 11:00:00 GMT", 200],
])("a range applies only if the file is still the one of If-Range: %s", async (ifRange, status) => {
  await using local = await openLocalProxy(files());
  expect((await get(local.port, { range: "bytes=0-3", "if-range": ifRange })).status).toBe(status);
});

test("HEAD has the headers of the whole file, and a file without a range says that it accepts ranges", async () => {
  await using local = await openLocalProxy(files());
  const head = await get(local.port, { range: "bytes=0-3" }, "HEAD");
  expect([head.status, head.headers["content-length"], head.headers["accept-ranges"]]).toEqual([200, "10", "bytes"]);
  expect((await get(local.port, {})).headers["accept-ranges"]).toBe("bytes");
});

test("a compressed response and one of the app's own code are sent as they are", async () => {
  for (const app of [files({ "content-encoding": "gzip" }), files({}, "x-other")]) {
    await using local = await openLocalProxy(app);
    const response = await get(local.port, { range: "bytes=0-3" });
    expect([response.status, response.text, response.headers["accept-ranges"]]).toEqual([200, FILE, undefined]);
  }
});
