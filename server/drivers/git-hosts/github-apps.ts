import { createPrivateKey } from "node:crypto";
import { SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import {
  type GitHubApp,
  GitHostError,
  type Installation,
  type TokenPermissions,
} from "../../../domain/ports/git-hosts.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";
import { GIT_HOST_APIS } from "./git-host-apis.ts";
import type { HostClient } from "./host-client.ts";

/** GitHub accepts ten minutes at most. A clock that is a minute ahead does not matter. */
const JWT_SECONDS = 540;
const CLOCK_SKEW_SECONDS = 60;
/** A token that ends earlier is not used any more: a checkout and what follows it may take some minutes. */
const MIN_REST_MS = 10 * 60_000;
const MAX_TOKENS = 2000;
const LOGIN = /^[\w-]{1,100}$/;

interface IssuedToken {
  token: string;
  expiresAt: number;
}

/**
 * Authenticates as GitHub Apps: with a JWT that the private key signs, which GitHub exchanges for tokens of an installation.
 *
 * `@octokit/auth-app` is not used: it shares a request for a token between all callers that name the same installation, also if
 * they have different private keys. Installations have numbers that an organization can guess.
 */
export class GitHubApps {
  readonly #client: HostClient;
  /** By all that the token depends on, with the private key, so that only who has the key gets the token. */
  readonly #tokens = new LRUCache<string, IssuedToken>({ max: MAX_TOKENS });
  readonly #issuing = new Map<string, Promise<IssuedToken>>();

  constructor(client: HostClient) {
    this.#client = client;
  }

  async findInstallations(
    app: GitHubApp,
    { installationId, repositories }: { installationId: number | null; repositories: string | null },
  ): Promise<Installation[]> {
    if (installationId !== null) return [await this.#find(app, `/app/installations/${installationId}`)];
    if (repositories === null) return this.#list(app);
    if (repositories.includes("/")) return [await this.#find(app, `/repos/${repositories}/installation`)];
    const ofOrganization = this.#find(app, `/orgs/${repositories}/installation`);
    return [
      await ofOrganization.catch((error: unknown) => {
        if (error instanceof GitHostError && error.problem === "not_found")
          return this.#find(app, `/users/${repositories}/installation`);
        throw error;
      }),
    ];
  }

  async issueToken(
    app: GitHubApp & { installationId: number },
    repo: string | null,
    permissions: TokenPermissions,
  ): Promise<string> {
    const { url, appId, privateKey, installationId } = app;
    const wanted = [url, appId, privateKey, installationId, repo, Object.entries(permissions).toSorted()];
    const key = sha256Hex(JSON.stringify(wanted));
    const known = this.#tokens.get(key);
    if (known !== undefined && known.expiresAt - Date.now() > MIN_REST_MS) return known.token;
    const issuing =
      this.#issuing.get(key) ?? this.#issue(app, repo, permissions).finally(() => this.#issuing.delete(key));
    this.#issuing.set(key, issuing);
    const issued = await issuing;
    this.#tokens.set(key, issued);
    return issued.token;
  }

  async #issue(
    app: GitHubApp & { installationId: number },
    repo: string | null,
    permissions: TokenPermissions,
  ): Promise<IssuedToken> {
    const repositories = repo === null ? {} : { repositories: [repo.slice(repo.indexOf("/") + 1)] };
    const json = { ...repositories, permissions };
    const { token, expires_at: expiresAt } = await this.#call(
      app,
      `/app/installations/${app.installationId}/access_tokens`,
      json,
    );
    const issued = { token, expiresAt: Date.parse(String(expiresAt)) };
    if (
      typeof issued.token !== "string" ||
      !/^[\x21-\x7e]{1,1000}$/.test(issued.token) ||
      Number.isNaN(issued.expiresAt)
    )
      throw new GitHostError("unreachable", { cause: "GitHub did not respond with a token" });
    return { ...issued, token: issued.token };
  }

  async #find(app: GitHubApp, path: string): Promise<Installation> {
    return readInstallation(await this.#call(app, path));
  }

  async #list(app: GitHubApp): Promise<Installation[]> {
    const found = await this.#call<unknown>(app, "/app/installations?per_page=100");
    if (!Array.isArray(found)) throw unexpected();
    return found.map((each) => readInstallation(each as Fields));
  }

  async #call<T = Fields>(app: GitHubApp, path: string, json?: object): Promise<T> {
    const url = `${GIT_HOST_APIS.github_app.root(new URL(app.url))}${path}`;
    const authorization = `Bearer ${await signJwt(app)}`;
    const accept = "application/vnd.github+json";
    const { body } = await this.#client.call(url, { authorization, accept, ...(json !== undefined && { json }) });
    if (typeof body !== "object" || body === null) throw unexpected();
    return body as T;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function signJwt({ appId, privateKey }: GitHubApp): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: "RS256" })
    .setIssuer(appId)
    .setIssuedAt(now - CLOCK_SKEW_SECONDS)
    .setExpirationTime(now + JWT_SECONDS)
    .sign(createPrivateKey(privateKey));
}

function readInstallation({ id, account, suspended_at: suspendedAt = null }: Fields): Installation {
  const login = (account as Fields | null | undefined)?.["login"];
  if (!Number.isSafeInteger(id) || typeof login !== "string" || !LOGIN.test(login)) throw unexpected();
  return { id: id as number, account: login, isSuspended: suspendedAt !== null };
}

function unexpected(): GitHostError {
  return new GitHostError("unreachable", { cause: "GitHub did not respond as expected" });
}
