import type { TestUser } from "./test-user.ts";

const GRANTS = { grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" };
const REDIRECT_URI = "http://127.0.0.1:41999/callback";

/** Opens an authorization request, consents to it, and returns the parameters of the redirect to the client. */
type Authorize = (url: URL) => Promise<URLSearchParams>;

/** The state that an MCP client keeps while a user signs in. It implements the auth provider of both major versions of the SDK. */
export class TestOAuthClient {
  readonly redirectUrl: string;
  readonly clientMetadata: object;
  /** The URL of the client's metadata document; `undefined` when the client registers. */
  readonly clientMetadataUrl: string | undefined;
  /** Two parameters of the redirect to the client. */
  code = "";
  issuer: string | undefined;
  /** Every token response that the client received, newest last. */
  readonly tokenResponses: { access_token: string; refresh_token?: string; scope?: string }[] = [];
  #clientInformation: object | undefined;
  #codeVerifier = "";
  readonly #authorize: Authorize;

  /** @param authorize - a user consents without a browser */
  constructor(authorize: TestUser | Authorize, redirectUrl = REDIRECT_URI, clientMetadataUrl?: string) {
    this.#authorize = typeof authorize === "function" ? authorize : (url) => authorizeWithConsent(authorize, url);
    this.redirectUrl = redirectUrl;
    this.clientMetadataUrl = clientMetadataUrl;
    this.clientMetadata = { client_name: "An MCP client", redirect_uris: [redirectUrl], ...GRANTS };
  }

  clientInformation = (): never => this.#clientInformation as never;
  saveClientInformation = (client: object): void => void (this.#clientInformation = client);
  tokens = (): never => this.tokenResponses.at(-1) as never;
  saveTokens = (tokens: object): void => void this.tokenResponses.push(tokens as never);
  saveCodeVerifier = (verifier: string): void => void (this.#codeVerifier = verifier);
  codeVerifier = (): string => this.#codeVerifier;

  redirectToAuthorization = async (url: URL): Promise<void> => {
    const redirect = await this.#authorize(url);
    this.code = redirect.get("code") ?? "";
    this.issuer = redirect.get("iss") ?? undefined;
  };
}

/**
 * Follows an authorization request to the consent page, consents, and returns the parameters of the redirect to the client.
 *
 * @param fields - further fields of the decision, such as `organizationId`
 */
export async function authorizeWithConsent(user: TestUser, url: URL, fields: object = {}): Promise<URLSearchParams> {
  const authorization = await user.send("GET", url.pathname + url.search);
  // The response to a script names the page in its body. A browser gets a redirect.
  const page = new URL(authorization.headers.get("location") ?? String(authorization.body["url"]), url);
  if (page.pathname !== "/consent")
    throw new Error(`redirected to ${page.href} instead of the consent page: ${authorization.text}`);
  const consent = await user.post("/oauth2/consent", {
    accept: true,
    oauth_query: page.search.slice(1),
    ...fields,
  });
  if (consent.status >= 400) throw new Error(consent.text);
  return new URL(String(consent.body["redirect_uri"] ?? consent.body["url"])).searchParams;
}
