import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { WebSocket } from "ws";

const RUN_TIMEOUT_MS = 60_000;

interface Response {
  id: string;
  ok: boolean;
  payload?: Record<string, unknown>;
  error?: unknown;
}

/** Gives messages to the agents of a gateway, as its operator does. The service never does this. */
export class GatewayOperator implements Disposable {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (response: Response) => void>();

  static async connect({ url, token }: { url: string; token: string }): Promise<GatewayOperator> {
    const socket = new WebSocket(url);
    const operator = new GatewayOperator(socket);
    // The gateway speaks first.
    await once(socket, "message");
    await operator.#request("connect", {
      minProtocol: 4,
      maxProtocol: 4,
      client: { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" },
      role: "operator",
      scopes: ["operator.read", "operator.write"],
      caps: [],
      auth: { token },
    });
    return operator;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const response = JSON.parse(data.toString()) as Response;
      this.#waiting.get(response.id)?.(response);
    });
  }

  /** Gives a message to an agent, in its main session, and waits until it has responded. */
  async tell(agentId: string, message: string): Promise<void> {
    const run = { agentId, message, sessionKey: `agent:${agentId}:main`, idempotencyKey: randomUUID() };
    const { runId } = await this.#request("agent", run);
    const { status } = await this.#request("agent.wait", { runId, timeoutMs: RUN_TIMEOUT_MS });
    if (status !== "ok") throw new Error(`the run of the agent ended with ${String(status)}`);
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }

  async #request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.#waiting.set(id, resolve);
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    const { ok, payload = {}, error } = await promise;
    if (!ok) throw new Error(`the gateway refuses ${method}: ${JSON.stringify(error)}`);
    return payload;
  }
}
