import { z } from "zod";
import { type AccessMeta, type ProcedureType, requiredAccess } from "../../routers/core/access.ts";
import type { Meta, StreamedBody } from "../../routers/core/trpc.ts";
import { appRouter } from "../../routers/index.ts";
import { BODY_LIMIT } from "./request-body.ts";

/** A procedure that REST serves. */
export interface Operation {
  /** The dotted path of the procedure. */
  procedure: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces, such as `/v1/apps/{id}`. */
  path: string;
  successStatus: number;
  /** The maximum size of the request body, in bytes. */
  bodyLimit: number;
  /** `null` for an operation whose body is JSON. */
  streamedBody: StreamedBody | null;
  /** Whether a call without a body, and so without a content type, is rejected. A `POST` with only optional fields is not. */
  requiresBody: boolean;
  /** `undefined` for a procedure without input. */
  input: z.ZodType | undefined;
  /** The fields that are numbers. Path and query parameters are text. */
  numbers: ReadonlySet<string>;
  /** The scope and the role that a caller needs. */
  access: Required<AccessMeta>;
  /** Whether the operation reads `Idempotency-Key`. */
  isRepeatable: boolean;
  openapi: NonNullable<Meta["openapi"]>;
}

interface Procedure {
  _def: { type: ProcedureType; meta?: Meta; inputs: z.ZodType[] };
}

/** Every procedure with `meta.openapi`. */
export const OPERATIONS: readonly Operation[] = Object.entries(
  appRouter._def.procedures as unknown as Record<string, Procedure>,
).flatMap(([procedure, { _def }]) => {
  const openapi = _def.meta?.openapi;
  if (openapi === undefined) return [];
  const { method, path, successStatus = 200, bodyLimit = BODY_LIMIT, streamedBody = null } = openapi;
  const access = requiredAccess(_def.type, _def.meta?.access);
  const isRepeatable = _def.meta?.isRepeatable === true;
  const [input] = _def.inputs;
  const requiresBody = openapi.requiresBody ?? needsBody(method, bodyFields(path, input));
  return [
    {
      procedure,
      method,
      path,
      successStatus,
      bodyLimit,
      streamedBody,
      requiresBody,
      input,
      numbers: findNumbers(input),
      access,
      isRepeatable,
      openapi,
    },
  ];
});

/** The fields of the input beside the parameters of the path. */
function bodyFields(path: string, input: z.ZodType | undefined): z.ZodType[] {
  if (input === undefined) return [];
  if (!(input instanceof z.ZodObject)) return [input];
  return Object.entries(input.shape).flatMap(([name, field]) =>
    path.includes(`{${name}}`) ? [] : [field as z.ZodType],
  );
}

function findNumbers(input: z.ZodType | undefined): ReadonlySet<string> {
  const fields = input instanceof z.ZodObject ? Object.entries(input.shape) : [];
  return new Set(fields.filter(([, field]) => unwrap(field as z.ZodType) instanceof z.ZodNumber).map(([name]) => name));
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return unwrap(schema.unwrap() as z.ZodType);
  return schema;
}

/** Returns path or query parameters with numbers instead of texts in decimal notation. Other texts are reported by the schema. */
export function readParameters({ numbers }: Operation, parameters: object): object {
  const read = ([name, value]: [string, unknown]): [string, unknown] =>
    numbers.has(name) && typeof value === "string" && /^\d{1,15}$/.test(value) ? [name, Number(value)] : [name, value];
  return Object.fromEntries(Object.entries(parameters).map(read));
}

/** Whether the fields of the input are in the body. Those of `GET` and `DELETE` are query parameters. */
export function hasBody({ method }: Pick<Operation, "method">): boolean {
  return method !== "GET" && method !== "DELETE";
}

function needsBody(method: Operation["method"], fields: z.ZodType[]): boolean {
  if (!hasBody({ method })) return false;
  // A POST that has only options is complete without them. A PATCH or PUT without a body is a mistake.
  return method === "POST" ? fields.some((field) => !field.safeParse(undefined).success) : fields.length > 0;
}
