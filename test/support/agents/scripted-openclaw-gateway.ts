import { createHash, createPublicKey, randomUUID, verify } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { createGatewayState, GatewayRefusal, type GatewayState, METHODS } from "./gateway-state.ts";

/** What a gateway does instead of the right response. */
export type Misbehavior =
  | "text that is not JSON"
  | "a binary message"
  | "a response of another form"
  | "no response"
  | "the end of the connection"
  | "1 GB in one message"
  | "1 GB in many parts"
  | "1 GB of small events";

export interface ScriptedGatewayOptions {
  token?: string;
  /** Whether the operator has to approve the device, as on every address but a loopback one. */
  requiresPairing?: boolean;
  /** Whether the gateway knows the hashes of files, as since version 2026.9.6. */
  comparesHash?: boolean;
  /** The key and the certificate in PEM, for `wss:`. */
  tls?: { key: string; cert: string };
  port?: number;
}

export interface Call {
  method: string;
  params: Record<string, unknown>;
  /** What the connection may do. */
  scopes: readonly string[];
}

/** A WebSocket server that speaks the protocol of an OpenClaw gateway, with responses as recorded from version 2026.9.6. */
export class ScriptedGateway implements AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly state: GatewayState = createGatewayState();
  /** All calls of authenticated connections. */
  readonly calls: Call[] = [];
  /** How many connections were opened, and how many of them are open. */
  opened = 0;
  /** How many bytes of a large response were accepted by the network. */
  sentBytes = 0;
  #approves = false;
  /** By method: what the gateway does instead of responding. */
  readonly misbehavior = new Map<string, Misbehavior>();
  /** Applied to the payload of every response, by method. */
  readonly alter = new Map<string, (payload: object) => unknown>();
  /** How long each response takes, in milliseconds. */
  delayMs = 0;
  readonly #server: WebSocketServer;
  readonly #close: () => Promise<void>;
  readonly #options: ScriptedGatewayOptions;

  static async open(options: ScriptedGatewayOptions = {}): Promise<ScriptedGateway> {
    const http = options.tls === undefined ? createHttpServer() : createHttpsServer(options.tls);
    const server = new WebSocketServer({ server: http });
    http.listen(options.port ?? 0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const url = options.tls === undefined ? `ws://127.0.0.1:${port}` : `wss://gateway.example.com:${port}`;
    const close = async (): Promise<void> => {
      if (!http.listening) return;
      for (const client of server.clients) client.terminate();
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    };
    return new ScriptedGateway(server, url, options, close);
  }

  private constructor(
    server: WebSocketServer,
    url: string,
    options: ScriptedGatewayOptions,
    close: () => Promise<void>,
  ) {
    this.url = url;
    this.token = options.token ?? `oc-${randomUUID()}`;
    this.#server = server;
    this.#options = options;
    this.#close = close;
    server.on("connection", (socket) => this.#serve(socket));
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#server.clients.size;
  }

  /** Approves all devices, as the operator of a gateway does. */
  approveDevices(): void {
    this.#approves = true;
  }

  /** Ends all connections, as a gateway does that restarts. */
  disconnectAll(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }

  #serve(socket: WebSocket): void {
    this.opened += 1;
    const nonce = randomUUID();
    let scopes: string[] | null = null;
    const send = (frame: object): void => socket.send(JSON.stringify(frame));
    socket.on("error", () => socket.terminate());
    if (this.misbehavior.get("challenge") !== "no response")
      send({ type: "event", event: "connect.challenge", payload: { nonce, ts: Date.now() } });
    const respond = async (text: string): Promise<void> => {
      const { id, method, params } = JSON.parse(text) as {
        id: string;
        method: string;
        params: Record<string, unknown>;
      };
      if (scopes !== null) this.calls.push({ method, params, scopes });
      if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
      const misbehavior = this.misbehavior.get(method);
      if (misbehavior !== undefined) return this.#misbehave(socket, id, misbehavior);
      try {
        if (scopes === null) {
          scopes = this.#authenticate(method, params, nonce);
          const hello = this.#hello(scopes);
          return send({ type: "res", id, ok: true, payload: this.alter.get(method)?.(hello) ?? hello });
        }
        const payload = this.#call(method, params, scopes);
        send({ type: "res", id, ok: true, payload: this.alter.get(method)?.(payload) ?? payload });
      } catch (error) {
        if (!(error instanceof GatewayRefusal)) throw error;
        send({ type: "res", id, ok: false, error: error.error });
        if (scopes === null) socket.close(1008, error.message);
      }
    };
    socket.on("message", (data: Buffer) => void respond(data.toString()));
  }

  #authenticate(method: string, params: Record<string, unknown>, nonce: string): string[] {
    const { minProtocol, maxProtocol, auth, device, scopes, role, client } = params as never as ConnectParams;
    if (method !== "connect") throw new GatewayRefusal("INVALID_REQUEST", "connect first");
    if (minProtocol > 4 || maxProtocol < 4) throw new GatewayRefusal("INVALID_REQUEST", "protocol mismatch");
    if (auth.token !== this.token)
      throw new GatewayRefusal("INVALID_REQUEST", "unauthorized: gateway token mismatch (provide gateway auth token)", {
        code: "AUTH_TOKEN_MISMATCH",
        authReason: "token_mismatch",
        recommendedNextStep: "update_auth_credentials",
      });
    const key = Buffer.from(device.publicKey, "base64url");
    const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key]);
    const claim = [client.id, client.mode, role, scopes.join(","), device.signedAt, auth.token, nonce, client.platform];
    const payload = ["v3", device.id, ...claim, ""].join("|");
    const isSigned = verify(
      null,
      Buffer.from(payload),
      createPublicKey({ key: spki, format: "der", type: "spki" }),
      Buffer.from(device.signature, "base64url"),
    );
    if (!isSigned || device.nonce !== nonce || createHash("sha256").update(key).digest("hex") !== device.id)
      throw new GatewayRefusal("INVALID_REQUEST", "device signature invalid", {
        code: "DEVICE_AUTH_SIGNATURE_INVALID",
        reason: "device-signature",
      });
    if (this.#options.requiresPairing === true && !this.#approves)
      throw new GatewayRefusal("NOT_PAIRED", "pairing required: device is not approved yet", {
        code: "PAIRING_REQUIRED",
        reason: "not-paired",
        requestId: "0b5f1c9e-request",
        deviceId: device.id,
      });
    return scopes;
  }

  #hello(scopes: string[]): object {
    return {
      type: "hello-ok",
      protocol: 4,
      server: { version: "2026.9.6", connId: randomUUID() },
      features: { methods: Object.keys(METHODS), events: ["connect.challenge", "tick"] },
      snapshot: {},
      auth: { method: "token", role: "operator", scopes },
      policy: { maxPayload: 26_214_400, maxBufferedBytes: 52_428_800, tickIntervalMs: 30_000 },
    };
  }

  #call(name: string, params: Record<string, unknown>, scopes: readonly string[]): object {
    const method = METHODS[name];
    if (method === undefined) throw new GatewayRefusal("INVALID_REQUEST", `unknown method: ${name}`);
    if (!scopes.includes(method.scope))
      throw new GatewayRefusal("FORBIDDEN", `missing scope: ${method.scope}`, {
        code: "MISSING_SCOPE",
        missingScope: method.scope,
        requiredScopes: [method.scope],
      });
    const { comparesHash = true } = this.#options;
    const known = comparesHash ? method.params : method.params.filter((param) => param !== "expectedHash");
    const unexpected = Object.keys(params).find((param) => !known.includes(param));
    if (unexpected !== undefined)
      throw new GatewayRefusal(
        "INVALID_REQUEST",
        `invalid ${name} params: at root: unexpected property '${unexpected}'`,
      );
    return method.run(this.state, params, { comparesHash });
  }

  async #misbehave(socket: WebSocket, id: string, misbehavior: Misbehavior): Promise<void> {
    if (misbehavior === "text that is not JSON") socket.send("<html>Bad gateway</html>");
    else if (misbehavior === "a binary message") socket.send(Buffer.alloc(1000, 0xff));
    else if (misbehavior === "a response of another form")
      socket.send(JSON.stringify({ type: "res", id, ok: true, payload: { agents: "none", sessions: 5, file: [] } }));
    else if (misbehavior === "the end of the connection") socket.terminate();
    else if (misbehavior === "1 GB in one message") await this.#sendLarge(socket, { frameOf: "a message" });
    else if (misbehavior === "1 GB in many parts") await this.#sendLarge(socket, { frameOf: "a part" });
    else if (misbehavior === "1 GB of small events") await this.#sendLarge(socket, { frameOf: "an event" });
  }

  /** Sends 1 GB, or as much of it as the other side reads before it ends the connection. */
  async #sendLarge(socket: WebSocket, { frameOf }: { frameOf: "a message" | "a part" | "an event" }): Promise<void> {
    const size = 1024 ** 3;
    const part =
      frameOf === "an event"
        ? JSON.stringify({ type: "event", event: "tick", payload: "x".repeat(900) })
        : "x".repeat(65_536);
    const { _socket: stream } = socket as unknown as { _socket: NodeJS.WritableStream & { destroyed: boolean } };
    if (frameOf === "a message") stream.write(messageHeader(size));
    for (let sent = 0; sent < size && socket.readyState === socket.OPEN; sent += part.length) {
      await new Promise<void>((resolve) => {
        const done = (): void => resolve();
        if (frameOf === "a message") stream.write(part, done);
        else socket.send(part, { fin: frameOf === "an event" }, done);
      });
      this.sentBytes += part.length;
    }
  }
}

interface ConnectParams {
  minProtocol: number;
  maxProtocol: number;
  client: { id: string; mode: string; platform: string };
  role: string;
  scopes: string[];
  auth: { token: string };
  device: { id: string; publicKey: string; signature: string; signedAt: number; nonce: string };
}

/** The header of a text message of a length that takes 64 bits (RFC 6455, section 5.2). */
function messageHeader(length: number): Buffer {
  const header = Buffer.alloc(10);
  header[0] = 0x81;
  header[1] = 127;
  header.writeBigUInt64BE(BigInt(length), 2);
  return header;
}
