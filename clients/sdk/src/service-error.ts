import { REJECTION_CODES } from "./generated/procedures.ts";

/** The service rejected the call for this reason. */
export type RejectionCode = (typeof REJECTION_CODES)[number];

/**
 * Every reason for which a call fails, in addition to the reasons of the service:
 *
 * - `internal`: an error of the service, with details only in its log
 * - `network`: the service cannot be reached, or the connection broke off
 * - `timeout`: the service did not respond in time
 * - `invalid_response`: the response is not one of this service, such as the page of a proxy
 * - `deployment_failed`, `deployment_canceled`: the deployment that the call waited for did not become ready
 */
export type ServiceErrorCode =
  | RejectionCode
  | "internal"
  | "network"
  | "timeout"
  | "invalid_response"
  | "deployment_failed"
  | "deployment_canceled";

/** One invalid field of an input. */
export interface InputIssue {
  path: (string | number)[];
  message: string;
}

interface ErrorDetails {
  status?: number | null;
  retryAfterSeconds?: number | null;
  requestId?: string | null;
  issues?: InputIssue[];
  cause?: unknown;
}

/** The only error with which calls reject, except for the reason of an aborted signal. Switch on its `code`. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;
  /** The HTTP status; `null` without a response. */
  readonly status: number | null;
  /** When another attempt can succeed, in seconds; `null` when the service did not say. */
  readonly retryAfterSeconds: number | null;
  /** Identifies the call in the log of the service; `null` without a response. */
  readonly requestId: string | null;
  /** The invalid fields of the input, if the code is `invalid`. */
  readonly issues: readonly InputIssue[];

  constructor(code: ServiceErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.requestId = details.requestId ?? null;
    this.issues = details.issues ?? [];
  }
}

const CODE_BY_STATUS: Readonly<Record<number, ServiceErrorCode>> = {
  400: "invalid",
  401: "unauthenticated",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "invalid",
  415: "invalid",
  422: "key_reused",
  429: "rate_limited",
  500: "internal",
  503: "unavailable",
};

/** The error bodies of typed RPC (an object) and of REST (a text). */
interface ErrorBody {
  error?:
    | string
    | { message?: string; data?: { errorCode?: string; retryAfterSeconds?: number; issues?: InputIssue[] } };
}

/** Converts the response to a rejected call. Reads its body. */
export async function readError(response: Response, baseUrl: string): Promise<ServiceError> {
  const { status, headers } = response;
  const body: ErrorBody | null = await readJson(response);
  const error = body?.error;
  const message = typeof error === "object" ? error.message : error;
  const data = typeof error === "object" ? error.data : undefined;
  const details = {
    status,
    requestId: headers.get("x-request-id"),
    retryAfterSeconds: data?.retryAfterSeconds ?? readRetryAfter(headers.get("retry-after")),
    issues: data?.issues ?? [],
  };
  if (typeof message !== "string") {
    // Some proxies have a limit of their own.
    if (status === 429) return new ServiceError("rate_limited", "Too many requests.", details);
    return new ServiceError("invalid_response", describeForeignResponse(response, baseUrl), details);
  }
  const code = REJECTION_CODES.find((each) => each === data?.errorCode) ?? CODE_BY_STATUS[status] ?? "internal";
  return new ServiceError(code, message, details);
}

/** Reads the JSON object of a response; `null` when the body is anything else. */
export async function readJson(response: Response): Promise<object | null> {
  const text = await response.text();
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** Explains a response that this service does not send. */
export function describeForeignResponse({ status, headers, type }: Response, baseUrl: string): string {
  const location = headers.get("location");
  if (location !== null) return `${baseUrl} redirects to ${location}. Use the URL of the service itself.`;
  // Browsers do not tell where a response redirects to.
  if (type === "opaqueredirect") return `${baseUrl} redirects to another URL. Use the URL of the service itself.`;
  const media = headers.get("content-type")?.split(";")[0] ?? "no content type";
  return `${baseUrl} responded with ${media} and status ${status}, which is not a response of the service. Check the URL, and any proxy in between.`;
}

/** Reads seconds or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isNaN(seconds) ? null : Math.max(seconds, 0);
}
