import path from "node:path";
import { DOCUMENT_LIMITS } from "../../domain/documents/document-limits.ts";
import { countModelCall } from "../../domain/rate-limits/limit-model-calls.ts";
import type { DocumentReader } from "../../domain/ports/document-reader.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { AiSdkModel } from "../drivers/language-model/ai-sdk-model.ts";
import { SandboxedReader } from "../drivers/document-reader/sandboxed-reader.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined-sandbox.ts";
import { TOOLCHAIN_FOLDERS } from "./bundler.ts";
import type { EmbeddingServices } from "./embeddings.ts";
import type { Foundation } from "./foundation.ts";

/** How many answers a language model writes at the same time, and how many searches wait for it, in all and of one organization. */
const MODEL_CALLS = { running: 16, runningPerKey: 8, waiting: 64, waitingPerKey: 16, waitMs: 10_000 };

/** Opens the dependencies of Company Knowledge. */
export async function openKnowledge(
  foundation: Foundation,
  { queryEmbedder }: EmbeddingServices,
): Promise<Capabilities["knowledge"]> {
  const { config, database, log, plans, shared, textWorkers } = foundation;
  return {
    em: database.em,
    db: database.db,
    plans,
    textWorkers,
    modelCalls: new FairQueue(MODEL_CALLS, "other answers are being written"),
    mayCallModel: (orgId) => countModelCall({ db: database.db, plans, counter: shared.counter }, orgId),
    queryEmbedder,
    documentReader: await openDocumentReader(foundation),
    languageModel: config.model === null ? null : new AiSdkModel(config.model),
    // Only the message: the error contains the request, with texts of documents.
    reportModelError: (error) =>
      log.warn({ problem: error instanceof Error ? error.message : null }, "the language model has not answered"),
  };
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
