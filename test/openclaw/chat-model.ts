import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A model server with the chat completions API of OpenAI, on a loopback address. */
export interface ChatModel extends AsyncDisposable {
  url: string;
}

/** The message to which the model responds with a call of the tool `read`. */
export const READ_RULES = "please read AGENTS.md";

interface Message {
  role: string;
  content: string | { text?: string }[] | null;
}

const USAGE = {
  prompt_tokens: 123,
  completion_tokens: 7,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 20 },
};

/** It says `Hello`, or reads AGENTS.md when it is asked to, and then says so. */
export async function openChatModel(): Promise<ChatModel> {
  const server = createServer((request, response) => {
    json(request).then(
      (body) => respond((body as { messages?: Message[] }).messages ?? [], response),
      () => response.writeHead(400).end(),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function respond(messages: readonly Message[], response: ServerResponse): void {
  const newest = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const isAsked = newest.some(({ role, content }) => role === "user" && textOf(content).includes(READ_RULES));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: object, finish: string | null = null): void => {
    const choice = { index: 0, delta, finish_reason: finish };
    const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [choice] };
    response.write(`data: ${JSON.stringify({ ...chunk, ...(finish !== null && { usage: USAGE }) })}\n\n`);
  };
  if (newest.some(({ role }) => role === "tool")) send({ role: "assistant", content: "It says: Rules" });
  else if (isAsked) {
    const call = { name: "read", arguments: '{"path":"AGENTS.md"}' };
    send({ role: "assistant", content: "Looking." });
    send({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] });
    send({}, "tool_calls");
  } else send({ role: "assistant", content: "Hello" });
  if (!isAsked) send({}, "stop");
  response.end("data: [DONE]\n\n");
}

function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("");
}
