import type { Operation } from "./operations.ts";
import { formatSize } from "./request-body.ts";
import { STREAMED_OPERATIONS } from "./streams/streamed-operations.ts";

const MALFORMED = "The URL or the body is malformed";

/** The errors that every operation can return, by status. */
const COMMON = {
  401: "The token is missing or invalid",
  403: "The role or the scope is insufficient, or the user is a member of no organization or not of the one in `X-Service-Org-Id`",
  405: "The path does not have the method of the request",
  429: "The client's network has sent too many invalid tokens",
  500: "Internal error of the service",
  503: "The service's database is temporarily unavailable",
};

/** The errors of an operation whose request can have a body, by status. */
function describeBodyErrors({ bodyLimit, streamedBody }: Operation) {
  const types = streamedBody?.contentTypes ?? ["application/json"];
  return {
    413: `The request body exceeds ${formatSize(bodyLimit)}`,
    415: `The content type of the body is not ${types.join(" or ")}`,
  };
}

/** The errors of an operation that has a stream, by status. */
const STREAM_ERRORS = {
  400: "The URL, a parameter or `Last-Event-ID` is invalid",
  429: "The organization has too many open streams, or the client's network has sent too many invalid tokens",
  503: "Too many streams are open, or the service's database is temporarily unavailable",
};

function describeStreamErrors({ procedure }: Operation) {
  const stream = STREAMED_OPERATIONS[procedure];
  if (stream === undefined || stream.canContinue) return stream && STREAM_ERRORS;
  return { ...STREAM_ERRORS, 400: "The URL or a parameter is invalid" };
}

/** Describes every error that an operation can return, by status: its own ones, and those of REST itself. */
export function describeErrors(operation: Operation): Record<string, string> {
  const { method, path, openapi } = operation;
  const canHaveBody = method !== "GET";
  return {
    ...((canHaveBody || path.includes("{")) && { 400: MALFORMED }),
    ...COMMON,
    ...(canHaveBody && describeBodyErrors(operation)),
    ...describeStreamErrors(operation),
    ...(openapi.errorResponses as Record<string, string> | undefined),
  };
}

interface Header {
  description: string;
  schema: object;
}

const REQUEST_ID: Record<string, Header> = {
  "X-Request-Id": { description: "Identifies this call in the service's log", schema: { type: "string" } },
};

const RETRY_AFTER: Record<string, Header> = {
  "Retry-After": { description: "Seconds to wait", schema: { type: "integer", minimum: 1 } },
};

const HEADERS: Record<string, Record<string, Header>> = {
  401: {
    "WWW-Authenticate": {
      description: "The scheme `Bearer`, with the error `invalid_token` if the request has a token",
      schema: { type: "string" },
    },
  },
  405: { Allow: { description: "The methods of the path, separated by commas", schema: { type: "string" } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Returns the documented headers of a response by its status. */
export function describeHeaders(status: string): Record<string, Header> {
  return { ...REQUEST_ID, ...HEADERS[status] };
}
