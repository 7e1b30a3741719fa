import { MAX_INSTRUCTION_BYTES } from "../ports/agent-host.ts";
import { ServiceError } from "../shared/errors.ts";
import { checkStorableText } from "../shared/storable-text-rules.ts";

export const INSTRUCTION_LIMITS = {
  /** Of the content of one revision in UTF-8. Codex reads no more of an AGENTS.md by default. */
  bytes: MAX_INSTRUCTION_BYTES,
  /** Of one agent. With a further one, the oldest is removed. */
  revisions: 200,
} as const;

/** @throws {ServiceError} `invalid` for a content that is too large, or that no text file can have */
export function checkContent(content: string): void {
  checkStorableText("content", content);
  const size = Buffer.byteLength(content);
  if (size > INSTRUCTION_LIMITS.bytes)
    throw new ServiceError(
      "invalid",
      `content: has ${size} bytes, and at most ${INSTRUCTION_LIMITS.bytes} are allowed. An agent reads all of its instructions before every task.`,
    );
}
