import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  type ArchivedDocument,
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
import { cleanMarkdown } from "./clean-markdown.ts";
import { decodeText } from "./decode-text.ts";
import { detectType, unsupported } from "./detect-type.ts";
import type { ReadLimits, UnpackLimits, Violation } from "./inside/report.ts";
import { readUnpacked } from "./read-unpacked.ts";

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
  archiveLimits: UnpackLimits;
  wallTimeMs?: number;
  memoryMb?: number;
}

/**
 * Reads HTML, CSV, PDF, Office, OpenDocument and EPUB in the sandbox, one process for each file, without network and without a folder to write to.
 * Markdown is decoded and cleaned, and plain text only decoded. The service itself loads none of the libraries.
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
      // A text beyond the limit is refused later.
      const isCleaned = mediaType === DOCUMENT_TYPES.markdown && text.length <= this.#options.limits.characters;
      return { mediaType, title: null, text: isCleaned ? cleanMarkdown(text) : text };
    }
    const isHtml = mediaType === DOCUMENT_TYPES.html;
    const isText = isHtml || mediaType === DOCUMENT_TYPES.csv;
    const content = isText ? decodeText(file.content, { isHtml }) : file.content;
    return this.#queue.run(orgId, () => this.#readInside(mediaType, content, signal), signal);
  }

  unpack(
    archive: Uint8Array,
    { orgId, signal = new AbortController().signal }: ReadOptions,
  ): Promise<ArchivedDocument[]> {
    const { archiveLimits } = this.#options;
    const program = ["unpack-archive.ts", JSON.stringify(archiveLimits)] as const;
    const outputBytes = archiveLimits.unpackedBytes + 2 * MEBIBYTE + archiveLimits.entries * 1000;
    const unpack = async (): Promise<ArchivedDocument[]> => {
      const { outcome, output } = await this.#runProgram(program, archive, outputBytes, signal);
      return readUnpacked(outcome, output);
    };
    return this.#queue.run(orgId, unpack, signal);
  }

  async #readInside(
    mediaType: DocumentType | "archive",
    content: Uint8Array | string,
    signal: AbortSignal,
  ): Promise<ReadDocument> {
    const { limits } = this.#options;
    const type = Object.entries(DOCUMENT_TYPES).find(([, value]) => value === mediaType)?.[0] ?? "archive";
    const program = ["read-document.ts", type, JSON.stringify(limits)] as const;
    // JSON writes a character of the text as at most six bytes.
    const { outcome, output } = await this.#runProgram(program, content, 6 * limits.characters + MEBIBYTE, signal);
    return readReport(mediaType, outcome, output.toString());
  }

  /** Runs a program of the folder `inside` on a file. */
  async #runProgram(
    program: readonly [string, ...string[]],
    content: Uint8Array | string,
    outputBytes: number,
    signal: AbortSignal,
  ): Promise<{ outcome: SandboxOutcome; output: Buffer }> {
    const folder = await mkdtemp(path.join(this.#options.folder, "read-"));
    try {
      const file = path.join(folder, "document");
      await writeFile(file, content);
      // The sandbox reads it as another user.
      await chmod(file, 0o444);
      const chunks: Uint8Array[] = [];
      const run = { program, file, outputBytes, onOutput: (chunk: Uint8Array) => void chunks.push(chunk) };
      const outcome = await this.#run(run, signal);
      signal.throwIfAborted();
      return { outcome, output: Buffer.concat(chunks) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #run(
    { program: [name, ...args], file, outputBytes, onOutput }: ProgramRun,
    signal: AbortSignal,
  ): Promise<SandboxOutcome> {
    const { modulesDirectory, wallTimeMs, memoryMb, sandbox } = this.#options;
    const heapMb = Math.floor(memoryMb * 0.75);
    return sandbox.run({
      argv: [
        ...[SANDBOX_NODE, `--max-old-space-size=${heapMb}`, "--no-warnings"],
        ...[`/opt/reader/${name}`, ...args],
      ] as [string, ...string[]],
      cwd: "/opt/reader",
      env: { LANG: "C.UTF-8" },
      mounts: [
        { from: PROGRAM_FOLDER, to: "/opt/reader", writable: false },
        { from: modulesDirectory, to: "/opt/node_modules", writable: false },
        { from: file, to: "/opt/document", writable: false },
      ],
      network: { kind: "none" },
      limits: { wallTimeMs, memoryMb, processes: 32, fileSizeMb: 1, diskMb: null, outputBytes },
      onOutput,
      onErrorOutput: () => {},
      signal,
    });
  }
}

interface ProgramRun {
  program: readonly [string, ...string[]];
  file: string;
  outputBytes: number;
  onOutput: (chunk: Uint8Array) => void;
}

/** @throws {ServiceError} `invalid` when the file is refused, or the program did not end */
function readReport(mediaType: DocumentType | "archive", outcome: SandboxOutcome, output: string): ReadDocument {
  // Node.js aborts when its heap is full.
  if (outcome.reason === "signal" && outcome.signal === "SIGABRT") throw explainRefusal("memory");
  if (outcome.reason !== "exit" || outcome.code !== 0) throw explainRefusal(outcome.reason);
  const report = parseJson(output);
  // A file may have taken over the program, so its report is untrusted too.
  if (!isRecord(report)) throw explainRefusal("damaged");
  const { type, title, text, reason } = report;
  if (typeof text !== "string") throw explainRefusal(String(reason));
  const found = mediaType === "archive" ? typeNamed(type) : mediaType;
  return { mediaType: found, title: typeof title === "string" ? title : null, text };
}

function typeNamed(name: unknown): DocumentType {
  const [, type] = Object.entries(DOCUMENT_TYPES).find(([key]) => key === name) ?? [];
  if (type === undefined) throw explainRefusal("damaged");
  return type;
}

/** In words that follow "the file", and what to do. */
const REASONS: Readonly<Record<Violation | "time" | "memory", string>> = {
  damaged: "is damaged and cannot be read. Open it in its program and save it again",
  encrypted: "is protected by a password. Save it without password",
  "no-text": "has no text. A scanned document needs text recognition (OCR) first",
  "not-a-document": "is an archive and no document",
  "too-many-pages": "has too many pages. Split it into several files",
  "too-much-text": "has too much text. Split it into several files",
  "too-nested": "has elements that are nested too deeply. Save it in a simpler form",
  unpacks: "unpacks to too much data. Save it in a simpler form, or split it into several files",
  time: "takes too long to read. Save it in a simpler form, or split it into several files",
  memory: "needs too much memory to read. Save it in a simpler form, or split it into several files",
};

/** Says why a file is refused. Any other reason means that the program which read it has crashed. */
function explainRefusal(reason: string): ServiceError {
  if (reason === "not-a-document")
    return unsupported("is an archive and no document. Upload an archive of documents as an archive");
  const words = Object.hasOwn(REASONS, reason) ? REASONS[reason as Violation] : REASONS.damaged;
  return new ServiceError("invalid", `file: the file ${words}.`);
}
