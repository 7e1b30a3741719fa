import { UnsupportedScript } from "../../../domain/ports/edge-platform.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import type { UploadBinding, UploadForm } from "../shared/upload-form.ts";
import { bindingOptions, checkVariableNames, requireGlobals } from "../shared/worker-bindings.ts";

/** A binding as Cloudflare's API accepts it. */
export interface CloudflareBinding {
  type: string;
  name: string;
  [setting: string]: unknown;
}

/** What an app has in the account. */
export interface AppResources {
  appId: string;
  /** Cloudflare's id of the SQL database. */
  databaseUuid: string;
  /** The id of each key-value namespace, and the name of each bucket, by the name of its binding. */
  stores: ReadonlyMap<string, string>;
}

/** Supported by the embedded platform, but not for scripts of a dispatch namespace. */
const NOT_DISPATCHED: Readonly<Record<string, string>> = {
  node_server: "Node servers",
  workflow: "Workflows",
};

const VALUES: ReadonlySet<string> = new Set(["plain_text", "secret_text", "json", "required_secret"]);

/**
 * Checks the bindings that a script declares before anything is created for it.
 *
 * @throws {UnhealthyScript} with the name of an invalid binding
 * @throws {UnsupportedScript} with the bindings that Cloudflare does not have for apps
 * @throws {MissingVariables}
 */
export function checkBindings(form: UploadForm, variables: Readonly<Record<string, string>>): void {
  const { bindings } = form.metadata;
  if (form.isServiceWorker) requireGlobals(bindings);
  bindingOptions(bindings, { databaseId: "", variables });
  checkVariableNames(bindings, variables);
  const unsupported = bindings.filter(({ type }) => Object.hasOwn(NOT_DISPATCHED, type));
  if (unsupported.length === 0) return;
  const named = unsupported.map(({ name, type }) => `${NOT_DISPATCHED[type]} (binding "${name}")`);
  throw new UnsupportedScript(`Apps on Cloudflare cannot have ${named.join(", ")}.`);
}

/** The bindings of an app: what it declares, with what it has in the account, and its variables as secrets. */
export function appBindings(
  bindings: readonly UploadBinding[],
  resources: AppResources,
  variables: Readonly<Record<string, string>>,
): CloudflareBinding[] {
  const declared = bindings
    .filter(({ name, type }) => !(VALUES.has(type) && Object.hasOwn(variables, name)) && type !== "required_secret")
    .map((binding) => translate(binding, resources));
  return [...declared, ...variableBindings(variables)];
}

/** The secrets that hold the variables of an app. */
export function variableBindings(variables: Readonly<Record<string, string>>): CloudflareBinding[] {
  return Object.entries(variables).map(([name, text]) => ({ type: "secret_text", name, text }));
}

/** The classes of durable objects, in the order of their names. */
export function durableClasses(bindings: readonly { type: string; [setting: string]: unknown }[]): string[] {
  const classes = bindings
    .filter(({ type }) => type === "durable_object_namespace")
    .map((each) => String(each["class_name"]));
  return [...new Set(classes)].toSorted();
}

function translate(binding: UploadBinding, { appId, databaseUuid, stores }: AppResources): CloudflareBinding {
  const { name, type } = binding;
  switch (type) {
    case "d1":
      return { type, name, id: databaseUuid };
    case "kv_namespace":
      return { type, name, namespace_id: stores.get(name) };
    case "r2_bucket":
      return { type, name, bucket_name: stores.get(name) };
    case "durable_object_namespace":
      return { type, name, class_name: binding["class_name"] };
    case "ratelimit":
      // The id is that of a limit in the whole account.
      return {
        ...binding,
        namespace_id: String(Number.parseInt(sha256Hex(`${appId} ${String(binding["namespace_id"])}`).slice(0, 8), 16)),
      };
    case "analytics_engine":
      return { type, name, dataset: `app_${sha256Hex(appId).slice(0, 24)}_${name}` };
    case "secret_text":
      // Every secret of the script is then a variable of the app. See `restart`.
      return { type: "plain_text", name, text: binding["text"] };
    default:
      return binding;
  }
}
