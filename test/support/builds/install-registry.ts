import { createTestBundler, createTestMirror } from "./create-bundler.ts";
import { GREETING_PACKAGES } from "./greeting-packages.ts";
import { startRegistry } from "./test-registry.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** The package.json of a project that depends on a package of the registry. */
export function manifest(fields: object = {}): string {
  return JSON.stringify({ type: "module", dependencies: { greeting: "^1.0.0" }, ...fields });
}

/** A registry with packages for installs, and a bundler that uses it. */
export async function openInstallRegistry() {
  const stack = new AsyncDisposableStack();
  const registry = stack.use(
    await startRegistry([
      ...GREETING_PACKAGES,
      { name: "portable", version: "1.0.0", manifest: { optionalDependencies: { unpublished: "1.0.0" } } },
      { name: "plugin", version: "1.0.0", manifest: { peerDependencies: { greeting: "^2.0.0" } } },
      { name: "host", version: "1.0.0" },
      { name: "host", version: "2.0.0" },
      { name: "guest", version: "1.0.0", manifest: { peerDependencies: { host: "^2.0.0" } } },
      { name: "tour", version: "1.0.0", manifest: { peerDependencies: { host: "^2.0.0", leader: "1.0.0" } } },
      { name: "leader", version: "1.0.0" },
    ]),
  );
  const cache = stack.use(await temporaryFolder());
  const settings = { registry: registry.url, [`//${new URL(registry.url).host}/:_authToken`]: "npm-secret" };
  return {
    registry,
    bundler: createTestBundler(settings, cache.path),
    packages: createTestMirror(settings, cache.path),
    /** Creates a mirror with an empty memory cache and the current disk cache, like a restarted service. */
    restartedPackages: () => createTestMirror(settings, cache.path),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
