import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import {
  type CommitStatus,
  type GitAccess,
  type GitHostAccess,
  GitHostError,
  type GitHosts,
  type HostedBranch,
  type HostedPage,
  type HostedRepository,
} from "../../../domain/ports/git-hosts.ts";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { isInNetworks, isPublic } from "../../sandbox/public-address.ts";
import { readJson, requestHost } from "../../sandbox/request-host.ts";
import { resolveAddresses } from "../../sandbox/resolve-addresses.ts";
import { type ApiResponse, GIT_HOST_APIS, type GitHostApi } from "./git-host-apis.ts";

export interface GitHostRules {
  /** Private networks in which git hosts may be, as addresses or CIDR ranges. Elsewhere, only HTTPS to public addresses. */
  networks: readonly string[];
  /** Resolves a host name; by default with the name servers of the machine. */
  lookup?: Lookup | undefined;
}

const MAX_URL_LENGTH = 500;
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** How many pages are searched for a name, if the API cannot do it. */
const MAX_SEARCHED_PAGES = 20;

/** Git hosts that organizations name. It connects to public addresses, and to the private networks that the operator allows. */
export class CheckedGitHosts implements GitHosts {
  readonly #rules: GitHostRules;

  constructor(rules: GitHostRules) {
    this.#rules = rules;
  }

  readonly isAllowedAddress = (address: string): boolean =>
    isPublic(address) || isInNetworks(address, this.#rules.networks);

  findUrlProblem(text: string): string | null {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || text.length > MAX_URL_LENGTH)
      return "must be an HTTPS URL, such as https://git.example.com";
    if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
      return "must have no credentials, no query and no fragment. Send the token in the field token";
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !this.isAllowedAddress(host)) return `must not be in ${NOT_ALLOWED}`;
    if (url.protocol === "http:" && (this.#rules.networks.length === 0 || (isIP(host) !== 0 && isPublic(host))))
      return "must start with https://, because without TLS the token could be read on the way";
    return null;
  }

  async check(host: GitHostAccess): Promise<void> {
    const { account } = apiOf(host);
    await this.#call(host, account);
  }

  async checkRepository(access: GitAccess, repo: string): Promise<void> {
    const base = access.url.replace(/\/+$/, "");
    const ask = (name: string) =>
      this.#request(`${base}/${name}/info/refs?service=git-upload-pack`, access.authorization, "*/*");
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
    if (query === "" || host.kind !== "github") return read(page);
    // GitHub searches in the repositories of everybody only.
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

  async setCommitStatus(host: GitHostAccess, repo: string, status: CommitStatus): Promise<void> {
    const api = apiOf(host);
    const { path, body } = api.commitStatus(repo, status);
    const url = `${api.root(new URL(host.url))}${path}`;
    const response = await this.#request(url, host.apiAuthorization, "application/json", JSON.stringify(body));
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

  async #call(host: GitHostAccess, path: string): Promise<ApiResponse> {
    const url = `${apiOf(host).root(new URL(host.url))}${path}`;
    const response = await this.#request(url, host.apiAuthorization, "application/json");
    if (response.statusCode !== 200) {
      response.destroy();
      throw toError(response.statusCode ?? 0);
    }
    const next = Number(response.headers["x-next-page"] ?? "");
    try {
      return { body: await readJson(response, MAX_RESPONSE_BYTES), nextPage: next > 0 ? next : null };
    } catch (error) {
      throw new GitHostError("unreachable", { cause: error });
    }
  }

  /** @param body - JSON, to change something */
  async #request(url: string, authorization: string | null, accept: string, body?: string): Promise<IncomingMessage> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { lookup = null } = this.#rules;
    try {
      return await requestHost({
        url: new URL(url),
        method: body === undefined ? "GET" : "POST",
        headers: {
          accept,
          "accept-encoding": "identity",
          "user-agent": "app-provisioning-service",
          ...(authorization !== null && { authorization }),
          ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        },
        ...(body !== undefined && { body: Readable.from([Buffer.from(body)]) }),
        isAllowedAddress: this.isAllowedAddress,
        lookup: (host) => (host === "localhost" ? Promise.resolve(LOOPBACK) : resolveAddresses(host, lookup, signal)),
        signal,
      });
    } catch (error) {
      throw new GitHostError("unreachable", { cause: error });
    }
  }
}

const NOT_ALLOWED =
  "a network to which this service does not connect. The operator allows private networks with GIT_PRIVATE_NETWORKS";

/** RFC 6761: name servers do not know it. */
const LOOPBACK = [{ address: "127.0.0.1", family: 4 }];

function apiOf({ kind }: GitHostAccess): GitHostApi {
  if (kind === "git") throw new Error("a host of the kind git has no API");
  return GIT_HOST_APIS[kind];
}

async function describesRepetition(response: IncomingMessage): Promise<boolean> {
  const body = await readJson(response, MAX_RESPONSE_BYTES).catch(() => null);
  return JSON.stringify(body).includes("Cannot transition status");
}

function toError(status: number): GitHostError {
  if (status === 401 || status === 403) return new GitHostError("refused");
  return new GitHostError(status === 404 ? "not_found" : "unreachable", { cause: `status ${status}` });
}
