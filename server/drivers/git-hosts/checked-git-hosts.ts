import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import {
  type CommitStatus,
  type GitAccess,
  type GitHostAccess,
  GitHostError,
  type GitHosts,
  type GitHubApp,
  type HostedBranch,
  type HostedPage,
  type HostedRepository,
  type Installation,
  type TokenPermissions,
} from "../../../domain/ports/git-hosts.ts";
import { readBody } from "../../http/read-body.ts";
import { isPublic } from "../../sandbox/public-address.ts";
import { type ApiResponse, GIT_HOST_APIS, type GitHostApi } from "./git-host-apis.ts";
import { GitHubApps } from "./github-apps.ts";
import { type GitHostRules, HostClient, toError } from "./host-client.ts";

const MAX_URL_LENGTH = 500;
const MAX_PROBLEM_BYTES = 64 * 1024;
/** How many pages are searched for a name, if the API cannot do it. */
const MAX_SEARCHED_PAGES = 20;

/** Git hosts that organizations name. It connects to public addresses, and to the private networks that the operator allows. */
export class CheckedGitHosts implements GitHosts {
  readonly #networks: readonly string[];
  readonly #client: HostClient;
  readonly #apps: GitHubApps;

  constructor(rules: GitHostRules) {
    this.#networks = rules.networks;
    this.#client = new HostClient(rules);
    this.#apps = new GitHubApps(this.#client);
  }

  readonly isAllowedAddress = (address: string): boolean => this.#client.isAllowedAddress(address);

  findUrlProblem(text: string): string | null {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || text.length > MAX_URL_LENGTH)
      return "must be an HTTPS URL, such as https://git.example.com";
    if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
      return "must have no credentials, no query and no fragment. Send the token in the field token";
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !this.isAllowedAddress(host)) return `must not be in ${NOT_ALLOWED}`;
    if (url.protocol === "http:" && (this.#networks.length === 0 || (isIP(host) !== 0 && isPublic(host))))
      return "must start with https://, because without TLS the token could be read on the way";
    return null;
  }

  async check(host: GitHostAccess): Promise<void> {
    const { account } = apiOf(host);
    await this.#call(host, account);
  }

  async checkRepository(access: GitAccess, repo: string): Promise<void> {
    const base = access.url.replace(/\/+$/, "");
    const ask = (name: string) => this.#client.request(`${base}/${name}/info/refs?service=git-upload-pack`, access);
    const first = await ask(repo);
    first.destroy();
    if (first.statusCode === 200) return;
    const second = await ask(`${repo}.git`);
    second.destroy();
    if (second.statusCode !== 200) throw toError(second.statusCode ?? 0);
  }

  async listRepositories(host: GitHostAccess, query: string, page: number): Promise<HostedPage<HostedRepository>> {
    const api = apiOf(host);
    const read = (at: number) =>
      this.#read(host, api.repositories(query, at), (each) => api.readRepositories(each, at));
    if (query === "" || api.searches) return read(page);
    const wanted = query.toLowerCase();
    const items: HostedRepository[] = [];
    for (let at: number | null = page; at !== null && at < page + MAX_SEARCHED_PAGES;) {
      const found: HostedPage<HostedRepository> = await read(at);
      items.push(...found.items.filter(({ repo }) => repo.toLowerCase().includes(wanted)));
      at = found.nextPage;
    }
    return { items, nextPage: null };
  }

  async listBranches(host: GitHostAccess, repo: string, page: number): Promise<HostedPage<HostedBranch>> {
    const api = apiOf(host);
    return this.#read(host, api.branches(repo, page), (each) => api.readBranches(each, page));
  }

  findInstallations(
    app: GitHubApp,
    wanted: { installationId: number | null; repositories: string | null },
  ): Promise<Installation[]> {
    return this.#apps.findInstallations(app, wanted);
  }

  issueToken(
    app: GitHubApp & { installationId: number },
    repo: string | null,
    permissions: TokenPermissions,
  ): Promise<string> {
    return this.#apps.issueToken(app, repo, permissions);
  }

  async setCommitStatus(host: GitHostAccess, repo: string, status: CommitStatus): Promise<void> {
    const api = apiOf(host);
    const { path, body } = api.commitStatus(repo, status);
    const url = `${api.root(new URL(host.url))}${path}`;
    const response = await this.#client.request(url, {
      authorization: host.apiAuthorization,
      accept: "application/json",
      json: body,
    });
    const { statusCode = 0 } = response;
    // GitLab refuses the state that the commit has already.
    const isRepeated = host.kind === "gitlab" && statusCode === 400 && (await describesRepetition(response));
    response.destroy();
    if (Math.floor(statusCode / 100) !== 2 && !isRepeated) throw toError(statusCode);
  }

  async #read<T>(host: GitHostAccess, path: string, read: (response: ApiResponse) => T): Promise<T> {
    const response = await this.#call(host, path);
    try {
      return read(response);
    } catch (error) {
      throw new GitHostError("unreachable", { cause: error });
    }
  }

  #call(host: GitHostAccess, path: string): Promise<ApiResponse> {
    const url = `${apiOf(host).root(new URL(host.url))}${path}`;
    return this.#client.call(url, { authorization: host.apiAuthorization });
  }
}

const NOT_ALLOWED =
  "a network to which this service does not connect. The operator allows private networks with GIT_PRIVATE_NETWORKS";

function apiOf({ kind }: GitHostAccess): GitHostApi {
  if (kind === "git") throw new Error("a host of the kind git has no API");
  return GIT_HOST_APIS[kind];
}

async function describesRepetition(response: IncomingMessage): Promise<boolean> {
  const body = await readBody(response, MAX_PROBLEM_BYTES).catch(() => null);
  return body?.includes("Cannot transition status") ?? false;
}
