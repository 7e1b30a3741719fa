import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";
import { openDatabase } from "../../../server/database/open-database.ts";
import type { Orm } from "../../../server/database/orm.ts";
import { CHANGE_CHANNEL, PostgresChangeFeed } from "../../../server/drivers/change-feed/postgres-change-feed.ts";
import { PostgresNotifications } from "../../../server/drivers/change-feed/postgres-notifications.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createTestDatabase, executeOnServer, postgresServer } from "../../support/service/test-databases.ts";
import type { OpenFeeds } from "../../contract/change-feed.ts";
import { waitFor } from "../../support/time-limits.ts";

type OnError = (error: unknown) => void;

/** The guarantees of the PostgreSQL feed for its start and its end. */
export function describePostgresChangeFeed(): void {
  describe("change feed: postgres", () => {
    test("a feed starts to listen as soon as the database accepts connections, and closes while it does not", async () => {
      await using stack = new AsyncDisposableStack();
      const { url, orm } = await openTestOrm(stack);
      const access = controlAccess(url);
      await access.block();
      const onError = vi.fn<OnError>();
      const feeds = stack.use(new AsyncDisposableStack());
      const feed = await openFeed(feeds, url, orm, onError);
      expect(onError).toHaveBeenCalledOnce();
      const onGap = vi.fn<() => void>();
      feed.listen(() => undefined, onGap);
      await access.allow();
      await waitFor(() => expect(onGap).toHaveBeenCalledOnce());
      await access.block();
      await feeds.disposeAsync();
      await access.allow();
      const sessions =
        "select 1 from pg_stat_activity where datname = current_database() and application_name = 'change feed'";
      // PostgreSQL ends a session a moment after its client has closed the connection.
      await expect.poll(() => orm.em.fork().execute(sessions)).toEqual([]);
    });

    test("a feed closes after it has sent its announcements, so that the pool can be closed next", async () => {
      await using stack = new AsyncDisposableStack();
      const { url, orm } = await openTestOrm(stack);
      const onError = vi.fn<OnError>();
      const listeningFeed = await openFeed(stack, url, orm, onError);
      const announcingFeed = await openFeed(stack, url, orm, onError);
      const received = new Set<string>();
      listeningFeed.listen((orgId) => void received.add(orgId));
      const orgIds = Array.from({ length: 15 }, () => randomUUID());
      for (const orgId of orgIds) announcingFeed.announce(orgId);
      await announcingFeed[Symbol.asyncDispose]();
      await orm.close();
      await waitFor(() => expect(received).toEqual(new Set(orgIds)));
      expect(onError).not.toHaveBeenCalled();
    });
  });
}

export async function openPostgresFeeds(): Promise<OpenFeeds> {
  await using stack = new AsyncDisposableStack();
  const { url, orm } = await openTestOrm(stack);
  const errorHandlers = [vi.fn<OnError>(), vi.fn<OnError>()] as const;
  const pair: [ChangeFeed, ChangeFeed] = [
    await openFeed(stack, url, orm, errorHandlers[0]),
    await openFeed(stack, url, orm, errorHandlers[1]),
  ];
  const access = controlAccess(url);
  const interrupt = async () => {
    await access.block();
    // One error for the lost connection, and one for a new connection that was refused.
    for (const onError of errorHandlers) await waitFor(() => expect(onError.mock.calls.length).toBeGreaterThan(1));
    await access.allow();
  };
  const opened = stack.move();
  return { pair, interrupt, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openTestOrm(stack: AsyncDisposableStack): Promise<{ url: string; orm: Orm }> {
  const { databaseUrl } = stack.use(await createTestDatabase());
  const { orm } = stack.use(await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent")));
  return { url: databaseUrl, orm };
}

async function openFeed(
  stack: AsyncDisposableStack,
  url: string,
  { em }: Orm,
  onError: OnError,
): Promise<PostgresChangeFeed> {
  const notifications = await PostgresNotifications.open({ url, channels: [CHANGE_CHANNEL], onError });
  stack.use(notifications);
  return stack.use(new PostgresChangeFeed({ em, notifications, onError }));
}

/** Makes a database behave like one whose server restarts: every connection ends, and new ones are refused. */
function controlAccess(databaseUrl: string): { block(): Promise<void>; allow(): Promise<void> } {
  const server = postgresServer();
  const name = new URL(databaseUrl).pathname.slice(1);
  return {
    async block() {
      await executeOnServer(server, `alter database ${name} with allow_connections false`);
      await executeOnServer(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    },
    allow: () => executeOnServer(server, `alter database ${name} with allow_connections true`),
  };
}
