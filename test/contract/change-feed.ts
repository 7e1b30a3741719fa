import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { waitFor } from "../support/time-limits.ts";

/** Two feeds that reach each other, like those of two processes. */
export interface OpenFeeds extends AsyncDisposable {
  pair: [ChangeFeed, ChangeFeed];
  /** Interrupts the connection between them for a short time. Does nothing for feeds without one. */
  interrupt(): Promise<void>;
}

/** The guarantees of every change feed. */
export function describeChangeFeedContract(name: string, open: () => Promise<OpenFeeds>): void {
  describe(`change feed: ${name}`, () => {
    test("the listeners of every process receive each announcement once", async () => {
      await using opened = await open();
      const orgIds = Array.from({ length: 5 }, () => randomUUID());
      const listeners = opened.pair.map((feed) => listenFor(feed, orgIds));
      for (const orgId of orgIds) opened.pair[0].announce(orgId);
      const all = orgIds.toSorted();
      await waitFor(() => expect(listeners.map(({ received }) => received.toSorted())).toEqual([all, all]));
    });

    test("announce calls the listeners of its own process before it returns, and only once", async () => {
      await using opened = await open();
      const [announcer, other] = opened.pair;
      const [first, last] = [randomUUID(), randomUUID()];
      const ownListener = listenFor(announcer, [first]);
      const otherListener = listenFor(other, [last]);
      announcer.announce(first);
      expect(ownListener.received).toEqual([first]);
      // Notices keep their order: when the later one has arrived, the earlier one has returned from the server.
      await announceUntilReceived(announcer, last, otherListener);
      expect(ownListener.received).toEqual([first]);
    });

    test("a listener receives nothing after it was removed, and other listeners still do", async () => {
      await using opened = await open();
      const [announcer, feed] = opened.pair;
      const [before, after] = [randomUUID(), randomUUID()];
      const removed = listenFor(feed, [before, after]);
      const remaining = listenFor(feed, [before, after]);
      announcer.announce(before);
      await waitFor(() => expect([removed.received, remaining.received]).toEqual([[before], [before]]));
      removed.remove();
      await opened.interrupt();
      await announceUntilReceived(announcer, after, remaining);
      expect(removed).toMatchObject({ received: [before], gaps: 0 });
    });

    test("a feed reports no gap while its connection is open", async () => {
      await using opened = await open();
      const orgId = randomUUID();
      const listener = listenFor(opened.pair[1], [orgId]);
      await announceUntilReceived(opened.pair[0], orgId, listener);
      expect(listener.gaps).toBe(0);
    });
  });
}

/** Further guarantees of a feed that reaches other processes through a server. */
export function describeLossOfChangeFeed(name: string, open: () => Promise<OpenFeeds>): void {
  describe(`change feed: ${name}`, () => {
    test("a feed delivers notices again after its connection was lost, and reports a gap", async () => {
      await using opened = await open();
      const orgId = randomUUID();
      const listeners = opened.pair.map((feed) => listenFor(feed, [orgId]));
      await opened.interrupt();
      for (const listener of listeners) await waitFor(() => expect(listener.gaps).toBeGreaterThan(0));
      for (const listener of listeners) await announceUntilReceived(opened.pair[0], orgId, listener);
    });
  });
}

interface Listener {
  received: string[];
  gaps: number;
  remove(): void;
}

/** Listens to notices of these organizations only, because other tests may use the same server. */
function listenFor(feed: ChangeFeed, orgIds: readonly string[]): Listener {
  const listener: Listener = { received: [], gaps: 0, remove: () => undefined };
  listener.remove = feed.listen(
    (orgId) => void (orgIds.includes(orgId) && listener.received.push(orgId)),
    () => void listener.gaps++,
  );
  return listener;
}

/** Repeats the announcement, because a notice can be lost directly after a connection was lost. */
async function announceUntilReceived(announcer: ChangeFeed, orgId: string, { received }: Listener): Promise<void> {
  await waitFor(() => {
    announcer.announce(orgId);
    expect(received).toContain(orgId);
  });
}
