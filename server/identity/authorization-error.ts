import { isRecord } from "../../domain/shared/json.ts";
import { readPrivateUseScheme } from "./private-use-redirects.ts";

/** Why the authorization endpoint did not continue, in the words of a page for the user. */
export interface AuthorizationError {
  /** An OAuth error code. */
  code: string;
  title: string;
  /** What happened. */
  message: string;
  /** What to do. */
  advice: string;
}

const RECONNECT = "Remove the connection in the client, then connect again.";
const START_AGAIN = "Start again in the client.";
const TRY_LATER = "Wait, then start again in the client.";

/** By OAuth error code, or by a code of better-auth. */
const EXPLANATIONS: Readonly<Record<string, Omit<AuthorizationError, "code">>> = {
  invalid_client: {
    title: "Unknown client",
    message: "This client is not known here any more.",
    advice: `${RECONNECT} It then registers itself.`,
  },
  client_disabled: {
    title: "Client disabled",
    message: "The operator of this service has disabled this client.",
    advice: "Ask the operator, or use another client.",
  },
  invalid_redirect: {
    title: "Unknown return address",
    message: "The client asks to be called back at an address that it has not registered.",
    advice: `${RECONNECT} If you opened a link in a message or on a website, close this page.`,
  },
  temporarily_unavailable: {
    title: "Try again later",
    message: "The service cannot continue at the moment.",
    advice: TRY_LATER,
  },
  server_error: {
    title: "Something went wrong",
    message: "The service could not handle this request.",
    advice: `${TRY_LATER} If it happens again, tell the operator of this service.`,
  },
};

const OTHER = {
  title: "Request not accepted",
  message: "The client sent a request that this service does not accept.",
  advice: `${START_AGAIN} If it happens again, update the client, or report the error code to its maker.`,
};

/** Codes whose description the service itself writes. Other descriptions quote the request, which anyone can craft. */
const DESCRIBED = ["invalid_client", "temporarily_unavailable"];
const CODE = /^[\w-]{1,64}$/;

/**
 * Explains an error response.
 *
 * @param body - the JSON body of the response
 */
export function explainAuthorizationError(status: number, body: unknown): AuthorizationError {
  const { error, error_description: description } = isRecord(body) ? body : {};
  const code = typeof error === "string" && CODE.test(error) ? error : getDefaultCode(status);
  const explanation = {
    code,
    ...(Object.hasOwn(EXPLANATIONS, code) ? EXPLANATIONS[code] : OTHER),
  } as AuthorizationError;
  if (typeof description !== "string" || !DESCRIBED.includes(code)) return explanation;
  // `stopErrorRedirect` wrote it for scripts.
  if (description === describe(explanation)) return explanation;
  const title = code === "invalid_client" ? "Client not accepted" : explanation.title;
  const advice =
    code === "invalid_client" ? "Report this to the maker of the client, or use another client." : TRY_LATER;
  return { code, title, message: description, advice };
}

function describe({ message, advice }: AuthorizationError): string {
  return `${message} ${advice}`;
}

function getDefaultCode(status: number): string {
  if (status === 429 || status === 503) return "temporarily_unavailable";
  return status >= 500 ? "server_error" : "invalid_request";
}

/**
 * Turns a redirect that reports an error into a 400 response, unless it leads to a website or a loopback address of the
 * client. better-auth redirects other errors to a page of its own. A redirect to the scheme of a program would open that
 * program before the user has pressed a button.
 */
export async function stopErrorRedirect(response: Response, publicUrl: string): Promise<Response> {
  const location = await readRedirect(response);
  const url = location === null ? null : URL.parse(location, publicUrl);
  if (url === null) return response;
  const isErrorPage = url.origin === publicUrl && url.pathname === "/api/auth/error";
  if (!isErrorPage && readPrivateUseScheme(url.href) === null) return response;
  const error = explainAuthorizationError(400, { error: url.searchParams.get("error") });
  const body = { error: error.code, error_description: describe(error) };
  return Response.json(body, { status: 400, headers: { "cache-control": "no-store" } });
}

/** The target of a redirect. better-auth sends it in the body if a script sent the request. */
async function readRedirect(response: Response): Promise<string | null> {
  const location = response.headers.get("location");
  if (location !== null || response.status !== 200) return location;
  const body: unknown = await response.clone().json();
  return isRecord(body) && typeof body["url"] === "string" ? body["url"] : null;
}
