import { z } from "zod";
import { AppCallFailed, type ContentBlock, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { toFailedResult } from "./call-encoding.ts";
import type { McpReply } from "./mcp-exchange.ts";

const mimeType = z.string().optional().catch(undefined);
const resource = z
  .object({ uri: z.string(), mimeType, text: z.string().optional(), blob: z.string().optional() })
  .refine(({ text, blob }) => text !== undefined || blob !== undefined);

/** Other members of a block, such as its annotations and `_meta`, are dropped. */
const blockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal("resource"), resource }),
  z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string().catch(""), mimeType }),
]) satisfies z.ZodType<ContentBlock>;

/**
 * Reads the response to `tools/call`.
 *
 * @throws {AppCallFailed} when it is not one
 */
export function decodeToolResult(reply: McpReply): ProcedureResult {
  const { status, response, text } = reply;
  if (response === null) {
    if (status >= 400) return toFailedResult(reply, text);
    throw new AppCallFailed(`The app responded with status ${status} and without a JSON-RPC response to the call.`);
  }
  if (response.error !== undefined) return toFailedResult(reply, response.error.message);
  const { result } = response;
  if (!isRecord(result)) throw new AppCallFailed("The result of the app's tool is not a JSON object.");
  const { resultType = "complete" } = result;
  if (resultType !== "complete")
    throw new AppCallFailed(
      resultType === "input_required"
        ? "The tool requires input from its client during the call, which is not supported."
        : "The tool returned a result of an unsupported type.",
    );
  const blocks = readBlocks(result["content"]);
  const structured = result["structuredContent"] ?? null;
  if (result["isError"] === true) return toFailedResult(reply, toErrorText(blocks, structured));
  return toResult(blocks, structured);
}

function readBlocks(content: unknown): ContentBlock[] {
  const blocks: unknown = content ?? [];
  if (!Array.isArray(blocks) || !blocks.every(isRecord))
    throw new AppCallFailed("The content of the tool's result is not a list of objects.");
  return blocks.map(readBlock);
}

function readBlock(block: Record<string, unknown>): ContentBlock {
  // Some servers leave the type out, because only text has the member `text`.
  const known = blockSchema.safeParse({ type: "text", ...block });
  if (known.success) return known.data;
  const { _meta, annotations: _annotations, ...rest } = block;
  return { type: "unknown", block: rest };
}

function toErrorText(blocks: readonly ContentBlock[], structured: unknown): string {
  const texts = blocks.flatMap((block) => readText(block) ?? []);
  return texts.length === 0 && structured !== null ? JSON.stringify(structured) : texts.join("\n");
}

function readText(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  return block.type === "resource" ? block.resource.text : undefined;
}

function toResult(blocks: ContentBlock[], structured: unknown): ProcedureResult {
  const texts = blocks.flatMap((block) => (block.type === "text" ? block.text : []));
  if (texts.length === blocks.length) return { ok: true, output: structured ?? texts.join("\n") };
  const isOutput = structured === null;
  return { ok: true, output: isOutput ? blocks.map(toOutput) : structured, content: { blocks, isOutput } };
}

/** A part as a program receives it. */
function toOutput(block: ContentBlock): object {
  return block.type === "unknown" ? block.block : block;
}
