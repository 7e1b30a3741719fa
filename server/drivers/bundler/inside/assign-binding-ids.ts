/** The storage entries of a wrangler configuration. Wrangler accepts them without ids. */
export interface StorageConfig {
  d1_databases: { binding: string }[];
  kv_namespaces: { binding: string }[];
  r2_buckets: { binding: string }[];
}

/** A binding in the metadata of an upload form. */
export interface FormBinding {
  name: string;
  type: string;
  class_name?: string;
}

/**
 * Gives every storage binding without an id the name of the binding as its id. Wrangler writes such a binding with the
 * type `inherit`. That drops the kind of storage, and has no meaning in the first deployment of an app.
 */
export function assignBindingIds(bindings: readonly FormBinding[], config: StorageConfig): FormBinding[] {
  const storageByName = storageBindings(config);
  return bindings.map((binding) =>
    binding.type === "inherit" ? { ...binding, ...storageByName.get(binding.name) } : binding,
  );
}

function storageBindings({ d1_databases, kv_namespaces, r2_buckets }: StorageConfig): Map<string, object> {
  return new Map<string, object>([
    ...d1_databases.map(({ binding }) => [binding, { type: "d1", id: binding }] as const),
    ...kv_namespaces.map(({ binding }) => [binding, { type: "kv_namespace", namespace_id: binding }] as const),
    ...r2_buckets.map(({ binding }) => [binding, { type: "r2_bucket", bucket_name: binding }] as const),
  ]);
}
