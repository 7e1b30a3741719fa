import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";
import type { Block, ScriptedApi, ScriptedSuccess } from "./script-server.ts";

/** The Gemini API. */
export const geminiScript: ScriptedApi = {
  isScripted(request) {
    const { tools = [] } = request as { tools?: { functionDeclarations?: { name: string }[] }[] };
    return tools.some((tool) => tool.functionDeclarations?.some(({ name }) => name === "run_shell_command"));
  },
  isStream: (url) => url.includes(":streamGenerateContent"),
  toEvents(_request, id, { blocks, usage }) {
    const last = blocks.length - 1;
    return blocks.map((block, index) => [toResponse(id, [block], index === last ? usage : undefined)]);
  },
  toBody: (_request, id, { blocks, usage }: ScriptedSuccess) => toResponse(id, blocks, usage),
  toError: (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
};

function toResponse(responseId: string, blocks: Block[], usage: EntryUsage | undefined) {
  const content = { role: "model", parts: blocks.map(toPart) };
  const candidate = { content, index: 0, ...(usage && { finishReason: "STOP" }) };
  return {
    candidates: [candidate],
    modelVersion: "gemini-2.5-flash",
    responseId,
    ...(usage && { usageMetadata: toUsage(usage) }),
  };
}

function toPart(block: Block): object {
  if ("text" in block) return { text: block.text };
  if ("thinking" in block) return { text: block.thinking, thought: true };
  return { functionCall: { id: block.id, name: block.call, args: block.input } };
}

/** The tokens of the cache are included in those of the prompt, and thoughts are not included in those of the candidates. */
function toUsage({ input, output, cache_read }: EntryUsage) {
  const thoughts = Math.floor(output / 4);
  return {
    promptTokenCount: input + cache_read,
    cachedContentTokenCount: cache_read,
    candidatesTokenCount: output - thoughts,
    thoughtsTokenCount: thoughts,
    totalTokenCount: input + cache_read + output,
  };
}
