import { z } from "zod";
import { DISCOVERY_CAPS, type JsonSchema, PROCEDURE_KINDS } from "../../../domain/ports/procedure-discovery.ts";

const conversionSchema = z.union([
  z.object({ schema: z.record(z.string(), z.unknown()) }),
  z.object({ failed: z.enum(["unknown", "large", "impossible"]) }),
  // A boolean schema, such as `true`, says nothing about the value.
  z.object({ schema: z.unknown() }).transform(() => ({ schema: {} })),
]);

const procedureSchema = z.object({
  name: z.string(),
  kind: z.enum(PROCEDURE_KINDS),
  description: z.string(),
  inputs: z.array(conversionSchema).max(50),
  isInputOptional: z.boolean(),
  output: conversionSchema.nullable(),
});

/**
 * The response of `inside/introspect.mjs`. That module runs beside the code of the app, which can forge the response.
 */
export const reportSchema = z.union([
  z.object({ found: z.literal(false) }),
  z.object({
    found: z.literal(true),
    total: z.int().nonnegative(),
    transformer: z.enum(["none", "superjson", "unknown"]),
    procedures: z.array(procedureSchema).max(DISCOVERY_CAPS.procedures),
    subscriptions: z.array(z.string()).max(DISCOVERY_CAPS.procedures),
  }),
]);

export type RouterReport = z.output<typeof reportSchema>;
export type TrpcReport = Extract<RouterReport, { found: true }>;
export type ReportedProcedure = z.output<typeof procedureSchema>;

const NO_INPUT: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/** Merges the schemas of all `.input()` calls of a procedure. The input must match each of them. */
export function mergeInputSchemas(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, ...others] = schemas;
  if (first === undefined) return NO_INPUT;
  if (others.length === 0) return first;
  const allOf = schemas.map((schema, at) => rebaseReferences(schema, `#/allOf/${at}`) as JsonSchema);
  return { ...(schemas.every(({ type }) => type === "object") && { type: "object" }), allOf };
}

/** References start at the root of a schema. They need a new prefix when the schema becomes part of another one. */
function rebaseReferences(node: unknown, root: string, depth = 0): unknown {
  // A schema that is nested deeper is rejected later.
  if (typeof node !== "object" || node === null || depth > DISCOVERY_CAPS.schemaDepth) return node;
  if (Array.isArray(node)) return node.map((item) => rebaseReferences(item, root, depth + 1));
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      const isReference = key === "$ref" && typeof value === "string" && value.startsWith("#");
      return [key, isReference ? `${root}${value.slice(1)}` : rebaseReferences(value, root, depth + 1)];
    }),
  );
}
