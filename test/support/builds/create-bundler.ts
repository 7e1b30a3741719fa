import { createBundler, TOOLCHAIN_FOLDERS } from "../../../server/composition/bundler.ts";
import { WranglerBundler, type WranglerBundlerOptions } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { readConfig } from "../../../server/config.ts";
import type { NpmSettings } from "../../../server/drivers/package-registry/npm-settings.ts";
import { PackageMirror } from "../../../server/drivers/package-registry/package-mirror.ts";
import type { RemoteFetcherOptions } from "../../../server/sandbox/remote-fetcher.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";

/** A bundler in the real sandbox that installs packages with `settings` and caches them in `cacheDirectory`. */
export function createTestBundler(
  settings: NpmSettings,
  cacheDirectory: string,
  limits: WranglerBundlerOptions["limits"] = {},
  egress: WranglerBundlerOptions["egress"] = null,
  databases: WranglerBundlerOptions["databases"] = null,
): WranglerBundler {
  return new WranglerBundler({
    sandbox: new BubblewrapSandbox(),
    packages: createTestMirror(settings, cacheDirectory),
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    compileCacheDirectory: TOOLCHAIN_FOLDERS.compiled,
    limits,
    egress,
    databases,
  });
}

/** A package mirror with `settings` and an empty memory cache that caches packages in `cacheDirectory`. */
export function createTestMirror(
  settings: NpmSettings,
  cacheDirectory: string,
  remote: RemoteFetcherOptions = {},
): PackageMirror {
  return new PackageMirror({ cacheDirectory, readSettings: () => Promise.resolve(settings), remote });
}

/** The bundler of the service: with the machine's registry and the packages that `npm run setup` has cached. */
export function createMachineBundler(): WranglerBundler {
  return createBundler(new BubblewrapSandbox(), readConfig({ ...process.env, NODE_ENV: "test" }).npmEnvironment);
}
