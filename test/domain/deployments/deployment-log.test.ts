import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { LOG_BUCKET, logKeyOf } from "../../../domain/apps/app-resources.ts";
import { DeploymentLog } from "../../../domain/deployments/deployment-log.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { hazard, verifies } from "../../support/verifies.ts";

async function openStore() {
  const directory = await mkdtemp(path.join(tmpdir(), "objects-"));
  const objects = new FilesystemObjectStore(directory);
  const read = async (appId: string) =>
    new TextDecoder().decode((await objects.get(LOG_BUCKET, logKeyOf(appId))) ?? new Uint8Array());
  return { objects, read, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

const bytes = (text: string) => new TextEncoder().encode(text);

verifies("rest.logs.logs", "is stored as it was printed, with the service's own lines marked", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(store.objects, appId, []);
  log.say("cloning");
  log.output(bytes("one\ntw"));
  log.output(bytes("o\nno end"));
  log.say("ready");
  await log.close();
  expect(await store.read(appId)).toBe("[service] cloning\none\ntwo\nno end\n[service] ready\n");
});

verifies(hazard(47), "keeps both ends of a flood and says what it left out", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(store.objects, appId, []);
  log.output(bytes("the beginning\n"));
  const line = bytes(`${"x".repeat(100_000)}\n`);
  for (let n = 0; n < 300; n++) log.output(line);
  for (let n = 0; n < 20; n++) log.output(line.subarray(0, 100_000));
  log.output(bytes("\nthe end\n"));
  await log.close();
  const text = await store.read(appId);
  expect(text.length).toBeLessThan(1_100_000);
  expect(text).toMatch(/^the beginning\n/);
  expect(text).toMatch(/the end\n$/);
  expect(text).toMatch(/\[service\] \d+ characters left out here/);
});

verifies(hazard(47), "survives output that is not UTF-8, also where a character is split", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(store.objects, appId, []);
  const euro = bytes("€");
  log.output(euro.subarray(0, 1));
  log.output(euro.subarray(1));
  log.output(new Uint8Array([0xff, 0xfe, 0x0a]));
  await log.close();
  expect(await store.read(appId)).toBe("€\ufffd\ufffd\n");
});

verifies(hazard(48), "masks a secret that arrives in two pieces", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(store.objects, appId, ["swordfish-swordfish"]);
  log.output(bytes("the secret is swordfish-"));
  log.output(bytes("swordfish, keep it\n"));
  await log.close();
  expect(await store.read(appId)).toBe("the secret is [masked], keep it\n");
});

verifies(hazard(41), "adds to what an interrupted attempt left", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const first = await DeploymentLog.open(store.objects, appId, []);
  first.say("first");
  await first.flush();
  const second = await DeploymentLog.open(store.objects, appId, []);
  second.say("second");
  await Promise.all([first.close(), second.close()]);
  const third = await DeploymentLog.open(store.objects, appId, []);
  await third.close();
  expect(await store.read(appId)).toBe("[service] first\n[service] second\n");
});

verifies(hazard(41), "makes up for a write that failed, and never fails a build for it", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(failing(store.objects, "put", 1), appId, []);
  log.say("first");
  await Promise.all([log.flush(), log.flush()]);
  log.say("second");
  await log.close();
  expect(await store.read(appId)).toBe("[service] first\n[service] second\n");
});

verifies("rest.logs.logs", "shows a line of the build that imitates the service as what it is", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(store.objects, appId, []);
  log.output(bytes("[service] ready\n[service] again\nno [service] here\n"));
  await log.close();
  expect(await store.read(appId)).toBe("> [service] ready\n> [service] again\nno [service] here\n");
});

verifies(hazard(47), "nothing that is printed or quoted passes for a line of the service's own", async () => {
  await using store = await openStore();
  const appId = randomUUID();
  const log = await DeploymentLog.open(store.objects, appId, []);
  log.output(bytes("[service] ready\n\u200b[service] ready\n \t[service] ready\n\u2028[service] ready\n"));
  log.say("failed: Migration a\n[service] ready\r\n[service] done");
  await log.close();
  const own = (await store.read(appId)).split(/[\n\u2028]/).filter((line) => /^[\s\u200b]*\[service\]/.test(line));
  expect(own).toEqual(["[service] failed: Migration a [service] ready [service] done"]);
});
