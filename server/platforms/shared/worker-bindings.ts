import { z } from "zod";
import {
  MissingVariables,
  NoHandler,
  UnhealthyScript,
  UnsupportedScript,
} from "../../../domain/ports/edge-platform.ts";
import { formatNames } from "../../../domain/shared/missing-variables.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import type { UploadBinding } from "./upload-form.ts";

export interface BindingOptions {
  bindings: Record<string, unknown>;
  d1Databases: Record<string, string>;
  kvNamespaces: Record<string, string>;
  r2Buckets: Record<string, string>;
  durableObjects: Record<string, { className: string; useSQLite: true; unsafePreventEviction?: true }>;
  workflows: Record<string, { name: string; className: string }>;
  ratelimits: Record<string, { namespace_id: string; simple: RateLimit }>;
  analyticsEngineDatasets: Record<string, { dataset: string }>;
  versionMetadata?: string;
  /** The name of the binding that generates code from text. The code runs in the isolate of the app like any other. */
  unsafeEvalBinding?: string;
  /** The name of the binding to the static files. */
  assetsBinding?: string;
}

const rateLimitSchema = z.object({ limit: z.int().positive(), period: z.union([z.literal(10), z.literal(60)]) });
type RateLimit = z.output<typeof rateLimitSchema>;

interface BindingContext {
  databaseId: string;
  options: BindingOptions;
}

/** Adds the options for each supported type of binding. Any other type is an error that names it. */
const BINDERS: Record<string, (binding: UploadBinding, context: BindingContext) => void> = {
  plain_text: (b, { options }) => void (options.bindings[b.name] = value(b)),
  secret_text: (b, { options }) => void (options.bindings[b.name] = value(b)),
  // The files that a service worker imports. `worker-options.ts` reads their contents.
  wasm_module: () => {},
  text_blob: () => {},
  data_blob: () => {},
  // A variable of the app has the value.
  required_secret: () => {},
  json: (b, { options }) => void (options.bindings[b.name] = b["json"]),
  // An app has one SQL database, under each name that its configuration declares. The declared ids are ignored.
  d1: (b, { options, databaseId }) => void (options.d1Databases[b.name] = databaseId),
  kv_namespace: (b, { options }) => void (options.kvNamespaces[b.name] = storageName(b, "namespace_id")),
  r2_bucket: (b, { options }) => void (options.r2Buckets[b.name] = storageName(b, "bucket_name")),
  durable_object_namespace: (b, { options }) => {
    requireOwnScript(b);
    options.durableObjects[b.name] = { className: text(b, "class_name"), useSQLite: true };
  },
  // A Node server: one object that stays in memory while the process runs, and generates code as under Node.
  node_server: (b, { options }) => {
    options.durableObjects[b.name] = { className: text(b, "class_name"), useSQLite: true, unsafePreventEviction: true };
    options.unsafeEvalBinding = `${b.name}_EVAL`;
  },
  workflow: (b, { options }) => {
    requireOwnScript(b);
    options.workflows[b.name] = { name: storageName(b, "workflow_name"), className: text(b, "class_name") };
  },
  assets: (b, { options }) => void (options.assetsBinding = b.name),
  ratelimit: (b, { options }) => {
    options.ratelimits[b.name] = { namespace_id: text(b, "namespace_id"), simple: rateLimit(b) };
  },
  analytics_engine: (b, { options }) => void (options.analyticsEngineDatasets[b.name] = { dataset: b.name }),
  version_metadata: (b, { options }) => void (options.versionMetadata = b.name),
};

/** The types of bindings that only hold a value. A variable of the app with the same name replaces them. */
const VALUE_TYPES: ReadonlySet<string> = new Set(["plain_text", "secret_text", "json", "required_secret"]);

/** Where the values of bindings come from, besides their declarations. */
export interface BindingSources {
  databaseId: string;
  /** The app's variables. A binding to a resource hides the variable with the same name. */
  variables: Readonly<Record<string, string>>;
}

