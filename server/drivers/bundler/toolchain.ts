import path from "node:path";
import type { Mount } from "../../../domain/ports/sandbox.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";

/** Where things are inside the sandbox. */
export const INSIDE = {
  node: SANDBOX_NODE,
  source: "/build",
  output: "/out",
  scratch: "/scratch",
  scripts: "/opt/bundler",
  modules: "/opt/node_modules",
  compileCache: "/opt/compile-cache",
} as const;

/** The pinned programs that builds run with. */
export interface Toolchain {
  /** A `node_modules` folder with npm, pnpm, yarn, wrangler and the framework detection. */
  modulesDirectory: string;
  /** What `fillCompileCache` has filled; `null` when there is none. */
  compileCacheDirectory: string | null;
}

/**
 * The toolchain is read-only to all builds. The scripts' folder lies beside `node_modules`, so that they resolve the
 * pinned packages; the source's folder does not, so that a project only ever finds packages that it installed.
 */
export function toolchainMounts({ modulesDirectory, compileCacheDirectory }: Toolchain): Mount[] {
  return [
    { from: modulesDirectory, to: INSIDE.modules, writable: false },
    { from: path.join(import.meta.dirname, "inside"), to: INSIDE.scripts, writable: false },
    ...(compileCacheDirectory === null
      ? []
      : [{ from: compileCacheDirectory, to: INSIDE.compileCache, writable: false }]),
  ];
}

/** The whole environment of a build: nothing of the host's gets in. */
export function toolchainEnvironment({ compileCacheDirectory }: Toolchain): Record<string, string> {
  return {
    PATH: `${path.dirname(INSIDE.node)}:${INSIDE.scripts}/bin:/usr/bin:/bin`,
    TOOLCHAIN_MODULES: INSIDE.modules,
    ...(compileCacheDirectory === null ? {} : { NODE_COMPILE_CACHE: INSIDE.compileCache }),
    ...QUIET,
  };
}

/** No build is watched by a person, and none reports to the makers of its tools. */
const QUIET: Readonly<Record<string, string>> = {
  HOME: `${INSIDE.scratch}/home`,
  LANG: "C.UTF-8",
  CI: "1",
  NO_COLOR: "1",
  FORCE_COLOR: "0",
  NO_UPDATE_NOTIFIER: "1",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
};
