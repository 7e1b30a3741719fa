import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { readUploadForm, type UploadForm, type UploadModule } from "./upload-form.ts";
import type { ScriptVersion } from "../scripts/script-store.ts";
import { latestCompatibilityDate } from "./miniflare-environment.ts";
import { bindingOptions, type BindingOptions } from "./worker-bindings.ts";

/** The one worker of an app's process; it also names the folders of its durable objects, so it never changes. */
export const WORKER_NAME = "app";

/**
 * What this project uses of Miniflare's options for a worker. Miniflare's own type is lost on projects with another
 * major version of zod than it has, and its constructor checks the values anyway.
 */
export interface WorkerOptions extends Partial<Omit<BindingOptions, "assetsBinding">> {
  name: string;
  modulesRoot: string;
  /** The first is the main module. */
  modules: { type: UploadModule["type"]; path: string; contents: UploadModule["contents"] }[];
  compatibilityDate: string;
  compatibilityFlags: string[];
  outboundService: { network: { allow: string[] } };
  cache: boolean;
  unsafeDirectSockets: { host: string; port: number }[];
  assets?: {
    directory: string;
    binding?: string;
    routerConfig: {
      has_user_worker: boolean;
      invoke_user_worker_ahead_of_assets?: boolean;
      static_routing?: { user_worker: string[]; asset_worker: string[] };
    };
    assetConfig: Pick<AssetRules, "html_handling" | "not_found_handling">;
  };
}

/** The main module of a bundle that has static files only. */
const NO_OP_MAIN = "no-op-worker.js";

/**
 * Miniflare's options for one version of an app.
 *
 * @throws {UnhealthyScript} when the bundle is malformed or asks for what apps cannot have
 */
export async function workerOptions(version: ScriptVersion): Promise<WorkerOptions> {
  const form = await readUploadForm(version.formPath);
  const { assetsBinding, ...bindings } = bindingOptions(form.metadata.bindings, version.databaseId);
  return {
    name: WORKER_NAME,
    ...codeOptions(form),
    // Reaches neither this machine nor its network, also not by raw sockets.
    outboundService: { network: { allow: ["public"] } },
    // The production platform has no cache for scripts of this kind either.
    cache: false,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    ...bindings,
    ...assetOptions(version, form, assetsBinding),
  };
}

/** What a bundle says of its code, and nothing of what the code can reach. */
export function codeOptions(
  form: UploadForm,
): Pick<WorkerOptions, "modulesRoot" | "modules" | "compatibilityDate" | "compatibilityFlags"> {
  return {
    modulesRoot: "/",
    modules: form.modules.map(({ name, type, contents }) => ({ type, path: `/${name}`, contents })),
    compatibilityDate: compatibilityDate(form.metadata.compatibility_date),
    compatibilityFlags: form.metadata.compatibility_flags,
  };
}

/** A date the runtime does not know yet would keep it from starting. */
function compatibilityDate(wanted: string | undefined): string {
  const latest = latestCompatibilityDate();
  return wanted === undefined || wanted > latest ? latest : wanted;
}

function assetOptions(
  version: ScriptVersion,
  form: UploadForm,
  binding: string | undefined,
): Pick<WorkerOptions, "assets"> {
  if (!version.assets) return {};
  const { directory, rules } = version.assets;
  const { html_handling, not_found_handling } = rules;
  return {
    assets: {
      directory,
      ...(binding === undefined ? {} : { binding }),
      routerConfig: { has_user_worker: form.metadata.main_module !== NO_OP_MAIN, ...routing(rules) },
      assetConfig: { ...(html_handling && { html_handling }), ...(not_found_handling && { not_found_handling }) },
    },
  };
}

/** `run_worker_first` is a switch, or a list of paths of which those that start with `!` go to the static files. */
function routing({ run_worker_first: first }: AssetRules) {
  if (first === undefined || typeof first === "boolean") return { invoke_user_worker_ahead_of_assets: first ?? false };
  return {
    static_routing: {
      user_worker: first.filter((rule) => !rule.startsWith("!")),
      asset_worker: first.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1)),
    },
  };
}
