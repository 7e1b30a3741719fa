import path from "node:path";
import type * as Esbuild from "esbuild";
import { z } from "zod";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { isMissing } from "./cloudflare-error.ts";
import { BINDINGS } from "./dispatch-worker/edge-entry.ts";

const SOURCE = path.join(import.meta.dirname, "dispatch-worker/dispatch-worker.ts");
const MODULE = "dispatch-worker.js";
const COMPATIBILITY_DATE = "2026-07-01";
/** Tags with what the check of conditional uploads has found. */
const CONDITIONAL = "uploads-conditional";
const UNCONDITIONAL = "uploads-unconditional";
const anything = z.unknown();
const settings = z.object({ tags: z.array(z.string()).nullish() });

export interface DispatchWorkerOptions {
  /** The name of the Worker. */
  name: string;
  /** The dispatch namespace of the apps. */
  namespace: string;
  /** The id of the key-value namespace with the entries of the edge. */
  entriesId: string;
  /** The domain of all apps, in lower case and without port. */
  domain: string;
  probeSecret: string;
  checkConditionalUploads(): Promise<boolean>;
}

/**
 * Uploads the dispatch worker, unless the account has this version of it with these settings.
 *
 * @param options.checkConditionalUploads - called before an upload; the result is kept in a tag
 * @returns whether it was uploaded, and the result of the check
 */
export async function uploadDispatchWorker(
  client: CloudflareClient,
  options: DispatchWorkerOptions,
): Promise<{ isUploaded: boolean; isConditional: boolean }> {
  const { name, namespace, entriesId, domain, probeSecret } = options;
  const code = await bundleDispatchWorker();
  const bindings = [
    { type: "dispatch_namespace", name: BINDINGS.apps, namespace },
    { type: "kv_namespace", name: BINDINGS.entries, namespace_id: entriesId },
    { type: "plain_text", name: BINDINGS.domain, text: domain },
    { type: "secret_text", name: BINDINGS.probeSecret, text: probeSecret },
  ];
  const tag = `version-${sha256Hex(JSON.stringify([code, bindings])).slice(0, 32)}`;
  const request = { path: `workers/scripts/${name}`, operation: "upload the dispatch worker" } as const;
  const found = await readTags(client, name);
  if (found.includes(tag) && found.some((each) => each === CONDITIONAL || each === UNCONDITIONAL))
    return { isUploaded: false, isConditional: found.includes(CONDITIONAL) };
  const isConditional = await options.checkConditionalUploads();
  const metadata = {
    main_module: MODULE,
    bindings,
    compatibility_date: COMPATIBILITY_DATE,
    compatibility_flags: ["nodejs_compat"],
    tags: [tag, isConditional ? CONDITIONAL : UNCONDITIONAL],
  };
  const body = new FormData();
  body.set("metadata", JSON.stringify(metadata));
  body.set(MODULE, new File([code], MODULE, { type: "application/javascript+module" }), MODULE);
  await client.call({ ...request, method: "PUT", body }, anything);
  return { isUploaded: true, isConditional };
}

async function readTags(client: CloudflareClient, name: string): Promise<string[]> {
  const request = {
    operation: "read the dispatch worker",
    method: "GET",
    path: `workers/scripts/${name}/settings`,
  } as const;
  const found = await client.call(request, settings).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  return found?.tags ?? [];
}

/** The dispatch worker as one module, with the rules that it shares with the edge proxy. */
async function bundleDispatchWorker(): Promise<string> {
  const esbuild: typeof Esbuild = await import("esbuild");
  try {
    const { outputFiles } = await esbuild.build({
      entryPoints: [SOURCE],
      bundle: true,
      write: false,
      format: "esm",
      target: "es2024",
      external: ["node:*"],
      logLevel: "silent",
    });
    return outputFiles[0]?.text ?? "";
  } finally {
    await esbuild.stop();
  }
}
