import type { SignInAttempt } from "../../domain/users/limit-sign-ins.ts";
import { clientNetwork } from "../http/client-address.ts";
import { CLIENT_ADDRESS_HEADER } from "../http/client-address.ts";

/** The part of better-auth's endpoint context that the hooks read. */
export interface AuthCall {
  /** Below `/api/auth`, such as `/sign-in/email`. */
  path: string;
  method?: string | undefined;
  body?: unknown;
  query?: unknown;
  headers?: Headers | undefined;
  context: {
    /** The return value of the endpoint, or the error that it threw. */
    returned?: unknown;
    /** The session that the endpoint created. */
    newSession?: AuthSession | null;
  };
}

export interface AuthSession {
  user: { id: string; email: string };
  session: { id: string; activeOrganizationId?: string | null };
}

export type Fields = Record<string, unknown>;

export const SIGN_IN = "/sign-in/email";

/** The fields of a body, a query or a response; empty for a value that is not an object. */
export function readFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The client network and the email address of a sign-in with a password. */
export function readSignInAttempt({ body, headers }: Pick<AuthCall, "body" | "headers">): SignInAttempt {
  const { email } = readFields(body);
  return { network: clientNetwork(readClientAddress(headers)), email: typeof email === "string" ? email : "" };
}

/** The client address, as the HTTP server passes it to better-auth. */
export function readClientAddress(headers: Headers | undefined): string {
  return headers?.get(CLIENT_ADDRESS_HEADER) ?? "unknown";
}
