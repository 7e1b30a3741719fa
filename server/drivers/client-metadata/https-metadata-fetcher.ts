import { Resolver } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import {
  type ClientMetadataDocument,
  type ClientMetadataFetcher,
  UnreadableClientMetadata,
} from "../../../domain/ports/client-metadata.ts";
import type { Lookup } from "../../sandbox/egress-proxy.ts";
import { isPublic } from "../../sandbox/public-address.ts";
import { freshSecondsOf } from "./freshness.ts";

export interface PublicWebOptions {
  /** Asks for the addresses of a host; by default the machine's name servers, and never its own table of hosts. */
  lookup?: Lookup;
  /** Which addresses are connected to; by default those of the internet at large. */
  mayReach?: (address: string) => boolean;
  /** Certificates of the authorities to trust instead of those that Node knows, in PEM. */
  authorities?: string;
  /** How long reading may take in all: from the question for the address to the last byte. */
  timeoutMs?: number;
}

/** The largest document that is read, in bytes. */
const LARGEST = 5 * 1024;
const TIMEOUT_MS = 5000;
/** How many addresses of a host are tried, of each family: a name may list those of many others. */
const TRIED = 3;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;
/** Whatever somebody unknown names is asked for once, plainly, by nobody in particular. */
const HEADERS = { accept: "application/json", "accept-encoding": "identity", "user-agent": "app-provisioning-service" };

/**
 * Reads documents over https. It asks for the addresses of a host itself and connects to the very ones it checked, so a
 * name cannot change its meaning in between (DNS rebinding). It sends no cookie and no credential.
 */
export class PublicWebClientMetadata implements ClientMetadataFetcher {
  readonly #lookup: Lookup | null;
  readonly #mayReach: (address: string) => boolean;
  readonly #authorities: string | undefined;
  readonly #timeoutMs: number;

  constructor({ lookup, mayReach = isPublic, authorities, timeoutMs = TIMEOUT_MS }: PublicWebOptions = {}) {
    this.#lookup = lookup ?? null;
    this.#mayReach = mayReach;
    this.#authorities = authorities;
    this.#timeoutMs = timeoutMs;
  }

  async read(url: string): Promise<ClientMetadataDocument> {
    const late = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await this.#ask(new URL(url), late);
      // Whatever is wrong with the answer, nothing more of it is taken.
      try {
        expectDocument(response);
        return { members: membersOf(await bytesOf(response)), freshSeconds: freshSecondsOf(response.headers) };
      } finally {
        response.destroy();
      }
    } catch (error) {
      if (error instanceof UnreadableClientMetadata) throw error;
      const said = late.aborted ? "it did not arrive in time" : "its host does not answer over https";
      throw new UnreadableClientMetadata(said, { cause: error });
    }
  }

  async #ask(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const { protocol, hostname } = url;
    // Node connects to an address without asking anybody for it, and so past the check.
    if (protocol !== "https:" || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0)
      throw new UnreadableClientMetadata("its address is no https URL with the name of a host");
    const found = await this.#addressesOf(hostname, signal);
    const reachable = found.filter(({ address }) => this.#mayReach(address));
    if (reachable.length === 0) throw new UnreadableClientMetadata("its host has no public address");
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = request(url, {
      ...{ headers: HEADERS, signal, agent: false, servername: hostname, rejectUnauthorized: true },
      ...{ maxHeaderSize: 8192, autoSelectFamily: true },
      ...(this.#authorities === undefined ? {} : { ca: this.#authorities }),
      lookup: (_host, _options, done) => done(null, [...reachable]),
    });
    // A host may also end the connection without an error, as when it switches to another protocol unasked.
    outgoing
      .on("error", reject)
      .on("response", resolve)
      .on("close", () => reject(new Error("no answer came")));
    outgoing.end();
    return promise;
  }

  async #addressesOf(host: string, signal: AbortSignal): ReturnType<Lookup> {
    const answers = this.#lookup === null ? askNameServers(host, signal) : this.#lookup(host);
    const { promise: late, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    return Promise.race([answers, late]);
  }
}

/**
 * Over the network alone. The operating system's own way would hold one of the few threads that all work on files
 * shares, for as long as a stranger's name server likes.
 */
async function askNameServers(host: string, signal: AbortSignal): ReturnType<Lookup> {
  const resolver = new Resolver();
  signal.addEventListener("abort", () => resolver.cancel(), { once: true });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const of = (family: number, asked: PromiseSettledResult<string[]>) =>
    asked.status === "fulfilled" ? asked.value.slice(0, TRIED).map((address) => ({ address, family })) : [];
  return [...of(4, four), ...of(6, six)];
}

function expectDocument({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode >= 300 && statusCode < 400)
    throw new UnreadableClientMetadata("its host sends elsewhere, and redirects are not followed");
  if (statusCode !== 200) throw new UnreadableClientMetadata(`its host answered ${statusCode}, not 200`);
  if (!JSON_TYPE.test(headers["content-type"] ?? ""))
    throw new UnreadableClientMetadata("its Content-Type is not application/json");
  if ((headers["content-encoding"] ?? "identity") !== "identity")
    throw new UnreadableClientMetadata("it is compressed, which was not asked for");
  if (Number(headers["content-length"] ?? 0) > LARGEST) throw tooLarge();
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LARGEST) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function tooLarge(): UnreadableClientMetadata {
  return new UnreadableClientMetadata(`it is larger than ${LARGEST} bytes`);
}

function membersOf(bytes: Buffer): Record<string, unknown> {
  const value = parsed(bytes);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UnreadableClientMetadata("it is not a JSON object");
  return value as Record<string, unknown>;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // Why not, it would say with a piece of what came.
    throw new UnreadableClientMetadata("it is not JSON");
  }
}
