import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client";
import type { AppRouter } from "../../../routers/index.ts";

/** There is no session, or no longer. */
export class SignedOut extends Error {
  override readonly name = "SignedOut";
}

const JSON_TYPE = { "content-type": "application/json" };

/** What the identity provider says is wrong, in words for the person. */
class Refused extends Error {
  override readonly name = "Refused";
  readonly code: string;
  /** How many seconds to wait before trying again; `null` when waiting does not help. */
  readonly retryAfter: number | null;

  constructor(message: string, code: string, retryAfter: number | null) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/**
 * Calls the identity provider with the session's cookie.
 *
 * @param path - below `/api/auth`
 * @param body - sent by POST; left out for GET
 * @throws {Refused} with what was wrong
 * @throws {SignedOut}
 */
export async function identity<T>(path: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) };
  const response = await fetch(`/api/auth${path}`, { credentials: "same-origin", ...init });
  if (response.ok) return (await response.json()) as T;
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const text = problem.error_description ?? problem.message ?? "That did not work. Try again.";
  const code = problem.code ?? problem.error ?? String(response.status);
  if (response.status === 401 && !path.startsWith("/sign-in")) throw new SignedOut(text);
  const wait = Number(response.headers.get("retry-after"));
  throw new Refused(text, code, Number.isInteger(wait) && wait > 0 ? wait : null);
}

interface Problem {
  message?: string;
  code?: string;
  error?: string;
  error_description?: string;
}

interface Session {
  session: { activeOrganizationId: string | null };
  user: { id: string; name: string; email: string };
}

/** Who is signed in; `null` when nobody is. */
export function currentSession(): Promise<Session | null> {
  return identity<Session | null>("/get-session");
}

/** A short-lived access token made from the session. Kept in this page's memory only, where no other site can use it. */
let token: Promise<string> | null = null;

function accessToken(): Promise<string> {
  token ??= identity<{ token: string }>("/token")
    .then((answer) => answer.token)
    .catch((error: unknown) => {
      token = null;
      throw error;
    });
  return token;
}

/** To be called when somebody else is signed in, or in another organization, from now on. */
export function forgetToken(): void {
  token = null;
}

async function authorized(url: RequestInfo | URL | string, init?: RequestInit): Promise<Response> {
  const send = async (): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${await accessToken()}`);
    return fetch(url, { ...init, headers });
  };
  const answer = await send();
  if (answer.status !== 401) return answer;
  forgetToken();
  const second = await send();
  if (second.status === 401) throw new SignedOut("You are signed out.");
  return second;
}

/** Every procedure of the service, typed by its own router. */
export const api = createTRPCClient<AppRouter>({
  links: [httpLink({ url: "/trpc", fetch: authorized })],
});

/** What to tell a person about an error. */
export function formatError(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (cause instanceof SignedOut) return cause.message;
  if (error instanceof Refused && error.retryAfter !== null)
    return `${error.message} Try again in ${error.retryAfter} seconds.`;
  if (error instanceof TRPCClientError || error instanceof Refused || error instanceof SignedOut) return error.message;
  return "The service could not be reached. Try again.";
}
