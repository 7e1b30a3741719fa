import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import type { LoggedApp, RuntimeLogRecord } from "../../domain/ports/runtime-logs.ts";
import { RedisRuntimeLogs } from "../../server/drivers/runtime-logs/redis-runtime-logs.ts";
import { EmbeddedRuntimeLogs } from "../../server/platforms/embedded/runtime-logs/embedded-runtime-logs.ts";
import { SERVICES } from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { runtimeLogsContract } from "./runtime-logs.ts";

const APP = { id: "app-1", slug: "chatty" };

/** The processes of an installation. Each has its own connections, and stores the logs of its own apps. */
async function openProcesses(redisUrl: string) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const namespace = randomUUID();
  let running = 0;
  const open = async (name: string) => {
    const folderOf = ({ slug, id }: LoggedApp) => path.join(folder.path, name, slug, id, "logs");
    const local = new EmbeddedRuntimeLogs(folderOf);
    const [redis, subscriber] = [new Redis(redisUrl), new Redis(redisUrl, { maxRetriesPerRequest: null })];
    const logs = new RedisRuntimeLogs({ redis, subscriber, namespace, local });
    const end = () => {
      running--;
      logs[Symbol.dispose]();
      for (const connection of [redis, subscriber]) connection.disconnect();
    };
    stack.defer(() => local.close());
    stack.defer(end);
    const print = async (app: LoggedApp, messages: readonly string[]) => {
      const { sink, close } = await local.open(app, []);
      for (const message of messages) sink.print([Date.now(), "log", null, message]);
      close();
    };
    running++;
    // As a process that has been running for a moment.
    const channel = `${namespace}:runtime-log-reads`;
    await waitFor(async () => expect(await redis.pubsub("NUMSUB", channel)).toEqual([channel, running]));
    return { logs, redis, subscriber, print, end };
  };
  const remove = (app: LoggedApp) => rm(path.join(folder.path, "edge", app.slug), { recursive: true });
  return { open, remove, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const messagesOf = (records: readonly RuntimeLogRecord[]) => records.map(({ message }) => message);

function testEmbedded(): void {
  runtimeLogsContract("embedded", async () => {
    const folder = await temporaryFolder();
    const folderOf = ({ slug, id }: LoggedApp) => path.join(folder.path, slug, id, "logs");
    let logs = new EmbeddedRuntimeLogs(folderOf);
    return {
      get logs() {
        return logs;
      },
      async print(app, messages) {
        const { sink, close } = await logs.open(app, []);
        for (const message of messages) sink.print([Date.now(), "log", null, message]);
        close();
      },
      remove: (app) => rm(path.join(folder.path, app.slug), { recursive: true }),
      // What was not written within 100 ms is lost with a process, so the earlier one has nothing to write any more.
      restart: async () => void (logs = new EmbeddedRuntimeLogs(folderOf)),
      async [Symbol.asyncDispose]() {
        await logs.close();
        await folder[Symbol.asyncDispose]();
      },
    };
  });
}

function testRedis(redisUrl: string): void {
  runtimeLogsContract("Redis, in another process", async () => {
    const processes = await openProcesses(redisUrl);
    const reader = await processes.open("api");
    let edge = await processes.open("edge");
    return {
      logs: reader.logs,
      print: (app, messages) => edge.print(app, messages),
      remove: processes.remove,
      restart: async () => {
        edge.end();
        edge = await processes.open("edge");
      },
      [Symbol.asyncDispose]: () => processes[Symbol.asyncDispose](),
    };
  });

  test("the logs of an app that has moved are read from both machines, and of other installations from none", async () => {
    await using processes = await openProcesses(redisUrl);
    await using others = await openProcesses(redisUrl);
    const [one, two, reader] = [await processes.open("one"), await processes.open("two"), await processes.open("api")];
    const foreign = await others.open("edge");
    await foreign.print(APP, ["of another installation"]);
    await one.print(APP, ["before"]);
    await waitFor(async () => expect(messagesOf(await reader.logs.read(APP))).toEqual(["before"]));
    await two.print(APP, ["after"]);
    for (const { logs } of [one, two, reader])
      await waitFor(async () => expect(messagesOf(await logs.read(APP))).toEqual(["before", "after"]));
  });

  test("a follower gets what was printed while its connection was lost, once", async () => {
    await using processes = await openProcesses(redisUrl);
    const [edge, reader] = [await processes.open("edge"), await processes.open("api")];
    const heard: RuntimeLogRecord[] = [];
    reader.logs.listen(APP, (records) => heard.push(...records));
    await reader.logs.read(APP);
    await edge.print(APP, ["before"]);
    await waitFor(() => expect(messagesOf(heard)).toEqual(["before"]));
    reader.subscriber.disconnect(false);
    await waitFor(() => expect(reader.subscriber.status).toBe("end"));
    await edge.print(APP, ["meanwhile"]);
    await waitFor(async () => expect(messagesOf(await edge.logs.read(APP))).toEqual(["before", "meanwhile"]));
    await reader.subscriber.connect();
    await waitFor(() => expect(messagesOf(heard)).toEqual(["before", "meanwhile"]));
    await edge.print(APP, ["afterwards"]);
    await waitFor(() => expect(messagesOf(heard)).toEqual(["before", "meanwhile", "afterwards"]));
  });

  test("without Redis, a process reads and follows the logs of its own apps", async () => {
    await using processes = await openProcesses(redisUrl);
    const edge = await processes.open("edge");
    for (const connection of [edge.redis, edge.subscriber]) connection.disconnect();
    const heard: RuntimeLogRecord[] = [];
    edge.logs.listen(APP, (records) => heard.push(...records));
    await edge.print(APP, ["alone"]);
    await waitFor(() => expect(messagesOf(heard)).toEqual(["alone"]));
    expect(messagesOf(await edge.logs.read(APP))).toEqual(["alone"]);
  });
}

if (SERVICES === null) testEmbedded();
else testRedis(SERVICES.redisUrl);
