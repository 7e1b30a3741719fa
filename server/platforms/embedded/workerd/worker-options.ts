import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { UploadForm, UploadModule } from "../../shared/upload-form.ts";
import type { ScriptVersion } from "../script-version.ts";
import { latestCompatibilityDate } from "./workerd-binary.ts";
import { bindingOptions, type BindingOptions, requireGlobals } from "../../shared/worker-bindings.ts";

/** The name of the worker in every process. Folders of durable objects contain it, so it must never change. */
export const WORKER_NAME = "app";

/** A worker, as `workerdConfig` configures it. */
export interface WorkerOptions extends Partial<Omit<BindingOptions, "assetsBinding">> {
  name: string;
  /** The first is the main module. A service worker has none. */
  modules?: { type: UploadModule["type"]; path: string; contents: UploadModule["contents"] }[];
  /** The code of a service worker. */
  script?: string;
  wasmBindings?: Record<string, Uint8Array>;
  dataBlobBindings?: Record<string, Uint8Array>;
  compatibilityDate: string;
  compatibilityFlags: string[];
  outboundService: { network: { allow: string[]; tlsOptions?: { trustBrowserCas: boolean } } };
  /** The names of the workers that receive what this one prints. */
  streamingTails?: string[];
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

/** The main module of a bundle that contains only static files. */
const NO_OP_MAIN = "no-op-worker.js";

/**
 * The worker of one version of an app.
 *
 * @throws {UnhealthyScript} when the bundle has an unsupported binding
 */
export function workerOptions(
  version: Pick<ScriptVersion, "databaseId" | "assets">,
  form: UploadForm,
  variables: Readonly<Record<string, string>>,
): WorkerOptions {
  const { databaseId } = version;
  if (form.isServiceWorker) requireGlobals(form.metadata.bindings);
  const { assetsBinding, ...bindings } = bindingOptions(form.metadata.bindings, { databaseId, variables });
  return {
    name: WORKER_NAME,
    ...codeOptions(form),
    ...fileBindings(form),
    // Neither this machine nor its network can be reached, by fetch or by raw sockets. Without the TLS options workerd
    // rejects every https: URL.
    outboundService: { network: { allow: ["public"], tlsOptions: { trustBrowserCas: true } } },
    ...bindings,
    bindings: { ...textBindings(form), ...bindings.bindings },
    ...assetOptions(version, form, assetsBinding),
  };
}

/** The options for the code of a bundle, without bindings and network. */
export function codeOptions(
  form: UploadForm,
): Pick<WorkerOptions, "modules" | "script" | "compatibilityDate" | "compatibilityFlags"> {
  const [main] = form.modules;
  const code =
    form.isServiceWorker && typeof main?.contents === "string"
      ? { script: main.contents }
      : {
          modules: form.modules.map(({ name, type, contents }) => ({ type, path: `/${name}`, contents })),
        };
  return {
    ...code,
    compatibilityDate: compatibilityDate(form.metadata.compatibility_date),
    compatibilityFlags: form.metadata.compatibility_flags,
  };
}

/** The files that a service worker imports. The bundler makes them bindings, because it cannot import modules. */
export function fileBindings(form: UploadForm): Pick<WorkerOptions, "wasmBindings" | "dataBlobBindings"> {
  const wasmBindings = partsOf(form, "wasm_module", (contents) => Buffer.from(contents));
  const dataBlobBindings = partsOf(form, "data_blob", (contents) => Buffer.from(contents));
  return form.isServiceWorker ? { wasmBindings, dataBlobBindings } : {};
}

function textBindings(form: UploadForm): Record<string, string> {
  return partsOf(form, "text_blob", (contents) => contents.toString());
}

function partsOf<T>(
  { metadata, modules }: UploadForm,
  type: string,
  convert: (contents: string | Uint8Array<ArrayBuffer>) => T,
): Record<string, T> {
  const bindings = metadata.bindings.filter((binding) => binding.type === type);
  return Object.fromEntries(
    bindings.map(({ name, part }) => {
      const module = modules.find((each) => each.name === path.posix.normalize(String(part)));
      if (module === undefined) throw new UnhealthyScript(`The binding "${name}" has no file.`);
      return [name, convert(module.contents)];
    }),
  );
}

/** At most the newest date that the runtime supports. It would not start with a later one. */
function compatibilityDate(declared: string | undefined): string {
  const latest = latestCompatibilityDate();
  return declared === undefined || declared > latest ? latest : declared;
}

function assetOptions(
  version: Pick<ScriptVersion, "assets">,
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

/** `run_worker_first` is a boolean, or a list of paths. Paths that start with `!` go to the static files first. */
function routing({ run_worker_first: first }: AssetRules) {
  if (first === undefined || typeof first === "boolean") return { invoke_user_worker_ahead_of_assets: first ?? false };
  return {
    static_routing: {
      user_worker: first.filter((rule) => !rule.startsWith("!")),
      asset_worker: first.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1)),
    },
  };
}
