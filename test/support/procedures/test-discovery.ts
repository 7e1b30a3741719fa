import { cp } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import type { Discovery } from "../../../domain/ports/procedure-discovery.ts";
import { IsolatedDiscovery } from "../../../server/drivers/procedure-discovery/isolated-discovery.ts";
import type { IsolatedRuntime } from "../../../domain/ports/isolated-runtime.ts";
import { createMachineBundler } from "../builds/create-bundler.ts";
import { runBundler, createCheckout, type Content, createEmptyCheckout } from "../builds/bundle-checkout.ts";
import { openTestEdge } from "../edge/test-edge.ts";
import { writeUploadForm } from "../edge/upload-form.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** Far more than any honest app needs on a busy machine. */
const PATIENCE_MS = 40_000;

interface Choices {
  /** What else is in the repository, by path. */
  files?: Record<string, Content>;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface TestDiscovery extends AsyncDisposable {
  /** Looks at an app whose main module is this TypeScript; it may import this project's packages. */
  discover(source: string, choices?: Choices): Promise<Discovery>;
  /** Builds an example as a deploy does, and looks at it. */
  discoverExample(name: string): Promise<Discovery>;
  /** How many apps have been started to be asked. */
  started(): number;
}

export async function openDiscovery(): Promise<TestDiscovery> {
  const { edge, ...t } = await openTestEdge();
  let started = 0;
  const runtime: IsolatedRuntime = {
    start(...app) {
      started += 1;
      return edge.isolatedRuntime.start(...app);
    },
  };
  const lookAt = (
    scriptPath: string,
    sourceDirectory: string,
    { timeoutMs = PATIENCE_MS, signal = AbortSignal.timeout(PATIENCE_MS) }: Choices = {},
  ) => new IsolatedDiscovery({ runtime, timeoutMs }).discover({ scriptPath, sourceDirectory, signal });
  return {
    async discover(source, choices = {}) {
      await using checkout = await createCheckout(choices.files ?? {});
      const form = path.join(checkout.outputDirectory, "bundle.form");
      return await lookAt(await writeUploadForm(form, await bundled(source)), checkout.sourceDirectory, choices);
    },
    async discoverExample(name) {
      await using checkout = await createEmptyCheckout();
      const filter = (file: string) => path.basename(file) !== "node_modules";
      await cp(path.join(ROOT, "examples", name), checkout.sourceDirectory, { recursive: true, filter });
      const { bundle } = await runBundler(createMachineBundler(), checkout);
      return await lookAt(bundle.scriptPath, checkout.sourceDirectory);
    },
    started: () => started,
    [Symbol.asyncDispose]: () => t[Symbol.asyncDispose](),
  };
}

async function bundled(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: "ts" },
    ...{ bundle: true, write: false, format: "esm", target: "esnext", logLevel: "silent" },
    external: ["cloudflare:*"],
  });
  return outputFiles[0]?.text ?? "";
}

/** A main module that exports a router and serves it; `body` defines `appRouter` with `t` from `create`. */
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
