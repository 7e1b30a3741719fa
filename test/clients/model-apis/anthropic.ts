import { checkTools, eventStream, jsonBody, type ModelAnswer, nextTurn, type Turn } from "./model-api.ts";

interface MessagesRequest {
  model: string;
  stream?: boolean;
  tools?: { name: string; description?: string; input_schema?: Record<string, unknown> }[];
  messages: { content: string | { type: string; content?: unknown }[] }[];
}

/** The Anthropic Messages API. */
export function answerAnthropic(request: unknown): ModelAnswer {
  const { model, stream = false, tools = [], messages } = request as MessagesRequest;
  const names = tools.map(({ name }) => name);
  const results = messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result");
  const toolResult = results.length === 0 ? null : JSON.stringify(results.at(-1)?.content);
  const turn = nextTurn(names, toolResult);
  const response = stream ? eventStream(eventsOf(model, turn)) : jsonBody(messageOf(model, [blockOf(turn)]));
  const listed = tools.map((tool) => ({ description: "-", inputSchema: tool.input_schema ?? {}, ...tool }));
  return { tools: names, violations: checkTools(listed, () => "anthropic"), toolResult, ...response };
}

function blockOf(turn: Turn) {
  return "text" in turn
    ? { type: "text", text: turn.text }
    : { type: "tool_use", id: "toolu_1", name: turn.call, input: {} };
}

function messageOf(model: string, content: { type: string }[]) {
  const reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  const usage = { input_tokens: 1, output_tokens: 1 };
  return { id: "msg_1", type: "message", role: "assistant", model, content, stop_reason: reason, usage };
}

function eventsOf(model: string, turn: Turn) {
  const block = blockOf(turn);
  const start = "text" in turn ? { type: "text", text: "" } : block;
  const delta =
    "text" in turn ? { type: "text_delta", text: turn.text } : { type: "input_json_delta", partial_json: "{}" };
  const { stop_reason: reason, usage } = messageOf(model, [block]);
  return [
    { type: "message_start", message: { ...messageOf(model, []), stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: start },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}
