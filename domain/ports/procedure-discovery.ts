import type { VariableSet } from "./app-variables.ts";
import type { AppCode } from "./bundler.ts";

/** A query only reads. A mutation may write. Agents may call a query without confirmation. */
export const PROCEDURE_KINDS = ["query", "mutation"] as const;
export type ProcedureKind = (typeof PROCEDURE_KINDS)[number];

/** JSON Schema 2020-12 as the app provided it. It is data: it must never reach an agent as instruction. */
export type JsonSchema = Record<string, unknown>;

/**
 * A keyword of schemas of procedures with superjson: the value is not JSON itself, but a value of this type, which JSON can
 * represent as the rest of the schema says. A date is a `date-time`, a bigint its digits, a set a list, and a map a list of pairs.
 */
export const JS_TYPE_KEYWORD = "x-js-type";
export const JS_TYPES = ["Date", "bigint", "Set", "Map"] as const;
export type JsType = (typeof JS_TYPES)[number];

export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** How a parameter is written (OpenAPI 3.1, "Style Values"). */
export const PARAMETER_STYLES = [
  "form",
  "simple",
  "label",
  "matrix",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
] as const;
export type ParameterStyle = (typeof PARAMETER_STYLES)[number];

/** The place of one property of the input in a request. */
export interface RequestParameter {
  /** The name in the request. */
  name: string;
  in: "path" | "query" | "header" | "cookie";
  /** The name in the input. */
  property: string;
  /** `form` for a query or a cookie and `simple` for a path or a header by default, as in OpenAPI. */
  style?: ParameterStyle;
  /** Whether each item of a list is written separately, such as `a=1&a=2` instead of `a=1,2`. */
  explode: boolean;
  /** Whether a query parameter may contain `:/?@!$'()*,;=` without percent-encoding. */
  allowReserved?: boolean;
  /** Whether the value is sent as JSON. */
  isJson?: boolean;
}

/** How one field of a form is written. A field without an encoding is text, repeated for each item of a list, or JSON. */
export interface FieldEncoding {
  name: string;
  style?: ParameterStyle;
  explode?: boolean;
  allowReserved?: boolean;
  contentType?: string;
}

export interface RequestBody {
  /** JSON, a form, or text, without the parameters of the media type. */
  contentType: string;
  /** The property of the input that is the whole body. `null` means that the body has all properties without a parameter. */
  property: string | null;
  /** Whether the body is sent even if the input has nothing for it. `true` by default. */
  isRequired?: boolean;
  fields?: FieldEncoding[];
}

/** How to call a procedure, relative to the URL of its app. Paths start with `/` and name no host. */
export type Invocation =
  | {
      via: "trpc";
      /** The path of the router, or empty. `/` and the procedure's name follow it. A query is a GET, a mutation a POST. */
      endpoint: string;
      transformer: "none" | "superjson";
      /** The name in the router, if the procedure has another one here. */
      procedure?: string;
      /** Whether a call without input is valid. `undefined` for procedures that were stored before this was known. */
      isInputOptional?: boolean;
    }
  | {
      via: "openapi";
      method: HttpMethod;
      /** Has `{name}` in place of each path parameter. */
      path: string;
      parameters: RequestParameter[];
      body: RequestBody | null;
      /** Properties that the input must have. A call without one of them is not sent. */
      required?: string[];
    }
  | McpInvocation;

/** Whether a call without input is valid. Only for a procedure of tRPC is that known. */
export function acceptsNoInput(invocation: Invocation | undefined): boolean {
  return invocation?.via === "trpc" && invocation.isInputOptional === true;
}

export interface McpInvocation {
  via: "mcp";
  endpoint: string;
  /** The tool's own name, which can be any text. */
  tool: string;
  /** The protocol revision that the server selected, such as `2025-06-18`. Earlier releases did not store it. */
  revision?: string;
  /** Whether the server assigned a session id. Earlier releases did not store it. */
  hasSession?: boolean;
  /** Properties of the input that are also sent as `Mcp-Param-*` headers, from revision 2026-07-28 on. */
  headers?: McpParameterHeader[];
}

export interface McpParameterHeader {
  /** The name after `Mcp-Param-`. */
  name: string;
  /** The names of the properties that lead to the value. */
  path: string[];
}

/** An operation that an app offers to agents. */
export interface DiscoveredProcedure {
  /** Dotted, such as `invoices.create`. Matches `PROCEDURE_NAME` and is unique within the app. */
  name: string;
  kind: ProcedureKind;
  description: string;
  inputSchema: JsonSchema;
  /** `null` when the app does not describe its output. */
  outputSchema: JsonSchema | null;
  invocation: Invocation;
}

/** Bounds on what is accepted from an app. */
export const DISCOVERY_CAPS = {
  procedures: 2000,
  schemaBytes: 64 * 1024,
  /** All schemas of an app together. They are written in one transaction. */
  totalBytes: 8 * 1024 * 1024,
  /** Levels of nesting within one schema. */
  schemaDepth: 64,
  descriptionCharacters: 2000,
  nameCharacters: 200,
  problemCharacters: 2000,
  /** All lines of `leftOut` together. They become part of the build log. */
  leftOutCharacters: 200_000,
} as const;

export const PROCEDURE_NAME = /^[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*$/;

export interface DiscoveryRequest {
  code: AppCode;
  /** The checkout after the build. Its content is untrusted. */
  sourceDirectory: string;
  /** A Node server runs with them. Neither problems nor logs have the masked texts. */
  variables: Pick<VariableSet, "values" | "masks">;
  signal: AbortSignal;
}

export interface DiscoveryResult {
  /** Within `DISCOVERY_CAPS`. Empty when the app offers none. */
  procedures: DiscoveredProcedure[];
  /** What could not be read or was left out, and why, for the owner of the app. Text of the app is in quotation marks. */
  problem: string | null;
  /** One line for each procedure that was left out, with the reason, for the build log. `problem` names the first ones. */
  leftOut?: string[];
}

/** Finds the procedures that an app offers. */
export interface ProcedureDiscovery {
  /**
   * Uses the first of these sources that the app has: a tRPC router that its main module exports or that it serves, an
   * OpenAPI document, an MCP endpoint. Code of the app runs for a bounded time, without network and storage that lasts. A Worker has no bindings but its durable objects.
   * Changes nothing and is safe to repeat. An error of the app is a `problem`; only internal errors are thrown.
   */
  discover(request: DiscoveryRequest): Promise<DiscoveryResult>;
}
