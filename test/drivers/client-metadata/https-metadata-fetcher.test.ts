import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  getFreshSeconds,
  HttpsMetadataFetcher,
} from "../../../server/drivers/client-metadata/https-metadata-fetcher.ts";
import { UnreadableClientMetadata } from "../../../server/ports/client-metadata.ts";
import { isPublic } from "../../../server/sandbox/public-address.ts";
import { createCertificate } from "../../support/identity/certificate.ts";
import { type ClientPublisher, openClientPublisher } from "../../support/identity/client-publisher.ts";

const JSON_TYPE = { "content-type": "application/json" };

let publisher: ClientPublisher;

beforeAll(async () => {
  publisher = await openClientPublisher();
});
afterAll(() => publisher[Symbol.asyncDispose]());

/** Returns why a document cannot be read, and `null` when it can. */
async function getProblem(fetched: Promise<unknown>): Promise<string | null> {
  try {
    await fetched;
    return null;
  } catch (error) {
    if (error instanceof UnreadableClientMetadata) return error.message;
    throw error;
  }
}

test("a document is fetched over https, and the request reveals nothing about the service", async () => {
  const url = publisher.publish("/read", {}, { "cache-control": "max-age=90" });
  const { members, freshSeconds } = await publisher.createFetcher().fetch(url);
  expect([members["client_id"], freshSeconds]).toEqual([url, 90]);
  expect(publisher.requests.at(-1)?.headers).toEqual({
    host: `client.example.com:${publisher.port}`,
    connection: "close",
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": "app-provisioning-service",
  });
  const special = publisher.publish("/special", {}, { "content-type": "application/client+json; charset=utf-8" });
  expect((await publisher.createFetcher().fetch(special)).members["client_id"]).toBe(special);
});

const PRIVATE_ADDRESSES = [
  ...["127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254"],
  ...["100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
  ...["::", "::1", "::7f00:1", "fe80::1", "fec0::1", "fd00::1", "fd00:ec2::254", "ff02::1", "100::1", "5f00::1"],
  ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"],
  ...["64:ff9b:1::808:808", "2001:db8::1", "2001::1", "2002:7f00:1::", "not an address", ""],
];

test("no document is fetched from an address outside of the public internet, in any notation", async () => {
  expect(["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"].map(isPublic)).not.toContain(false);
  const before = publisher.requests.length;
  for (const address of PRIVATE_ADDRESSES) {
    const lookup = () => Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]);
    const fetcher = publisher.createFetcher({ lookup, isAllowedAddress: isPublic });
    expect([address, isPublic(address), await getProblem(fetcher.fetch(publisher.publish("/private")))]).toEqual([
      address,
      false,
      "its host has no public address",
    ]);
  }
  expect(publisher.requests).toHaveLength(before);
});

test("a URL with an address as its host, or without https, is never requested", async () => {
  const before = publisher.requests.length;
  const urls = [`https://127.0.0.1:${publisher.port}/`, `https://[::1]:${publisher.port}/`, "https://2130706433/"];
  for (const url of [...urls, publisher.url("/read").replace("https:", "http:"), "file:///etc/passwd"])
    expect([url, await getProblem(publisher.createFetcher().fetch(url))]).toEqual([
      url,
      "its address is not an https URL with a host name",
    ]);
  expect(publisher.requests).toHaveLength(before);
});

test("a host name is resolved once for each fetch, and the address that was checked is connected to", async () => {
  const url = publisher.publish("/rebound");
  const addresses = ["127.0.0.1", "169.254.169.254"];
  const lookup = () => Promise.resolve([{ address: addresses.shift() ?? "10.0.0.1", family: 4 }]);
  const fetcher = publisher.createFetcher({ lookup });
  expect(await getProblem(fetcher.fetch(url))).toBeNull();
  expect(await getProblem(fetcher.fetch(url))).toBe("its host has no public address");
  expect(addresses).toEqual([]);
});

test("if a name has several addresses, only the allowed ones are tried", async () => {
  const addresses = ["10.0.0.1", "127.0.0.1"].map((address) => ({ address, family: 4 }));
  const fetcher = publisher.createFetcher({ lookup: () => Promise.resolve(addresses) });
  expect(await getProblem(fetcher.fetch(publisher.publish("/several")))).toBeNull();
});

test("a redirect is not followed, neither to a private nor to a public address", async () => {
  const requested: string[] = [];
  const privateServer = createServer((request, response) => {
    requested.push(request.url ?? "");
    response.writeHead(200, JSON_TYPE).end("{}");
  }).listen(0, "127.0.0.1");
  await once(privateServer, "listening");
  const { port } = privateServer.address() as AddressInfo;
  for (const location of [`http://127.0.0.1:${port}/secrets`, publisher.publish("/elsewhere")]) {
    const url = publisher.handle("/moved", (_request, response) => response.writeHead(302, { location }).end("{}"));
    expect(await getProblem(publisher.createFetcher().fetch(url))).toMatch(/redirects are not followed/);
  }
  expect([requested, publisher.requests.some(({ path }) => path === "/elsewhere")]).toEqual([[], false]);
  privateServer.close();
});

