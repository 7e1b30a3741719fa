import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type ProviderName = "github" | "google";

/** Who has an account at both providers, and what these say of them. */
export interface Somebody {
  subject: string;
  email: string | null;
  verified: boolean;
}

/** GitHub and Google, as far as sign-in asks them, on loopback. What this process sends to them arrives there. */
export interface SocialProviders extends AsyncDisposable {
  /** What goes wrong: nothing, the token endpoint, the one that says who it is, or the line to either of them. */
  fault: "none" | "token" | "person" | "line to token" | "line to person";
  /** What was asked for so far: host and path. */
  asked: string[];
  /** Everything that nobody but the service and the providers may know, such as codes and tokens. */
  secrets: string[];
  /** Follows the redirect to a provider, where `somebody` agrees, and returns where the browser is sent back to. */
  agree(authorization: string, somebody: Somebody): URL;
  /** The same, and somebody changes their mind. */
  decline(authorization: string): URL;
}

const HOSTS = ["github.com", "api.github.com", "accounts.google.com", "oauth2.googleapis.com"];
const FAULT_STATUS = 503;

/** The service at the providers. */
export const CLIENTS = {
  github: { clientId: "github-client", clientSecret: "github-client-secret" },
  google: { clientId: "google-client", clientSecret: "google-client-secret" },
} as const satisfies Record<ProviderName, unknown>;

interface Grant {
  clientId: string;
  challenge: string;
  redirectUri: string;
  somebody: Somebody;
}

export async function startSocialProviders(): Promise<SocialProviders> {
  const grants = new Map<string, Grant>();
  const people = new Map<string, Somebody>();
  const secrets: string[] = Object.values(CLIENTS).map(({ clientSecret }) => clientSecret);
  const asked: string[] = [];

  /** The authorization page. It checks what the provider would; the person is whoever the test says. */
  const authorize = (url: URL, somebody: Somebody): URL => {
    const query = url.searchParams;
    const [clientId, challenge] = [query.get("client_id") ?? "", query.get("code_challenge") ?? ""];
    const known = Object.values(CLIENTS).some((client) => client.clientId === clientId);
    const sound = query.get("response_type") === "code" && query.get("code_challenge_method") === "S256";
    if (!known || !sound || challenge.length !== 43) throw new Error(`no sound authorization request: ${url.href}`);
    const code = randomUUID();
    const redirectUri = query.get("redirect_uri") ?? "";
    grants.set(code, { clientId, challenge, redirectUri, somebody });
    secrets.push(code);
    return sentBack(url, { code });
  };

  /** A code is good once, for the client it was made for, who can show what its challenge was made from. */
  const redeem = (form: URLSearchParams): object | null => {
    const grant = grants.get(form.get("code") ?? "");
    grants.delete(form.get("code") ?? "");
    const client = Object.values(CLIENTS).find(({ clientId }) => clientId === form.get("client_id"));
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const proven = client?.clientSecret === form.get("client_secret") && grant?.challenge === proof;
    if (!grant || !proven || grant.clientId !== client?.clientId || grant.redirectUri !== form.get("redirect_uri"))
      return null;
    secrets.push(form.get("code_verifier") ?? "");
    const token = `provider-token-${randomUUID()}`;
    people.set(token, grant.somebody);
    const { subject, email, verified } = grant.somebody;
    const claims = { sub: subject, name: "Ada", ...(email !== null && { email, email_verified: verified }) };
    const idToken = ["{}", JSON.stringify(claims), "x"]
      .map((part) => Buffer.from(part).toString("base64url"))
      .join(".");
    secrets.push(token, idToken);
    return { access_token: token, token_type: "bearer", expires_in: 3600, id_token: idToken };
  };

  const answer = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const path = (request.url ?? "").slice(1);
    asked.push(path);
    const somebody = people.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    if (path === "github.com/login/oauth/access_token" || path === "oauth2.googleapis.com/token") {
      const form = new URLSearchParams(await text(request));
      // Some providers repeat in an error what they were sent.
      if (provider.fault === "token")
        return [FAULT_STATUS, { error: "server_error", error_description: form.toString() }];
      return [200, redeem(form) ?? { error: "bad_verification_code" }];
    }
    if (provider.fault === "person" || somebody === undefined)
      return [FAULT_STATUS, { message: "No server is available." }];
    const { subject, email, verified } = somebody;
    if (path === "api.github.com/user") return [200, { id: Number(subject), login: "ada", email: null }];
    if (path === "api.github.com/user/emails") return [200, email === null ? [] : [{ email, verified, primary: true }]];
    return [404, {}];
  };

  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const direct = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!HOSTS.includes(url.hostname)) return direct(input, init);
    const isToken = url.pathname.endsWith("token");
    if (provider.fault === (isToken ? "line to token" : "line to person")) throw new TypeError("fetch failed");
    return direct(`${base}/${url.host}${url.pathname}${url.search}`, init);
  };

  const provider: SocialProviders = {
    ...{ asked, secrets, fault: "none" },
    agree: (authorization, somebody) => authorize(new URL(authorization), somebody),
    decline: (authorization) =>
      sentBack(new URL(authorization), { error: "access_denied", error_description: "They <b>declined</b>." }),
    async [Symbol.asyncDispose]() {
      globalThis.fetch = direct;
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return provider;
}

function sentBack(authorization: URL, answer: Record<string, string>): URL {
  const back = new URL(authorization.searchParams.get("redirect_uri") ?? "");
  back.search = new URLSearchParams({ ...answer, state: authorization.searchParams.get("state") ?? "" }).toString();
  return back;
}
