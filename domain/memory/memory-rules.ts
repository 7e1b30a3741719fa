import { ServiceError } from "../shared/errors.ts";
import { checkStorableText } from "../shared/storable-text-rules.ts";

/** The position of a kind is its category in the search index: add a new kind at the end. */
export const MEMORY_KINDS = ["preference", "commitment", "fact"] as const;

export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const MEMORY_LIMITS = {
  contentCharacters: 4000,
  memoriesPerAgent: 10_000,
} as const;

/**
 * Returns a content as it is stored: without spaces at its ends.
 *
 * @throws {ServiceError} `invalid` for a content without a letter or digit, a too long one, or one that the database cannot store
 */
export function checkMemoryContent(content: string): string {
  const stored = content.trim();
  const { contentCharacters } = MEMORY_LIMITS;
  if (stored.length > contentCharacters)
    throw new ServiceError(
      "invalid",
      `content: has ${stored.length} characters, and at most ${contentCharacters} are allowed. Store one statement per memory.`,
    );
  checkStorableText("content", stored);
  if (!/[\p{L}\p{N}]/u.test(stored))
    throw new ServiceError("invalid", "content: must have at least one letter or digit.");
  return stored;
}

/** The same error for a memory that never existed and for any of another agent. */
export function memoryNotFound(): ServiceError {
  return new ServiceError("not_found", "Memory not found. memory_recall finds the memories of an agent.");
}
