import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { openDatabase } from "../../../server/database/open-database.ts";
import type { Orm } from "../../../server/database/orm.ts";
import { PostgresChangeFeed } from "../../../server/drivers/change-feed/postgres-change-feed.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createTestDatabase, onServer, postgresServer } from "../../support/service/databases.ts";
import type { OpenFeeds } from "../../contract/change-feed.ts";

type OnFault = (error: unknown) => void;

/** What the feed on Postgres promises for its own beginning and end. */
export function describePostgresChangeFeed(): void {
  describe("change feed: postgres", () => {
    test("starts to listen when the database lets it, and ends while it does not", async () => {
      await using stack = new AsyncDisposableStack();
      const { url, orm } = await openPool(stack);
      const doors = doorsOf(postgresServer(), url);
      await doors.shut();
      const onFault = vi.fn<OnFault>();
      const feed = await openFeed(stack, url, orm, onFault);
      expect(onFault).toHaveBeenCalledOnce();
      const onGap = vi.fn<() => void>();
      feed.listen(() => undefined, onGap);
      await doors.open();
      await vi.waitFor(() => expect(onGap).toHaveBeenCalledOnce(), 10_000);
      await doors.shut();
      await feed[Symbol.asyncDispose]();
      await doors.open();
      const left =
        "select 1 from pg_stat_activity where datname = current_database() and application_name = 'change feed'";
      expect(await orm.em.fork().execute(left)).toEqual([]);
    });

    test("ends after what it announced is on its way, so that the pool can be closed then", async () => {
      await using stack = new AsyncDisposableStack();
      const { url, orm } = await openPool(stack);
      const onFault = vi.fn<OnFault>();
      const [listener, announcer] = [
        await openFeed(stack, url, orm, onFault),
        await openFeed(stack, url, orm, onFault),
      ];
      const heard = new Set<string>();
      listener.listen((orgId) => void heard.add(orgId));
      const orgIds = Array.from({ length: 15 }, () => randomUUID());
      for (const orgId of orgIds) announcer.announce(orgId);
      await announcer[Symbol.asyncDispose]();
      await orm.close();
      await vi.waitFor(() => expect(heard).toEqual(new Set(orgIds)), 10_000);
      expect(onFault).not.toHaveBeenCalled();
    });
  });
}

export async function openPostgresFeeds(server: string): Promise<OpenFeeds> {
  await using stack = new AsyncDisposableStack();
  const { url, orm } = await openPool(stack);
  const faults = [vi.fn<OnFault>(), vi.fn<OnFault>()] as const;
  const pair: [ChangeFeed, ChangeFeed] = [
    await openFeed(stack, url, orm, faults[0]),
    await openFeed(stack, url, orm, faults[1]),
  ];
  const doors = doorsOf(server, url);
  const cut = async () => {
    await doors.shut();
    // The loss, and an attempt to come back that is refused.
    for (const onFault of faults) await vi.waitFor(() => expect(onFault.mock.calls.length).toBeGreaterThan(1), 10_000);
    await doors.open();
  };
  const opened = stack.move();
  return { pair, cut, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openPool(stack: AsyncDisposableStack): Promise<{ url: string; orm: Orm }> {
  const { databaseUrl } = stack.use(await createTestDatabase());
  const { orm } = stack.use(await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent")));
  return { url: databaseUrl, orm };
}

async function openFeed(
  stack: AsyncDisposableStack,
  url: string,
  { em }: Orm,
  onFault: OnFault,
): Promise<PostgresChangeFeed> {
  return stack.use(await PostgresChangeFeed.open({ url, em, onFault }));
}

/** Makes a database look like one whose server restarts: every connection ends, and no new one is let in. */
function doorsOf(server: string, databaseUrl: string): { shut(): Promise<void>; open(): Promise<void> } {
  const name = new URL(databaseUrl).pathname.slice(1);
  return {
    async shut() {
      await onServer(server, `alter database ${name} with allow_connections false`);
      await onServer(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    },
    open: () => onServer(server, `alter database ${name} with allow_connections true`),
  };
}
