import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";

/** Two feeds that reach each other, as those of two processes do. */
export interface OpenFeeds extends AsyncDisposable {
  pair: [ChangeFeed, ChangeFeed];
  /** Takes away what connects them, for a while; nothing, where nothing does. */
  cut(): Promise<void>;
}

const SOON = { timeout: 20_000, interval: 10 };

/** What every change feed promises. */
export function describeChangeFeedContract(name: string, open: () => Promise<OpenFeeds>): void {
  describe(`change feed: ${name}`, () => {
    test("tells the listeners of every process which organizations have changed, each once", async () => {
      await using opened = await open();
      const orgIds = Array.from({ length: 5 }, () => randomUUID());
      const listeners = opened.pair.map((feed) => listenFor(feed, orgIds));
      for (const orgId of orgIds) opened.pair[0].announce(orgId);
      const all = orgIds.toSorted();
      await vi.waitFor(() => expect(listeners.map(({ heard }) => heard.toSorted())).toEqual([all, all]), SOON);
    });

    test("has told the listeners of its own process when it returns, and tells them no second time", async () => {
      await using opened = await open();
      const [announcer, other] = opened.pair;
      const [first, last] = [randomUUID(), randomUUID()];
      const own = listenFor(announcer, [first]);
      const elsewhere = listenFor(other, [last]);
      announcer.announce(first);
      expect(own.heard).toEqual([first]);
      // What was announced later has come back from wherever it goes, so what was earlier has too.
      await announceUntilHeard(announcer, last, elsewhere);
      expect(own.heard).toEqual([first]);
    });

    test("tells a listener that has left nothing more, and the others what there is", async () => {
      await using opened = await open();
      const [announcer, feed] = opened.pair;
      const [before, after] = [randomUUID(), randomUUID()];
      const left = listenFor(feed, [before, after]);
      const stayed = listenFor(feed, [before, after]);
      announcer.announce(before);
      await vi.waitFor(() => expect([left.heard, stayed.heard]).toEqual([[before], [before]]), SOON);
      left.leave();
      await opened.cut();
      await announceUntilHeard(announcer, after, stayed);
      expect(left).toMatchObject({ heard: [before], gaps: 0 });
    });

    test("speaks of no gap while nothing is missing", async () => {
      await using opened = await open();
      const orgId = randomUUID();
      const listener = listenFor(opened.pair[1], [orgId]);
      await announceUntilHeard(opened.pair[0], orgId, listener);
      expect(listener.gaps).toBe(0);
    });
  });
}

/** What a feed promises beside that when it reaches other processes through a server, which can be lost. */
export function describeLossOfChangeFeed(name: string, open: () => Promise<OpenFeeds>): void {
  describe(`change feed: ${name}`, () => {
    test("brings notices again after its connection was cut, and says that some may be missing", async () => {
      await using opened = await open();
      const orgId = randomUUID();
      const listeners = opened.pair.map((feed) => listenFor(feed, [orgId]));
      await opened.cut();
      for (const listener of listeners) await vi.waitFor(() => expect(listener.gaps).toBeGreaterThan(0), SOON);
      for (const listener of listeners) await announceUntilHeard(opened.pair[0], orgId, listener);
    });
  });
}

interface Listener {
  heard: string[];
  gaps: number;
  leave(): void;
}

/** Listens to what concerns these organizations: other tests may use the same server. */
function listenFor(feed: ChangeFeed, orgIds: readonly string[]): Listener {
  const listener: Listener = { heard: [], gaps: 0, leave: () => undefined };
  listener.leave = feed.listen(
    (orgId) => void (orgIds.includes(orgId) && listener.heard.push(orgId)),
    () => void listener.gaps++,
  );
  return listener;
}

/** A notice may get lost when a connection just was, so it is sent until one arrives. */
async function announceUntilHeard(announcer: ChangeFeed, orgId: string, { heard }: Listener): Promise<void> {
  await vi.waitFor(() => {
    announcer.announce(orgId);
    expect(heard).toContain(orgId);
  }, SOON);
}
