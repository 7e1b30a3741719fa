import { describe, expect, test } from "vitest";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";

export interface AuthEntriesHarness extends AsyncDisposable {
  entries: AuthEntries;
  /** A second view of the same entries, as another process has it. */
  elsewhere: AuthEntries;
}

const entry = (appId: string, digit: string) => ({ appId, tokenSha256: digit.repeat(64) });

/** What every store of auth entries does. */
export function authEntriesContract(driver: string, open: () => Promise<AuthEntriesHarness>): void {
  describe(`auth entries (${driver})`, () => {
    test("an entry can be read back by its app, and another app has none", async () => {
      await using h = await open();
      await h.entries.put(entry("app-1", "a"));
      expect([await h.entries.get("app-1"), await h.entries.get("app-2")]).toEqual([entry("app-1", "a"), null]);
    });

    test("a replaced entry counts from the next read on, everywhere", async () => {
      await using h = await open();
      await h.entries.put(entry("app-1", "a"));
      await Promise.all([h.entries.get("app-1"), h.elsewhere.get("app-1")]);
      await h.entries.put(entry("app-1", "b"));
      expect([await h.entries.get("app-1"), await h.elsewhere.get("app-1")]).toEqual([
        entry("app-1", "b"),
        entry("app-1", "b"),
      ]);
    });

    test("the token before it is kept with an entry, until an entry without one replaces it", async () => {
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

    test("a removed entry is gone everywhere, and removing it again succeeds", async () => {
      await using h = await open();
      await h.entries.put(entry("app-1", "a"));
      await Promise.all([h.entries.get("app-1"), h.elsewhere.get("app-1")]);
      await h.entries.remove("app-1");
      await h.entries.remove("app-1");
      expect([await h.entries.get("app-1"), await h.elsewhere.get("app-1")]).toEqual([null, null]);
    });

    test("every app that has an entry is listed", async () => {
      await using h = await open();
      expect(await h.entries.list()).toEqual([]);
      await h.entries.put(entry("app-1", "a"));
      await h.entries.put(entry("app-2", "b"));
      expect((await h.entries.list()).toSorted()).toEqual(["app-1", "app-2"]);
    });

    test("entries put at the same time never mix", async () => {
      await using h = await open();
      await Promise.all(["a", "b", "c", "d"].map((digit) => h.entries.put(entry("app-1", digit))));
      expect((await h.entries.get("app-1"))?.tokenSha256).toMatch(/^(a{64}|b{64}|c{64}|d{64})$/);
    });
  });
}
