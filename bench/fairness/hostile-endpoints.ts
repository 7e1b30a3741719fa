import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { WebSocketServer } from "ws";

const MEBIBYTE = 1024 * 1024;
const GATEWAY_MESSAGE_BYTES = 7 * MEBIBYTE;

/** A question that consists of one of these words, about a document with it, reaches the model. */
export const MODEL_WORDS = ["spaces", "sentences", "endless", "redirect"] as const;

export type ModelWord = (typeof MODEL_WORDS)[number];

/** What the model does when the prompt contains the word. Otherwise it says that the passages answer nothing. */
const MODEL_BEHAVIORS: Record<ModelWord, (response: ServerResponse) => void> = {
  spaces: (response) =>
    respond(response, `{"sentences": [{"text": "Spaces${" ".repeat(100_000)}.", "citations": []}]}`),
  sentences: (response) => {
    const sentence = { text: "Sentences.", citations: [{ passage: 1, quote: "spaces sentences endless redirect" }] };
    respond(response, JSON.stringify({ sentences: Array.from({ length: 200_000 }, () => sentence) }));
  },
  endless: (response) => {
    const chunk = " ".repeat(MEBIBYTE);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.writeHead(200, { "content-type": "application/json" }).on("drain", write);
    write();
  },
  redirect: (response) => {
    response.writeHead(307, { location: "/v1/elsewhere/endless" }).end();
  },
};

/** A language model and an OpenClaw gateway whose responses need much time or memory. */
export class HostileEndpoints implements AsyncDisposable {
  /** How often the model was asked with one of its words, and how many lists the gateway has sent. */
  modelCalls = 0;
  lists = 0;
  readonly #model = createServer((request, response) => void this.#answer(request, response));
  readonly #gateway = new WebSocketServer({ port: 0, host: "127.0.0.1" });

  static async open(): Promise<HostileEndpoints> {
    const endpoints = new HostileEndpoints();
    endpoints.#model.listen(0, "127.0.0.1");
    await Promise.all([once(endpoints.#model, "listening"), once(endpoints.#gateway, "listening")]);
    return endpoints;
  }

  private constructor() {
    this.#gateway.on("connection", (socket) => {
      socket.on("error", () => undefined);
      socket.on("message", (data) => {
        const { id, method } = JSON.parse((data as Buffer).toString()) as { id: string; method: string };
        if (method !== "connect") this.lists++;
        const payload = method === "connect" ? HELLO : INVALID_LIST;
        socket.send(`{"type":"res","id":${JSON.stringify(id)},"ok":true,"payload":${payload}}`);
      });
      socket.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce: "n", ts: 1 } }));
    });
  }

  get gatewayUrl(): string {
    return `ws://127.0.0.1:${(this.#gateway.address() as AddressInfo).port}`;
  }

  /** The settings of a service that uses these endpoints. */
  get settings(): Record<string, string> {
    return {
      MODEL_PROVIDER: "openai-compatible",
      MODEL_NAME: "hostile",
      MODEL_BASE_URL: `http://127.0.0.1:${(this.#model.address() as AddressInfo).port}/v1`,
      AGENT_HOST_PRIVATE_NETWORKS: "127.0.0.1",
      AGENT_HOST_PRIVATE_PORTS: "1024-65535",
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const prompt = await text(request);
    // The question comes first in the prompt, and the passage contains all words.
    const word = MODEL_WORDS.find((each) => prompt.includes(String.raw`{\"question\":\"${each}\"`));
    if (word === undefined) return respond(response, '{"sentences": []}');
    this.modelCalls++;
    MODEL_BEHAVIORS[word](response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#gateway.clients) client.terminate();
    this.#model.closeAllConnections();
    await Promise.all([
      new Promise((resolve) => this.#gateway.close(resolve)),
      new Promise((resolve) => this.#model.close(resolve)),
    ]);
  }
}

const HELLO = JSON.stringify({
  type: "hello-ok",
  protocol: 4,
  server: { version: "2026.9.6", connId: "c" },
  features: { methods: ["agents.list"], events: [] },
  auth: { method: "token", role: "operator", scopes: ["operator.read"] },
  snapshot: {},
  policy: { maxPayload: 2 ** 25, maxBufferedBytes: 2 ** 25, tickIntervalMs: 30_000 },
});

/** Agents whose ids are numbers, and few enough that the list is parsed. */
const INVALID_LIST = (() => {
  const count = 20_000;
  const agents = Array.from({ length: count }, () => `{"id":1,"name":"${"x".repeat(GATEWAY_MESSAGE_BYTES / count)}"}`);
  return `{"defaultId":"main","mainKey":"main","scope":"per-sender","agents":[${agents.join(",")}]}`;
})();

function respond(response: ServerResponse, content: string): void {
  const message = { role: "assistant", content };
  response.writeHead(200, { "content-type": "application/json" }).end(
    JSON.stringify({
      ...{ id: "1", object: "chat.completion", created: 1, model: "hostile" },
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  );
}
