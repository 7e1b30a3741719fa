import { setTimeout as sleep } from "node:timers/promises";
import { CliError, EXIT } from "./cli-error.ts";
import type { OAuthCredentials } from "./config-file.ts";

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const TIMEOUT_MS = 30_000;
/** RFC 8628, section 3.2. */
const DEFAULT_INTERVAL_SECONDS = 5;
const SLOW_DOWN_SECONDS = 5;

/** The endpoints of the authorization server (RFC 8414). */
interface AuthorizationServer {
  issuer: string;
  token_endpoint: string;
  registration_endpoint: string;
  device_authorization_endpoint: string;
  revocation_endpoint?: string;
}

export interface DeviceCode {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete?: string;
  expires_in: number;
  interval?: number;
}

interface TokenResponse {
  access_token: string;
  refresh_token?: string;
  expires_in: number;
}

interface OAuthError {
  error?: string;
  error_description?: string;
}

/** Signs in with OAuth 2.0 device authorization (RFC 8628), and refreshes and revokes the tokens of the sign-in. */
export class OAuthClient {
  readonly #url: string;
  #server: AuthorizationServer | null = null;

  /** @param url - the URL of the service */
  constructor(url: string) {
    this.#url = url;
  }

  /** Registers this program as a client of the service, and returns the id of the client. */
  async register(signal: AbortSignal): Promise<string> {
    const { registration_endpoint: endpoint } = await this.#discover(signal);
    const registration = {
      client_name: "svc",
      grant_types: [DEVICE_GRANT, "refresh_token"],
      token_endpoint_auth_method: "none",
    };
    const body = await this.#request<{ client_id: string }>(endpoint, registration, signal);
    return body.client_id;
  }

  async requestDeviceCode(clientId: string, signal: AbortSignal): Promise<DeviceCode> {
    const { device_authorization_endpoint: endpoint, issuer } = await this.#discover(signal);
    const form = new URLSearchParams({ client_id: clientId, scope: "everything offline_access" });
    // The tokens are for both APIs of the service: procedures, and the tool gateway of `svc mcp` (RFC 8707).
    for (const resource of ["v1", "mcp"]) form.append("resource", `${issuer}/${resource}`);
    return this.#request<DeviceCode>(endpoint, form, signal);
  }

  /** Waits until the user has confirmed the code. @throws {CliError} when the user has denied it, or it has expired */
  async waitForApproval(clientId: string, code: DeviceCode, signal: AbortSignal): Promise<OAuthCredentials> {
    const form = { grant_type: DEVICE_GRANT, client_id: clientId, device_code: code.device_code };
    let interval = code.interval ?? DEFAULT_INTERVAL_SECONDS;
    for (;;) {
      await sleep(interval * 1000, undefined, { signal });
      try {
        return await this.#requestToken(form, signal);
      } catch (error) {
        const reason = error instanceof OAuthRequestError ? error.code : null;
        if (reason === "slow_down") interval += SLOW_DOWN_SECONDS;
        else if (reason === "access_denied") throw new CliError("The sign-in was denied.", EXIT.notSignedIn);
        else if (reason === "expired_token")
          throw new CliError("The code has expired. Run: svc login", EXIT.notSignedIn);
        else if (reason !== "authorization_pending") throw error;
      }
    }
  }

  /** @returns `null` when the sign-in has ended */
  async refresh(credentials: OAuthCredentials): Promise<OAuthCredentials | null> {
    const { client_id, refresh_token } = credentials;
    try {
      return await this.#requestToken({ grant_type: "refresh_token", client_id, refresh_token });
    } catch (error) {
      if (error instanceof OAuthRequestError && error.status < 500) return null;
      throw error;
    }
  }

  async revoke({ client_id, refresh_token }: OAuthCredentials, signal: AbortSignal): Promise<void> {
    const { revocation_endpoint: endpoint } = await this.#discover(signal);
    if (endpoint === undefined) return;
    const form = { client_id, token: refresh_token, token_type_hint: "refresh_token" };
    await this.#request(endpoint, new URLSearchParams(form), signal);
  }

  async #requestToken(form: Record<string, string>, signal?: AbortSignal): Promise<OAuthCredentials> {
    const { token_endpoint: endpoint } = await this.#discover(signal);
    const body = await this.#request<TokenResponse>(endpoint, new URLSearchParams(form), signal);
    return {
      kind: "oauth",
      client_id: form["client_id"] ?? "",
      access_token: body.access_token,
      expires_at: Date.now() + body.expires_in * 1000,
      refresh_token: body.refresh_token ?? form["refresh_token"] ?? "",
    };
  }

  async #discover(signal?: AbortSignal): Promise<AuthorizationServer> {
    this.#server ??= await this.#request<AuthorizationServer>(
      `${this.#url}/.well-known/oauth-authorization-server`,
      null,
      signal,
    );
    return this.#server;
  }

  /** @param body - `null` for a GET */
  async #request<T>(url: string, body: URLSearchParams | object | null, signal?: AbortSignal): Promise<T> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const isForm = body instanceof URLSearchParams;
    let response: Response;
    try {
      response = await fetch(url, {
        ...(body !== null && {
          method: "POST",
          body: isForm ? body : JSON.stringify(body),
          headers: isForm ? {} : { "content-type": "application/json" },
        }),
        redirect: "manual",
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
    } catch (error) {
      signal?.throwIfAborted();
      const { cause } = error as { cause?: { code?: string } };
      const reason = timeout.aborted ? "it did not respond in time" : (cause?.code ?? (error as Error).message);
      throw new CliError(`Cannot reach ${this.#url}: ${reason}. Check the URL and the network.`, 1, { cause: error });
    }
    const text = await response.text();
    const parsed = parseObject(text);
    if (parsed === null && (!response.ok || body === null))
      throw new CliError(`${this.#url} is not the URL of this service (status ${response.status}). Check the URL.`);
    if (!response.ok) throw new OAuthRequestError(response.status, parsed ?? {});
    return (parsed ?? {}) as T;
  }
}

/** The authorization server rejected a request (RFC 6749, section 5.2). */
class OAuthRequestError extends CliError {
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, { error, error_description: description }: OAuthError) {
    super(`The sign-in failed: ${description ?? error ?? `status ${status}`}`);
    this.status = status;
    this.code = error ?? null;
  }
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
