import { beforeEach, describe, expect, test, vi } from "vitest";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import { ServerMonitor } from "../../../domain/agents/server-monitor.ts";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { AgentHostError } from "../../../domain/ports/agent-host.ts";
import { GATEWAY_TOKEN, givenServer, tokenCipher } from "../../support/agents/given-server.ts";
import { hostedAgents, type ScriptedHost, ScriptedHosts } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();

let hosts: ScriptedHosts;
let monitor: ServerMonitor;
let reported: [error: unknown, serverId: string][];

beforeEach(async () => {
  await em().nativeDelete(AgentServer, {});
  await em().nativeDelete(Agent, {});
  [hosts, reported] = [new ScriptedHosts(), []];
  monitor = new ServerMonitor({
    em: orm().em,
    db: queryBuilderOf(em()),
    hosts,
    tokenCipher,
    accessChanges: { announce: () => undefined, listen: () => () => undefined },
    agentWorkspaces: { remove: () => Promise.resolve() } as never,
    report: (error, serverId) => void reported.push([error, serverId]),
  });
});

/** Stores a gateway, whose host does what the test says. */
async function givenGateway(): Promise<{ id: string; host: ScriptedHost; stored: () => Promise<AgentServer> }> {
  const { serverId: id } = await givenServer(orm());
  return { id, host: hosts.of(id), stored: () => em().findOneOrFail(AgentServer, { id }) };
}

/** Starts what is due, and waits until it has ended. */
async function check(): Promise<void> {
  await monitor.check();
  await monitor.idle();
}

/** Stops the clock. The random part of an interval is the given one. */
function stopClock(random: number): { advance(ms: number): void } & Disposable {
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  const chance = vi.spyOn(Math, "random").mockReturnValue(random);
  return {
    advance: (ms) => void (now += ms),
    [Symbol.dispose]: () => {
      clock.mockRestore();
      chance.mockRestore();
    },
  };
}

const failing = (code: AgentHostError["code"], message = "Reason.") => new AgentHostError(code, message);

test("each gateway is opened with its settings, and the connections to others are closed", async () => {
  const [one, two] = [await givenGateway(), await givenGateway()];
  await givenServer(orm(), { isManaged: true });
  await check();
  expect(hosts.kept.map((ids) => ids.toSorted())).toEqual([[one.id, two.id].toSorted()]);
  const settings = hosts.opened.find(({ serverId }) => serverId === one.id)!;
  const { orgId } = await one.stored();
  expect(settings).toMatchObject({ serverId: one.id, orgId, url: "wss://gateway.example.com", version: 1 });
  expect(settings.token()).toBe(GATEWAY_TOKEN);
  expect([hosts.opened.length, one.host.lists, two.host.lists]).toEqual([2, 1, 1]);
  expect(await one.stored()).toMatchObject({ status: "ready", statusMessage: null });
  expect(await em().find(Agent, { serverId: one.id })).toMatchObject([{ externalId: "main", isMain: true }]);
});

test("the agents of three gateways are stored at once, so that calls find connections to the database", async () => {
  for (let number = 0; number < 8; number++) await givenGateway();
  const countWaiting = async (): Promise<number> => {
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return (await em().execute(waiting)).length;
  };
  const tx = em();
  await tx.begin();
  await tx.execute("select id from agent_servers for update");
  await monitor.check();
  await expect.poll(countWaiting).toBe(3);
  for (let number = 0; number < 20; number++) expect(await countWaiting()).toBe(3);
  await tx.commit();
  await monitor.idle();
  expect(await em().count(AgentServer, { status: "ready" })).toBe(8);
});

describe("the agents are listed again", () => {
  test.each([
    ["45 s", 0, 45_000],
    ["75 s", 1, 75_000],
  ])("after 45 to 75 s while the gateway is ready, for example %s", async (_, random, interval) => {
    const { host } = await givenGateway();
    using clock = stopClock(random);
    await check();
    clock.advance(interval - 1);
    await check();
    expect(host.lists).toBe(1);
    clock.advance(1);
    await check();
    expect(host.lists).toBe(2);
  });

  test("after 1.5 to 2.5 s while it is not", async () => {
    const { host } = await givenGateway();
    host.list = () => Promise.reject(failing("unreachable"));
    using clock = stopClock(1);
    for (const [ms, lists] of [
      [0, 1],
      [2499, 1],
      [1, 2],
      [2500, 3],
    ] as const) {
      clock.advance(ms);
      await check();
      expect(host.lists).toBe(lists);
    }
  });

  test("at once with another connection", async () => {
    const { id, host } = await givenGateway();
    using _clock = stopClock(0);
    await check();
    await em().nativeUpdate(AgentServer, { id }, { connectionVersion: 2 });
    await check();
    expect(host.lists).toBe(2);
  });

  test("at once when the connection is lost, until this is stored", async () => {
    const { host, stored } = await givenGateway();
    using _clock = stopClock(0);
    await check();
    host.problem = "connecting";
    await check();
    expect(host.lists).toBe(1);
    const lost = failing("unreachable", "The gateway has closed the connection.");
    host.problem = lost;
    host.list = () => Promise.reject(lost);
    await check();
    expect([host.lists, await stored()]).toMatchObject([2, { status: "unreachable", statusMessage: lost.message }]);
    await check();
    expect(host.lists).toBe(2);
    host.problem = failing("unreachable", "The gateway refuses connections.");
    await check();
    host.problem = failing("timed_out", lost.message);
    await check();
    expect(host.lists).toBe(3);
    host.problem = failing("unauthorized", lost.message);
    await check();
    expect(host.lists).toBe(4);
  });

  test("only when the earlier list has ended, and other gateways do not wait for it", async () => {
    const [slow, other] = [await givenGateway(), await givenGateway()];
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof hostedAgents>>();
    slow.host.list = () => promise;
    await monitor.check();
    slow.host.problem = failing("unreachable");
    await monitor.check();
    await expect.poll(async () => (await other.stored()).status).toBe("ready");
    expect([slow.host.lists, (await slow.stored()).status]).toEqual([1, "connecting"]);
    resolve(hostedAgents("main"));
    await monitor.idle();
    expect((await slow.stored()).status).toBe("ready");
  });
});

