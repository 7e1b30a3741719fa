import type { Person } from "./test-user.ts";

const GRANTS = { grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" };
const REDIRECT = "http://127.0.0.1:41999/callback";

/** Opens an authorization request, agrees, and returns what the redirect back to the client brings. */
type Agree = (url: URL) => Promise<URLSearchParams>;

/** What an MCP client keeps between the steps of signing in. Both generations of the SDK ask for the same. */
export class SigningIn {
  readonly redirectUrl: string;
  readonly clientMetadata: object;
  /** The URL of what the client publishes about itself, instead of registering; `undefined` when it registers. */
  readonly clientMetadataUrl: string | undefined;
  /** What the browser came back with. */
  code = "";
  issuer: string | undefined;
  /** Everything that the client was given, newest last. */
  readonly given: { access_token: string; refresh_token?: string; scope?: string }[] = [];
  #client: object | undefined;
  #verifier = "";
  readonly #agree: Agree;

  /** @param agree - a person stands for the browser: they follow the redirect to the consent page, and agree */
  constructor(agree: Person | Agree, redirectUrl = REDIRECT, clientMetadataUrl?: string) {
    this.#agree = typeof agree === "function" ? agree : (url) => consented(agree, url);
    this.redirectUrl = redirectUrl;
    this.clientMetadataUrl = clientMetadataUrl;
    this.clientMetadata = { client_name: "An MCP client", redirect_uris: [redirectUrl], ...GRANTS };
  }

  clientInformation = (): never => this.#client as never;
  saveClientInformation = (client: object): void => void (this.#client = client);
  tokens = (): never => this.given.at(-1) as never;
  saveTokens = (tokens: object): void => void this.given.push(tokens as never);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = (): string => this.#verifier;

  redirectToAuthorization = async (url: URL): Promise<void> => {
    const back = await this.#agree(url);
    this.code = back.get("code") ?? "";
    this.issuer = back.get("iss") ?? undefined;
  };
}

/** Follows an authorization request to the consent page, agrees, and returns what the redirect back brings. */
export async function consented(person: Person, url: URL): Promise<URLSearchParams> {
  const asked = await person.send("GET", url.pathname + url.search);
  // A browser is redirected; a program is told where to go.
  const page = new URL(asked.headers.get("location") ?? String(asked.body["url"]), url);
  if (page.pathname !== "/consent") throw new Error(`sent to ${page.href} instead of the consent page: ${asked.text}`);
  const agreed = await person.post("/oauth2/consent", { accept: true, oauth_query: page.search.slice(1) });
  const back = new URL(String(agreed.body["redirect_uri"] ?? agreed.body["url"]));
  return back.searchParams;
}
