import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { parseJson } from "../../../domain/shared/json.ts";
import type { Lookup } from "../../sandbox/connect-to-host.ts";
import { endToEndHeaders } from "../../sandbox/egress-proxy.ts";
import { readBody } from "../../http/read-body.ts";
import { requestHost } from "../../sandbox/request-host.ts";
import { type GitHost, originInSandbox } from "./git-host.ts";

export interface ForwarderOptions extends GitHost {
  authorization: string;
  /** The repositories that may be read, as owner/name. */
  repos: readonly string[];
  /** How much the host may send in all. */
  maxBytes: number;
  lookup: Lookup;
}

/** What a request of git, or of Git LFS, asks for. */
type Purpose = "git" | "lfs-batch" | "lfs-object";

const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** The headers of git and Git LFS that describe a request. */
const REQUEST_HEADERS = [
  "accept",
  "accept-encoding",
  "content-encoding",
  "content-length",
  "content-type",
  "git-protocol",
  "transfer-encoding",
  "user-agent",
];
const RESPONSE_HEADERS = ["content-encoding", "content-length", "content-type"];

/**
 * Reads some repositories of a git host for programs in a sandbox, and adds the credential, which so never enters the sandbox. Passes
 * on what a fetch needs and nothing else: `info/refs` and `git-upload-pack`, the batch API of Git LFS, and the objects that its
 * responses name at the same host. Follows no redirect. A repository that the credential cannot read looks like one that does
 * not exist.
 */
export class GitForwarder {
  readonly #options: ForwarderOptions;
  /** The paths of objects of Git LFS that the host has named. */
  readonly #objects = new Set<string>();
  #left: number;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#left = options.maxBytes;
  }

  /** Answers one request that a program sent to its proxy. */
  readonly answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    // In the origin form, if it comes through a tunnel.
    const url = URL.parse(incoming.url ?? "", originInSandbox(this.#options));
    const purpose = url === null ? null : this.#findPurpose(incoming.method, url);
    if (url === null || purpose === null) return void response.writeHead(403).end("This request is not allowed");
    const reply = await this.#send(incoming, url, purpose).catch(() => null);
    if (reply === null) return void response.writeHead(502).end("Cannot connect to the host");
    response.on("close", () => reply.destroy());
    reply.on("error", () => response.destroy());
    if (reply.statusCode === 200 && purpose === "lfs-batch") return this.#answerBatch(reply, response);
    this.#passOn(reply, response, purpose);
  };

  #findPurpose(method: string | undefined, url: URL): Purpose | null {
    const { base, repos } = this.#options;
    if (url.origin !== originInSandbox(this.#options)) return null;
    const path = `${url.pathname}${url.search}`;
    if (method === "GET" && this.#objects.has(path)) return "lfs-object";
    const prefix = base.pathname.replace(/\/+$/, "");
    for (const folder of repos.flatMap((repo) => [`${prefix}/${repo}`, `${prefix}/${repo}.git`])) {
      if (method === "GET" && path === `${folder}/info/refs?service=git-upload-pack`) return "git";
      if (method === "POST" && path === `${folder}/git-upload-pack`) return "git";
      if (method === "POST" && path === `${folder}/info/lfs/objects/batch`) return "lfs-batch";
    }
    return null;
  }

  async #send(incoming: IncomingMessage, url: URL, purpose: Purpose): Promise<IncomingMessage> {
    const { base, authorization, isAllowedAddress, lookup } = this.#options;
    // The host may have named another credential for an object.
    const own = purpose === "lfs-object" ? endToEndHeaders(incoming.headers) : pick(incoming.headers, REQUEST_HEADERS);
    const client = new AbortController();
    incoming.socket.once("close", () => client.abort());
    return requestHost({
      url: new URL(`${base.origin}${url.pathname}${url.search}`),
      method: incoming.method ?? "GET",
      headers: {
        ...own,
        authorization: (purpose === "lfs-object" && own.authorization) || authorization,
        // The responses of the batch API are read here.
        ...(purpose === "lfs-batch" && { "accept-encoding": "identity" }),
      },
      isAllowedAddress,
      lookup,
      body: incoming,
      signal: client.signal,
    });
  }

  #passOn(reply: IncomingMessage, response: ServerResponse, purpose: Purpose): void {
    const status = reply.statusCode ?? 502;
    if (status !== 200) {
      reply.resume();
      const location = purpose === "lfs-object" ? this.#toInner(reply.headers.location) : undefined;
      return void response.writeHead(hideReason(status, purpose), location === undefined ? {} : { location }).end();
    }
    response.writeHead(200, pick(reply.headers, RESPONSE_HEADERS));
    reply.on("data", (chunk: Buffer) => {
      this.#left -= chunk.length;
      if (this.#left < 0) response.destroy();
    });
    reply.pipe(response);
  }

  /** Objects at the same host are read through the forwarder too. */
  async #answerBatch(reply: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await readBody(reply, MAX_BATCH_BYTES).catch(() => null);
    const body = parseJson(bytes?.toString() ?? "") as { objects?: unknown } | null;
    if (typeof body !== "object" || body === null)
      return void response.writeHead(502).end("The host responded with something else than JSON");
    for (const object of Array.isArray(body.objects) ? (body.objects as BatchObject[]) : []) {
      const action = object?.actions?.download;
      if (action !== undefined && typeof action.href === "string") action.href = this.#toInner(action.href);
    }
    response.writeHead(200, { "content-type": "application/vnd.git-lfs+json" }).end(JSON.stringify(body));
  }

  /** Returns the address for the sandbox of an object that the host has named: its own origin, or another host's. */
  #toInner(address: string | undefined): string | undefined {
    const { base } = this.#options;
    const url = address === undefined ? null : URL.parse(address, base.origin);
    if (url?.origin !== base.origin) return address;
    const path = `${url.pathname}${url.search}`;
    this.#objects.add(path);
    return `${originInSandbox(this.#options)}${path}`;
  }
}

interface BatchObject {
  actions?: { download?: { href?: string | undefined } };
}

/** Refusals and redirects say that a repository exists. Whoever may not read it learns nothing. */
function hideReason(status: number, purpose: Purpose): number {
  if (purpose === "lfs-object") return status;
  return status < 300 || status >= 500 || status === 429 ? status : 404;
}

function pick(headers: IncomingHttpHeaders, names: readonly string[]): IncomingHttpHeaders {
  return Object.fromEntries(names.filter((name) => headers[name] !== undefined).map((name) => [name, headers[name]]));
}
