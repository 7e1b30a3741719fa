import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A call that the model makes, or its last words. */
export type Turn = { tool: string; input: object } | string;

/** A model on loopback that streams in the protocols of coding agents, and makes the calls of a list one after the other. */
export interface BuilderModel extends AsyncDisposable {
  url: string;
  /** Sets the next turns. */
  respond(...turns: Turn[]): void;
  /** The requests so far, for messages of failed tests. */
  requests: string[];
}

export async function openBuilderModel(): Promise<BuilderModel> {
  const requests: string[] = [];
  let script: Turn[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    requests.push(`${request.method} ${request.url} ${body.slice(-2000)}`);
    const { tools = [] } = JSON.parse(body) as { tools?: unknown[] };
    // Requests without tools ask for a title and the like.
    const turn = tools.length === 0 ? "A title" : (script.shift() ?? "Done.");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(streamOf(request.url ?? "", turn));
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    respond: (...turns) => {
      script = turns;
    },
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function streamOf(url: string, turn: Turn): string {
  if (url.includes("/messages")) return anthropicStream(turn);
  return url.includes("/responses") ? responsesStream(turn) : completionsStream(turn);
}

function anthropicStream(turn: Turn): string {
  const [block, delta] =
    typeof turn === "string"
      ? [
          { type: "text", text: "" },
          { type: "text_delta", text: turn },
        ]
      : [
          { type: "tool_use", id: "toolu_1", name: turn.tool, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(turn.input) },
        ];
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const stop = { stop_reason: typeof turn === "string" ? "end_turn" : "tool_use", stop_sequence: null };
  return events([
    { type: "message_start", message: { ...message, usage: { input_tokens: 100, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ]);
}

function responsesStream(turn: Turn): string {
  const item =
    typeof turn === "string"
      ? { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: turn }] }
      : {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: turn.tool,
          arguments: JSON.stringify(turn.input),
        };
  const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
  return events([
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [item], usage } },
  ]);
}

function events(list: { type: string; [field: string]: unknown }[]): string {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function completionsStream(turn: Turn): string {
  const delta =
    typeof turn === "string"
      ? { role: "assistant", content: turn }
      : {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              index: 0,
              id: "call_1",
              type: "function",
              function: { name: turn.tool, arguments: JSON.stringify(turn.input) },
            },
          ],
        };
  const chunk = (choices: object[], usage?: object) => ({
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    choices,
    usage,
  });
  const chunks = [
    chunk([{ index: 0, delta, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: typeof turn === "string" ? "stop" : "tool_calls" }]),
    chunk([], { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }),
  ];
  return `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`;
}
