import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";
import type { Block, ScriptedApi, ScriptedSuccess } from "./script-server.ts";

/** The OpenAI Responses API. */
export const openAIScript: ScriptedApi = {
  isScripted: (request) => Array.isArray((request as { input?: unknown }).input),
  toEvents(_request, id, success) {
    const response = toResponse(id, success);
    return [
      [{ type: "response.created", response: { id: response.id } }],
      ...response.output.map((item, index) => [
        { type: "response.output_item.added", output_index: index, item },
        { type: "response.output_item.done", output_index: index, item },
      ]),
      [{ type: "response.completed", response }],
    ];
  },
  toBody: (_request, id, success) => toResponse(id, success),
  toError: (message) => ({ error: { type: "invalid_request_error", code: "invalid_request", message } }),
};

function toResponse(id: string, { blocks, usage }: ScriptedSuccess) {
  const output = blocks.map((block, index) => toItem(block, `${id}_${index}`));
  return { id: `resp_${id}`, status: "completed", output, usage: toUsage(usage) };
}

/** The tokens of the cache are included in `input_tokens`. */
function toUsage({ input, output, cache_read, cache_write }: EntryUsage) {
  const inputTokens = input + cache_read + cache_write;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cache_read, cache_write_tokens: cache_write },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: Math.floor(output / 4) },
    total_tokens: inputTokens + output,
  };
}

function toItem(block: Block, id: string): object {
  if ("text" in block) {
    const content = [{ type: "output_text", text: block.text }];
    return { type: "message", id: `msg_${id}`, role: "assistant", content };
  }
  if ("thinking" in block)
    return { type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text: block.thinking }] };
  const { call: name, id: call_id, input } = block;
  return { type: "function_call", id: `fc_${id}`, call_id, name, arguments: JSON.stringify(input) };
}
