import type { WebSocket } from "ws";
import { AgentHostError } from "../../../../domain/ports/agent-host.ts";
import type { TextWorkers } from "../../../../domain/ports/text-workers.ts";
import { raceWithSignal } from "../../../../domain/shared/race-with-signal.ts";
import type { DeviceIdentity } from "./device-identity.ts";
import { toAgentHostError } from "./gateway-errors.ts";
import { type Frame, type GatewayError, type GatewayTasks, parseFrame } from "./gateway-frames.ts";
import type { GatewayMethod, GatewayResponse } from "./gateway-schemas.ts";
import { openSocket, type SocketOptions } from "./open-socket.ts";
import { type BufferedBytes, ReceiveLimiter } from "./receive-limiter.ts";

export type Scope = "operator.read" | "operator.admin";

export interface ConnectionOptions extends SocketOptions {
  url: string;
  token: string;
  device: DeviceIdentity;
  scopes: readonly Scope[];
  buffered: BufferedBytes;
  /** The organization of the gateway. */
  orgId: string;
  textWorkers: TextWorkers<GatewayTasks>;
  timeouts: ConnectionTimeouts;
}

/** In milliseconds. */
export interface ConnectionTimeouts {
  /** For the whole connect, from the first DNS query to the welcome of the gateway. */
  connect: number;
  call: number;
  /** The time between two pings. A connection on which nothing arrives for twice as long is closed. */
  ping: number;
}

