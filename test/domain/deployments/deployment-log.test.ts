import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { LOG_BUCKET } from "../../../domain/apps/app-resources.ts";
import { DeploymentLog } from "../../../domain/deployments/deployment-log.ts";
import type { ObjectStore } from "../../../domain/ports/object-store.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

async function openStore() {
  const folder = await temporaryFolder();
  const objects = new FilesystemObjectStore(folder.path);
  const read = async (key: string) =>
    new TextDecoder().decode((await objects.get(LOG_BUCKET, key)) ?? new Uint8Array());
  return { objects, read, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const openLog = (objects: ObjectStore, key: string, secrets: string[]) =>
  DeploymentLog.open({ objects, key, secrets, onStored: () => undefined });

const bytes = (text: string) => new TextEncoder().encode(text);

verifies(
  "rest.logs.logs",
  "a log is stored as the build printed it, with the lines of the service marked",
  async () => {
    await using store = await openStore();
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    log.say("cloning");
    log.output(bytes("one\ntw"));
    log.output(bytes("o\nno end"));
    log.say("ready");
    await log.close();
    expect(await store.read(key)).toBe("[service] cloning\none\ntwo\nno end\n[service] ready\n");
  },
);

verifies(
  hazard(47),
  "a log that is too long keeps its beginning and its end, and says how much it left out",
  async () => {
    await using store = await openStore();
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    log.output(bytes("the beginning\n"));
    const line = bytes(`${"x".repeat(100_000)}\n`);
    for (let n = 0; n < 300; n++) log.output(line);
    for (let n = 0; n < 20; n++) log.output(line.subarray(0, 100_000));
    log.output(bytes("\nthe end\n"));
    await log.close();
    const text = await store.read(key);
    expect(text.length).toBeLessThan(1_100_000);
    expect(text).toMatch(/^the beginning\n/);
    expect(text).toMatch(/the end\n$/);
    expect(text).toMatch(/\[service\] \d+ characters left out here/);
  },
);

verifies(
  hazard(47),
  "a log stores output that is not UTF-8, and joins a character that arrives in two pieces",
  async () => {
    await using store = await openStore();
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    const euro = bytes("€");
    log.output(euro.subarray(0, 1));
    log.output(euro.subarray(1));
    log.output(new Uint8Array([0xff, 0xfe, 0x0a]));
    await log.close();
    expect(await store.read(key)).toBe("€\ufffd\ufffd\n");
  },
);

verifies(hazard(48), "a log masks a secret that arrives in two pieces", async () => {
  await using store = await openStore();
  const key = `${randomUUID()}/1.log`;
  const log = await openLog(store.objects, key, ["swordfish-swordfish"]);
  log.output(bytes("the secret is swordfish-"));
  log.output(bytes("swordfish, keep it\n"));
  await log.close();
  expect(await store.read(key)).toBe("the secret is [masked], keep it\n");
});

verifies(hazard(48), "a log masks a secret at the place where a very long line is split", async () => {
  await using store = await openStore();
  const log = await openLog(store.objects, "a/1.log", ["swordfish-swordfish"]);
  log.output(bytes(`${"x".repeat(65_530)}swordfish-`));
  log.output(bytes("swordfish\n"));
  await log.close();
  expect((await store.read("a/1.log")).slice(65_530)).toBe("[masked]\n");
});

verifies(hazard(48), "a log masks a secret that a very long line contains near its end", async () => {
  await using store = await openStore();
  const log = await openLog(store.objects, "a/1.log", ["swordfish-swordfish"]);
  log.output(bytes(`${"x".repeat(65_530)}swordfish-swordfish${"y".repeat(10)}`));
  log.output(bytes("\n"));
  await log.close();
  expect((await store.read("a/1.log")).slice(65_530)).toBe(`[masked]${"y".repeat(10)}\n`);
});

verifies(hazard(41), "a later attempt appends to the log of an interrupted one", async () => {
  await using store = await openStore();
  const key = `${randomUUID()}/1.log`;
  const first = await openLog(store.objects, key, []);
  first.say("first");
  await first.flush();
  const second = await openLog(store.objects, key, []);
  second.say("second");
  await Promise.all([first.close(), second.close()]);
  const third = await openLog(store.objects, key, []);
  await third.close();
  expect(await store.read(key)).toBe("[service] first\n[service] second\n");
});

verifies(hazard(41), "a log repeats a write that failed, and throws no error for it", async () => {
  await using store = await openStore();
  const key = `${randomUUID()}/1.log`;
  const log = await openLog(failing(store.objects, "put", 1), key, []);
  log.say("first");
  await Promise.all([log.flush(), log.flush()]);
  log.say("second");
  await log.close();
  expect(await store.read(key)).toBe("[service] first\n[service] second\n");
});

verifies(
  "rest.logs.logs",
  "a line of the build that imitates a line of the service is marked as the build's",
  async () => {
    await using store = await openStore();
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    log.output(bytes("[service] ready\n[service] again\nno [service] here\n"));
    await log.close();
    expect(await store.read(key)).toBe("> [service] ready\n> [service] again\nno [service] here\n");
  },
);

verifies(
  hazard(47),
  "neither invisible characters nor quoted line breaks make the app's text look like a line of the service",
  async () => {
    await using store = await openStore();
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    log.output(bytes("[service] ready\n\u200b[service] ready\n \t[service] ready\n\u2028[service] ready\n"));
    log.say("failed: Migration a\n[service] ready\r\n[service] done");
    await log.close();
    const own = (await store.read(key)).split(/[\n\u2028]/).filter((line) => /^[\s\u200b]*\[service\]/.test(line));
    expect(own).toEqual(["[service] failed: Migration a [service] ready [service] done"]);
  },
);

/** A store that counts how often a log is written. */
function counting(objects: FilesystemObjectStore) {
  const counted = { puts: 0, objects };
  counted.objects = new Proxy(objects, {
    get: (target, name) => {
      if (name === "put") counted.puts += 1;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  return counted;
}

test("a log is written while the deployment runs, and only when it has changed", async () => {
  await using store = await openStore();
  const counted = counting(store.objects);
  const log = await openLog(counted.objects, "a/1.log", []);
  log.output(bytes("one\n"));
  await expect.poll(() => store.read("a/1.log")).toBe("one\n");
  await log.flush();
  await log.close();
  expect(counted.puts).toBe(1);
});

test("a log without any text is not stored, and a closed log has no timer", async () => {
  await using store = await openStore();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const empty = await openLog(store.objects, "a/1.log", []);
    await empty.close();
    const log = await openLog(store.objects, "a/2.log", []);
    log.say("one");
    expect(vi.getTimerCount()).toBe(1);
    await log.close();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
  expect(await store.objects.get(LOG_BUCKET, "a/1.log")).toBeNull();
});

test("a write that failed is repeated although no text was added", async () => {
  await using store = await openStore();
  const log = await openLog(failing(store.objects, "put", 1), "a/1.log", []);
  log.say("first");
  await log.flush();
  expect(await store.read("a/1.log")).toBe("");
  await log.close();
  expect(await store.read("a/1.log")).toBe("[service] first\n");
});

test("a line without an end gets one when the log is closed, unless it is so long that it was split", async () => {
  await using store = await openStore();
  for (const [text, stored] of [
    ["no end", "no end\n"],
    ["x".repeat(65_536), `${"x".repeat(65_536)}\n`],
    ["x".repeat(65_537), "x".repeat(65_537)],
    ["whole\nno end", "whole\nno end\n"],
  ] as const) {
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    log.output(bytes(text));
    await log.close();
    expect(await store.read(key)).toBe(stored);
  }
});

test("a log of 1,048,576 characters is complete, and a longer one says exactly how much is missing", async () => {
  await using store = await openStore();
  const line = `${"x".repeat(1023)}\n`;
  const complete = line.repeat(1024);
  for (const [text, stored] of [
    [complete, complete],
    [
      `${complete}0123456789\n`,
      `${line.repeat(512)}\n[service] 11 characters left out here\n${complete.slice(524_288 + 11)}0123456789\n`,
    ],
  ] as const) {
    const key = `${randomUUID()}/1.log`;
    const log = await openLog(store.objects, key, []);
    log.output(bytes(text));
    await log.close();
    expect((await store.read(key)) === stored).toBe(true);
  }
});

test("a later attempt continues a log whose middle was left out, and counts all characters that are missing", async () => {
  await using store = await openStore();
  const [first, second] = [await openLog(store.objects, "a/1.log", []), bytes(`${"y".repeat(99)}\n`.repeat(6000))];
  for (let n = 0; n < 2; n++) first.output(second);
  await first.close();
  const missing = async () => Number(/(\d+) characters left out/.exec(await store.read("a/1.log"))?.[1]);
  expect(await missing()).toBe(1_200_000 - 1_048_576);
  const later = await openLog(store.objects, "a/1.log", []);
  later.output(second);
  await later.close();
  expect(await missing()).toBe(1_800_000 - 1_048_576);
});
