import { readPassageTexts } from "../../domain/documents/index-passages.ts";
import { readMemoryTexts } from "../../domain/memory/stored-memories.ts";
import type { TextReaders } from "../../domain/search/update-scopes.ts";

/** Where the texts of each part of the search index are stored. */
export const TEXT_READERS: TextReaders = {
  knowledge: readPassageTexts,
  project: readPassageTexts,
  memory: readMemoryTexts,
};
