import { readFile, stat } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { DOCUMENT_EXTENSIONS } from "../../../../domain/documents/archive-files.ts";
import { type Client, type Input, type Output, ServiceError } from "../../../sdk/src/client.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandSpec } from "../command-spec.ts";
import { connect, type Context } from "../context.ts";
import { findDocuments } from "../document-files.ts";
import { COMMANDS } from "../generated/commands.ts";
import { formatCell, renderList } from "../render-value.ts";
import { parseNumber } from "./procedure-command.ts";

type AddRequest = Input<"knowledge", "add">;
type Kind = AddRequest["kind"];

interface AddOptions {
  kind: Kind;
  title?: string;
  language?: AddRequest["language"];
  name?: string;
}

/** A file to upload, which is read when its turn comes. */
interface Upload {
  name: string;
  read(): Promise<Buffer>;
}

/** The service reads no larger file, and needs not to receive it. */
const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Errors that every further file would get too. */
const FATAL: readonly ServiceError["code"][] = [
  "unauthenticated",
  "forbidden",
  "rate_limited",
  "network",
  "timeout",
  "invalid_response",
];

export function defineKnowledgeCommands(knowledge: Command, context: () => Context): void {
  const choicesOf = (field: string) => [...(findField("knowledge.add", field)?.choices ?? [])];
  const kind = () => new Option("--kind <kind>", "what the documents are").choices(choicesOf("kind"));
  knowledge
    .command("add")
    .summary("Upload documents to Company Knowledge")
    .description(
      "Uploads Markdown, text, HTML, PDF, Office, OpenDocument, CSV and EPUB files, and those in folders and zip archives. A file with the name of an earlier upload becomes a new version of that document, and an unchanged file changes nothing. So the same command can be repeated.",
    )
    .argument("<file...>", "files, folders and zip archives; - reads a file from standard input")
    .addOption(kind().makeOptionMandatory())
    .option("--title <text>", "the title; by default what the document calls itself")
    .addOption(new Option("--language <language>", "how the search finds words").choices(choicesOf("language")))
    .option("--name <name>", "the name of the file; by default its path in the current folder")
    .action((files: string[], options: AddOptions) => addDocuments(context(), files, options));
  knowledge
    .command("search")
    .summary("Ask Company Knowledge")
    .description("Answers a question from the documents, with citations.")
    .argument("<query>", "a question, or a few words")
    .addOption(kind())
    .option("--limit <number>", "maximum number of citations")
    .action((query: string, options: { kind?: Kind; limit?: string }) => search(context(), query, options));
}

function findField(procedure: string, field: string): CommandSpec["parameters"][number] | undefined {
  return COMMANDS.find((command) => command.procedure === procedure)?.parameters.find((each) => each.field === field);
}

async function addDocuments(context: Context, args: readonly string[], options: AddOptions): Promise<void> {
  const { output } = context;
  const { uploads, refused } = await findUploads(context, args, options);
  const client = await connect(context, "Uploading …");
  const documents: (Output<"knowledge", "add"> & { file: string })[] = [];
  for (const { file, error } of refused) output.message(`refused: ${file}: ${error}`);
  for (const [index, upload] of uploads.entries()) {
    output.progress(`Uploading ${index + 1} of ${uploads.length}: ${upload.name}`);
    try {
      const document = await addDocument(client, context, upload, options);
      documents.push({ ...document, file: upload.name });
    } catch (error) {
      if (isFatal(context, error)) {
        if (documents.length > 0) output.message(explainAbort(documents.length, uploads.length));
        throw error;
      }
      refused.push({ file: upload.name, error: (error as Error).message });
      output.message(`refused: ${upload.name}: ${(error as Error).message}`);
    }
  }
  output.value({ documents, refused }, (width) => renderList("uploads", documents, width));
  if (refused.length === 0) return;
  throw new CliError(`${refused.length} of ${documents.length + refused.length} files were refused.`);
}

interface FoundUploads {
  uploads: Upload[];
  refused: { file: string; error: string }[];
}

async function findUploads(context: Context, args: readonly string[], options: AddOptions): Promise<FoundUploads> {
  if (args.includes("-")) {
    if (args.length > 1 || options.name === undefined)
      throw usageError("Standard input is one file and needs a name. Use: svc knowledge add - --name notes.md");
    const { name } = options;
    return { uploads: [{ name, read: () => buffer(context.stdin) }], refused: [] };
  }
  const { files, refused, skipped } = await findDocuments(args);
  if (skipped.length > 0)
    context.output.message(`Left out ${skipped.length} files that are not documents or are hidden.`);
  if (files.length === 0)
    throw usageError(
      `There is no document. Documents end with ${DOCUMENT_EXTENSIONS.map((end) => `.${end}`).join(", ")}.`,
    );
  const [only, ...others] = files;
  if (others.length > 0 && (options.name ?? options.title) !== undefined)
    throw usageError("--name and --title need exactly one file.");
  if (only !== undefined && options.name !== undefined) only.name = options.name;
  const uploads = files.map(({ file, name, content }) => ({
    name,
    read: () => (content === undefined ? readBounded(file) : Promise.resolve(content)),
  }));
  return { uploads, refused };
}

async function readBounded(file: string): Promise<Buffer> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new CliError(`The file exceeds ${MAX_FILE_BYTES / 1024 / 1024} MiB.`);
  return readFile(file);
}

async function addDocument(
  client: Client,
  { signal }: Context,
  { name, read }: Upload,
  { kind, title, language }: AddOptions,
): Promise<Output<"knowledge", "add">> {
  const content = (await read()).toString("base64");
  const request: AddRequest = {
    kind,
    file: { name, content },
    ...(title !== undefined && { title }),
    ...(language !== undefined && { language }),
  };
  return client.knowledge.add(request, { signal });
}

function isFatal({ signal }: Context, error: unknown): boolean {
  return signal.aborted || (error instanceof ServiceError && FATAL.includes(error.code));
}

function explainAbort(stored: number, all: number): string {
  return `${stored} of ${all} files are stored. Run the same command again: it changes only what is missing.`;
}

async function search(
  context: Context,
  query: string,
  { kind, limit }: { kind?: Kind; limit?: string },
): Promise<void> {
  const request = {
    query,
    ...(kind !== undefined && { kind }),
    ...(limit !== undefined && { limit: parseNumber(limit, "limit") }),
  };
  const client = await connect(context, "Searching …");
  const found = await client.knowledge.search(request, { signal: context.signal });
  context.output.value(found, () => renderAnswer(found));
}

function renderAnswer({ answer, note, citations, related }: Output<"knowledge", "search">): string {
  const sources = citations.map(
    ({ n, title, document_id: id, quote }) => `\n[${n}] ${formatCell(title)} (${id})\n    ${formatCell(quote)}`,
  );
  const further = related.map(
    ({ title, document_id: id, excerpt }) => `\nRelated: ${formatCell(title)} (${id})\n    ${formatCell(excerpt)}`,
  );
  const lines = answer === null ? [] : answer.split("\n").map(formatCell);
  return [...lines, ...(note === null ? [] : [note]), ...sources, ...further].join("\n");
}
