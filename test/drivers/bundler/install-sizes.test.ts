import path from "node:path";
import { expect, test } from "vitest";
import { TOOLCHAIN_FOLDERS } from "../../../server/composition/bundler.ts";
import { WranglerBundler } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { FilesystemTemporaryWorkspaces } from "../../../server/drivers/temporary-workspaces/filesystem.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { volumeProblem } from "../../../server/sandbox/memory-volume.ts";
import { createCheckout, runBundler, type TestCheckout, writeFiles } from "../../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { manifest } from "../../support/builds/install-registry.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

await using probed = await temporaryFolder();
const problem = await volumeProblem(probed.path, { users: "builds", count: 1, sizeMb: 1, processMb: 1 });
if (problem !== null) process.stderr.write(`SKIPPED: no volumes in memory on this host, because ${problem}\n`);

const MEBIBYTE = 1024 ** 2;

/** A registry with a package of this size, and a bundler whose sandboxes can have 16 MiB of temporary files. */
async function openLargeRegistry(sizeMb: number) {
  const stack = new AsyncDisposableStack();
  const large = { name: "large", version: "1.0.0", files: { "large.txt": "x".repeat(sizeMb * MEBIBYTE) } };
  const registry = stack.use(await startRegistry([large]));
  const folder = stack.use(await temporaryFolder());
  const bundler = new WranglerBundler({
    sandbox: new BubblewrapSandbox({ temporaryMb: 16 }),
    packages: createTestMirror({ registry: registry.url }, path.join(folder.path, "cache")),
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    compileCacheDirectory: TOOLCHAIN_FOLDERS.compiled,
  });
  return { bundler, folder: folder.path, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const project = (packageManager: string) => ({
  "package.json": manifest({ packageManager, dependencies: { large: "1.0.0" } }),
  "index.js": "export default {};",
});

test("Yarn 4 installs packages that are larger than the temporary files of a sandbox may be", async () => {
  await using h = await openLargeRegistry(24);
  await using checkout = await createCheckout(project("yarn@4.18.1"));
  const { log } = await runBundler(h.bundler, checkout);
  expect(log).toMatch(/YN0000: · Done/);
});

test.skipIf(problem !== null)("Bun needs the disk for each file of a package once", async () => {
  await using h = await openLargeRegistry(40);
  const workspaces = new FilesystemTemporaryWorkspaces(path.join(h.folder, "builds"), 60);
  await using checkout = await openCheckout(workspaces);
  await writeFiles(checkout, project("bun@1.4.5"));
  const { log } = await runBundler(h.bundler, checkout);
  expect(log).toContain("large@1.0.0");
});

async function openCheckout(workspaces: FilesystemTemporaryWorkspaces): Promise<TestCheckout> {
  const { sourceDirectory, outputDirectory } = await workspaces.open("build", 1);
  return { sourceDirectory, outputDirectory, [Symbol.asyncDispose]: () => workspaces.clear() };
}