test("a document that is too large is rejected, with and without a Content-Length", async () => {
  const text = JSON.stringify({ padding: "x".repeat(5200) });
  const declared = publisher.handle("/large", (_request, response) =>
    response.writeHead(200, { ...JSON_TYPE, "content-length": text.length }).end(text),
  );
  // The response never ends.
  const endless = publisher.handle("/endless", (_request, response) => {
    response.writeHead(200, JSON_TYPE);
    const more = (): void =>
      void (response.write("x".repeat(1024)) ? setImmediate(more) : response.once("drain", more));
    more();
  });
  for (const url of [declared, endless])
    expect(await getProblem(publisher.createFetcher().fetch(url))).toBe("it is larger than 5120 bytes");
  const large = publisher.publish("/fits", { padding: "x".repeat(4800) });
  expect(await getProblem(publisher.createFetcher().fetch(large))).toBeNull();
});

test("a fetch ends after its timeout, whether the DNS query, the response or its body is delayed", async () => {
  const options = { timeoutMs: 250 };
  const silent = publisher.handle("/silent", () => {});
  const slow = publisher.handle("/slow", (_request, response) => {
    response.writeHead(200, JSON_TYPE);
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  });
  for (const url of [silent, slow])
    expect(await getProblem(publisher.createFetcher(options).fetch(url))).toBe("it did not arrive in time");
  const unresolved = publisher.createFetcher({ ...options, lookup: () => new Promise(() => {}) });
  expect(await getProblem(unresolved.fetch(silent))).toBe("it did not arrive in time");
});

test("a host that switches protocols unasked counts as not responding", async () => {
  const url = publisher.handle("/switched", (_request, response) =>
    response.writeHead(101, { connection: "upgrade", upgrade: "x" }).end(),
  );
  expect(await getProblem(publisher.createFetcher().fetch(url))).toBe("its host does not respond over https");
});

test("a response other than an uncompressed JSON object with status 200 is rejected", async () => {
  const responses: [string, number, Record<string, string>, string | Buffer][] = [
    ["its host responded with status 404, not 200", 404, JSON_TYPE, "{}"],
    ["its host responded with status 500, not 200", 500, JSON_TYPE, "{}"],
    ["its host responded with status 203, not 200", 203, JSON_TYPE, "{}"],
    ["its Content-Type is not application/json", 200, { "content-type": "text/html" }, "{}"],
    ["its Content-Type is not application/json", 200, { "content-type": "text/plain; application/json" }, "{}"],
    ["its Content-Type is not application/json", 200, {}, "{}"],
    [
      "it is compressed, although the request forbids compression",
      200,
      { ...JSON_TYPE, "content-encoding": "gzip" },
      gzipSync("{}"),
    ],
    ["it is not JSON", 200, JSON_TYPE, "<html>a secret of the host</html>"],
    ["it is not JSON", 200, JSON_TYPE, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["it is not JSON", 200, JSON_TYPE, ""],
    ["it is not a JSON object", 200, JSON_TYPE, "[]"],
    ["it is not a JSON object", 200, JSON_TYPE, "null"],
  ];
  for (const [problem, status, headers, body] of responses) {
    const url = publisher.handle("/wrong", (_request, response) => response.writeHead(status, headers).end(body));
    expect([status, headers, await getProblem(publisher.createFetcher().fetch(url))]).toEqual([
      status,
      headers,
      problem,
    ]);
  }
});

test("a host with the wrong certificate gets the same message as an absent host", async () => {
  const url = publisher.publish("/proof");
  const noResponse = "its host does not respond over https";
  const foreign = createCertificate("example.com").cert;
  expect(await getProblem(publisher.createFetcher({ trustedCertificates: foreign }).fetch(url))).toBe(noResponse);
  const other = url.replace("client.example.com", "client.example.org");
  expect(await getProblem(publisher.createFetcher().fetch(other))).toBe(noResponse);
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  await new Promise((done) => closed.close(done));
  expect(await getProblem(publisher.createFetcher().fetch(`https://client.example.com:${port}/`))).toBe(noResponse);
  const nowhere = publisher.createFetcher({ lookup: () => Promise.reject(new Error("ENOTFOUND 10.0.0.53")) });
  expect(await getProblem(nowhere.fetch(url))).toBe(noResponse);
});

test("by default a local host name is not resolved to this machine", async () => {
  const url = publisher.publish("/own").replace("client.example.com", "localhost");
  expect(await getProblem(new HttpsMetadataFetcher().fetch(url))).toBe("its host has no public address");
  expect(publisher.requests.some(({ path }) => path === "/own")).toBe(false);
});

test("the freshness of a document follows from its headers", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  vi.useFakeTimers({ now, toFake: ["Date"] });
  const date = new Date(now).toUTCString();
  const cases: [Record<string, string>, number | null][] = [
    [{}, null],
    [{ "cache-control": "public" }, null],
    [{ "cache-control": "public, max-age=600" }, 600],
    [{ "cache-control": "max-age=600, s-maxage=30", age: "10" }, 20],
    [{ "cache-control": "max-age=5", age: "10" }, 0],
    [{ "cache-control": 'max-age="60"' }, 60],
    [{ "cache-control": "max-age=600, no-cache" }, 0],
    [{ "cache-control": "No-Store" }, 0],
    [{ "cache-control": "max-age=-1" }, 0],
    [{ "cache-control": "x-max-age=5" }, null],
    [{ expires: "Tue, 01 Jan 2030 00:02:00 GMT", date }, 120],
    [{ expires: "Tue, 01 Jan 2030 00:02:00 GMT" }, 120],
    [{ expires: "0", date }, 0],
  ];
  try {
    for (const [headers, seconds] of cases) expect([headers, getFreshSeconds(headers)]).toEqual([headers, seconds]);
  } finally {
    vi.useRealTimers();
  }
});
