import { z } from "zod";
import { createCallSignature } from "../domain/type-declarations/call-signature.ts";
import type { JsonSchema } from "../domain/ports/procedure-discovery.ts";
import { ERROR_CODES } from "../domain/shared/errors.ts";
import type { Meta } from "../routers/core/trpc.ts";
import { appRouter } from "../routers/index.ts";
import { METADATA_WITHOUT_IDS } from "../routers/tool-registry.ts";

/** A procedure as clients call it. */
export interface ClientProcedure {
  namespace: string;
  name: string;
  kind: "query" | "mutation";
  /** Whether the call accepts an `Idempotency-Key`, so that clients can repeat it. */
  isRepeatable: boolean;
  meta: Meta;
  /** JSON Schema of the input. */
  input: JsonSchema;
  /** JSON Schema of the output; `null` when the output is not described. */
  output: JsonSchema | null;
}

interface RouterProcedure {
  _def: { type: "query" | "mutation"; meta?: Meta; inputs: z.ZodType[]; output?: z.ZodType };
}

/** The schemas of this service are trusted, so no bound cuts them. */
const BOUNDS = { characters: 100_000, depth: 20, properties: 500, comments: true };

/**
 * Every procedure that takes and returns JSON, in the order of their names. A procedure whose request body or response is a
 * file is only in REST.
 */
export const CLIENT_PROCEDURES: readonly ClientProcedure[] = Object.entries(
  appRouter._def.procedures as unknown as Record<string, RouterProcedure>,
)
  .filter(
    ([
      ,
      {
        _def: { meta },
      },
    ]) => meta?.openapi?.streamedBody === undefined && meta?.openapi?.download === undefined,
  )
  .map(([path, procedure]) => describeProcedure(path, procedure))
  .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function describeProcedure(
  path: string,
  { _def: { type, meta = {}, inputs, output } }: RouterProcedure,
): ClientProcedure {
  const [namespace = "", name = ""] = path.split(".");
  return {
    namespace,
    name,
    kind: type,
    isRepeatable: meta.isRepeatable === true,
    meta,
    input: toJsonSchema(inputs[0] ?? z.strictObject({}), "input"),
    output: output === undefined ? null : toJsonSchema(output, "output"),
  };
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    metadata: METADATA_WITHOUT_IDS as typeof z.globalRegistry,
  }) as JsonSchema;
  return converted;
}

/** Renders the module with the type and the kind of each procedure, for clients/sdk. */
export function renderSdkProcedures(): string {
  const namespaces = [...Map.groupBy(CLIENT_PROCEDURES, ({ namespace }) => namespace)];
  return `// Generated from the routers by npm run docs. Do not edit.
import type { CallOptions, RepeatableCallOptions } from "../call-options.ts";

/** The procedures of the service. Each resolves with the output of the procedure and rejects with a ServiceError. */
export interface Procedures {
${namespaces.map(([namespace, procedures]) => renderNamespace(namespace, procedures)).join("")}}

/** Every reason for which the service rejects a call. */
export const REJECTION_CODES = ${JSON.stringify(ERROR_CODES, null, 2)} as const;

/** How a procedure is called: \`repeatable\` is a mutation that accepts an idempotency key. */
export type ProcedureKind = "query" | "mutation" | "repeatable";

export const PROCEDURE_KINDS: { readonly [N in keyof Procedures]: { readonly [P in keyof Procedures[N]]: ProcedureKind } } = {
${namespaces.map(([namespace, procedures]) => `  ${namespace}: {\n${procedures.map(renderKind).join("")}  },\n`).join("")}};
`;
}

function renderNamespace(namespace: string, procedures: readonly ClientProcedure[]): string {
  return `  ${namespace}: {\n${procedures.map(renderProcedure).join("")}  };\n`;
}

function renderProcedure({ name, isRepeatable, meta, input, output }: ClientProcedure): string {
  const signature = createCallSignature(
    { inputSchema: input, outputSchema: output },
    { input: BOUNDS, output: BOUNDS },
    null,
  );
  const optional = signature.isInputOptional ? "?" : "";
  const options = isRepeatable ? "RepeatableCallOptions" : "CallOptions";
  const parameters = `input${optional}: ${unquoteComments(signature.input)}, options?: ${options}`;
  const method = `${name}(${parameters}): Promise<${unquoteComments(signature.output)}>;`;
  return `${renderComment(meta)}    ${method.replaceAll("\n", "\n    ")}\n`;
}

/** The comments of a type contain quoted texts, because most schemas are untrusted. These are not. */
function unquoteComments(type: string): string {
  return type.replaceAll(/\/\*\* (".*?") \*\/ /g, (_comment, quoted: string) => {
    const texts = JSON.parse(`[${quoted}]`) as string[];
    return `/** ${texts.join("; ").replaceAll("*/", "*\\/")} */ `;
  });
}

function renderComment({ openapi, tool }: Meta): string {
  const text = [openapi?.summary ?? tool?.title, openapi?.description ?? tool?.description];
  const lines = text.filter((line) => line !== undefined).map((line) => line.replaceAll("*/", "*\\/"));
  return lines.length === 0 ? "" : `    /**\n${lines.map((line) => `     * ${line}\n`).join("     *\n")}     */\n`;
}

function renderKind({ name, kind, isRepeatable }: ClientProcedure): string {
  return `    ${name}: "${isRepeatable ? "repeatable" : kind}",\n`;
}
