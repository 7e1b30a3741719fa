import { type ServiceTarget } from "../session.ts";
import { describeForeignResponse } from "../../../sdk/src/service-error.ts";
import { describeNetworkError } from "../../../sdk/src/transport.ts";
import { ERROR, parseMessages, readField, type RpcError } from "./json-rpc.ts";

/** Errors of a connection that was not established, so the service has not received the request. */
const NOT_SENT = ["ECONNREFUSED", "EAI_AGAIN", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"];
/** Statuses of a service that is stopping, and of proxies whose service is being restarted. */
const RESTARTING = [502, 503, 504];

/** The reason why a message has no response of the gateway. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: number;
  readonly data: unknown;
  /** The HTTP status; `null` without a response. */
  readonly status: number | null;
  /** Whether another attempt may succeed soon: always, or only if the request may be executed twice. */
  readonly repeat: "always" | "if safe" | "never";

  constructor(error: RpcError, status: number | null, repeat: GatewayError["repeat"], options?: ErrorOptions) {
    super(error.message, options);
    this.code = error.code;
    this.data = error.data;
    this.status = status;
    this.repeat = repeat;
  }

  toRpcError(): RpcError {
    const { code, message, data } = this;
    return data === undefined ? { code, message } : { code, message, data };
  }
}

/** Explains a request that failed without a response. */
export function toNetworkError(url: string, error: unknown): GatewayError {
  const code = (error as { cause?: { code?: string } }).cause?.code ?? "";
  const message = `Cannot reach ${url}: ${describeNetworkError(error)}. Check that the service runs, then try again.`;
  return new GatewayError({ code: ERROR.failed, message }, null, NOT_SENT.includes(code) ? "always" : "if safe", {
    cause: error,
  });
}

/** Converts a response whose status is not 2xx. Reads its body. */
export async function toGatewayError(
  response: Response,
  { url, token }: ServiceTarget,
  tokenAdvice: string,
): Promise<GatewayError> {
  const { status } = response;
  const repeat = RESTARTING.includes(status) ? "if safe" : "never";
  const error = readField(parseMessages(await response.text().catch(() => "")), "error");
  const [code, text, data] = ["code", "message", "data"].map((field) => readField(error, field));
  if (typeof code !== "number" || typeof text !== "string")
    return new GatewayError({ code: ERROR.failed, message: describeForeignResponse(response, url) }, status, repeat);
  const message = status === 401 ? explainRejectedToken(url, token, tokenAdvice) : text;
  return new GatewayError(data === undefined ? { code, message } : { code, message, data }, status, repeat);
}

/** Explains a 2xx response that is not one of the gateway, such as the page of a proxy. */
export function toForeignError(response: Response, url: string): GatewayError {
  const message = describeForeignResponse(response, url);
  return new GatewayError({ code: ERROR.failed, message }, response.status, "never");
}

function explainRejectedToken(url: string, token: ServiceTarget["token"], advice: string): string {
  if (typeof token === "function")
    return `${url} does not accept your sign-in for its tools. Run: svc login --service ${url}`;
  const kind = /^sv[ka]_/.test(token) ? "This token is not for tools. " : `${url} does not accept this token. `;
  return `${kind}Create a personal access token (svp_…) at ${url}/settings/tokens, and ${advice}.`;
}
