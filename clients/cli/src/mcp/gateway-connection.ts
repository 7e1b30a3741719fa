import { delay } from "../../../sdk/src/retries.ts";
import { CliError } from "../cli-error.ts";
import type { ServiceTarget } from "../session.ts";
import { GatewayError, toForeignError, toGatewayError, toNetworkError } from "./gateway-error.ts";
import { ERROR, parseMessages } from "./json-rpc.ts";
import { isHeaderValue } from "./protocol-headers.ts";

const FIRST_DELAY_MS = 250;
/** A request waits for a service that is restarting up to 4 seconds. */
const MAX_RETRIES = 4;

const ACCEPT = "application/json, text/event-stream";

/** A response of the gateway: nothing for notifications, one JSON text, or a stream of server-sent events. */
export type Reply =
  | { kind: "none" }
  | { kind: "json"; text: string }
  | { kind: "stream"; body: ReadableStream<Uint8Array> };

export interface ConnectionOptions {
  /** Called for every request, so a new sign-in is used at once. */
  target(): Promise<ServiceTarget>;
  /** What to do with a new token, such as `set SVC_TOKEN to it`. */
  tokenAdvice: string;
}

interface HttpRequest {
  method: "GET" | "POST";
  headers: Record<string, string>;
  body?: Buffer;
  signal: AbortSignal;
}

/** Sends messages to the tool gateway of the service. */
export class GatewayConnection {
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Sends a message, and repeats it while the service is restarting.
   *
   * @param isSafe - whether it may be executed twice
   * @throws {GatewayError}
   */
  async post(
    body: Buffer,
    headers: Record<string, string>,
    { isSafe, signal }: { isSafe: boolean; signal: AbortSignal },
  ): Promise<Reply> {
    const request: HttpRequest = {
      method: "POST",
      headers: { accept: ACCEPT, "content-type": "application/json", ...headers },
      body,
      signal,
    };
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { response, url } = await this.#send(request);
        return await readReply(response, url);
      } catch (error) {
        if (!(error instanceof GatewayError) || attempt === MAX_RETRIES || !mayRepeat(error, isSafe)) throw error;
        await delay(FIRST_DELAY_MS * 2 ** attempt * (0.5 + Math.random() / 2), signal);
      }
    }
  }

  /**
   * Opens the stream of notifications of the earlier revisions; `null` when the gateway has none.
   *
   * @throws {GatewayError}
   */
  async openStream(headers: Record<string, string>, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const request: HttpRequest = { method: "GET", headers: { accept: "text/event-stream", ...headers }, signal };
    try {
      const { response, url } = await this.#send(request);
      if (mediaType(response) !== "text/event-stream" || response.body === null) throw toForeignError(response, url);
      return response.body;
    } catch (error) {
      if (error instanceof GatewayError && error.status === 405) return null;
      throw error;
    }
  }

  /** Sends a request once, and once more if its token was rejected and can be replaced. */
  async #send(request: HttpRequest): Promise<{ response: Response; url: string }> {
    const target = await this.#readTarget();
    const { url, token } = target;
    let response = await this.#fetch(request, target, typeof token === "string" ? token : await provide(token, false));
    if (response.status === 401 && typeof token === "function") {
      await response.body?.cancel();
      response = await this.#fetch(request, target, await provide(token, true));
    }
    if (!response.ok) throw await toGatewayError(response, target, this.#options.tokenAdvice);
    return { response, url };
  }

  async #readTarget(): Promise<ServiceTarget> {
    try {
      return await this.#options.target();
    } catch (error) {
      throw toTokenError(error);
    }
  }

  async #fetch(
    { method, headers, body, signal }: HttpRequest,
    { url, organization }: ServiceTarget,
    token: string,
  ): Promise<Response> {
    for (const [name, value] of Object.entries({ token, organization }))
      if (value !== undefined && !isHeaderValue(value)) throw invalidHeader(name, this.#options.tokenAdvice);
    try {
      return await fetch(`${url}/mcp`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(organization === undefined ? {} : { "x-service-org-id": organization }),
        },
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
        // The gateway redirects no request, so a redirect leads to another site, such as the sign-in page of a proxy.
        redirect: "manual",
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw toNetworkError(url, error);
    }
  }
}

function mayRepeat({ repeat }: GatewayError, isSafe: boolean): boolean {
  return repeat === "always" || (repeat === "if safe" && isSafe);
}

async function readReply(response: Response, url: string): Promise<Reply> {
  const type = mediaType(response);
  if (type === "text/event-stream" && response.body !== null) return { kind: "stream", body: response.body };
  const text = await response.text().catch((error: unknown) => {
    throw toNetworkError(url, error);
  });
  if (text === "" && (response.status === 202 || response.status === 204)) return { kind: "none" };
  if (type !== "application/json" || parseMessages(text) === null) throw toForeignError(response, url);
  return { kind: "json", text };
}

function mediaType({ headers }: Response): string {
  return headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
}

async function provide(token: Exclude<ServiceTarget["token"], string>, isRejected: boolean): Promise<string> {
  try {
    return await token({ isRejected });
  } catch (error) {
    throw toTokenError(error);
  }
}

/** Explains why there is no token. The messages of `CliError` have the next step; a sign-in that has ended has none. */
function toTokenError(error: unknown): GatewayError {
  const { message } = error as Error;
  const explained = error instanceof CliError ? message : `${message} Run: svc login`;
  return new GatewayError({ code: ERROR.unauthenticated, message: explained }, null, "never", { cause: error });
}

/** The error of `fetch` would contain the value. */
function invalidHeader(name: string, tokenAdvice: string): GatewayError {
  const advice = name === "token" ? `Copy the personal access token again, and ${tokenAdvice}.` : "Use its id.";
  const message = `The ${name} contains characters that it cannot contain. ${advice}`;
  return new GatewayError({ code: ERROR.unauthenticated, message }, null, "never");
}
