import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { startLoopbackServer } from "../loopback-server.ts";

/** A request that the endpoint has received. */
export interface ModelCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** The call of a tool that the model makes. */
export interface ToolCall {
  tool: string;
  input: object;
}

/** A text or a tool call; a number is the status of an error, `null` is no response, and `cut` one that ends early. */
export type ScriptedResponse = string | ToolCall | number | null | { cut: true };

/** An endpoint on loopback that speaks the protocols of both providers, and responds with the texts of the test. */
export interface ScriptedModel extends AsyncDisposable {
  url: string;
  calls: ModelCall[];
  /** The next responses, one for each request. The last one is repeated. */
  respond(...next: ScriptedResponse[]): void;
}

export async function openScriptedModel(): Promise<ScriptedModel> {
  const calls: ModelCall[] = [];
  let script: ScriptedResponse[] = [""];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    calls.push({ path, headers: request.headers, body: JSON.parse(await text(request)) as Record<string, unknown> });
    const next = script.length > 1 ? script.shift()! : script[0]!;
    if (next === null) return;
    if (typeof next === "object" && "cut" in next) {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"id": "1", "choi', () => response.destroy());
      return;
    }
    const isError = typeof next === "number";
    response.writeHead(typeof next === "number" ? next : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isError ? { error: { message: "scripted" } } : message(path, next)));
  };
  const server = await startLoopbackServer((request, response) => void handle(request, response));
  return {
    url: `${server.url}/v1`,
    calls,
    respond: (...next) => {
      script = next;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** How many tokens each response reports. */
export const USAGE = { input: 100, output: 20 };

function message(path: string, next: string | number | ToolCall): object {
  const isCall = typeof next === "object";
  if (path.endsWith("/messages")) {
    const block = isCall
      ? { type: "tool_use", id: "call", name: next.tool, input: next.input }
      : { type: "text", text: String(next) };
    const usage = { input_tokens: USAGE.input, output_tokens: USAGE.output };
    const stop = { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null };
    return { id: "1", type: "message", role: "assistant", model: "m", content: [block], ...stop, usage };
  }
  const calls = isCall
    ? [{ id: "call", type: "function", function: { name: next.tool, arguments: JSON.stringify(next.input) } }]
    : undefined;
  const reply = { role: "assistant", content: isCall ? null : String(next), tool_calls: calls };
  return {
    id: "1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: reply, finish_reason: isCall ? "tool_calls" : "stop" }],
    usage: {
      prompt_tokens: USAGE.input,
      completion_tokens: USAGE.output,
      total_tokens: USAGE.input + USAGE.output,
    },
  };
}
