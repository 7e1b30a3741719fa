import { createHash } from "node:crypto";
import { z } from "zod";
import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { UploadBinding } from "./upload-form.ts";

export interface BindingOptions {
  bindings: Record<string, unknown>;
  d1Databases: Record<string, string>;
  kvNamespaces: Record<string, string>;
  r2Buckets: Record<string, string>;
  durableObjects: Record<string, { className: string; useSQLite: true }>;
  workflows: Record<string, { name: string; className: string }>;
  ratelimits: Record<string, { namespace_id: string; simple: RateLimit }>;
  analyticsEngineDatasets: Record<string, { dataset: string }>;
  versionMetadata?: string;
  /** The name under which the script sees its static files. */
  assetsBinding?: string;
}

const rateLimitSchema = z.object({ limit: z.int().positive(), period: z.union([z.literal(10), z.literal(60)]) });
type RateLimit = z.output<typeof rateLimitSchema>;

interface Context {
  databaseId: string;
  options: BindingOptions;
}

/** How each kind of binding that an app may have is served here. What is not in the list is refused by name. */
const BINDERS: Record<string, (binding: UploadBinding, context: Context) => void> = {
  plain_text: (b, { options }) => void (options.bindings[b.name] = text(b, "text")),
  secret_text: (b, { options }) => void (options.bindings[b.name] = text(b, "text")),
  json: (b, { options }) => void (options.bindings[b.name] = b["json"]),
  // An app has one SQL database, whatever names and ids its configuration gives it.
  d1: (b, { options, databaseId }) => void (options.d1Databases[b.name] = databaseId),
  kv_namespace: (b, { options }) => void (options.kvNamespaces[b.name] = storageName(b, "namespace_id")),
  r2_bucket: (b, { options }) => void (options.r2Buckets[b.name] = storageName(b, "bucket_name")),
  durable_object_namespace: (b, { options }) => {
    refuseForeignScript(b);
    options.durableObjects[b.name] = { className: text(b, "class_name"), useSQLite: true };
  },
  workflow: (b, { options }) => {
    refuseForeignScript(b);
    options.workflows[b.name] = { name: storageName(b, "workflow_name"), className: text(b, "class_name") };
  },
  assets: (b, { options }) => void (options.assetsBinding = b.name),
  ratelimit: (b, { options }) => {
    options.ratelimits[b.name] = { namespace_id: text(b, "namespace_id"), simple: rateLimit(b) };
  },
  analytics_engine: (b, { options }) => void (options.analyticsEngineDatasets[b.name] = { dataset: b.name }),
  version_metadata: (b, { options }) => void (options.versionMetadata = b.name),
};

/**
 * Translates the bindings a script declares into Miniflare's options.
 *
 * @throws {UnhealthyScript} that names a binding of a kind apps cannot have here, and the kinds they can
 */
export function bindingOptions(bindings: readonly UploadBinding[], databaseId: string): BindingOptions {
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
  for (const binding of bindings) {
    const bind = Object.hasOwn(BINDERS, binding.type) ? BINDERS[binding.type] : undefined;
    if (!bind) throw new UnhealthyScript(unsupported(binding));
    bind(binding, { databaseId, options });
  }
  return options;
}

function unsupported({ name, type }: UploadBinding): string {
  // The bundler writes `inherit` for storage without an id and so drops what kind it is.
  if (type === "inherit")
    return `The binding "${name}" has no id; give it one in the wrangler configuration, any will do.`;
  return `The binding "${name}" is of kind "${type}", which apps cannot have here. Supported: ${Object.keys(BINDERS).join(", ")}.`;
}

function refuseForeignScript(binding: UploadBinding): void {
  if (binding["script_name"] !== undefined)
    throw new UnhealthyScript(
      `The binding "${binding.name}" names a class of another script; apps can use their own classes only.`,
    );
}

function rateLimit({ name, simple }: UploadBinding): RateLimit {
  const rule = rateLimitSchema.safeParse(simple);
  if (!rule.success)
    throw new UnhealthyScript(`The binding "${name}" needs a limit, and a period of 10 or 60 seconds.`);
  return rule.data;
}

function text(binding: UploadBinding, key: string): string {
  const value = binding[key];
  if (typeof value !== "string" || value === "")
    throw new UnhealthyScript(`The binding "${binding.name}" lacks its ${key}.`);
  return value;
}

/** Ids come from the app's own configuration and end up in folder names, so only their hash is used. */
function storageName(binding: UploadBinding, key: string): string {
  return createHash("sha256").update(text(binding, key)).digest("hex").slice(0, 32);
}
