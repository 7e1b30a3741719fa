import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";
import type { Block, ScriptedApi, ScriptedSuccess } from "./script-server.ts";

/** The Anthropic Messages API. */
export const anthropicScript: ScriptedApi = {
  isScripted(request) {
    const { tools = [] } = request as { tools?: { name: string }[] };
    return tools.some(({ name }) => name.toLowerCase() === "bash");
  },
  toEvents(request, id, { blocks, usage }) {
    const { stop_reason, ...message } = toMessage(request, id, { blocks, usage });
    // The number of output tokens is not known when a response begins.
    const started = { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } };
    return [
      [{ type: "message_start", message: started }],
      ...blocks.map(toBlockEvents),
      [
        { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: message.usage },
        { type: "message_stop" },
      ],
    ];
  },
  toBody: toMessage,
  toError: (message) => ({ type: "error", error: { type: "api_error", message } }),
};

function toMessage(request: unknown, id: string, { blocks, usage }: ScriptedSuccess) {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model: (request as { model: string }).model,
    content: blocks.map(toBlock),
    stop_reason: blocks.some((block) => "call" in block) ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: toUsage(usage),
  };
}

function toBlock(block: Block): object {
  if ("text" in block) return { type: "text", text: block.text };
  if ("thinking" in block) return { type: "thinking", thinking: block.thinking, signature: SIGNATURE };
  return { type: "tool_use", id: block.id, name: block.call, input: block.input };
}

const SIGNATURE = "c2lnbmF0dXJl";

function toUsage({ input, output, cache_read, cache_write }: EntryUsage) {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cache_write,
    cache_read_input_tokens: cache_read,
    output_tokens: output,
  };
}

function toBlockEvents(block: Block, index: number) {
  const [start, ...deltas] = describe(block);
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** The empty block, and the changes that fill it. */
function describe(block: Block): object[] {
  if ("text" in block)
    return [
      { type: "text", text: "" },
      { type: "text_delta", text: block.text },
    ];
  if ("thinking" in block)
    return [
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: block.thinking },
      { type: "signature_delta", signature: SIGNATURE },
    ];
  return [
    { type: "tool_use", id: block.id, name: block.call, input: {} },
    { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
  ];
}