/**
 * Translates the bindings that a script declares, and adds the app's variables.
 *
 * @throws {UnhealthyScript} with the name of an invalid binding
 * @throws {UnsupportedScript} with all bindings of unsupported types, and what is supported
 * @throws {MissingVariables} with all required variables that the app does not have
 */
export function bindingOptions(
  bindings: readonly UploadBinding[],
  { databaseId, variables }: BindingSources,
): BindingOptions {
  const options: BindingOptions = {
    bindings: {},
    d1Databases: {},
    kvNamespaces: {},
    r2Buckets: {},
    durableObjects: {},
    workflows: {},
    ratelimits: {},
    analyticsEngineDatasets: {},
  };
  requireSupported(bindings, new Set(Object.keys(BINDERS)));
  requireVariables(bindings, variables);
  for (const binding of bindings) BINDERS[binding.type]?.(binding, { databaseId, options });
  const hidden = new Set(resourceBindings(bindings).map(({ name }) => name));
  for (const [name, value] of Object.entries(variables)) if (!hidden.has(name)) options.bindings[name] = value;
  return options;
}

const STORAGE_OPTIONS = ["d1Databases", "kvNamespaces", "r2Buckets", "durableObjects", "workflows"] as const;

/** Whether a worker with these options opens files that last. */
export function usesStorage(options: Partial<BindingOptions>): boolean {
  return STORAGE_OPTIONS.some((kind) => Object.keys(options[kind] ?? {}).length > 0);
}

/** @throws {UnhealthyScript} when a variable has the name of a binding to a resource, and would therefore be hidden */
export function checkVariableNames(
  bindings: readonly UploadBinding[],
  variables: Readonly<Record<string, string>>,
): void {
  const hiding = resourceBindings(bindings).find(({ name }) => Object.hasOwn(variables, name));
  if (hiding === undefined) return;
  throw new UnhealthyScript(
    `The variable "${hiding.name}" has the name of a binding of the app (${hiding.type}). Delete the variable, or rename the binding.`,
  );
}

function resourceBindings(bindings: readonly UploadBinding[]): UploadBinding[] {
  return bindings.filter(({ type }) => !VALUE_TYPES.has(type));
}

function requireVariables(bindings: readonly UploadBinding[], variables: Readonly<Record<string, string>>): void {
  const required = bindings.filter(({ type }) => type === "required_secret").map(({ name }) => name);
  const missing = required.filter((name) => !Object.hasOwn(variables, name));
  if (missing.length > 0) throw new MissingVariables(missing);
}

function requireOwnScript(binding: UploadBinding): void {
  if (binding["script_name"] !== undefined)
    throw new UnhealthyScript(
      `The binding "${binding.name}" refers to a class of another script. Use a class of the app itself.`,
    );
}

function rateLimit({ name, simple }: UploadBinding): RateLimit {
  const rule = rateLimitSchema.safeParse(simple);
  if (!rule.success)
    throw new UnhealthyScript(`The binding "${name}" requires a limit, and a period of 10 or 60 seconds.`);
  return rule.data;
}

/** The text of a variable, which may be empty. */
function value(binding: UploadBinding): string {
  return binding["text"] === "" ? "" : text(binding, "text");
}

function text(binding: UploadBinding, key: string): string {
  const value = binding[key];
  if (typeof value !== "string" || value === "")
    throw new UnhealthyScript(`The binding "${binding.name}" has no ${key}.`);
  return value;
}

/** The bindings that the runtime gives to modules only. */
const MODULE_BINDINGS: ReadonlySet<string> = new Set([
  "analytics_engine",
  "d1",
  "durable_object_namespace",
  "ratelimit",
  "workflow",
]);

/** @throws {NoHandler} when a service worker declares a binding that cannot be a global variable */
export function requireGlobals(bindings: readonly UploadBinding[]): void {
  const refused = bindings.filter(({ type }) => MODULE_BINDINGS.has(type)).map(({ name }) => name);
  if (refused.length > 0)
    throw new NoHandler(
      `A script that calls addEventListener("fetch", …) cannot use the bindings ${formatNames(refused)}. Scripts that export a handler can.`,
    );
}