describe("a failed list", () => {
  test.each([
    ["unreachable", "unreachable"],
    ["timed_out", "unreachable"],
    ["unauthorized", "unauthorized"],
    ["invalid_response", "incompatible"],
    ["unsupported", "incompatible"],
    ["not_found", "incompatible"],
    ["conflict", "incompatible"],
    ["invalid_cursor", "incompatible"],
  ] as const)("with the error %s makes the server %s, with the reason", async (code, status) => {
    const { id, host, stored } = await givenGateway();
    const bystander = await givenGateway();
    host.list = () => Promise.reject(failing(code));
    await check();
    expect(await stored()).toMatchObject({ status, statusMessage: "Reason." });
    expect(await bystander.stored()).toMatchObject({ status: "ready" });
    expect(await em().find(Agent, { serverId: id })).toMatchObject([{ externalId: null }]);
  });

  test("changes the time of the status only with the status", async () => {
    const { host, stored } = await givenGateway();
    using clock = stopClock(1);
    const next = async (error: AgentHostError): Promise<AgentServer> => {
      await nextMillisecond();
      clock.advance(2500);
      host.list = () => {
        throw error;
      };
      await check();
      return stored();
    };
    const { statusSince: created } = await stored();
    const first = await next(failing("unreachable", "One."));
    const second = await next(failing("timed_out", "Two."));
    expect(second).toMatchObject({ status: "unreachable", statusMessage: "Two.", statusSince: first.statusSince });
    const third = await next(failing("unauthorized", "Two."));
    expect(first.statusSince > created && third.statusSince > second.statusSince).toBe(true);
  });

  test("because too many calls wait says nothing about the gateway", async () => {
    const { host, stored } = await givenGateway();
    host.list = () => Promise.reject(failing("overloaded"));
    await check();
    expect([await stored(), reported]).toMatchObject([{ status: "connecting", statusMessage: null }, []]);
  });

  test("with an unexpected error is reported, and is tried again", async () => {
    const { id, host, stored } = await givenGateway();
    const unexpected = new TypeError("a mistake of the service");
    host.list = () => Promise.reject(unexpected);
    using clock = stopClock(0);
    await check();
    expect([reported, (await stored()).status]).toEqual([[[unexpected, id]], "connecting"]);
    clock.advance(1500);
    await check();
    expect(host.lists).toBe(2);
  });

  test("of an earlier connection changes nothing", async () => {
    const { id, host, stored } = await givenGateway();
    host.list = async () => {
      await em().nativeUpdate(AgentServer, { id }, { connectionVersion: 2 });
      throw failing("unreachable");
    };
    await check();
    expect(await stored()).toMatchObject({ status: "connecting", statusMessage: null });
  });
});

describe("a monitor that is stopped", () => {
  test("aborts its lists, waits for them, and stores nothing of them", async () => {
    const { host, stored } = await givenGateway();
    const started = Promise.withResolvers<void>();
    let hasEnded = false;
    host.list = (signal) => {
      started.resolve();
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          hasEnded = true;
          reject(failing("unreachable", (signal.reason as Error).message));
        }),
      );
    };
    await monitor.check();
    await started.promise;
    await monitor[Symbol.asyncDispose]();
    expect([hasEnded, await stored(), reported]).toMatchObject([true, { status: "connecting" }, []]);
  });

  test("starts nothing", async () => {
    const { host } = await givenGateway();
    await monitor[Symbol.asyncDispose]();
    await check();
    expect([host.lists, hosts.opened.length, hosts.kept.length]).toEqual([0, 0, 0]);
  });
});

test("a gateway whose responses are invalid is asked less and less often, until it has a valid one", async () => {
  using clock = stopClock(0.5);
  const { host } = await givenGateway();
  host.list = () => Promise.reject(failing("invalid_response"));
  await check();
  for (const interval of [2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]) {
    const { lists } = host;
    clock.advance(interval - 1);
    await check();
    expect(host.lists).toBe(lists);
    clock.advance(1);
    await check();
    expect(host.lists).toBe(lists + 1);
  }
  host.list = () => hostedAgents("main");
  clock.advance(300_000);
  await check();
  host.list = () => Promise.reject(failing("invalid_response"));
  clock.advance(60_000);
  await check();
  clock.advance(2000);
  const { lists } = host;
  await check();
  expect(host.lists).toBe(lists + 1);
});
