import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type ProviderName = "github" | "google";

/** A user's account at both providers. */
export interface ProviderUser {
  subject: string;
  email: string | null;
  verified: boolean;
}

/** What fails: the token endpoint or the user endpoint with a 503, or the connection to one of them. */
export type ProviderFailure = "none" | "token" | "user" | "connection to token" | "connection to user";

/**
 * GitHub and Google on loopback, as far as sign-in uses them. All requests of this process to their hosts are sent here.
 */
export interface SocialProviders extends AsyncDisposable {
  failure: ProviderFailure;
  /** The host and path of every request so far. */
  requested: string[];
  /** Everything that only the service and the providers may know, such as codes and tokens. */
  secrets: string[];
  /** Opens the authorization URL of a provider, where `user` consents. Returns the URL that the browser is redirected to. */
  consent(authorization: string, user: ProviderUser): URL;
  /** Opens the authorization URL, where the user declines. */
  decline(authorization: string): URL;
}

const HOSTS = ["github.com", "api.github.com", "accounts.google.com", "oauth2.googleapis.com"];
const FAILURE_STATUS = 503;

/** The registrations of the service at the providers. */
export const CLIENTS = {
  github: { clientId: "github-client", clientSecret: "github-client-secret" },
  google: { clientId: "google-client", clientSecret: "google-client-secret" },
} as const satisfies Record<ProviderName, unknown>;

interface Grant {
  clientId: string;
  challenge: string;
  redirectUri: string;
  user: ProviderUser;
}

export async function startSocialProviders(): Promise<SocialProviders> {
  const grants = new Map<string, Grant>();
  const userByToken = new Map<string, ProviderUser>();
  const secrets: string[] = Object.values(CLIENTS).map(({ clientSecret }) => clientSecret);
  const requested: string[] = [];

  /** The authorization endpoint, with the same checks as at a real provider. */
  const authorize = (url: URL, user: ProviderUser): URL => {
    const query = url.searchParams;
    const [clientId, challenge] = [query.get("client_id") ?? "", query.get("code_challenge") ?? ""];
    const isRegistered = Object.values(CLIENTS).some((client) => client.clientId === clientId);
    const isCodeFlow = query.get("response_type") === "code" && query.get("code_challenge_method") === "S256";
    if (!isRegistered || !isCodeFlow || challenge.length !== 43)
      throw new Error(`invalid authorization request: ${url.href}`);
    const code = randomUUID();
    const redirectUri = query.get("redirect_uri") ?? "";
    grants.set(code, { clientId, challenge, redirectUri, user });
    secrets.push(code);
    return redirectTo(url, { code });
  };

  /** The token endpoint. A code is valid once, for its client, together with the verifier of its challenge. */
  const redeem = (form: URLSearchParams): object | null => {
    const code = form.get("code") ?? "";
    const codeVerifier = form.get("code_verifier") ?? "";
    const grant = grants.get(code);
    grants.delete(code);
    const client = Object.values(CLIENTS).find(({ clientId }) => clientId === form.get("client_id"));
    const challenge = createHash("sha256").update(codeVerifier).digest("base64url");
    const isAuthentic = client?.clientSecret === form.get("client_secret") && grant?.challenge === challenge;
    if (!grant || !isAuthentic || grant.clientId !== client?.clientId || grant.redirectUri !== form.get("redirect_uri"))
      return null;
    secrets.push(codeVerifier);
    const token = `provider-token-${randomUUID()}`;
    userByToken.set(token, grant.user);
    const { subject, email, verified } = grant.user;
    const claims = { sub: subject, name: "Ada", ...(email !== null && { email, email_verified: verified }) };
    const idToken = ["{}", JSON.stringify(claims), "x"]
      .map((part) => Buffer.from(part).toString("base64url"))
      .join(".");
    secrets.push(token, idToken);
    return { access_token: token, token_type: "bearer", expires_in: 3600, id_token: idToken };
  };

  const respond = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const path = (request.url ?? "").slice(1);
    requested.push(path);
    if (path === "github.com/login/oauth/access_token" || path === "oauth2.googleapis.com/token") {
      const form = new URLSearchParams(await text(request));
      // Some providers repeat the request in an error. None of it may reach the log.
      if (providers.failure === "token")
        return [FAILURE_STATUS, { error: "server_error", error_description: form.toString() }];
      return [200, redeem(form) ?? { error: "bad_verification_code" }];
    }
    const user = userByToken.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    if (providers.failure === "user" || user === undefined)
      return [FAILURE_STATUS, { message: "No server is available." }];
    const { subject, email, verified } = user;
    if (path === "api.github.com/user") return [200, { id: Number(subject), login: "ada", email: null }];
    if (path === "api.github.com/user/emails") return [200, email === null ? [] : [{ email, verified, primary: true }]];
    return [404, {}];
  };

  const server = createServer((request, response) => {
    void respond(request).then(([status, body]) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const originalFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!HOSTS.includes(url.hostname)) return originalFetch(input, init);
    const isToken = url.pathname.endsWith("token");
    if (providers.failure === (isToken ? "connection to token" : "connection to user"))
      throw new TypeError("fetch failed");
    return originalFetch(`${base}/${url.host}${url.pathname}${url.search}`, init);
  };

  const providers: SocialProviders = {
    requested,
    secrets,
    failure: "none",
    consent: (authorization, user) => authorize(new URL(authorization), user),
    decline: (authorization) =>
      redirectTo(new URL(authorization), { error: "access_denied", error_description: "They <b>declined</b>." }),
    async [Symbol.asyncDispose]() {
      globalThis.fetch = originalFetch;
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return providers;
}

function redirectTo(authorization: URL, parameters: Record<string, string>): URL {
  const redirect = new URL(authorization.searchParams.get("redirect_uri") ?? "");
  const state = authorization.searchParams.get("state") ?? "";
  redirect.search = new URLSearchParams({ ...parameters, state }).toString();
  return redirect;
}
