import { readFileSync, writeFileSync } from "node:fs";

/** The storage entries of a wrangler configuration. Wrangler accepts them without ids. */
export interface StorageConfig {
  d1_databases: { binding: string }[];
  kv_namespaces: { binding: string }[];
  r2_buckets: { binding: string }[];
}

interface Binding {
  name: string;
  type: string;
}

const METADATA_START = `name="metadata"\r\n\r\n`;
const METADATA_END = "\r\n--";

/**
 * Gives every storage binding without an id the name of the binding as its id. Wrangler writes such a binding with the
 * type `inherit`. That drops the kind of storage, and has no meaning in the first deployment of an app.
 */
export function assignBindingIds(formFile: string, config: StorageConfig): void {
  // Latin-1 maps every byte to one character and back: the modules in the form may be binary.
  const form = readFileSync(formFile, "latin1");
  const start = form.indexOf(METADATA_START) + METADATA_START.length;
  const end = form.indexOf(METADATA_END, start);
  const metadata = JSON.parse(Buffer.from(form.slice(start, end), "latin1").toString("utf8")) as {
    bindings?: Binding[];
  };
  if (metadata.bindings?.some(({ type }) => type === "inherit") !== true) return;
  const storageByName = storageBindings(config);
  metadata.bindings = metadata.bindings.map((binding) =>
    binding.type === "inherit" ? { ...binding, ...storageByName.get(binding.name) } : binding,
  );
  const json = Buffer.from(JSON.stringify(metadata)).toString("latin1");
  writeFileSync(formFile, form.slice(0, start) + json + form.slice(end), "latin1");
}

function storageBindings({ d1_databases, kv_namespaces, r2_buckets }: StorageConfig): Map<string, object> {
  return new Map<string, object>([
    ...d1_databases.map(({ binding }) => [binding, { type: "d1", id: binding }] as const),
    ...kv_namespaces.map(({ binding }) => [binding, { type: "kv_namespace", namespace_id: binding }] as const),
    ...r2_buckets.map(({ binding }) => [binding, { type: "r2_bucket", bucket_name: binding }] as const),
  ]);
}