const PROTOCOL = 4;
const MAX_WAITING_CALLS = 16;
/** Messages of at least this size are parsed in a worker thread. */
const LARGE_BYTES = 64 * 1024;
const ROLE = "operator";
/** Gateways on a loopback address accept this client without the approval of a device. */
const CLIENT = { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" };

interface WaitingCall {
  method: GatewayMethod;
  resolve(payload: unknown): void;
  reject(error: AgentHostError): void;
}

/** An authenticated connection to a gateway. It ends with the first thing that the gateway must not send. */
export class GatewayConnection {
  /** Why the connection has ended. */
  readonly ended: Promise<AgentHostError>;
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #limiter: ReceiveLimiter;
  readonly #calls = new Map<string, WaitingCall>();
  readonly #challenge = Promise.withResolvers<Extract<Frame, { type: "challenge" }>>();
  readonly #end = Promise.withResolvers<AgentHostError>();
  readonly #pings: NodeJS.Timeout;
  #endedWith: AgentHostError | null = null;
  /** Until the last large message has been read; `null` when none waits. */
  #reading: Promise<void> | null = null;
  #lastId = 0;
  #heardAt = performance.now();

  /** @throws {AgentHostError} or the reason of the signal */
  static async open(options: ConnectionOptions, signal: AbortSignal): Promise<GatewayConnection> {
    signal.throwIfAborted();
    const timeout = AbortSignal.timeout(options.timeouts.connect);
    const ended = AbortSignal.any([signal, timeout]);
    try {
      const { socket, connection: stream } = await openSocket(options.url, options, ended);
      const connection = new GatewayConnection(socket, options);
      connection.#limiter.watch(stream);
      socket.resume();
      try {
        await connection.#authenticate(ended);
        return connection;
      } catch (error) {
        connection.close();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted)
        throw new AgentHostError("timed_out", "The gateway does not respond in time.", { cause: error });
      throw error;
    }
  }

  private constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.ended = this.#end.promise;
    this.#challenge.promise.catch(() => undefined);
    const tooMuch = new AgentHostError("invalid_response", "The gateway sends more than is allowed.");
    this.#limiter = new ReceiveLimiter(options.maxMessageBytes, options.buffered, () => this.#stop(tooMuch));
    socket.on("message", (data, isBinary) => this.#receive(isBinary || !Buffer.isBuffer(data) ? null : data));
    socket.on("pong", () => this.#hear());
    socket.on("ping", () => this.#hear());
    socket.on("error", (cause) => this.#stop(explainProtocolError(cause)));
    socket.on("close", () => this.#stop(new AgentHostError("unreachable", "The gateway has closed the connection.")));
    this.#pings = setInterval(() => this.#ping(), options.timeouts.ping).unref();
  }

  /**
   * Sends a request and returns the part of its response that the schema of the method describes.
   *
   * @throws {AgentHostError} or the reason of the signal
   */
  async request<Method extends GatewayMethod>(
    method: Method,
    params: object,
    signal: AbortSignal,
  ): Promise<GatewayResponse<Method>> {
    const timeout = AbortSignal.timeout(this.#options.timeouts.call);
    const ended = AbortSignal.any([signal, timeout]);
    // parseFrame has validated it.
    return (await this.#call(method, params, ended, timeout)) as GatewayResponse<Method>;
  }

  close(): void {
    this.#stop(new AgentHostError("unreachable", "The connection was closed."));
  }

  async #call(method: GatewayMethod, params: object, ended: AbortSignal, timeout: AbortSignal): Promise<unknown> {
    ended.throwIfAborted();
    if (this.#endedWith !== null) throw this.#endedWith;
    if (this.#calls.size >= MAX_WAITING_CALLS)
      throw new AgentHostError("overloaded", "Too many calls wait for this gateway. Try again later.");
    const id = String(++this.#lastId);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const abort = (): void =>
      reject(
        timeout.aborted
          ? new AgentHostError("timed_out", "The gateway does not respond in time.")
          : (ended.reason as Error),
      );
    this.#calls.set(id, { method, resolve, reject });
    this.#limiter.startRequest();
    ended.addEventListener("abort", abort, { once: true });
    try {
      this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
      return await promise;
    } finally {
      ended.removeEventListener("abort", abort);
      this.#calls.delete(id);
      this.#limiter.endRequest();
    }
  }

  async #authenticate(signal: AbortSignal): Promise<void> {
    const { nonce, sentAtMs } = await raceWithSignal(this.#challenge.promise, signal);
    const params = this.#connectParams(nonce, sentAtMs);
    const { protocol, auth } = await this.request("connect", params, signal);
    if (protocol !== PROTOCOL)
      throw new AgentHostError("unsupported", "The gateway does not speak version 4 of its protocol. Update OpenClaw.");
    if (!this.#options.scopes.every((scope) => isGranted(scope, auth.scopes)))
      throw new AgentHostError("unauthorized", "The gateway accepts the token, but does not permit to read with it.");
  }

  #connectParams(nonce: string, signedAtMs: number): object {
    const { token, device, scopes } = this.#options;
    const { id: clientId, mode: clientMode, platform } = CLIENT;
    const claim = { clientId, clientMode, platform, role: ROLE, scopes, token, nonce, signedAtMs };
    return {
      minProtocol: PROTOCOL,
      maxProtocol: PROTOCOL,
      client: CLIENT,
      role: ROLE,
      scopes,
      caps: [],
      auth: { token },
      device: device.sign(claim),
    };
  }

  /** Messages that come while a large one is read are read after it. */
  #receive(message: Buffer | null): void {
    this.#hear();
    if (message === null) return this.#stop(notAllowed());
    if (this.#reading === null && message.length < LARGE_BYTES) return this.#read(message);
    const current = (this.#reading ?? Promise.resolve())
      .then(() => (message.length < LARGE_BYTES ? this.#read(message) : this.#readLarge(message)))
      .catch((error) => this.#stop(tooManyMessages(error)))
      .finally(() => {
        if (this.#reading === current) this.#reading = null;
      });
    this.#reading = current;
  }

  #read(message: Buffer): void {
    this.#limiter.finishMessage();
    if (this.#endedWith === null) this.#accept(parseFrame(message.toString(), this.#waiting()));
  }

  async #readLarge(message: Buffer): Promise<void> {
    if (this.#endedWith !== null) return;
    const { orgId, textWorkers } = this.#options;
    const frame = await textWorkers.run(orgId, "parseLargeFrame", { message, waiting: this.#waiting() });
    this.#limiter.finishMessage();
    this.#accept(frame);
  }

  #waiting(): Map<string, GatewayMethod> {
    return new Map([...this.#calls].map(([id, { method }]) => [id, method]));
  }

  #accept(frame: Frame | null): void {
    if (frame === null) this.#stop(notAllowed());
    else if (frame.type === "challenge") this.#challenge.resolve(frame);
    else if (frame.type !== "other") this.#settle(frame);
  }

  /** A response without a waiting call came after the deadline of the call. */
  #settle(frame: Extract<Frame, { id: string }>): void {
    const call = this.#calls.get(frame.id);
    if (frame.type === "response") call?.resolve(frame.payload);
    else call?.reject(frame.type === "error" ? this.#toError(frame.error) : unexpectedForm(frame));
  }

  #toError(error: GatewayError): AgentHostError {
    return toAgentHostError(error, this.#options.device.id);
  }

  #hear(): void {
    this.#heardAt = performance.now();
  }

  #ping(): void {
    const { ping } = this.#options.timeouts;
    if (performance.now() - this.#heardAt > 2 * ping)
      this.#stop(new AgentHostError("timed_out", "The gateway does not respond any more."));
    else this.#socket.ping();
  }

  #stop(error: AgentHostError): void {
    if (this.#endedWith !== null) return;
    this.#endedWith = error;
    clearInterval(this.#pings);
    this.#limiter[Symbol.dispose]();
    this.#socket.terminate();
    this.#challenge.reject(error);
    for (const { reject } of this.#calls.values()) reject(error);
    this.#end.resolve(error);
  }
}

/** `operator.admin` includes every other scope. */
function isGranted(scope: Scope, granted: readonly string[]): boolean {
  return granted.includes(scope) || granted.includes("operator.admin");
}

function tooManyMessages(cause: unknown): AgentHostError {
  return new AgentHostError("overloaded", "Too many large messages of gateways wait. Try again later.", { cause });
}

function unexpectedForm({ method, problem }: Extract<Frame, { type: "invalid_response" }>): AgentHostError {
  return new AgentHostError("invalid_response", `The response of the gateway to ${method} has not the expected form.`, {
    cause: new Error(problem),
  });
}

function notAllowed(cause?: Error): AgentHostError {
  return new AgentHostError("invalid_response", "The gateway sends something else than its protocol allows.", {
    cause,
  });
}

/** The WebSocket library reports a frame that is too large, or that the protocol does not allow. */
function explainProtocolError(cause: Error & { code?: unknown }): AgentHostError {
  if (cause.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH")
    return new AgentHostError("invalid_response", "The gateway sends a larger message than is allowed.", { cause });
  if (typeof cause.code === "string" && cause.code.startsWith("WS_ERR")) return notAllowed(cause);
  return new AgentHostError("unreachable", "The connection to the gateway was lost.", { cause });
}
