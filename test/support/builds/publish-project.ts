import type { WranglerBundler } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { openTestPlatform } from "../edge/test-platform.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type BundleRun, type Content, createCheckout, runBundler } from "./bundle-checkout.ts";
import { createTestBundler } from "./create-bundler.ts";
import { type PublishedPackage, startRegistry } from "./test-registry.ts";

/** A package.json with a start script. */
export const startManifest = (start: string, rest: object = {}) => JSON.stringify({ scripts: { start }, ...rest });

export interface RegistryBundler extends AsyncDisposable {
  bundler: WranglerBundler;
}

/** A bundler with a registry that has only these packages. */
export async function createRegistryBundler(packages: readonly PublishedPackage[]): Promise<RegistryBundler> {
  const stack = new AsyncDisposableStack();
  const registry = stack.use(await startRegistry(packages));
  const cache = stack.use(await temporaryFolder());
  return {
    bundler: createTestBundler({ registry: registry.url }, cache.path),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export interface PublishedProject extends BundleRun, AsyncDisposable {
  /** Rejects when the app does not start. */
  published: Promise<unknown>;
  /** The port of the edge proxy. The app is at `app.localhost`. */
  port: number;
  get(path: string): Promise<string>;
  post(path: string, body: string): Promise<string>;
}

/** Builds a project and publishes it on the edge platform. */
export async function publishProject(
  files: Readonly<Record<string, Content>>,
  packages: readonly PublishedPackage[],
): Promise<PublishedProject> {
  const stack = new AsyncDisposableStack();
  const setup = stack.use(await createRegistryBundler(packages));
  const checkout = stack.use(await createCheckout(files));
  const { bundle, log } = await runBundler(setup.bundler, checkout);
  const testPlatform = stack.use(await openTestPlatform());
  const { platform, request } = testPlatform;
  const { code, assets } = bundle;
  const script = { appId: "app", generation: 1, databaseId: "db", code, assets };
  const published = platform.scripts.publish("app", script, AbortSignal.timeout(60_000));
  published.catch(() => {});
  return {
    bundle,
    log,
    published,
    port: platform.port,
    get: async (path) => (await request("app", path)).text,
    post: async (path, body) => (await request("app", path, { method: "POST", body })).text,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
