import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Publication, Script } from "../../../domain/ports/edge-platform.ts";
import type { CloudflarePlatform } from "../../../server/platforms/cloudflare/open-cloudflare-platform.ts";
import { openOnEmulator, type PlatformOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const SCRIPT = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {
  async add() {
    const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return count;
  }
}
export default { async fetch(request, { GREETING, ROOM, VERSION }) {
  const count = request.method === "POST" ? await ROOM.get(ROOM.idFromName("a")).add() : 0;
  return Response.json({ version: VERSION, greeting: GREETING, count });
} }`;

let t: PlatformOnEmulator;
let other: CloudflarePlatform;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

// Two processes of one installation.
beforeAll(async () => {
  t = await openOnEmulator({}, { runsScripts: false });
  other = await t.reopen();
  folder = await temporaryFolder();
});
afterAll(async () => {
  await t[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function publish(
  platform: CloudflarePlatform,
  {
    generation,
    appId = "app-1",
    signal = AbortSignal.timeout(600_000),
  }: Partial<Script> & { generation: number; signal?: AbortSignal },
): Promise<Publication> {
  const file = path.join(folder.path, `${appId}-${generation}.form`);
  const bindings = [
    { type: "json", name: "VERSION", json: generation },
    { type: "plain_text", name: "GREETING", text: "declared" },
    { type: "durable_object_namespace", name: "ROOM", class_name: "Room" },
  ];
  const code = { runtime: "worker", scriptPath: await writeUploadForm(file, SCRIPT, { bindings }) } as const;
  return platform.scripts.publish("shop", { appId, generation, databaseId: "db-1", code, assets: null }, signal);
}

/** The bindings of the live script that identify its version. */
function liveShop(): Record<string, unknown> {
  const bindings = t.emulator.account.state.scripts.get("shop")?.metadata.bindings ?? [];
  return Object.fromEntries(bindings.map(({ name, json, text }) => [name, json ?? text]));
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));
const scriptNames = (): string[] => [...t.emulator.account.state.scripts.keys()];

/** Holds the request with a number, which `work` sends, until `meanwhile` has ended. */
async function interrupt(
  select: (request: { method: string; path: string; number: number }) => boolean,
  work: () => Promise<unknown>,
  meanwhile: () => Promise<unknown>,
): Promise<{ isHeld: boolean; result: string }> {
  let number = 0;
  let isHeld = false;
  let isOver = false;
  const { held, release } = t.emulator.holdRequest((request) => !isOver && select({ ...request, number: ++number }));
  const result = work().then(() => "done", nameOf);
  await Promise.race([result, held.then(() => (isHeld = true))]);
  isOver = true;
  await meanwhile();
  release();
  return { isHeld, result: await result };
}

verifies(
  hazard(44),
  "a worker that continues after any of its requests does not replace the version of a newer attempt",
  async () => {
    let generation = 0;
    for (const isFirst of [true, false])
      for (let last = 1; ; last++) {
        if (isFirst) await t.platform.scripts.unpublish("shop");
        const [older, newer] = [++generation, ++generation];
        const { isHeld, result } = await interrupt(
          ({ number }) => number === last,
          () => publish(other, { generation: older }),
          () => publish(t.platform, { generation: newer }),
        );
        // After its last change, the older attempt was complete before the newer one began.
        expect([last, result]).toEqual([last, expect.stringMatching(/^(StaleGeneration|done)$/)]);
        expect([await t.platform.scripts.liveGeneration("shop"), liveShop()]).toMatchObject([
          newer,
          { VERSION: newer },
        ]);
        expect(scriptNames()).toEqual(["shop"]);
        if (!isHeld) break;
      }
    await t.platform.scripts.unpublish("shop");
  },
);

verifies(
  hazard(44),
  "the upload of a killed worker that arrives late is rejected, also as the first one of the app",
  async () => {
    for (const isFirst of [true, false]) {
      if (!isFirst) await publish(t.platform, { generation: 100 });
      const killed = new AbortController();
      const { isHeld } = await interrupt(
        ({ method, path: target }) => method === "PUT" && target.endsWith("/shop"),
        () => publish(other, { generation: 101, signal: killed.signal }),
        async () => {
          killed.abort(new Error("killed"));
          await publish(t.platform, { generation: 102 });
        },
      );
      expect([isHeld, await t.platform.scripts.liveGeneration("shop"), liveShop()]).toMatchObject([
        true,
        102,
        { VERSION: 102 },
      ]);
      await t.platform.scripts.unpublish("shop");
    }
  },
);

test("a variable that changes during a publication, or during another restart, has its newest value in the newest version", async () => {
  const setGreeting = (version: number) => t.variables.set("app-1", { GREETING: `value ${version}` });
  await publish(t.platform, { generation: 200 });
  const restart = (platform: CloudflarePlatform) => platform.scripts.restart("shop", AbortSignal.timeout(600_000));
  setGreeting(1);
  // A restart is late after a publication.
  await interrupt(
    ({ method }) => method === "PATCH",
    () => restart(other),
    () => publish(t.platform, { generation: 201 }),
  );
  expect(liveShop()).toMatchObject({ VERSION: 201, GREETING: "value 1" });
  // A publication with earlier variables is late after a restart.
  await interrupt(
    ({ method, path: target }) => method === "PUT" && target.endsWith("/shop"),
    () => publish(other, { generation: 202 }),
    async () => {
      setGreeting(2);
      await restart(t.platform);
    },
  );
  expect(liveShop()).toMatchObject({ VERSION: 202, GREETING: "value 2" });
  // A restart with earlier variables is late after one with newer ones.
  setGreeting(3);
  await interrupt(
    ({ method }) => method === "PATCH",
    () => restart(other),
    async () => {
      setGreeting(4);
      await restart(t.platform);
    },
  );
  expect(liveShop()).toMatchObject({ VERSION: 202, GREETING: "value 4" });
});

test("durable objects stay over versions and restarts of an app, and another app at the slug does not get them", async () => {
  await using own = await openOnEmulator();
  const { scripts } = own.platform;
  const addOne = async () => JSON.parse((await own.request("shop", "/", { method: "POST" })).text) as unknown;
  await publish(own.platform, { generation: 1 });
  await addOne();
  await publish(own.platform, { generation: 2 });
  own.variables.set("app-1", { GREETING: "changed" });
  await scripts.restart("shop", AbortSignal.timeout(600_000));
  expect(await addOne()).toEqual({ version: 2, greeting: "changed", count: 2 });
  await publish(own.platform, { generation: 1, appId: "app-2" });
  expect(await addOne()).toEqual({ version: 1, greeting: "declared", count: 1 });
});

test("where Cloudflare does not check migrations without classes, the start warns, and apps are published as they are", async () => {
  await using own = await openOnEmulator({}, { runsScripts: false });
  const { account } = own.emulator;
  account.acceptsEmptyMigrations = false;
  account.state.workers.clear();
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (_: object, message: string) => void warnings.push(message) };
  await own.reopen({ log });
  const again = await own.reopen({ log });
  expect(warnings).toEqual(Array.from({ length: 2 }, () => expect.stringContaining("can replace a newer version")));
  expect(account.state.scripts.size).toBe(0);
  await publish(again, { generation: 1 });
  await publish(again, { generation: 2 });
  expect(await again.scripts.liveGeneration("shop")).toBe(2);
  await expect(publish(again, { generation: 1 })).rejects.toMatchObject({ name: "StaleGeneration" });
});
