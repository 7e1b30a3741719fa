import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, isIP, type Server, type Socket } from "node:net";
import path from "node:path";
import { z } from "zod";
import { parseJson } from "../../domain/shared/json.ts";
import { connectTo, type Lookup } from "./connect-to-host.ts";
import { isPublic, isPublicPort } from "./public-address.ts";
import { resolveAddresses } from "./resolve-addresses.ts";
import { createSocketFolder, type SocketFolder } from "./socket-folder.ts";
import { TrackedSockets } from "./tracked-sockets.ts";

const MAX_CONNECTIONS = 512;
/** How many names and connections a server may wait for. A client that leaves does not end the wait for them. */
const MAX_PENDING = 256;
const MAX_REQUEST_BYTES = 4096;
/** How long a connection waits for the client that requested it. */
const ACCEPT_TIMEOUT_MS = 10_000;
const RESOLVE_TIMEOUT_MS = 5_000;

const name = z.string().min(1).max(253);
const requestSchema = z.union([
  z.object({ connect: z.object({ host: name, port: z.int().min(1).max(65_535) }) }),
  z.object({ lookup: z.object({ name }) }),
  z.object({ resolve: z.object({ name, type: z.enum(["A", "AAAA", "CNAME", "MX", "NS", "SRV", "TXT"]) }) }),
]);

type ForwarderRequest = z.infer<typeof requestSchema>;

export interface EgressForwarderOptions {
  lookup?: Lookup;
  isAllowedAddress?: (address: string) => boolean;
}

/** Ports of mail submission, beside those of `isPublicPort`. They require a password, so that no spam can be sent. */
const MAIL_SUBMISSION: ReadonlySet<number> = new Set([465, 587]);

/**
 * Connects a Node server in a sandbox without a network to public addresses, over unix sockets in one folder. The client sends a
 * line of JSON to `control.sock` and gets one back: `{"connect": {"host", "port"}}` gets the name of a socket of the folder, which
 * is connected with that host. The name is resolved here, and the connection goes to the address that was checked.
 */
export class EgressForwarder implements AsyncDisposable {
  /** The folder with the sockets, to be mounted read-only. */
  readonly folder: string;
  readonly #folder: SocketFolder;
  readonly #control: Server;
  readonly #sockets = new TrackedSockets();
  readonly #waiting = new Set<Server>();
  readonly #lookup: Lookup;
  readonly #isAllowedAddress: (address: string) => boolean;
  readonly #resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: 1 });
  #count = 0;
  #pending = 0;

  static async open(options: EgressForwarderOptions = {}): Promise<EgressForwarder> {
    const folder = await createSocketFolder("egress");
    const forwarder = new EgressForwarder(folder, options);
    await chmod(folder.path, 0o711);
    await forwarder.#listen(forwarder.#control, "control.sock");
    return forwarder;
  }

  private constructor(folder: SocketFolder, { lookup = resolve, isAllowedAddress = isPublic }: EgressForwarderOptions) {
    this.folder = folder.path;
    this.#folder = folder;
    this.#lookup = lookup;
    this.#isAllowedAddress = isAllowedAddress;
    this.#control = createServer({ allowHalfOpen: true }, (socket) => this.#read(socket));
    this.#control.maxConnections = MAX_CONNECTIONS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#control, ...this.#waiting]) server.close();
    this.#sockets.destroy();
    await this.#folder[Symbol.asyncDispose]();
  }

  async #listen(server: Server, file: string): Promise<void> {
    const socketPath = path.join(this.folder, file);
    await once(server.listen(socketPath), "listening");
    // The sandbox runs as another user.
    await chmod(socketPath, 0o666);
  }

  #read(client: Socket): void {
    this.#sockets.add(client);
    let text = "";
    client.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.length > MAX_REQUEST_BYTES) return void client.destroy();
      if (!text.endsWith("\n")) return;
      client.removeAllListeners("data").resume();
      const request = requestSchema.safeParse(parseJson(text));
      const response = request.success ? this.#respond(request.data) : Promise.resolve({ error: "EINVAL" });
      void response
        .catch((error: unknown) => ({ error: codeOf(error) }))
        .then((result) => client.end(JSON.stringify(result)));
    });
  }

  async #respond(request: ForwarderRequest): Promise<object> {
    if (this.#pending >= MAX_PENDING) return { error: "EMFILE" };
    this.#pending += 1;
    try {
      return await this.#fulfil(request);
    } finally {
      this.#pending -= 1;
    }
  }

  async #fulfil(request: ForwarderRequest): Promise<object> {
    if ("lookup" in request) return { addresses: await this.#lookUp(request.lookup.name) };
    if ("resolve" in request) return { records: await this.#resolve(request.resolve.name, request.resolve.type) };
    return this.#connect(request.connect);
  }

  async #lookUp(host: string): Promise<{ address: string; family: number }[]> {
    const addresses = await this.#lookup(host);
    return addresses.filter(({ address }) => this.#isAllowedAddress(address));
  }

  async #resolve(host: string, type: string): Promise<unknown> {
    if (type !== "A" && type !== "AAAA") return this.#resolver.resolve(host, type);
    const family = type === "A" ? 4 : 6;
    const addresses = (await this.#lookUp(host)).filter((each) => each.family === family);
    if (addresses.length === 0) throw Object.assign(new Error("The host has no address"), { code: "ENODATA" });
    return addresses.map(({ address }) => address);
  }

  async #connect({ host, port }: { host: string; port: number }): Promise<object> {
    if (!isPublicPort(port) && !MAIL_SUBMISSION.has(port)) return { error: "EACCES" };
    if (this.#sockets.size + this.#waiting.size >= 2 * MAX_CONNECTIONS) return { error: "EMFILE" };
    const addresses = await this.#lookUp(host);
    if (addresses.length === 0) return { error: "ENOTFOUND" };
    const outside = await connectTo({ host, port }, addresses);
    this.#sockets.add(outside);
    const file = `c${++this.#count}`;
    await this.#acceptOnce(file, outside);
    return { path: file, address: outside.remoteAddress, family: outside.remoteFamily === "IPv6" ? 6 : 4 };
  }

  /** Listens for the client of a connection. */
  async #acceptOnce(file: string, outside: Socket): Promise<void> {
    const server = createServer({ allowHalfOpen: true });
    const stop = (): void => {
      clearTimeout(timer);
      server.close();
      this.#waiting.delete(server);
      void rm(path.join(this.folder, file), { force: true });
    };
    const timer = setTimeout(() => outside.destroy(), ACCEPT_TIMEOUT_MS).unref();
    this.#waiting.add(server);
    outside.once("close", stop);
    server.once("connection", (inside) => {
      stop();
      this.#sockets.join(inside, outside);
    });
    await this.#listen(server, file);
  }
}

function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === "string" && /^[A-Z_]{3,30}$/.test(code) ? code : "ECONNREFUSED";
}

/** Asks the name servers, without the resolver of the system, whose threads all file operations share. */
async function resolve(host: string): ReturnType<Lookup> {
  const family = isIP(host);
  return family > 0
    ? [{ address: host, family }]
    : resolveAddresses(host, null, AbortSignal.timeout(RESOLVE_TIMEOUT_MS));
}
