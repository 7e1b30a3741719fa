import { afterAll, beforeAll, expect, test } from "vitest";
import type { PublicFileRequest } from "../../../domain/ports/public-files.ts";
import { HttpsFiles } from "../../../server/drivers/public-files/https-files.ts";
import { type Page, type PublicSite, startPublicSite } from "../../support/documents/public-site.ts";

let site: PublicSite;

beforeAll(async () => {
  site = await startPublicSite();
});

afterAll(() => site[Symbol.asyncDispose]());

const REQUEST: Omit<PublicFileRequest, "signal"> = { etag: null, lastModified: null, maxBytes: 1024 * 1024 };

const read = (url: string, request: Partial<typeof REQUEST> = {}, files = site.files) =>
  files.read(url, { ...REQUEST, ...request, signal: new AbortController().signal });

function publish(path: string, page: Page): string {
  site.pages.set(path, page);
  return site.url(path);
}

test("a file has its bytes, its type without parameters, and what the host says of its version", async () => {
  const headers = {
    "content-type": "Text/HTML; charset=UTF-8",
    etag: '"1"',
    "last-modified": "Fri, 27 Nov 2026 08:00:00 GMT",
  };
  const file = await read(publish("/page", { headers, body: "ä" }));
  expect(file).toEqual({
    ...{ content: Buffer.from("ä"), mediaType: "text/html" },
    ...{ etag: '"1"', lastModified: "Fri, 27 Nov 2026 08:00:00 GMT" },
  });
  expect(await read(publish("/plain", { body: "a" }))).toMatchObject({
    mediaType: null,
    etag: null,
    lastModified: null,
  });
});

test("a conditional request returns null for a file that has not changed, and any other request the file", async () => {
  const url = publish("/known", { headers: { etag: '"2"' }, body: "a" });
  expect(await read(url, { etag: '"2"' })).toBeNull();
  expect(await read(url, { etag: '"1"' })).toMatchObject({ etag: '"2"' });
  await read(url, { lastModified: "Fri, 27 Nov 2026 08:00:00 GMT" });
  expect(site.requests.at(-1)?.headers["if-modified-since"]).toBe("Fri, 27 Nov 2026 08:00:00 GMT");
  await expect(read(publish("/odd", { status: 304 }))).rejects.toThrow("responded with status 304");
});

test("a redirect leads to another public https URL only, and at most five times", async () => {
  const moved = (location: string): Page => ({ status: 301, headers: { location } });
  publish("/target", { body: "a" });
  expect(await read(publish("/moved", moved("/target")))).toMatchObject({ content: Buffer.from("a") });
  const cases: [location: string, error: string][] = [
    ["https://private.example.com/", "private.example.com has no public address"],
    ["https://127.0.0.1/", "https://127.0.0.1 is not an https URL with a host name"],
    ["https://[::ffff:10.0.0.1]/", "is not an https URL with a host name"],
    ["http://www.example.com/", "http://www.example.com is not an https URL with a host name"],
    ["file:///etc/passwd", "is not an https URL with a host name"],
    ["https://www.example.com:22/", "the port 22 is not allowed"],
    ["/endless", "www.example.com redirects more than 5 times"],
  ];
  publish("/endless", moved("/endless"));
  for (const [location, error] of cases)
    await expect(read(publish("/away", moved(location)))).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(error),
    });
});

test("by default only public addresses are connected to", async () => {
  const lookup = () => Promise.resolve([{ address: "169.254.169.254", family: 4 }]);
  await expect(read("https://metadata.example.com/", {}, new HttpsFiles({ lookup }))).rejects.toMatchObject({
    message: "The URL cannot be read: metadata.example.com has no public address.",
  });
});

test("a file beyond the size is refused by its header, and by its bytes when the host does not state the size", async () => {
  const large = Buffer.alloc(1024 * 1024 + 1);
  const error = "The URL cannot be read: it has more than 1 MiB.";
  await expect(
    read(publish("/large", { headers: { "content-length": `${large.length}` }, body: large })),
  ).rejects.toThrow(error);
  await expect(read(publish("/chunked", { headers: { "transfer-encoding": "chunked" }, body: large }))).rejects.toThrow(
    error,
  );
});

test("a compressed file and a status that is not a success are refused", async () => {
  await expect(read(publish("/gzip", { headers: { "content-encoding": "gzip" }, body: "a" }))).rejects.toThrow(
    "its host compresses it, although the request forbids compression",
  );
  await expect(read(site.url("/absent"))).rejects.toThrow("www.example.com responded with status 404");
  await expect(read(publish("/down", { status: 503 }))).rejects.toThrow("responded with status 503");
});

test("an aborted reading ends with the reason of the signal", async () => {
  const reason = new Error("stop");
  await expect(site.files.read(site.url("/page"), { ...REQUEST, signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
});
