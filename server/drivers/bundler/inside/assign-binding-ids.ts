/** The entries of a wrangler configuration that wrangler accepts without ids or values. */
export interface StorageConfig {
  d1_databases: { binding: string }[];
  kv_namespaces: { binding: string }[];
  r2_buckets: { binding: string }[];
  /** The names of variables without which the script does not work. */
  secrets?: { required?: string[] } | undefined;
}

/** A binding in the metadata of an upload form. */
export interface FormBinding {
  name: string;
  type: string;
  class_name?: string;
}

/**
 * Gives every storage binding without an id the name of the binding as its id, and every required secret the type
 * `required_secret`. Wrangler writes both with the type `inherit`. That drops the kind of the binding, and has no meaning in
 * the first deployment of an app.
 */
export function assignBindingIds(bindings: readonly FormBinding[], config: StorageConfig): FormBinding[] {
  const byName = inheritedBindings(config);
  return bindings.map((binding) =>
    binding.type === "inherit" ? { ...binding, ...byName.get(binding.name) } : binding,
  );
}

function inheritedBindings(config: StorageConfig): Map<string, object> {
  const { d1_databases, kv_namespaces, r2_buckets, secrets } = config;
  return new Map<string, object>([
    ...(secrets?.required ?? []).map((name) => [name, { type: "required_secret" }] as const),
    ...d1_databases.map(({ binding }) => [binding, { type: "d1", id: binding }] as const),
    ...kv_namespaces.map(({ binding }) => [binding, { type: "kv_namespace", namespace_id: binding }] as const),
    ...r2_buckets.map(({ binding }) => [binding, { type: "r2_bucket", bucket_name: binding }] as const),
  ]);
}
