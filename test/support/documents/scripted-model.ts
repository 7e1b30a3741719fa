import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { startLoopbackServer } from "../loopback-server.ts";

/** A request that the endpoint has received. */
export interface ModelCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** An endpoint on loopback that speaks the protocols of both providers, and responds with the texts of the test. */
export interface ScriptedModel extends AsyncDisposable {
  url: string;
  calls: ModelCall[];
  /** The text of the next responses; a number is the status of an error, and `null` leaves requests without response. */
  respond(next: string | number | null): void;
}

export async function openScriptedModel(): Promise<ScriptedModel> {
  const calls: ModelCall[] = [];
  let next: string | number | null = "";
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    calls.push({ path, headers: request.headers, body: JSON.parse(await text(request)) as Record<string, unknown> });
    if (next === null) return;
    const isError = typeof next === "number";
    response.writeHead(isError ? Number(next) : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isError ? { error: { message: "scripted" } } : message(path, String(next))));
  };
  const server = await startLoopbackServer((request, response) => void handle(request, response));
  return {
    url: `${server.url}/v1`,
    calls,
    respond: (value) => {
      next = value;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function message(path: string, content: string): object {
  if (path.endsWith("/messages"))
    return {
      ...{ id: "1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: content }] },
      ...{ stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    };
  return {
    ...{ id: "1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}
