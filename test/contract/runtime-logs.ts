import { describe, expect, test } from "vitest";
import type { LoggedApp, RuntimeLogRecord, RuntimeLogs } from "../../domain/ports/runtime-logs.ts";
import { waitFor } from "../support/time-limits.ts";

export interface RuntimeLogsSetting extends AsyncDisposable {
  /** Reads the logs: where the apps run, or in another process. */
  logs: RuntimeLogs;
  /** Prints messages, as a running app does. Returns before they can be read. */
  print(app: LoggedApp, messages: readonly string[]): Promise<void>;
  /** Removes the app, as its teardown does. No process of it is running. */
  remove(app: LoggedApp): Promise<void>;
  /** Ends the process that runs the apps without notice, and starts another one. */
  restart(): Promise<void>;
}

const APP = { id: "app-1", slug: "chatty" };
const OTHER = { id: "app-2", slug: "other" };

const messagesOf = (records: readonly RuntimeLogRecord[]) => records.map(({ message }) => message);
const idsOf = (records: readonly RuntimeLogRecord[]) => records.map(({ id }) => id);

/** The contract of every `RuntimeLogs`. */
export function runtimeLogsContract(driver: string, open: () => Promise<RuntimeLogsSetting>): void {
  describe(`runtime logs (${driver})`, () => {
    test("read returns the records of the app, oldest first, with ids that grow", async () => {
      await using setting = await open();
      const { logs } = setting;
      expect(await logs.read(APP)).toEqual([]);
      await setting.print(APP, ["one", "two\nlines"]);
      await setting.print(OTHER, ["of another app"]);
      await setting.print(APP, ["three"]);
      await waitFor(async () => expect(messagesOf(await logs.read(APP))).toEqual(["one", "two\nlines", "three"]));
      const records = await logs.read(APP);
      expect(idsOf(records)).toEqual([...new Set(idsOf(records))].toSorted((a, b) => a - b));
      expect(records[0]).toEqual({
        id: expect.any(Number),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
        level: "info",
        message: "one",
        requestId: null,
      });
    });

    test("a listener gets each new record of its app once and in order, until it is removed", async () => {
      await using setting = await open();
      const { logs } = setting;
      const [heard, heardShortly]: [RuntimeLogRecord[], RuntimeLogRecord[]] = [[], []];
      const remove = logs.listen(APP, (records) => heard.push(...records));
      const removeShort = logs.listen(APP, (records) => heardShortly.push(...records));
      await setting.print(OTHER, ["of another app"]);
      for (let n = 0; n < 50; n++) await setting.print(APP, [`${n} a`, `${n} b`]);
      const expected = Array.from({ length: 50 }, (_, n) => [`${n} a`, `${n} b`]).flat();
      await waitFor(() => expect(messagesOf(heard)).toEqual(expected));
      await waitFor(() => expect(heardShortly).toHaveLength(100));
      removeShort();
      await setting.print(APP, ["later"]);
      await waitFor(() => expect(heard.at(-1)?.message).toBe("later"));
      remove();
      await setting.print(APP, ["last"]);
      await waitFor(async () => expect(messagesOf(await logs.read(APP)).at(-1)).toBe("last"));
      expect([heard.length, heardShortly.length]).toEqual([101, 100]);
    });

    test("a caller that listens and then reads has every record, and each heard record can be read", async () => {
      await using setting = await open();
      const { logs } = setting;
      const printing = (async () => {
        for (let n = 0; n < 100; n++) await setting.print(APP, [String(n)]);
      })();
      const heard: RuntimeLogRecord[] = [];
      const unreadable: number[] = [];
      const checks: Promise<void>[] = [];
      const remove = logs.listen(APP, (records) => {
        heard.push(...records);
        const check = async (): Promise<void> => {
          const ids = new Set(idsOf(await logs.read(APP)));
          unreadable.push(...idsOf(records).filter((id) => !ids.has(id)));
        };
        checks.push(check());
      });
      const stored = await logs.read(APP);
      await printing;
      const numbers = () => new Map([...stored, ...heard].map(({ id, message }) => [id, message]));
      await waitFor(() => expect(numbers().size).toBe(100));
      remove();
      await Promise.all(checks);
      expect(unreadable).toEqual([]);
      const sorted = [...numbers()].toSorted(([a], [b]) => a - b).map(([, message]) => Number(message));
      expect(sorted).toEqual(Array.from({ length: 100 }, (_, n) => n));
    });

    test("records that could be read survive the end of the process that runs the app, and ids grow afterwards", async () => {
      await using setting = await open();
      await setting.print(APP, ["before"]);
      await waitFor(async () => expect(await setting.logs.read(APP)).toHaveLength(1));
      await setting.restart();
      await setting.print(APP, ["after"]);
      await waitFor(async () => expect(messagesOf(await setting.logs.read(APP))).toEqual(["before", "after"]));
      const [before, after] = idsOf(await setting.logs.read(APP));
      expect(after).toBeGreaterThan(before ?? Infinity);
    });

    test("the records are removed with the app, and another app with its slug has none of them", async () => {
      await using setting = await open();
      await setting.print(APP, ["secret"]);
      await setting.print(OTHER, ["kept"]);
      await waitFor(async () => expect(await setting.logs.read(APP)).toHaveLength(1));
      expect(await setting.logs.read({ ...APP, id: "app-3" })).toEqual([]);
      await setting.remove(APP);
      expect(await setting.logs.read(APP)).toEqual([]);
      await waitFor(async () => expect(messagesOf(await setting.logs.read(OTHER))).toEqual(["kept"]));
    });
  });
}
