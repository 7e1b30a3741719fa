import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { isPublic } from "../../../server/sandbox/public-address.ts";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { createCertificate } from "../../support/identity/certificate.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const WORKER = `export default { fetch: () => new Response("hello") };`;

/** A project whose build fetches these URLs, and writes what they return. */
function fetching(...urls: string[]) {
  const build = `const results = [];
    for (const url of ${JSON.stringify(urls)}) results.push(await (await fetch(url)).text());
    console.log("The build received", results.join());`;
  const scripts = { build: "node build.mjs" };
  return { "package.json": JSON.stringify({ scripts }), "build.mjs": build, "index.js": WORKER };
}

/** A server on this machine, which stands for a public one. */
async function startContentServer() {
  const server = createServer((_request, response) => void response.end("content"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

const ADDRESSES: Record<string, string> = { "content.example": "127.0.0.1", "private.example": "10.1.2.3" };
const lookup = (host: string) => Promise.resolve([{ address: ADDRESSES[host] ?? host, family: 4 }]);
const isAllowedAddress = (address: string) => address === "127.0.0.1" || isPublic(address);
const open = { setting: "public", hosts: [], isPublic: true, lookup };
const egress = { ...open, isAllowedAddress };

test("a build with a network reaches public hosts and its own servers, and the log lists the hosts", async () => {
  await using server = await startContentServer();
  const bundler = createTestBundler({}, tmpdir(), {}, egress);
  const url = `http://content.example:${server.port}/`;
  const files = fetching(url);
  const local = `import { createServer } from "node:http";
    const server = createServer((request, response) => response.end("local")).listen(4000, "127.0.0.1");
    await new Promise((resolve) => server.on("listening", resolve));
    console.log("The build received", await (await fetch("http://127.0.0.1:4000/")).text(), await (await fetch("${url}")).text());
    server.closeAllConnections();
    server.close();`;
  await using checkout = await createCheckout({ ...files, "build.mjs": local });
  const { log } = await runBundler(bundler, checkout, undefined, { network: true });
  expect(log).toContain("The build received local content\n");
  expect(log).toContain("The build connected to: content.example\n");
});

verifies(
  hazard(49),
  "a build with a network reaches no private, local or metadata address and no port below 1024",
  async () => {
    await using server = await startContentServer();
    const bundler = createTestBundler({}, tmpdir(), {}, open);
    const hosts = ["private.example", "169.254.169.254", `content.example:${server.port}`, "8.8.8.8:853"];
    const urls = hosts.map((host) => `http://${host}/`);
    const probe = `for (const url of ${JSON.stringify(urls)})
    await fetch(url).then(() => console.log("REACHED"), () => console.log("BLOCKED"));`;
    await using checkout = await createCheckout({ ...fetching(), "build.mjs": probe });
    const { log } = await runBundler(bundler, checkout, undefined, { network: true });
    expect(log.match(/REACHED|BLOCKED/g)).toEqual(["BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED"]);
    expect(log).toContain("The build could not reach: private.example, 169.254.169.254, content.example, 8.8.8.8\n");
    expect(log).not.toContain("connected to");
    expect(await bundleFailure(bundler, fetching("https://private.example/"), { network: true })).toMatchObject({
      kind: "user",
      message: expect.stringContaining("The build could not reach private.example."),
    });
  },
);

test("without a network, the error names the host and the setting", async () => {
  const files = fetching("https://content.example/posts");
  expect(await bundleFailure(createTestBundler({}, tmpdir(), {}, egress), files)).toMatchObject({
    message: "The build tried to reach content.example, which BUILD_EGRESS=public does not allow.",
    advice: expect.stringMatching(/^Set build_network to true/),
  });
  expect(await bundleFailure(createTestBundler({}, tmpdir()), files, { network: true })).toMatchObject({
    message: "The build tried to reach content.example, which BUILD_EGRESS=none does not allow.",
    advice: expect.stringContaining("BUILD_EGRESS=public"),
  });
});

describe("a build with a list of hosts", () => {
  /** A server of fonts with a certificate of its own, and a bundler whose builds may reach it under this name. */
  async function openFonts() {
    const certificate = createCertificate("googleapis.com");
    const server = createHttpsServer(certificate, (_request, response) => void response.end("@font-face {}"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const hosts = [`fonts.googleapis.com:${port}`];
    const local = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
    const options = { setting: "fonts", hosts, isPublic: false, lookup: local, isAllowedAddress };
    return {
      certificate: certificate.cert,
      url: `https://fonts.googleapis.com:${port}/css2?family=Inter`,
      bundler: createTestBundler({}, tmpdir(), {}, options),
      [Symbol.asyncDispose]: async () => void server.close(),
    };
  }

  const trusting = { scripts: { build: "NODE_EXTRA_CA_CERTS=certificate.pem node build.mjs" } };

  test("reaches them without a setting of the app", async () => {
    await using fonts = await openFonts();
    const files = { ...fetching(fonts.url), "package.json": JSON.stringify(trusting) };
    await using checkout = await createCheckout({ ...files, "certificate.pem": fonts.certificate });
    const { log } = await runBundler(fonts.bundler, checkout);
    expect(log).toContain("The build received @font-face {}\n");
    expect(log).toContain("The build connected to: fonts.googleapis.com\n");
  });

  test("is ended at once by a request to another host, and the error names the host and the setting", async () => {
    await using fonts = await openFonts();
    const retry = `while (true) await fetch("https://content.example/").catch(() => new Promise((resolve) => setTimeout(resolve, 1000)));`;
    const failure = await bundleFailure(fonts.bundler, { ...fetching(), "build.mjs": retry });
    expect(failure).toMatchObject({
      kind: "user",
      message: "The build tried to reach content.example, which BUILD_EGRESS=fonts does not allow.",
      advice: expect.stringContaining("add the host to BUILD_EGRESS"),
    });
  });

  test("goes on after refused requests of telemetry, and to local servers", async () => {
    await using fonts = await openFonts();
    const urls = [
      "https://telemetry.nextjs.org/",
      "https://o1.ingest.sentry.io/",
      "https://workers.cloudflare.com/cf.json",
      "http://localhost:9/",
    ];
    const probe = `for (const url of ${JSON.stringify(urls)}) await fetch(url).catch(() => console.log("BLOCKED"));`;
    await using checkout = await createCheckout({ ...fetching(), "build.mjs": probe });
    const { log } = await runBundler(fonts.bundler, checkout);
    expect(log.match(/BLOCKED/g)).toHaveLength(4);
    expect(log).toContain(
      "The build could not reach: telemetry.nextjs.org, o1.ingest.sentry.io, workers.cloudflare.com\n",
    );
  });
});
