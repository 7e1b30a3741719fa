import { Readable } from "node:stream";
import { once } from "node:events";
import { expect, test } from "vitest";
import type { Caller } from "../../domain/shared/caller.ts";
import { STREAM_LIMITS, StreamLimiter } from "../../server/http/stream-limiter.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import {
  type NotificationStream,
  openNotificationStream,
  openStream,
} from "../support/clients/mcp-notification-streams.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ config: { signUp: "open" } });
const { perToken } = STREAM_LIMITS;

/** Creates an organization with two personal access tokens of its owner. */
async function createTokens(): Promise<[string, string]> {
  const { publicUrl } = service().service;
  const user = new TestUser(publicUrl);
  await user.signUp();
  await user.post("/organization/create", { name: "Acme", slug: crypto.randomUUID() });
  const { tokens } = rpcClient(publicUrl, await user.accessToken());
  const issue = async () => (await tokens.issue.mutate({ kind: "personal_access_token", name: "Mine" })).token;
  return [await issue(), await issue()];
}

function open(token: string): Promise<NotificationStream> {
  return openNotificationStream(service().service.publicUrl, token);
}

test("429 tells a client with too many open streams when to retry, and other tokens can still open streams", async () => {
  const [token, other] = await createTokens();
  const subscription = await openStream(service().service.publicUrl, token);
  const streams = await Promise.all(Array.from({ length: perToken - 1 }, () => open(token)));
  try {
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await open(token)).status).toBe(429);
    const gateway = new GatewayClient(service().service.publicUrl, token);
    const { status, headers, body } = await gateway.send(undefined, { accept: "text/event-stream" }, "GET");
    expect([status, headers.get("retry-after"), headers.get("content-type")]).toEqual([
      429,
      "60",
      "application/json; charset=utf-8",
    ]);
    expect(body).toMatchObject({
      error: {
        message: `This token has ${perToken} open streams of notifications, which is the limit. Close some, then try again.`,
      },
    });
    await expect(openStream(service().service.publicUrl, token)).rejects.toThrow("Close some, then try again.");
    streams.push(await open(other));
    expect(streams.at(-1)?.status).toBe(200);
    await subscription.close();
    await waitFor(async () => {
      streams.push(await open(token));
      expect(streams.at(-1)?.status).toBe(200);
    });
  } finally {
    await Promise.all(streams.map((stream) => stream.close()));
    await subscription.close();
  }
});

test("streams of clients that disconnect at once are not counted any longer", async () => {
  const [token] = await createTokens();
  for (let count = 0; count < perToken * 2; count++) {
    const stream = await open(token);
    await stream.close();
  }
  await waitFor(async () => {
    const stream = await open(token);
    await stream.close();
    expect(stream.status).toBe(200);
  });
});

test("a token, an organization and the process have separate limits of open streams", async () => {
  const limiter = new StreamLimiter({ perToken: 2, perOrganization: 3, perProcess: 4 });
  const add = (orgId: string, id: string) => {
    const stream = new Readable({ read() {} });
    return { stream, reached: limiter.add(stream, callerOf(orgId, id)) };
  };
  const first = add("one", "a");
  expect([first, add("one", "a"), add("one", "a")].map(({ reached }) => reached)).toEqual([
    null,
    null,
    { limit: 2, of: "token" },
  ]);
  expect([add("one", "b"), add("one", "c")].map(({ reached }) => reached)).toEqual([
    null,
    { limit: 3, of: "organization" },
  ]);
  expect([add("two", "d"), add("three", "e")].map(({ reached }) => reached)).toEqual([
    null,
    { limit: 4, of: "process" },
  ]);
  const closed = once(first.stream, "close");
  first.stream.destroy();
  await closed;
  expect(add("three", "e").reached).toBeNull();
});

function callerOf(orgId: string, id: string): Caller {
  return { orgId, userId: null, role: "member", scope: "read", credential: { kind: "gateway_token", id } };
}