/** A key-value namespace or an object bucket that a script declares. */
export interface DeclaredStore {
  kind: "key_value" | "objects";
  /** The name of the binding. */
  name: string;
  /** The name of its durable object. */
  storageName: string;
}

/** The namespaces and buckets of a script, in the order of their declarations. */
export function declaredStores(bindings: readonly UploadBinding[]): DeclaredStore[] {
  const { kvNamespaces, r2Buckets } = bindingOptions(
    bindings.filter(({ type }) => type === "kv_namespace" || type === "r2_bucket"),
    { databaseId: "", variables: {} },
  );
  const storesOf = (kind: DeclaredStore["kind"], names: Record<string, string>) =>
    Object.entries(names).map(([name, storageName]) => ({ kind, name, storageName }));
  return [...storesOf("key_value", kvNamespaces), ...storesOf("objects", r2Buckets)];
}

/** The classes of a script's own durable objects, and the names under which Miniflare keeps its workflows. */
export function declaredClasses(bindings: readonly UploadBinding[]): { classes: string[]; workflows: string[] } {
  const { durableObjects, workflows } = bindingOptions(
    bindings.filter(({ type }) => type === "durable_object_namespace" || type === "workflow"),
    { databaseId: "", variables: {} },
  );
  return {
    classes: [...new Set(Object.values(durableObjects).map(({ className }) => className))],
    workflows: [...new Set(Object.values(workflows).map(({ name }) => name))],
  };
}

/** A hash, because ids come from the app's configuration and become folder names. */
function storageName(binding: UploadBinding, key: string): string {
  return sha256Hex(text(binding, key)).slice(0, 32);
}

/** The products of which apps declare bindings that the platform does not have, by the type of the binding. */
const UNSUPPORTED_PRODUCTS: Readonly<Record<string, string>> = {
  ai: "Workers AI",
  ai_search: "AI Search",
  browser: "Browser Rendering",
  browser_rendering: "Browser Rendering",
  dispatch_namespace: "Workers for Platforms",
  hyperdrive: "Hyperdrive",
  images: "Images",
  media: "Media Transformations",
  mtls_certificate: "mTLS certificates",
  pipelines: "Pipelines",
  queue: "Queues",
  secrets_store_secret: "Secrets Store",
  send_email: "Email",
  service: "services (other Workers)",
  stream: "Stream",
  vectorize: "Vectorize",
  vpc_service: "VPC services",
  worker_loader: "dynamic Workers",
};

const SUPPORTED =
  "variables, D1, KV, R2, Durable Objects, Workflows, static assets, rate limits, Analytics Engine and version metadata";

/** The most bindings that an error lists. */
const MAX_LISTED = 10;

/**
 * Checks that the platform has the bindings that a script declares.
 *
 * @throws {UnsupportedScript} with all bindings of other types, and what is supported
 */
function requireSupported(bindings: readonly UploadBinding[], types: ReadonlySet<string>): void {
  const unsupported = bindings.filter(({ type }) => !types.has(type));
  // The bundler writes `inherit` for storage without an id, so the type of the storage is lost.
  const withoutId = unsupported.find(({ type }) => type === "inherit");
  if (withoutId)
    throw new UnhealthyScript(`The binding "${withoutId.name}" has no id. Set any id in the wrangler configuration.`);
  if (unsupported.length === 0) return;
  const named = unsupported.slice(0, MAX_LISTED).map(({ name, type }) => `${productOf(type)} (binding "${name}")`);
  throw new UnsupportedScript(`The platform does not have ${named.join(", ")}. It has ${SUPPORTED}.`);
}

function productOf(type: string): string {
  return Object.hasOwn(UNSUPPORTED_PRODUCTS, type) ? `${UNSUPPORTED_PRODUCTS[type]}` : `the type "${type}"`;
}
