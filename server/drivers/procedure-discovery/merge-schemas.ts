import { isRecord } from "../../../domain/shared/json.ts";

type Schema = Record<string, unknown>;

/** Keywords that describe a schema and do not restrict it. Those beside a reference replace those of its target. */
const ANNOTATIONS = new Set(
  "title summary description default deprecated example examples readOnly writeOnly nullable externalDocs xml".split(
    " ",
  ),
);

/**
 * Merges the target of a reference with the keywords beside the reference (OpenAPI 3.1). Both must hold, so keywords that
 * both have, and that restrict a value, become a part of `allOf`.
 */
export function mergeSchemas(target: Schema, siblings: Schema): Schema {
  const merged = { ...target };
  const conflicts: Schema = {};
  for (const [key, value] of Object.entries(siblings)) {
    const existing = Object.hasOwn(target, key) ? target[key] : undefined;
    if (existing === undefined || existing === null || ANNOTATIONS.has(key)) merged[key] = value;
    else if (key === "properties" && isRecord(existing) && isRecord(value))
      merged[key] = mergeProperties(existing, value);
    else if (key === "required" && Array.isArray(existing) && Array.isArray(value))
      merged[key] = [...new Set([...existing, ...value])];
    else if (key === "allOf" && Array.isArray(existing) && Array.isArray(value)) merged[key] = [...existing, ...value];
    else if (value !== existing && value !== null) conflicts[key] = value;
  }
  if (Object.keys(conflicts).length === 0) return merged;
  const allOf = Array.isArray(merged["allOf"]) ? merged["allOf"] : [];
  return { ...merged, allOf: [...allOf, conflicts] };
}

function mergeProperties(some: Schema, others: Schema): Schema {
  const entries = Object.entries(others).map(([name, value]) => [
    name,
    Object.hasOwn(some, name) ? { allOf: [some[name], value] } : value,
  ]);
  return { ...some, ...Object.fromEntries(entries) };
}
