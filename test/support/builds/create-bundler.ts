import { createBundler, TOOLCHAIN_FOLDERS } from "../../../server/composition/bundler.ts";
import { WranglerBundler, type WranglerBundlerOptions } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { readConfig } from "../../../server/config.ts";
import type { NpmSettings } from "../../../server/drivers/package-registry/npm-settings.ts";
import { PackageMirror } from "../../../server/drivers/package-registry/package-mirror.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";

/** A bundler in the real sandbox, with packages from where `settings` says and kept in `cacheDirectory`. */
export function bundlerOn(
  settings: NpmSettings,
  cacheDirectory: string,
  limits: WranglerBundlerOptions["limits"] = {},
): WranglerBundler {
  const packages = new PackageMirror({ cacheDirectory, settings });
  return new WranglerBundler({
    sandbox: new BubblewrapSandbox(),
    packages,
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    limits,
  });
}

/** As the service runs it: the machine's registry, and the packages that `npm run setup` has kept. */
export function machineBundler(): Promise<WranglerBundler> {
  return createBundler(new BubblewrapSandbox(), readConfig({ ...process.env, NODE_ENV: "test" }).npmEnvironment);
}
