import { readFileSync, writeFileSync } from "node:fs";

/** The entries of a wrangler configuration whose ids wrangler lets a project leave out. */
export interface StorageConfig {
  d1_databases: { binding: string }[];
  kv_namespaces: { binding: string }[];
  r2_buckets: { binding: string }[];
}

interface Binding {
  name: string;
  type: string;
}

const START = `name="metadata"\r\n\r\n`;
const END = "\r\n--";

/**
 * Gives storage that the project names without an id its binding's name as the id. Wrangler writes such a binding as
 * `inherit`, which leaves out what kind of storage it is and means nothing for an app that is deployed for the first time.
 */
export function nameStorage(formFile: string, config: StorageConfig): void {
  const named = new Map<string, object>([
    ...config.d1_databases.map(({ binding }) => [binding, { type: "d1", id: binding }] as const),
    ...config.kv_namespaces.map(({ binding }) => [binding, { type: "kv_namespace", namespace_id: binding }] as const),
    ...config.r2_buckets.map(({ binding }) => [binding, { type: "r2_bucket", bucket_name: binding }] as const),
  ]);
  // Bytes as characters one to one: modules may be binary.
  const form = readFileSync(formFile, "latin1");
  const start = form.indexOf(START) + START.length;
  const end = form.indexOf(END, start);
  const metadata = JSON.parse(Buffer.from(form.slice(start, end), "latin1").toString("utf8")) as {
    bindings?: Binding[];
  };
  if (metadata.bindings?.some(({ type }) => type === "inherit") !== true) return;
  metadata.bindings = metadata.bindings.map((binding) =>
    binding.type === "inherit" ? { ...binding, ...named.get(binding.name) } : binding,
  );
  const json = Buffer.from(JSON.stringify(metadata)).toString("latin1");
  writeFileSync(formFile, form.slice(0, start) + json + form.slice(end), "latin1");
}
