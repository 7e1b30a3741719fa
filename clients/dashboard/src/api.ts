import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import type { AppRouter } from "../../../routers/index.ts";
import { discardInitialResponses, takeInitialResponse } from "./initial-responses.ts";

/** The request needs a valid session, and there is none. */
export class SignedOutError extends Error {
  override readonly name = "SignedOutError";
}

const JSON_HEADERS = { "content-type": "application/json" };

/** An error of the identity provider, with a message for the user. */
class IdentityError extends Error {
  override readonly name = "IdentityError";
  readonly code: string;
  /** Seconds until another attempt can succeed; `null` when waiting does not help. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, code: string, retryAfterSeconds: number | null) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Messages for errors that the identity provider sends without one that helps. */
const MESSAGES_BY_CODE: Readonly<Record<string, string | undefined>> = {
  // Ten minutes after a client has sent the user here.
  invalid_signature: "The request of the client has expired. Start again in the client.",
  // The identity provider says only that the session is not fresh.
  SESSION_NOT_FRESH: "You signed in more than a day ago. Sign out and in again to see your sessions.",
};

/**
 * Calls the identity provider with the session cookie.
 *
 * @param path - below `/api/auth`
 * @param body - the body of a POST; without it, the method is GET
 * @throws {IdentityError}
 * @throws {SignedOutError}
 */
export async function callIdentity<T>(path: string, body?: object): Promise<T> {
  if (body !== undefined) discardInitialResponses();
  const initial = takeInitialResponse(path);
  if (initial !== undefined) return initial as T;
  const init = body === undefined ? {} : { method: "POST", headers: JSON_HEADERS, body: JSON.stringify(body) };
  const response = await fetch(`/api/auth${path}`, { credentials: "same-origin", ...init });
  if (response.ok) return (await response.json()) as T;
  const error = (await response.json().catch(() => ({}))) as ErrorBody;
  const code = error.code ?? error.error ?? String(response.status);
  const message =
    MESSAGES_BY_CODE[code] ?? error.error_description ?? error.message ?? "The request failed. Try again.";
  if (response.status === 401 && !path.startsWith("/sign-in")) throw new SignedOutError(message);
  const retryAfterSeconds = Number(response.headers.get("retry-after"));
  const canWait = Number.isInteger(retryAfterSeconds) && retryAfterSeconds > 0;
  throw new IdentityError(message, code, canWait ? retryAfterSeconds : null);
}

/** Endpoints of better-auth use the first two members, endpoints of OAuth the others. */
interface ErrorBody {
  message?: string;
  code?: string;
  error?: string;
  error_description?: string;
}

interface Session {
  session: { id: string; activeOrganizationId: string | null };
  user: { id: string; name: string; email: string };
}

/** Returns the session; `null` when no user is signed in. */
export function getSession(): Promise<Session | null> {
  return callIdentity<Session | null>("/get-session");
}

/** A short-lived access token of the session. It is stored only in the memory of this page, where no other site can read it. */
let accessToken: Promise<string> | null = null;

export function getAccessToken(): Promise<string> {
  accessToken ??= callIdentity<{ token: string }>("/token")
    .then(({ token }) => token)
    .catch((error: unknown) => {
      accessToken = null;
      throw error;
    });
  return accessToken;
}

/** Call this when the session or the memberships of the user change. */
export function clearAccessToken(): void {
  accessToken = null;
}

/** Sends a request with the access token. A rejected token is replaced once. */
export function fetchAuthorized(url: RequestInfo | URL | string, init?: RequestInit): Promise<Response> {
  return sendAuthorized((token) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  });
}

/**
 * Sends a request in any way. A rejected token is replaced once.
 *
 * @throws {SignedOutError}
 */
export async function sendAuthorized<T extends { status: number }>(send: (token: string) => Promise<T>): Promise<T> {
  const response = await send(await getAccessToken());
  if (response.status !== 401) return response;
  clearAccessToken();
  const second = await send(await getAccessToken());
  if (second.status === 401) throw new SignedOutError("You are signed out.");
  return second;
}

/** Every procedure of the service, typed by its router. */
export type Api = ReturnType<typeof createTRPCClient<AppRouter>>;

/** The service accepts up to this many calls in one request. */
const MAX_BATCH_SIZE = 20;

const apis = new Map<string, Api>();

/** Returns the API in one organization. Each call names it, because another tab may change that of the session. */
export function getApi(organizationId: string): Api {
  const existing = apis.get(organizationId);
  if (existing !== undefined) return existing;
  const headers = { "x-service-org-id": organizationId };
  const api = createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: "/trpc", fetch: fetchAuthorized, headers, maxItems: MAX_BATCH_SIZE })],
  });
  apis.set(organizationId, api);
  return api;
}

/** An error of the REST API, with a message for the user. */
export class RestError extends Error {
  override readonly name = "RestError";
}

/**
 * Posts a file to the REST API, because typed RPC sends none.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export function sendFile<T>(organizationId: string, path: string, file: File): Promise<T> {
  return send(organizationId, path, { method: "POST", body: file });
}

/**
 * Sends JSON to the REST API, whose bodies may be larger than those of typed RPC.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export function sendJson<T>(
  organizationId: string,
  method: "POST" | "PATCH" | "PUT",
  path: string,
  body: object,
): Promise<T> {
  return send(organizationId, path, { method, body: JSON.stringify(body) });
}

async function send<T>(
  organizationId: string,
  path: string,
  { method, body: content }: { method: string; body: File | string },
): Promise<T> {
  const type = typeof content === "string" ? JSON_HEADERS : { "content-type": "application/octet-stream" };
  const headers = { ...type, "x-service-org-id": organizationId };
  const response = await fetchAuthorized(path, { method, headers, body: content });
  const body = (await response.json()) as T & { error?: string };
  if (response.ok) return body;
  throw new RestError(body.error ?? "The request failed. Try again.");
}

/** The message for the user about an error. */
export function formatError(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof SignedOutError) return cause.message;
  if (error instanceof IdentityError && error.retryAfterSeconds !== null)
    return `${error.message} Try again in ${error.retryAfterSeconds} seconds.`;
  const hasMessage = [TRPCClientError, IdentityError, RestError, SignedOutError].some((type) => error instanceof type);
  if (hasMessage) return (error as Error).message;
  return "Cannot reach the service. Try again.";
}
