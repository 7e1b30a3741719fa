import { createHash, randomBytes } from "node:crypto";
import type { HttpResponse } from "../clients/rest-client.ts";
import { authorizeWithConsent } from "./test-oauth-client.ts";
import type { TestUser } from "./test-user.ts";

const REDIRECT_URI = "http://127.0.0.1:41999/callback";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Redirect URIs that no client may use: scripts, files, remote http URLs, and URLs with credentials or a fragment. */
export const UNSAFE_REDIRECT_URIS = [
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  " javascript:alert(1)",
  "javascript.x:alert(1)//",
  "vbscript:x",
  "data:text/html,x",
  "file:///etc/passwd",
  "blob:https://x/y",
  "about:blank",
  "",
  "//elsewhere.example.com",
  "http://elsewhere.example.com/",
  "http://localhost.example.com/",
  "http://127.0.0.1@elsewhere.example.com/",
  "https://user:password@elsewhere.example.com/",
  "https://elsewhere.example.com/#fragment",
];

/** `dpop_jkt` is the thumbprint of the key to which a client asks to bind its tokens. */
interface AuthorizationQuery {
  resource: string;
  scope: string;
  prompt?: string;
  redirect_uri?: string;
  dpop_jkt?: string;
}

/** Sends single OAuth requests, also invalid ones that an OAuth library would not send. */
export class OAuthRequests {
  readonly #base: string;
  readonly #user: TestUser;
  readonly #origin: string;

  /** @param origin - the `Origin` header of the requests */
  constructor(base: string, user: TestUser, origin = base) {
    this.#base = base;
    this.#user = user;
    this.#origin = origin;
  }

  /** Registers a client and returns its id. */
  async register(extraFields: object = {}): Promise<string> {
    const grants = { grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" };
    const response = await this.#user.post("/oauth2/register", {
      redirect_uris: [REDIRECT_URI],
      ...grants,
      ...extraFields,
    });
    if (response.status >= 300) throw new Error(response.text);
    return String(response.body["client_id"]);
  }

  authorizeUrl(clientId: string, query: Record<string, string>): URL {
    const url = new URL("/api/auth/oauth2/authorize", this.#base);
    const common = { response_type: "code", client_id: clientId, redirect_uri: REDIRECT_URI };
    url.search = new URLSearchParams({ ...common, ...query }).toString();
    return url;
  }

  /** Registers a client and runs the authorization code flow. `codeVerifier` replaces the right one in the token request. */
  async grant(resource: string, scope: string, codeVerifier?: string): Promise<HttpResponse> {
    const extraFields: Record<string, string> = codeVerifier === undefined ? {} : { code_verifier: codeVerifier };
    return this.grantTo(await this.register(), { resource, scope }, extraFields);
  }

  /**
   * Runs the authorization code flow for an existing client.
   *
   * @param extraFields - further fields of the token request, such as a client assertion
   * @param decision - further fields of the user's decision, such as `organizationId`
   */
  async grantTo(
    clientId: string,
    query: AuthorizationQuery,
    extraFields: Record<string, string> = {},
    decision: object = {},
  ): Promise<HttpResponse> {
    return this.requestToken({ ...(await this.authorize(clientId, query, decision)), ...extraFields });
  }

  /** Gets an authorization code, and returns the fields of the token request that redeems it. */
  async authorize(clientId: string, query: AuthorizationQuery, decision: object = {}): Promise<Record<string, string>> {
    const codeVerifier = randomBytes(32).toString("base64url");
    const challenge = {
      code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
      code_challenge_method: "S256",
    };
    const url = this.authorizeUrl(clientId, { ...query, ...challenge });
    const redirect = await authorizeWithConsent(this.#user, url, decision);
    return {
      grant_type: "authorization_code",
      client_id: clientId,
      resource: query.resource,
      code: redirect.get("code") ?? "",
      code_verifier: codeVerifier,
      redirect_uri: query.redirect_uri ?? REDIRECT_URI,
    };
  }

  requestToken(form: Record<string, string>, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.#postForm("/api/auth/oauth2/token", form, headers);
  }

  requestDeviceCode(clientId: string, resource: string | undefined, scope: string): Promise<HttpResponse> {
    return this.#postForm("/api/auth/device/code", { client_id: clientId, scope, ...(resource && { resource }) });
  }

  requestDeviceToken(clientId: string, deviceCode: string, resource: string | undefined): Promise<HttpResponse> {
    const form = { grant_type: DEVICE_GRANT, client_id: clientId, device_code: deviceCode };
    return this.requestToken({ ...form, ...(resource && { resource }) });
  }

  registerDeviceClient(): Promise<string> {
    return this.register({
      client_name: "svc",
      grant_types: [DEVICE_GRANT, "refresh_token"],
      redirect_uris: undefined,
    });
  }

  #postForm(path: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<HttpResponse> {
    return this.#user.send("POST", path, {
      body: new URLSearchParams(form).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", origin: this.#origin, ...headers },
    });
  }
}
