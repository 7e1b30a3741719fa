import { z } from "zod";
import { DISCOVERY_CAPS, PROCEDURE_KINDS, type JsonSchema } from "../../../domain/ports/procedure-discovery.ts";

const conversionSchema = z.union([
  z.object({ schema: z.record(z.string(), z.unknown()) }),
  z.object({ left: z.enum(["unknown", "large"]) }),
  // A schema such as `true`, which says nothing.
  z.object({ schema: z.unknown() }).transform(() => ({ schema: {} })),
]);

const procedureSchema = z.object({
  name: z.string(),
  kind: z.enum(PROCEDURE_KINDS),
  description: z.string(),
  inputs: z.array(conversionSchema).max(50),
  output: conversionSchema.nullable(),
});

/** What `inside/introspect.mjs` answers, in a process where the app could make it answer anything. */
export const reportSchema = z.union([
  z.object({ found: z.literal(false) }),
  z.object({
    found: z.literal(true),
    total: z.int().nonnegative(),
    transformer: z.enum(["none", "superjson", "unknown"]),
    procedures: z.array(procedureSchema).max(DISCOVERY_CAPS.procedures),
  }),
]);

export type TrpcReport = Extract<z.output<typeof reportSchema>, { found: true }>;
export type ReportedProcedure = z.output<typeof procedureSchema>;

const NO_INPUT: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

/** One schema for all `.input()` of a procedure, of which each must accept the input. */
export function mergedInput(schemas: readonly JsonSchema[]): JsonSchema {
  const [first, ...others] = schemas;
  if (first === undefined) return NO_INPUT;
  if (others.length === 0) return first;
  const allOf = schemas.map((schema, at) => moved(schema, `#/allOf/${at}`) as JsonSchema);
  return { ...(schemas.every(({ type }) => type === "object") && { type: "object" }), allOf };
}

/** References start at the root, which is elsewhere once a schema is a part of another. */
function moved(node: unknown, root: string, depth = 0): unknown {
  // What is nested deeper is refused later on.
  if (typeof node !== "object" || node === null || depth > DISCOVERY_CAPS.schemaDepth) return node;
  if (Array.isArray(node)) return node.map((item) => moved(item, root, depth + 1));
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      const isReference = key === "$ref" && typeof value === "string" && value.startsWith("#");
      return [key, isReference ? `${root}${value.slice(1)}` : moved(value, root, depth + 1)];
    }),
  );
}
