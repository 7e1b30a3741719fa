import { readPassageTexts } from "../../domain/documents/index-passages.ts";
import { readMemoryTexts } from "../../domain/memory/stored-memories.ts";
import { readProcedureTexts } from "../../domain/procedures/indexed-procedures.ts";
import type { TextReaders } from "../../domain/search/update-scopes.ts";

/** Where the texts are stored that can be found by their meaning too. */
export const EMBEDDED_TEXT_READERS: TextReaders = {
  knowledge: readPassageTexts,
  project: readPassageTexts,
  memory: readMemoryTexts,
};

/** Where the texts of each part of the search index are stored. */
export const TEXT_READERS: TextReaders = { ...EMBEDDED_TEXT_READERS, procedures: readProcedureTexts };
