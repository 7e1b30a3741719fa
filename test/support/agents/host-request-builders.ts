import type { ReadTranscript, WriteInstructions } from "../../../domain/ports/agent-host.ts";

/** A request to read a transcript without a limit of its contents. */
export function readRequest(request: Omit<ReadTranscript, "maxCharacters">): ReadTranscript {
  return { ...request, maxCharacters: 1_000_000 };
}

/** A request to replace instructions, of an API key. */
export function writeRequest(request: Omit<WriteInstructions, "author" | "revertedTo">): WriteInstructions {
  return { ...request, author: { userId: null, credential: { kind: "api_key", id: "test" } }, revertedTo: null };
}
