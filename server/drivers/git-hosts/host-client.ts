import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { GitHostError } from "../../../domain/ports/git-hosts.ts";
import { readBody } from "../../http/read-body.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { isInNetworks, isPublic } from "../../sandbox/public-address.ts";
import { requestHost } from "../../sandbox/request-host.ts";
import { resolveAddresses } from "../../sandbox/resolve-addresses.ts";
import type { ApiResponse } from "./git-host-apis.ts";

export interface GitHostRules {
  /** Private networks in which git hosts may be, as addresses or CIDR ranges. Elsewhere, only HTTPS to public addresses. */
  networks: readonly string[];
  /** Resolves a host name; by default with the name servers of the machine. */
  lookup?: Lookup | undefined;
}

export interface HostCall {
  authorization: string | null;
  accept?: string;
  /** The body of a POST, as JSON; without it, the method is GET. */
  json?: object;
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** RFC 6761: name servers do not know it. */
const LOOPBACK = [{ address: "127.0.0.1", family: 4 }];

/** Sends requests to git hosts that organizations name: to public addresses, and to the private networks that the operator allows. */
export class HostClient {
  readonly #rules: GitHostRules;

  constructor(rules: GitHostRules) {
    this.#rules = rules;
  }

  readonly isAllowedAddress = (address: string): boolean =>
    isPublic(address) || isInNetworks(address, this.#rules.networks);

  /**
   * Calls an API, which responds with JSON.
   *
   * @throws {GitHostError} also for a response with an error status
   */
  async call(url: string, { accept = "application/json", ...call }: HostCall): Promise<ApiResponse> {
    const response = await this.request(url, { accept, ...call });
    const status = response.statusCode ?? 0;
    if (status !== 200 && status !== 201) {
      response.destroy();
      throw toError(status);
    }
    const next = Number(response.headers["x-next-page"] ?? "");
    const body = await readBody(response, MAX_RESPONSE_BYTES).catch(() => null);
    const value = parseJson(body?.toString() ?? "");
    if (value === undefined) throw new GitHostError("unreachable", { cause: "The response is too large, or not JSON" });
    return { body: value, nextPage: next > 0 ? next : null };
  }

  /**
   * Sends a request and returns the response with any status. Follows no redirect.
   *
   * @throws {GitHostError} `unreachable`
   */
  async request(url: string, { authorization, accept = "*/*", json }: HostCall): Promise<IncomingMessage> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { lookup = null } = this.#rules;
    const body = json === undefined ? null : Buffer.from(JSON.stringify(json));
    try {
      return await requestHost({
        url: new URL(url),
        method: body === null ? "GET" : "POST",
        headers: {
          accept,
          "accept-encoding": "identity",
          "user-agent": "app-provisioning-service",
          ...(body !== null && { "content-type": "application/json", "content-length": body.length }),
          ...(authorization !== null && { authorization }),
        },
        ...(body !== null && { body: Readable.from([body]) }),
        isAllowedAddress: this.isAllowedAddress,
        lookup: (host) => (host === "localhost" ? Promise.resolve(LOOPBACK) : resolveAddresses(host, lookup, signal)),
        signal,
      });
    } catch (error) {
      throw new GitHostError("unreachable", { cause: error });
    }
  }
}

export function toError(status: number): GitHostError {
  if (status === 401 || status === 403) return new GitHostError("refused");
  // GitHub responds with 422 when an installation lacks a repository, or does not permit what is wanted.
  const isMissing = status === 404 || status === 422;
  return new GitHostError(isMissing ? "not_found" : "unreachable", { cause: `status ${status}` });
}
