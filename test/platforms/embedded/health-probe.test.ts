import { expect, test } from "vitest";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { hasServerError, probeHealth } from "../../../server/platforms/embedded/scripts/health-probe.ts";
import { NodeOutput } from "../../../server/platforms/embedded/node-server/node-output.ts";
import { WorkerdOutput } from "../../../server/platforms/embedded/workerd/workerd-output.ts";
import { startLoopbackServer } from "../../support/loopback-server.ts";

const addressOf = ({ url }: { url: string }) => ({ host: "127.0.0.1", port: Number(new URL(url).port) });
const SIGNAL = new AbortController().signal;

test("an app that is too slow for the first request is requested again, with more time", async () => {
  await using app = await startLoopbackServer((_, response) => void setTimeout(() => response.end(), 200));
  const probed = { address: addressOf(app), output: new WorkerdOutput() };
  await expect(probeHealth(probed, { url: "http://shop.test", timeoutsMs: [20] }, SIGNAL)).rejects.toThrow(
    UnhealthyScript,
  );
  await probeHealth(probed, { url: "http://shop.test", timeoutsMs: [20, 60_000] }, SIGNAL);
});

test("an app that never responds is unhealthy, and has a server error", async () => {
  await using app = await startLoopbackServer(() => {});
  const probed = { address: addressOf(app), output: new WorkerdOutput() };
  await expect(probeHealth(probed, { url: "http://shop.test", timeoutsMs: [20, 50] }, SIGNAL)).rejects.toThrow(
    "The app did not respond to its health check (GET /) within 0.05 s.",
  );
});

test("an app that fails while it streams its response is healthy, and the probe returns what it printed", async () => {
  const output = new NodeOutput(null, []);
  await using app = await startLoopbackServer((_, response) => {
    response.write("<p>Loading");
    setTimeout(() => {
      output.read(Buffer.from("Error: SHOP_DOMAIN is not set\n"), "error");
      response.end();
    }, 50);
  });
  const probed = { address: addressOf(app), output };
  expect((await probeHealth(probed, { url: "http://shop.test" }, SIGNAL)).printed).toContain(
    "Error: SHOP_DOMAIN is not set",
  );
});

test.each([
  [200, false],
  [404, false],
  [500, true],
  [503, true],
])("a response with status %d is a server error: %s", async (status, expected) => {
  await using app = await startLoopbackServer((_, response) => response.writeHead(status).end());
  expect(await hasServerError(addressOf(app), "http://shop.test", SIGNAL)).toBe(expected);
});

test.each([
  ["http://shop.test:8080", "https://shop.test/", true],
  ["http://shop.test", "https://login.example.com/", false],
  ["http://shop.test", "/login", false],
  ["https://shop.test", "https://shop.test/en", false],
])("of %s, a redirect to %s leads to https: %s", async (url, location, expected) => {
  await using app = await startLoopbackServer((_, response) => response.writeHead(302, { location }).end());
  const probed = { address: addressOf(app), output: new NodeOutput(null, []) };
  expect((await probeHealth(probed, { url }, SIGNAL)).redirectsToHttps).toBe(expected);
});

test("the probe says whether clients use https, as the edge proxy does", async () => {
  await using app = await startLoopbackServer(({ headers }, response) =>
    response.writeHead(headers["x-forwarded-proto"] === "https" ? 200 : 500).end(),
  );
  expect(await hasServerError(addressOf(app), "https://shop.test", SIGNAL)).toBe(false);
  expect(await hasServerError(addressOf(app), "http://shop.test", SIGNAL)).toBe(true);
});
