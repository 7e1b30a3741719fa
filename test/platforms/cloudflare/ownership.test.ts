import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { takeOver } from "../../../server/backup/take-over.ts";
import { readInstallation, writeInstallation } from "../../../server/installation/installation.ts";
import { openOwner } from "../../../server/platforms/cloudflare/open-cloudflare-platform.ts";
import { MemoryCounter } from "../../../server/drivers/counter/memory-counter.ts";
import { Repository } from "../../support/builds/git-repository.ts";
import { CloudflareEmulator } from "../../support/cloudflare/emulator.ts";
import { openOnEmulator, type PlatformOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";
import { appRequest } from "../../support/edge/app-request.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { deployReady } from "../../support/service/backup-apps.ts";
import { runAdmin } from "../../support/service/run-admin.ts";
import { createInstallation } from "../../support/service/service-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const signal = AbortSignal.timeout(600_000);
const APP = { slug: "shop", appId: "app-1" };

async function publish(platform: PlatformOnEmulator["platform"], generation: number): Promise<void> {
  await using folder = await temporaryFolder();
  const code = `export default { fetch: () => new Response("${generation}") }`;
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), code);
  const script = { appId: "app-1", generation, databaseId: "db-1", code: { runtime: "worker", scriptPath } } as const;
  await platform.scripts.publish("shop", { ...script, assets: null }, signal);
}

/** Every operation of the platform that changes something. */
function changesOf(platform: PlatformOnEmulator["platform"]): (() => Promise<unknown>)[] {
  const { scripts, databases, authEntries, storage } = platform;
  return [
    () => publish(platform, 2),
    () => scripts.unpublish("shop"),
    () => scripts.unpublish("absent"),
    () => databases.create("db-2"),
    () => databases.migrate("db-1", [{ name: "1", statements: ["CREATE TABLE a(b)"] }], signal),
    () => databases.remove("db-1"),
    () => authEntries.put({ appId: "app-1", tokenSha256: "1".repeat(64) }),
    () => authEntries.remove("app-1"),
    () => storage.restrict(APP, { message: "full", servesOwner: false }),
  ];
}

verifies(
  hazard(70),
  "a restored copy changes nothing in the account of the living installation until it has taken over",
  async () => {
    await using t = await openOnEmulator();
    await t.platform.databases.create("db-1");
    await t.platform.authEntries.put({ appId: "app-1", tokenSha256: "0".repeat(64) });
    await publish(t.platform, 1);
    const before = t.emulator.requests.length;
    const copy = await t.reopen({ installation: { id: "installation-1", epoch: 1, state: "restored" } });
    for (const change of changesOf(copy)) await expect(change()).rejects.toMatchObject({ name: "NotOwner" });
    expect(t.emulator.requests.slice(before).filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await copy.scripts.list()).toEqual([APP]);
    expect(await copy.authEntries.get("app-1")).toMatchObject({ tokenSha256: "0".repeat(64) });
    expect((await t.request("shop")).text).toBe("1");
  },
);

verifies(
  hazard(70),
  "when a copy has taken over, the living installation changes nothing any more and cannot start",
  async () => {
    await using t = await openOnEmulator();
    await using folder = await temporaryFolder();
    const errors: Error[] = [];
    const living = await t.reopen({ onTakenOver: (error) => errors.push(error) });
    await living.databases.create("db-1");
    await publish(living, 1);
    await writeInstallation(folder.path, { id: "installation-1", epoch: 1, state: "restored" });
    const config = { dataDirectory: folder.path, databaseUrl: null, s3: null, cloudflare: t.emulator.settings };
    expect(await takeOver(config)).toEqual({ installation: "installation-1", epoch: 2 });
    for (const change of changesOf(living)) await expect(change()).rejects.toMatchObject({ name: "NotOwner" });
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("has taken over the apps")]);
    await expect(t.reopen()).rejects.toThrow("has taken over the apps");
    await expect(t.reopen({ installation: { id: "other", epoch: 9, state: "active" } })).rejects.toThrow(
      "the apps belong to another installation",
    );
    const taken = await t.reopen({ installation: (await readInstallation(folder.path))! });
    await publish(taken, 2);
    expect((await t.request("shop")).text).toBe("2");
  },
);

test("of two installations that claim one dispatch namespace at the same time, one gets it", async () => {
  await using emulator = await CloudflareEmulator.open();
  const record = () => openOwner({ ...emulator.settings, counter: new MemoryCounter() });
  const owners = Array.from({ length: 6 }, (_, index) => ({ id: `installation-${index}`, epoch: 1 }));
  await Promise.all(owners.map((owner) => record().write(owner)));
  const owner = await record().read();
  expect(owners).toContainEqual(owner);
  await record().write({ id: "another", epoch: 5 });
  await record().write({ id: owner!.id, epoch: 3 });
  await record().write({ id: owner!.id, epoch: 2 });
  expect(await record().read()).toEqual({ id: owner!.id, epoch: 3 });
});

verifies(
  hazard(70),
  "a restored copy of the service leaves newer apps of the living one alone, takes over, and the living one stops",
  async () => {
    await using emulator = await CloudflareEmulator.open();
    await using folder = await temporaryFolder();
    const repository = await Repository.create(folder.path, "acme/site");
    await repository.commitFiles({ "src/index.js": `export default { fetch: () => new Response("hello") };` });
    const { settings, appsDomain } = emulator;
    const env = {
      GIT_BASE_URL: pathToFileURL(folder.path).href,
      EDGE_PLATFORM: "cloudflare",
      CLOUDFLARE_API_URL: settings.apiUrl,
      CLOUDFLARE_ACCOUNT_ID: settings.accountId,
      CLOUDFLARE_API_TOKEN: settings.apiToken,
      CLOUDFLARE_DISPATCH_NAMESPACE: settings.namespace,
      APPS_DOMAIN: appsDomain,
    };
    await using installation = await createInstallation();
    const living = await installation.start(env);
    const first = await deployReady(living.rest, "acme/site");
    const place = path.join(folder.path, "backups");
    const made = await runAdmin({ ...env, DATA_DIR: installation.dataDirectory }, "backup", place, "--json");
    expect([made.stderr, made.code]).toEqual(["", 0]);
    const newer = await deployReady(living.rest, "acme/site");

    await using copy = await createInstallation();
    const copied = { ...env, DATA_DIR: copy.dataDirectory };
    expect((await runAdmin(copied, "restore", place, "--json")).stderr).toBe("");
    const restored = await copy.start(env);
    expect((await restored.rest.delete(`/v1/apps/${first.id}`)).status).toBe(503);
    expect(await restored.end("SIGTERM")).toBe(0);
    expect([(await appRequest(first.url)).text, (await appRequest(newer.url)).text]).toEqual(["hello", "hello"]);

    const taken = await runAdmin(copied, "restore", "--take-over", "--json");
    expect([taken.stderr, JSON.parse(taken.stdout)]).toMatchObject(["", { epoch: 2 }]);
    const deletion = living.rest.delete(`/v1/apps/${newer.id}`).catch(() => null);
    await expect.poll(() => living.output()).toContain("a restored copy of this installation has taken over: stopping");
    await deletion;
    expect((await appRequest(newer.url)).text).toBe("hello");
    await expect(installation.start(env)).rejects.toThrow("has taken over the apps");
    const active = await copy.start(env);
    expect((await active.rest.delete(`/v1/apps/${first.id}`)).status).toBe(200);
    expect((await appRequest(first.url)).status).toBe(404);
  },
);
