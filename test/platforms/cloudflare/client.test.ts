import { expect, test } from "vitest";
import { z } from "zod";
import { MemoryCounter } from "../../../server/drivers/counter/memory-counter.ts";
import { type ClientLimits, CloudflareClient } from "../../../server/platforms/cloudflare/cloudflare-client.ts";
import { recordRequests, startLoopbackServer } from "../../support/loopback-server.ts";

const TOKEN = "secret-token";
const READ = { operation: "read a script", method: "GET", path: "workers/scripts/shop" } as const;

interface Answer {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

/** A client of a server that sends these responses, and then the last one again. */
async function openClient(answers: Answer[], limits: Partial<ClientLimits> = {}, counter = new MemoryCounter()) {
  const rest = [...answers];
  const { record, requests } = recordRequests((_, response) => {
    const { status, body = { result: "done" }, headers = {} } = (rest.length > 1 ? rest.shift() : rest[0]) as Answer;
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  const server = await startLoopbackServer(record);
  const settings = { apiUrl: server.url, accountId: "account", apiToken: TOKEN, counter };
  const client = new CloudflareClient({ ...settings, limits: { backOffMs: 1, ...limits } });
  return { client, requests, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("a request has the token, and is repeated after server errors and refusals until it succeeds", async () => {
  await using t = await openClient([
    { status: 503 },
    { status: 429, headers: { "retry-after": "0" } },
    { status: 200 },
  ]);
  expect(await t.client.call(READ, z.string())).toBe("done");
  expect(t.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array.from({ length: 3 }, () => `Bearer ${TOKEN}`),
  );
});

test("a request that must not be repeated is sent once, and one that always fails a bounded number of times", async () => {
  await using t = await openClient([{ status: 500 }], { attempts: 3 });
  await expect(t.client.call({ ...READ, isRepeatable: false }, z.string())).rejects.toThrow("status 500");
  expect(t.requests).toHaveLength(1);
  await expect(t.client.call(READ, z.string())).rejects.toThrow("status 500");
  expect(t.requests).toHaveLength(4);
});

test("an error has the operation and Cloudflare's code and text, bounded and without control characters, and not the token", async () => {
  const message = `\u001b[31mno ${"x".repeat(10_000)}`;
  await using t = await openClient([{ status: 400, body: { errors: [{ code: 10021, message }] } }]);
  const error = await t.client.call(READ, z.string()).catch((thrown: unknown) => thrown as Error);
  const text = String(error);
  expect(text).toMatch(
    /^CloudflareError: Cloudflare responded with status 400 to the request to read a script: no x+ \(code 10021\)$/,
  );
  expect([text.length < 700, text.includes(TOKEN), JSON.stringify(error).includes(TOKEN)]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a request is refused when its turn within the limit of requests would come too late", async () => {
  await using t = await openClient([{ status: 200 }], { requests: 2, maxWaitMs: 50 });
  await t.client.call(READ, z.string());
  await t.client.call(READ, z.string());
  await expect(t.client.call(READ, z.string())).rejects.toThrow("the limit of requests is reached");
  expect(t.requests).toHaveLength(2);
});

test("after a response without remaining requests, the next one waits as long as Cloudflare says", async () => {
  const headers = { ratelimit: '"default";r=0;t=60' };
  await using t = await openClient([{ status: 200, headers }], { maxWaitMs: 50 });
  await t.client.call(READ, z.string());
  await expect(t.client.call(READ, z.string())).rejects.toThrow("the limit of requests is reached");
});

test("two processes share the limit of requests", async () => {
  const counter = new MemoryCounter();
  const limits = { requests: 3, maxWaitMs: 50 };
  await using first = await openClient([{ status: 200 }], limits, counter);
  await using second = await openClient([{ status: 200 }], limits, counter);
  const clients = [first, second, first, second];
  const results = await Promise.allSettled(clients.map(({ client }) => client.call(READ, z.string())));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(first.requests.length + second.requests.length).toBe(3);
});
