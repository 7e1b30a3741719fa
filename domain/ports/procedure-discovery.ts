/** What reads, and what writes. Agents may call a query without asking anybody. */
export const PROCEDURE_KINDS = ["query", "mutation"] as const;
export type ProcedureKind = (typeof PROCEDURE_KINDS)[number];

/** JSON Schema 2020-12, as the app gave it: data, which never reaches an agent as instruction. */
export type JsonSchema = Record<string, unknown>;

export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

/** Where one property of the input goes in a request. */
export interface RequestParameter {
  /** Its name in the request. */
  name: string;
  in: "path" | "query" | "header";
  /** Its name in the input. */
  property: string;
  /** Whether a list is sent as `a=1&a=2`, and not as `a=1,2`. */
  explode: boolean;
}

export const BODY_TYPES = ["application/json", "application/x-www-form-urlencoded"] as const;

export interface RequestBody {
  contentType: (typeof BODY_TYPES)[number];
  /** The property of the input that is the whole body; `null` when every property that is no parameter is a part of it. */
  property: string | null;
}

/** How a procedure is called, below the URL of its app. Paths start with `/` and name no host. */
export type Invocation =
  | {
      via: "trpc";
      /** The path of the router; the procedure's name follows. A query is a GET, a mutation a POST. */
      endpoint: string;
      transformer: "none" | "superjson";
    }
  | {
      via: "openapi";
      method: HttpMethod;
      /** With `{name}` in place of each path parameter. */
      path: string;
      parameters: RequestParameter[];
      body: RequestBody | null;
    }
  | { via: "mcp"; endpoint: string; /** The tool's own name, any text. */ tool: string };

/** An operation that an app offers to agents. */
export interface DiscoveredProcedure {
  /** Dotted, such as `invoices.create`; matches `PROCEDURE_NAME` and is unique within the app. */
  name: string;
  kind: ProcedureKind;
  description: string;
  inputSchema: JsonSchema;
  /** `null` when the app does not say what it answers. */
  outputSchema: JsonSchema | null;
  invocation: Invocation;
}

/** What is let in of what an app says about itself. */
export const DISCOVERY_CAPS = {
  procedures: 500,
  schemaBytes: 64 * 1024,
  /** Of all schemas of an app; they are written in one transaction. */
  totalBytes: 4 * 1024 * 1024,
  /** How deep a schema may be nested. */
  schemaDepth: 64,
  descriptionCharacters: 2000,
  nameCharacters: 200,
  problemCharacters: 1000,
} as const;

export const PROCEDURE_NAME = /^[A-Za-z0-9_$-]+(\.[A-Za-z0-9_$-]+)*$/;

export interface DiscoveryRequest {
  /** The bundle's upload form. */
  scriptPath: string;
  /** The checkout, after the build; what it holds is untrusted. */
  sourceDirectory: string;
  signal: AbortSignal;
}

export interface Discovery {
  /** Within `DISCOVERY_CAPS`; empty when the app offers none. */
  procedures: DiscoveredProcedure[];
  /** What could not be found out or was left out, and why, for the app's owner; text of the app is in quotation marks. */
  problem: string | null;
}

/** Finds out which operations an app offers. */
export interface ProcedureDiscovery {
  /**
   * Looks, in this order, for a tRPC router that the main module exports, an OpenAPI document, and an MCP endpoint; the
   * first that is there counts. Code of the app runs without network, bindings and storage, for a bounded time.
   * Changes nothing; safe to repeat. What is wrong with the app is a `problem`, and only a fault of ours is thrown.
   */
  discover(request: DiscoveryRequest): Promise<Discovery>;
}
