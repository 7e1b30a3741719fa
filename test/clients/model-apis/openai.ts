import { checkTools, eventStream, type ModelAnswer, nextTurn, type Turn } from "./model-api.ts";

interface Tool {
  type: string;
  name?: string;
  description?: string;
  parameters?: Record<string, unknown>;
  strict?: boolean;
  /** The tools of a namespace. */
  tools?: Tool[];
}

interface ResponsesRequest {
  tools?: Tool[];
  input: { type?: string; output?: unknown }[];
}

/** The OpenAI Responses API, as a stream. */
export function answerOpenAI(request: unknown): ModelAnswer {
  const { tools = [], input } = request as ResponsesRequest;
  const names = tools.flatMap(({ name = "", tools: inner }) => inner?.map((tool) => tool.name ?? "") ?? [name]);
  const result = input.findLast(({ type }) => type === "function_call_output");
  const toolResult = result === undefined ? null : JSON.stringify(result.output);
  const functions = tools.flatMap((tool) => tool.tools ?? [tool]).filter(({ type }) => type === "function");
  const strictNames = new Set(functions.filter(({ strict }) => strict === true).map(({ name }) => name));
  const listed = functions.map(({ name = "", description = "-", parameters = {} }) => ({
    name,
    description,
    inputSchema: parameters,
  }));
  const violations = checkTools(listed, ({ name }) => (strictNames.has(name) ? "openai-strict" : "openai"));
  return { tools: names, violations, toolResult, ...eventStream(eventsOf(nextTurn(names, toolResult), tools)) };
}

function eventsOf(turn: Turn, tools: Tool[]) {
  const item = itemOf(turn, tools);
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: "response.created", response: { id: "resp_1" } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [item], usage } },
  ];
}

function itemOf(turn: Turn, tools: Tool[]) {
  if ("text" in turn)
    return { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: turn.text }] };
  const namespace = tools.find(({ tools: inner }) => inner?.some(({ name }) => name === turn.call))?.name;
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: turn.call, arguments: "{}" };
  return namespace === undefined ? call : { ...call, namespace };
}
