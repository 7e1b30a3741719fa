import path from "node:path";
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";

export interface EmulatedBinding {
  type: string;
  name: string;
  [setting: string]: unknown;
}

export interface ScriptMetadata {
  main_module?: string;
  body_part?: string;
  bindings: EmulatedBinding[];
  compatibility_date: string;
  compatibility_flags: string[];
  tags?: string[];
  migrations?: {
    old_tag?: string;
    new_tag: string;
    steps: { new_sqlite_classes?: string[]; deleted_classes?: string[] }[];
  };
  assets?: { jwt: string; config: Record<string, unknown> };
}

export interface EmulatedScript {
  /** Durable objects belong to it. A script that is removed and created again has another one. */
  instance: string;
  metadata: ScriptMetadata;
  modules: Map<string, { type: string; contents: Uint8Array<ArrayBuffer> }>;
  /** By path without a slash at the beginning. */
  files: Map<string, Uint8Array>;
  migrationTag: string | null;
  classes: string[];
}

export function newInstance(name: string): string {
  return `${name}-${randomUUID()}`;
}

/** The dispatch namespace of the dispatch worker: Miniflare has no local ones, but services. */
export const NAMESPACE_MODULE = `import worker from "./dispatch-worker.js";
const absent = { fetch: async () => { throw new Error("Worker not found."); } };
const namespaceOf = (env) => ({ get: (name) => env["script:" + name] ?? absent });
export default { fetch: (request, env, context) => worker.fetch(request, { ...env, APPS: namespaceOf(env) }, context) };`;

const MODULE_TYPES: Readonly<Record<string, string>> = {
  "application/javascript+module": "ESModule",
  "application/javascript": "CommonJS",
  "text/plain": "Text",
  "application/octet-stream": "Data",
  "application/wasm": "CompiledWasm",
};

interface WorkerOptions {
  modules?: { type: string; path: string; contents: unknown }[];
  [option: string]: unknown;
}

/** The options with which Miniflare runs a script as Cloudflare does. */
export async function workerOptionsOf(name: string, script: EmulatedScript, folder: string): Promise<WorkerOptions> {
  const { metadata } = script;
  return {
    name,
    compatibilityDate: metadata.compatibility_date > "2026-07-01" ? "2026-07-01" : metadata.compatibility_date,
    compatibilityFlags: metadata.compatibility_flags,
    ...codeOf(script),
    ...bindingsOf(metadata.bindings, script),
    ...(await assetsOf(name, script, folder)),
    outboundService: { network: { allow: ["public"], tlsOptions: { trustBrowserCas: true } } },
  };
}

function codeOf({ metadata, modules }: EmulatedScript): WorkerOptions {
  const mainName = metadata.main_module ?? metadata.body_part;
  if (mainName === undefined)
    return { modules: [{ type: "ESModule", path: "/none.js", contents: "export default {}" }], modulesRoot: "/" };
  const main = modules.get(mainName);
  if (metadata.main_module === undefined) return { script: Buffer.from(main?.contents ?? []).toString() };
  const rest = [...modules].filter(([name]) => name !== mainName);
  const all = [[mainName, main] as const, ...rest].map(([name, module]) => {
    const type = MODULE_TYPES[module?.type ?? ""] ?? "ESModule";
    const contents = module?.contents ?? new Uint8Array();
    const isBinary = type === "Data" || type === "CompiledWasm";
    return { type, path: `/${name}`, contents: isBinary ? contents : Buffer.from(contents).toString() };
  });
  return { modules: all, modulesRoot: "/" };
}

function bindingsOf(bindings: readonly EmulatedBinding[], { modules }: EmulatedScript): WorkerOptions {
  const options: Record<string, Record<string, unknown>> = {};
  const add = (kind: string, name: string, value: unknown) => ((options[kind] ??= {})[name] = value);
  let versionMetadata: string | undefined;
  for (const binding of bindings) {
    const { type, name } = binding;
    const part = () => modules.get(path.posix.normalize(String(binding["part"])))?.contents ?? new Uint8Array();
    if (type === "plain_text" || type === "secret_text") add("bindings", name, binding["text"]);
    else if (type === "json") add("bindings", name, binding["json"]);
    else if (type === "d1") add("d1Databases", name, binding["id"]);
    else if (type === "kv_namespace") add("kvNamespaces", name, binding["namespace_id"]);
    else if (type === "r2_bucket") add("r2Buckets", name, binding["bucket_name"]);
    else if (type === "durable_object_namespace")
      add("durableObjects", name, { className: binding["class_name"], useSQLite: true });
    else if (type === "ratelimit")
      add("ratelimits", name, { namespace_id: binding["namespace_id"], simple: binding["simple"] });
    else if (type === "analytics_engine") add("analyticsEngineDatasets", name, { dataset: binding["dataset"] });
    else if (type === "text_blob") add("bindings", name, Buffer.from(part()).toString());
    else if (type === "data_blob") add("dataBlobBindings", name, Buffer.from(part()));
    else if (type === "wasm_module") add("wasmBindings", name, Buffer.from(part()));
    else if (type === "version_metadata") versionMetadata = name;
    else if (type !== "assets" && type !== "dispatch_namespace") throw new Error(`no binding of the type ${type}`);
  }
  return { ...options, ...(versionMetadata === undefined ? {} : { versionMetadata }) };
}

async function assetsOf(name: string, { metadata, files }: EmulatedScript, root: string): Promise<WorkerOptions> {
  if (metadata.assets === undefined) return {};
  const directory = path.join(root, "assets", name);
  const { _headers, _redirects, run_worker_first: first, ...assetConfig } = metadata.assets.config;
  const rules = Object.entries({ _headers, _redirects }).filter(([, text]) => typeof text === "string");
  await writeAssets(
    directory,
    new Map([...files, ...rules.map(([file, text]) => [file, Buffer.from(String(text))] as const)]),
  );
  const binding = metadata.bindings.find(({ type }) => type === "assets")?.name;
  const routing = Array.isArray(first)
    ? {
        static_routing: {
          user_worker: first.filter((rule: string) => !rule.startsWith("!")),
          asset_worker: first.filter((rule: string) => rule.startsWith("!")).map((rule: string) => rule.slice(1)),
        },
      }
    : { invoke_user_worker_ahead_of_assets: first === true };
  const routerConfig = { has_user_worker: metadata.main_module !== undefined, ...routing };
  return { assets: { directory, ...(binding === undefined ? {} : { binding }), routerConfig, assetConfig } };
}

/** Writes the static files of a script. */
async function writeAssets(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, content] of files) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
