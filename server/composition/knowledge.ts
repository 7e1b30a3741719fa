import path from "node:path";
import { DOCUMENT_LIMITS } from "../../domain/documents/document-limits.ts";
import type { DocumentReader } from "../../domain/ports/document-reader.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { SandboxedReader } from "../drivers/document-reader/sandboxed-reader.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined.ts";
import { TOOLCHAIN_FOLDERS } from "./bundler.ts";
import type { Foundation } from "./foundation.ts";

/** Opens the dependencies of Company Knowledge. */
export async function openKnowledge(foundation: Foundation): Promise<Capabilities["knowledge"]> {
  const { database } = foundation;
  return { em: database.em, db: database.db, documentReader: await openDocumentReader(foundation) };
}

/** Opens the reader of uploaded files, and removes the files of an earlier process. */
function openDocumentReader({ config, controlGroups: groups, startProcess }: Foundation): Promise<DocumentReader> {
  return SandboxedReader.open({
    sandbox:
      config.sandbox === "none"
        ? new UnconfinedSandbox({ groups })
        : new BubblewrapSandbox({ kind: "programs", groups, startProcess }),
    folder: path.join(config.dataDirectory, "document-reads"),
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    limits: { pages: DOCUMENT_LIMITS.pages, characters: DOCUMENT_LIMITS.textBytes },
  });
}
