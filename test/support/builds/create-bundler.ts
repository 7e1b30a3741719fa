import { createBundler, TOOLCHAIN_FOLDERS } from "../../../server/composition/bundler.ts";
import { WranglerBundler, type WranglerBundlerOptions } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { readConfig } from "../../../server/config.ts";
import type { NpmSettings } from "../../../server/drivers/package-registry/npm-settings.ts";
import { PackageMirror } from "../../../server/drivers/package-registry/package-mirror.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";

/** A bundler in the real sandbox that installs packages with `settings` and caches them in `cacheDirectory`. */
export function createTestBundler(
  settings: NpmSettings,
  cacheDirectory: string,
  limits: WranglerBundlerOptions["limits"] = {},
): WranglerBundler {
  const packages = new PackageMirror({ cacheDirectory, readSettings: () => Promise.resolve(settings) });
  return new WranglerBundler({
    sandbox: new BubblewrapSandbox(),
    packages,
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    limits,
  });
}

/** The bundler of the service: with the machine's registry and the packages that `npm run setup` has cached. */
export function createMachineBundler(): WranglerBundler {
  return createBundler(new BubblewrapSandbox(), readConfig({ ...process.env, NODE_ENV: "test" }).npmEnvironment);
}
