import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  DOCUMENT_TYPES,
  type DocumentFile,
  type DocumentReader,
  type DocumentType,
  type ReadDocument,
  type ReadOptions,
} from "../../../domain/ports/document-reader.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { FairQueue } from "../../../domain/shared/fair-queue.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import type { Sandbox, SandboxOutcome } from "../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";
import { decodeText } from "./decode-text.ts";
import { detectType, unsupported } from "./detect-type.ts";
import type { ReadLimits, Violation } from "./inside/report.ts";

const MEBIBYTE = 1024 * 1024;

/** How many files are read at the same time, and how many more wait. Of each, one organization has at most half. */
const LIMITS = { running: 2, runningPerKey: 1, waiting: 50, waitingPerKey: 25 };

/** The folder of the program that runs inside the sandbox. */
const PROGRAM_FOLDER = `${import.meta.dirname}/inside`;

export interface SandboxedReaderOptions {
  sandbox: Sandbox;
  /** For the files while they are read. Only this process uses it. */
  folder: string;
  /** The `node_modules` folder with the libraries. */
  modulesDirectory: string;
  limits: ReadLimits;
  wallTimeMs?: number;
  memoryMb?: number;
}

/**
 * Reads HTML, PDF and DOCX in the sandbox, one process for each file, without network and without a folder to write to.
 * Markdown and plain text are only decoded. The service itself loads none of the libraries.
 */
export class SandboxedReader implements DocumentReader {
  readonly #options: Required<SandboxedReaderOptions>;
  readonly #queue = new FairQueue(LIMITS, "The service is reading other documents. Try again in a few seconds.");

  private constructor(options: Required<SandboxedReaderOptions>) {
    this.#options = options;
  }

  /** Removes the files that an earlier process has left in the folder. */
  static async open(options: SandboxedReaderOptions): Promise<SandboxedReader> {
    await rm(options.folder, { recursive: true, force: true });
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    return new SandboxedReader({ wallTimeMs: 30_000, memoryMb: 768, ...options });
  }

  async read(file: DocumentFile, { orgId, signal = new AbortController().signal }: ReadOptions): Promise<ReadDocument> {
    const mediaType = detectType(file);
    if (mediaType === DOCUMENT_TYPES.markdown || mediaType === DOCUMENT_TYPES.text) {
      const text = decodeText(file.content, { isHtml: false });
      return { mediaType, title: findTitle(text), text };
    }
    const isHtml = mediaType === DOCUMENT_TYPES.html;
    const content = isHtml ? decodeText(file.content, { isHtml }) : file.content;
    return this.#queue.run(orgId, () => this.#readInside(mediaType, content, signal), signal);
  }

  async #readInside(mediaType: DocumentType, content: Uint8Array | string, signal: AbortSignal): Promise<ReadDocument> {
    const folder = await mkdtemp(path.join(this.#options.folder, "read-"));
    try {
      const file = path.join(folder, "document");
      await writeFile(file, content);
      // The sandbox reads it as another user.
      await chmod(file, 0o444);
      const chunks: Uint8Array[] = [];
      const outcome = await this.#run(mediaType, file, (chunk) => chunks.push(chunk), signal);
      signal.throwIfAborted();
      return { mediaType, ...readReport(outcome, Buffer.concat(chunks).toString()) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #run(
    mediaType: DocumentType,
    file: string,
    onOutput: (chunk: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<SandboxOutcome> {
    const { limits, modulesDirectory, wallTimeMs, memoryMb, sandbox } = this.#options;
    const type = Object.entries(DOCUMENT_TYPES).find(([, value]) => value === mediaType)?.[0] ?? "";
    const heapMb = Math.floor(memoryMb * 0.75);
    return sandbox.run({
      argv: [
        ...[SANDBOX_NODE, `--max-old-space-size=${heapMb}`, "--no-warnings"],
        ...["/opt/reader/read-document.ts", type, JSON.stringify(limits)],
      ] as [string, ...string[]],
      cwd: "/opt/reader",
      env: { LANG: "C.UTF-8" },
      mounts: [
        { from: PROGRAM_FOLDER, to: "/opt/reader", writable: false },
        { from: modulesDirectory, to: "/opt/node_modules", writable: false },
        { from: file, to: "/opt/document", writable: false },
      ],
      network: { kind: "none" },
      limits: {
        ...{ wallTimeMs, memoryMb, processes: 32, fileSizeMb: 1, diskMb: null },
        // JSON writes a character of the text as at most six bytes.
        outputBytes: 6 * limits.characters + MEBIBYTE,
      },
      onOutput,
      onErrorOutput: () => {},
      signal,
    });
  }
}

/** @throws {ServiceError} `invalid` when the file is refused, or the program did not end */
function readReport(outcome: SandboxOutcome, output: string): { title: string | null; text: string } {
  // Node.js aborts when its heap is full.
  if (outcome.reason === "signal" && outcome.signal === "SIGABRT") throw explainRefusal("memory");
  if (outcome.reason !== "exit" || outcome.code !== 0) throw explainRefusal(outcome.reason);
  const report = parseJson(output);
  // A file may have taken over the program, so its report is untrusted too.
  if (!isRecord(report)) throw explainRefusal("damaged");
  const { title, text, reason } = report;
  if (typeof text !== "string") throw explainRefusal(String(reason));
  return { title: typeof title === "string" ? title : null, text };
}

/** Returns the first heading of Markdown, if the text begins with one. */
function findTitle(text: string): string | null {
  return /^[ \t]*#{1,2}[ \t]+(\S.*)$/m.exec(text.slice(0, 2000))?.[1] ?? null;
}

/** In words that follow "the file", and what to do. */
const REASONS: Readonly<Record<Violation | "time" | "memory", string>> = {
  damaged: "is damaged and cannot be read. Open it in its program and save it again",
  encrypted: "is protected by a password. Save it without password",
  "no-text": "has no text. A scanned document needs text recognition (OCR) first",
  "not-docx": "is an archive and no Word document. Upload its files one by one",
  "too-many-pages": "has too many pages. Split it into several files",
  "too-much-text": "has too much text. Split it into several files",
  "too-nested": "has elements that are nested too deeply. Save it in a simpler form",
  time: "takes too long to read. Save it in a simpler form, or split it into several files",
  memory: "needs too much memory to read. Save it in a simpler form, or split it into several files",
};

/** Says why a file is refused. Any other reason means that the program which read it has crashed. */
function explainRefusal(reason: string): ServiceError {
  if (reason === "not-docx") return unsupported("is an archive and no Word document");
  const words = Object.hasOwn(REASONS, reason) ? REASONS[reason as Violation] : REASONS.damaged;
  return new ServiceError("invalid", `file: the file ${words}.`);
}
