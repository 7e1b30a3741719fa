import { describe, expect, test } from "vitest";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";

export interface AuthEntriesHarness extends AsyncDisposable {
  entries: AuthEntries;
  /** The same entries, as another process sees them. */
  elsewhere: AuthEntries;
}

const entry = (appId: string, digit: string) => ({ appId, tokenSha256: digit.repeat(64) });

/** The contract of every store of auth entries. */
export function authEntriesContract(driver: string, open: () => Promise<AuthEntriesHarness>): void {
  describe(`auth entries (${driver})`, () => {
    test("an entry can be read with the id of its app, and another app has no entry", async () => {
      await using h = await open();
      await h.entries.put(entry("app-1", "a"));
      expect([await h.entries.get("app-1"), await h.entries.get("app-2")]).toEqual([entry("app-1", "a"), null]);
    });

    test("the next read in every process returns a replaced entry", async () => {
      await using h = await open();
      await h.entries.put(entry("app-1", "a"));
      await Promise.all([h.entries.get("app-1"), h.elsewhere.get("app-1")]);
      await h.entries.put(entry("app-1", "b"));
      expect([await h.entries.get("app-1"), await h.elsewhere.get("app-1")]).toEqual([
        entry("app-1", "b"),
        entry("app-1", "b"),
      ]);
    });

    test("an entry keeps its previous token until an entry without one replaces it", async () => {
      await using h = await open();
      const previous = { tokenSha256: "0".repeat(64), until: "2026-11-20T09:30:00.000Z" };
      await h.entries.put({ ...entry("app-1", "a"), previous });
      expect([await h.entries.get("app-1"), await h.elsewhere.get("app-1")]).toEqual([
        { ...entry("app-1", "a"), previous },
        { ...entry("app-1", "a"), previous },
      ]);
      await h.entries.put(entry("app-1", "b"));
      expect([await h.entries.get("app-1"), await h.elsewhere.get("app-1")]).toStrictEqual([
        entry("app-1", "b"),
        entry("app-1", "b"),
      ]);
    });

    test("a removed entry is missing in every process, and can be removed again", async () => {
      await using h = await open();
      await h.entries.put(entry("app-1", "a"));
      await Promise.all([h.entries.get("app-1"), h.elsewhere.get("app-1")]);
      await h.entries.remove("app-1");
      await h.entries.remove("app-1");
      expect([await h.entries.get("app-1"), await h.elsewhere.get("app-1")]).toEqual([null, null]);
    });

    test("the list contains every app that has an entry", async () => {
      await using h = await open();
      expect(await h.entries.list()).toEqual([]);
      await h.entries.put(entry("app-1", "a"));
      await h.entries.put(entry("app-2", "b"));
      expect((await h.entries.list()).toSorted()).toEqual(["app-1", "app-2"]);
    });

    test("one of several entries that are stored at the same time is stored completely", async () => {
      await using h = await open();
      await Promise.all(["a", "b", "c", "d"].map((digit) => h.entries.put(entry("app-1", digit))));
      expect((await h.entries.get("app-1"))?.tokenSha256).toMatch(/^(a{64}|b{64}|c{64}|d{64})$/);
    });
  });
}
