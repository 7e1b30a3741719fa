import { createHash, randomBytes } from "node:crypto";
import { consented } from "./test-oauth-client.ts";
import type { Person } from "./test-user.ts";
import type { Answer } from "../clients/rest-client.ts";

const REDIRECT = "http://127.0.0.1:41999/callback";
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

/** OAuth request by request, for what no well-made client would send. */
export class OAuthRequests {
  readonly #base: string;
  readonly #person: Person;

  constructor(base: string, person: Person) {
    this.#base = base;
    this.#person = person;
  }

  async register(more: object = {}): Promise<string> {
    const grants = { grant_types: ["authorization_code", "refresh_token"], token_endpoint_auth_method: "none" };
    const answer = await this.#person.post("/oauth2/register", { redirect_uris: [REDIRECT], ...grants, ...more });
    if (answer.status >= 300) throw new Error(answer.text);
    return String(answer.body["client_id"]);
  }

  authorizeUrl(clientId: string, query: Record<string, string>): URL {
    const url = new URL("/api/auth/oauth2/authorize", this.#base);
    const common = { response_type: "code", client_id: clientId, redirect_uri: REDIRECT };
    url.search = new URLSearchParams({ ...common, ...query }).toString();
    return url;
  }

  /** The whole of it for a resource and a scope. `verifier` is what the client proves itself with at the end. */
  async grant(resource: string, scope: string, verifier?: string): Promise<Answer> {
    return this.grantTo(
      await this.register(),
      { resource, scope },
      verifier === undefined ? {} : { code_verifier: verifier },
    );
  }

  /** The same for a client that is there. `proof` is what it sends to the token endpoint besides what all of them send. */
  async grantTo(
    clientId: string,
    query: { resource: string; scope: string; prompt?: string },
    proof: Record<string, string> = {},
  ): Promise<Answer> {
    const { resource } = query;
    const secret = randomBytes(32).toString("base64url");
    const code_challenge = createHash("sha256").update(secret).digest("base64url");
    const url = this.authorizeUrl(clientId, { ...query, code_challenge, code_challenge_method: "S256" });
    const back = await consented(this.#person, url);
    const code = { code: back.get("code") ?? "", code_verifier: secret, redirect_uri: REDIRECT };
    return this.token({ grant_type: "authorization_code", client_id: clientId, resource, ...code, ...proof });
  }

  token(form: Record<string, string>): Promise<Answer> {
    return this.#form("/api/auth/oauth2/token", form);
  }

  deviceCode(clientId: string, resource: string, scope: string): Promise<Answer> {
    return this.#form("/api/auth/device/code", { client_id: clientId, resource, scope });
  }

  deviceToken(clientId: string, deviceCode: string, resource: string): Promise<Answer> {
    return this.token({ grant_type: DEVICE, client_id: clientId, device_code: deviceCode, resource });
  }

  registerDevice(): Promise<string> {
    return this.register({ client_name: "svc", grant_types: [DEVICE, "refresh_token"], redirect_uris: undefined });
  }

  #form(path: string, form: Record<string, string>): Promise<Answer> {
    return this.#person.send("POST", path, {
      body: new URLSearchParams(form).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", origin: this.#base },
    });
  }
}
