import path from "node:path";
import { ARCHIVE_LIMITS, DOCUMENT_EXTENSIONS } from "../../domain/documents/archive-files.ts";
import { DOCUMENT_LIMITS } from "../../domain/documents/document-limits.ts";
import type { DocumentReader } from "../../domain/ports/document-reader.ts";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import { countModelCall } from "../../domain/rate-limits/limit-model-calls.ts";
import { QueryEmbedder } from "../../domain/search/query-embedder.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import type { Service } from "../../routers/core/context.ts";
import { SandboxedReader } from "../drivers/document-reader/sandboxed-reader.ts";
import { AiSdkEmbeddings } from "../drivers/embeddings/ai-sdk-embeddings.ts";
import { HttpsFiles } from "../drivers/public-files/https-files.ts";
import { AiSdkModel } from "../drivers/language-model/ai-sdk-model.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined-sandbox.ts";
import { TOOLCHAIN_FOLDERS } from "./bundler.ts";
import type { Foundation } from "./foundation.ts";

/** How many answers a language model writes at the same time, and how many searches wait for it, in all and of one organization. */
const MODEL_CALLS = { running: 16, runningPerKey: 8, waiting: 64, waitingPerKey: 16, waitMs: 10_000 };

type KnowledgeParts = Pick<
  Service,
  | "textWorkers"
  | "queryEmbedder"
  | "documentReader"
  | "publicFiles"
  | "languageModel"
  | "modelCalls"
  | "mayCallModel"
  | "reportModelError"
>;

/** Opens the part of the service that reads, searches and answers from documents, and the embeddings for the worker. */
export async function openKnowledge(
  foundation: Foundation,
): Promise<KnowledgeParts & Pick<EmbeddingServices, "embeddings">> {
  const { config, database, external, log, plans, shared, textWorkers } = foundation;
  return {
    ...createEmbeddings(foundation),
    textWorkers,
    modelCalls: new FairQueue(MODEL_CALLS, "other answers are being written"),
    mayCallModel: (orgId) => countModelCall({ db: database.db, plans, counter: shared.counter }, orgId),
    publicFiles: external.publicFiles ?? new HttpsFiles(),
    documentReader: await openDocumentReader(foundation),
    languageModel: config.model === null ? null : new AiSdkModel(config.model),
    // Only the message: the error contains the request, with texts of documents.
    reportModelError: (error) => log.warn({ problem: messageOf(error) }, "the language model has not answered"),
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
    archiveLimits: { ...ARCHIVE_LIMITS, extensions: DOCUMENT_EXTENSIONS },
  });
}

interface EmbeddingServices {
  /** For the worker, which embeds texts. `null` when no endpoint is configured. */
  embeddings: Embeddings | null;
  /** For searches. `null` when no endpoint is configured. */
  queryEmbedder: QueryEmbedder | null;
}

function createEmbeddings({ config, log }: Foundation): EmbeddingServices {
  if (config.embeddings === null) return { embeddings: null, queryEmbedder: null };
  const embeddings = new AiSdkEmbeddings(config.embeddings);
  const report = (error: unknown): void =>
    log.warn({ problem: messageOf(error) }, "a query could not be embedded; the search used its words only");
  return { embeddings, queryEmbedder: new QueryEmbedder({ embeddings, report }) };
}

/** Only the message: other fields of an error could contain texts or the key. */
function messageOf(error: unknown): string | null {
  return error instanceof Error ? error.message : null;
}
