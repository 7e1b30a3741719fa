import { randomBytes } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { type MirrorLimits, PackageMirror } from "../../../server/drivers/package-registry/package-mirror.ts";
import { MIRROR, sendToMirror } from "../../support/builds/package-mirror-client.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const NONE: ReadonlySet<string> = new Set();

/** A registry with packages of about 2 KB each, and a folder for the cache. */
async function setUpPackages(limits: Partial<MirrorLimits>) {
  const stack = new AsyncDisposableStack();
  const dependencies = { "dep-1": "*", "dep-2": "*", alias: "npm:@scope/dep-3@1.x" };
  const packages = ["one", "two", "three", "dep-1", "dep-2", "@scope/dep-3"].map((name) => ({
    name,
    version: "1.0.0",
    files: { data: randomBytes(1500).toString("base64") },
    manifest: name === "one" ? { dependencies } : {},
  }));
  const registry = stack.use(await startRegistry(packages));
  const cache = stack.use(await temporaryFolder());
  const readSettings = () => Promise.resolve({ registry: registry.url });
  const options = { cacheDirectory: cache.path, readSettings, limits };
  return {
    registry,
    cache,
    /** Opens an install with an empty memory cache and the current disk cache. */
    open: (names: ReadonlySet<string>) => new PackageMirror(options).open(names),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function statusesOf(socketPath: string, names: readonly string[]): Promise<(number | undefined)[]> {
  const statuses = [];
  for (const name of names) statuses.push((await sendToMirror(socketPath, `${MIRROR}/${name}`)).status);
  return statuses;
}

async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const entry of await readdir(path.join(folder, "content-v2"), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) size += (await stat(path.join(entry.parentPath, entry.name))).size;
  return size;
}

verifies(hazard(50), "an install gets a limited number of packages that nothing in its project names", async () => {
  await using t = await setUpPackages({ otherPackages: 1 });
  await using session = await t.open(NONE);
  expect(await statusesOf(session.socketPath, ["two", "three", "two"])).toEqual([200, 403, 200]);
  expect((await sendToMirror(session.socketPath, `${MIRROR}/three/-/three-1.0.0.tgz`)).status).toBe(403);
  expect([session.report().exceeded, t.registry.requests]).toEqual(["otherPackages", ["/two"]]);
});

test("the packages that a project names, and those on which they depend, do not count as others", async () => {
  await using t = await setUpPackages({ otherPackages: 0 });
  await using session = await t.open(new Set(["one", "two"]));
  const names = ["one", "two", "dep-1", "dep-2", "@scope/dep-3"];
  expect(await statusesOf(session.socketPath, names)).toEqual([200, 200, 200, 200, 200]);
  expect(session.report().exceeded).toBe(null);
});

verifies(hazard(50), "an install that exceeds its total size gets no further packages", async () => {
  await using t = await setUpPackages({ bytes: 1000 });
  await using session = await t.open(new Set(["one", "two"]));
  expect(await statusesOf(session.socketPath, ["one"])).toEqual([200]);
  await expect(sendToMirror(session.socketPath, `${MIRROR}/one/-/one-1.0.0.tgz`)).rejects.toThrow("socket hang up");
  expect(await statusesOf(session.socketPath, ["two"])).toEqual([403]);
  expect(session.report()).toEqual({
    unavailable: [],
    missing: [],
    failedUrls: [],
    blockedHosts: [],
    exceeded: "bytes",
  });
});

verifies(hazard(50), "the cache evicts the least recently used packages when it exceeds its size", async () => {
  // Enough for two packages.
  const cacheBytes = 4800;
  await using t = await setUpPackages({ cacheBytes });
  const install = async (name: string) => {
    await using session = await t.open(new Set([name]));
    const paths = [`${MIRROR}/${name}`, `${MIRROR}/${name}/-/${name}-1.0.0.tgz`];
    return await Promise.all(paths.map(async (path) => (await sendToMirror(session.socketPath, path)).status));
  };
  for (const name of ["one", "two", "one", "three"]) expect(await install(name)).toEqual([200, 200]);
  expect(await sizeOf(t.cache.path)).toBeLessThanOrEqual(cacheBytes);
  await t.registry.stop();
  expect([await install("one"), await install("three"), await install("two")]).toEqual([
    [200, 200],
    [200, 200],
    [503, 503],
  ]);
});
