import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { ARCHIVE_LIMITS, DOCUMENT_EXTENSIONS } from "../../../domain/documents/archive-files.ts";
import { DOCUMENT_LIMITS } from "../../../domain/documents/document-limits.ts";
import {
  SandboxedReader,
  type SandboxedReaderOptions,
} from "../../../server/drivers/document-reader/sandboxed-reader.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const MODULES = path.resolve(import.meta.dirname, "../../../node_modules");

/** Opens a reader for the tests of a file. */
export function sharedReader(options: Partial<SandboxedReaderOptions> = {}): () => SandboxedReader {
  const state: { reader?: SandboxedReader; folder?: Awaited<ReturnType<typeof temporaryFolder>> } = {};
  beforeAll(async () => {
    state.folder = await temporaryFolder();
    state.reader = await SandboxedReader.open({
      sandbox: new BubblewrapSandbox({ kind: "programs" }),
      folder: path.join(state.folder.path, "reads"),
      modulesDirectory: MODULES,
      limits: { pages: DOCUMENT_LIMITS.pages, characters: DOCUMENT_LIMITS.textBytes },
      archiveLimits: { ...ARCHIVE_LIMITS, extensions: DOCUMENT_EXTENSIONS },
      ...options,
    });
  });
  afterAll(() => state.folder?.[Symbol.asyncDispose]());
  return () => {
    if (state.reader === undefined) throw new Error("the reader is open only while tests run");
    return state.reader;
  };
}
