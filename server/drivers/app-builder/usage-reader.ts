import type { TokenUsage } from "../../../domain/ports/app-builder-agent.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";

/** A longer line has no usage that is read. In characters. */
const MAX_LINE = 1024 * 1024;

/** Without a usage, so many bytes count as one token. */
const BYTES_PER_TOKEN = 3;

/**
 * Reads from a response of a model how many tokens were used: from a JSON object, or from the events of a stream. Where the
 * usage is missing, the size of the response counts.
 */
export class UsageReader {
  readonly #decoder = new TextDecoder();
  #line = "";
  #bytes = 0;
  #input = 0;
  #output = 0;

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    const lines = (this.#line + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#line = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) this.#read(line);
  }

  end(): TokenUsage {
    this.#read(this.#line);
    const isKnown = this.#input + this.#output > 0;
    return {
      inputTokens: this.#input,
      outputTokens: isKnown ? this.#output : Math.ceil(this.#bytes / BYTES_PER_TOKEN),
    };
  }

  #read(line: string): void {
    if (!line.includes('"usage"')) return;
    const event = parseJson(line.replace(/^data:\s*/, ""));
    if (!isRecord(event)) return;
    for (const part of [event, event["message"], event["response"]]) if (isRecord(part)) this.#add(part["usage"]);
  }

  /** The counts of a stream grow, so the largest one is the total. */
  #add(usage: unknown): void {
    if (!isRecord(usage)) return;
    const cached = ["cache_read_input_tokens", "cache_creation_input_tokens"].map((name) => toCount(usage[name]));
    const input = toCount(usage["prompt_tokens"]) + toCount(usage["input_tokens"]);
    this.#input = Math.max(this.#input, input + cached.reduce((sum, count) => sum + count, 0));
    this.#output = Math.max(this.#output, toCount(usage["completion_tokens"]) + toCount(usage["output_tokens"]));
  }
}

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
