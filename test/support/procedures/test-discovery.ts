import { cp } from "node:fs/promises";
import { WAIT_LIMIT_MS } from "../time-limits.ts";
import path from "node:path";
import { build } from "esbuild";
import type { DiscoveryResult } from "../../../domain/ports/procedure-discovery.ts";
import { secretMasks } from "../../../domain/shared/secret-masks.ts";
import { IsolatedDiscovery } from "../../../server/drivers/procedure-discovery/isolated-discovery.ts";
import type { IsolatedRuntime } from "../../../server/ports/isolated-runtime.ts";
import { createMachineBundler } from "../builds/create-bundler.ts";
import { shareBuilds } from "../builds/share-builds.ts";
import { runBundler, createCheckout, type Content, createEmptyCheckout } from "../builds/bundle-checkout.ts";
import { packServer } from "../edge/node-server.ts";
import { openTestPlatform } from "../edge/test-platform.ts";
import { type FormBinding, writeUploadForm } from "../edge/upload-form.ts";
import { scriptPathOf } from "../builds/script-path.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** More than any well-behaved app needs on a busy machine. */

/** How the code of a server is built: with the packages of tRPC beside it, or with all packages in one file. */
export type ServerBuild = "esm" | "cjs" | "minified";

interface ServerOptions {
  build?: ServerBuild;
  /** Further files of the repository, by path. */
  files?: Record<string, string>;
  /** All of them are secrets. */
  variables?: Record<string, string>;
  timeoutMs?: number;
}

interface DiscoverOptions {
  /** Further files of the repository, by path. */
  files?: Record<string, Content>;
  /** Whether the source is a service worker. */
  isServiceWorker?: boolean;
  timeoutMs?: number;
  bindings?: FormBinding[];
  signal?: AbortSignal;
}

export interface TestDiscovery extends AsyncDisposable {
  /** Discovers an app whose main module is this TypeScript. It may import the packages of this project. */
  discover(source: string, options?: DiscoverOptions): Promise<DiscoveryResult>;
  /** Discovers a Node server that starts with this TypeScript. It may import the packages of this project. */
  discoverServer(source: string, options?: ServerOptions): Promise<DiscoveryResult>;
  /** Builds an example as a deployment does, and discovers it. */
  discoverExample(name: string): Promise<DiscoveryResult>;
  /** The number of apps that were started. */
  started(): number;
}

export async function openDiscovery(): Promise<TestDiscovery> {
  const { platform, ...testPlatform } = await openTestPlatform();
  let started = 0;
  const runtime: IsolatedRuntime = {
    start(...app) {
      started += 1;
      return platform.isolatedRuntime.start(...app);
    },
    startTrial: (...app) => platform.isolatedRuntime.startTrial(...app),
    startServer(...server) {
      started += 1;
      return platform.isolatedRuntime.startServer(...server);
    },
  };
  const discoverScript = (
    scriptPath: string,
    sourceDirectory: string,
    { timeoutMs = WAIT_LIMIT_MS, signal = AbortSignal.timeout(WAIT_LIMIT_MS) }: DiscoverOptions = {},
  ) =>
    new IsolatedDiscovery({ runtime, timeoutMs }).discover({
      code: { runtime: "worker", scriptPath },
      sourceDirectory,
      variables: { values: {}, masks: [] },
      signal,
    });
  return {
    async discover(source, options = {}) {
      await using checkout = await createCheckout(options.files ?? {});
      const formPath = path.join(checkout.outputDirectory, "bundle.form");
      const scriptPath = await writeUploadForm(formPath, await bundleSource(source), options);
      return await discoverScript(scriptPath, checkout.sourceDirectory, options);
    },
    async discoverServer(source, { build: kind = "cjs", files = {}, timeoutMs = WAIT_LIMIT_MS, variables = {} } = {}) {
      await using checkout = await createCheckout({ ...files, "src/server.ts": source });
      const main = kind === "esm" ? "server.mjs" : "server.js";
      await using packed = await packServer(
        { ...files, [main]: await bundleServer(source, kind) },
        { command: `node ${main}`, packages: kind === "minified" ? [] : ["@trpc/server"] },
      );
      return await new IsolatedDiscovery({ runtime, timeoutMs }).discover({
        code: { runtime: "node", server: packed.server },
        sourceDirectory: checkout.sourceDirectory,
        variables: { values: variables, masks: secretMasks(Object.values(variables)) },
        signal: AbortSignal.timeout(WAIT_LIMIT_MS),
      });
    },
    async discoverExample(name) {
      await using checkout = await createEmptyCheckout();
      const filter = (file: string) => path.basename(file) !== "node_modules";
      await cp(path.join(ROOT, "examples", name), checkout.sourceDirectory, { recursive: true, filter });
      const { bundle } = await runBundler(shareBuilds(createMachineBundler()), checkout);
      return await discoverScript(scriptPathOf(bundle), checkout.sourceDirectory);
    },
    started: () => started,
    [Symbol.asyncDispose]: () => testPlatform[Symbol.asyncDispose](),
  };
}

/** Bundles TypeScript that may import the packages of this project. */
export async function bundleSource(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    logLevel: "silent",
    external: ["cloudflare:*"],
  });
  return outputFiles[0]?.text ?? "";
}

/** The packages of an ES module are CommonJS, which esbuild leaves to a function `require`. */
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

/** Bundles TypeScript for Node.js that may import the packages of this project. */
async function bundleServer(source: string, kind: ServerBuild): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    platform: "node",
    format: kind === "esm" ? "esm" : "cjs",
    minify: kind === "minified",
    logLevel: "silent",
    external: kind === "minified" ? [] : ["@trpc/server"],
    ...(kind === "esm" ? { banner: { js: REQUIRE } } : {}),
  });
  return outputFiles[0]?.text ?? "";
}

/** A main module that exports a tRPC router and serves it. `body` defines `appRouter`; `create` has the options of `t`. */
export function trpcApp(body: string, { create = "", endpoint = "/trpc" } = {}): string {
  return `
    import { initTRPC, lazy } from "@trpc/server";
    import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
    import superjson from "superjson";
    import * as z from "zod";
    import { z as z3 } from "zod/v3";
    import { z as z40 } from "zod-4-0";
    const t = initTRPC.meta<{ description: string }>().create({ ${create} });
    ${body}
    export { appRouter };
    export default {
      fetch: (req: Request) =>
        new URL(req.url).pathname.startsWith(${JSON.stringify(endpoint)})
          ? fetchRequestHandler({ endpoint: ${JSON.stringify(endpoint)}, req, router: appRouter })
          : new Response("not here", { status: 404 }),
    };`;
}
