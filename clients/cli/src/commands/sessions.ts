import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { type Command, Option } from "commander";
import { type Client, type ImportedTranscript, ServiceError } from "../../../sdk/src/client.ts";
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from "../../../sdk/src/import-transcript.ts";
import { CliError, usageError } from "../cli-error.ts";
import { connect, type Context } from "../context.ts";
import { listFiles } from "../document-files.ts";
import { renderList } from "../render-value.ts";
import { resolveAgentId } from "../resolve-agent.ts";

/** Errors that concern one file, and not every further one. */
const OF_ONE_FILE: readonly ServiceError["code"][] = ["invalid", "conflict", "internal"];

export function defineSessionCommands(sessions: Command, context: () => Context): void {
  sessions
    .command("import")
    .summary("Import transcripts of coding agents")
    .description(
      "Imports the files of sessions of Claude Code, Codex, Cursor, Gemini CLI, OpenClaw and opencode, and those in folders. Each file becomes a session of the agent. Importing a file again adds only its new entries, so the same command can be repeated.",
    )
    .argument("<agent>", "the id or the name of the agent, or the name of its server")
    .argument("<file...>", "files and folders, such as ~/.claude/projects/-home-me-site")
    .addOption(
      new Option("--format <format>", "the program that wrote the files; by default what they show").choices(
        TRANSCRIPT_FORMATS,
      ),
    )
    .action((agent: string, files: string[], { format }: { format?: TranscriptFormat }) =>
      importTranscripts(context(), agent, files, format),
    );
}

async function importTranscripts(
  context: Context,
  agent: string,
  args: readonly string[],
  format: TranscriptFormat | undefined,
): Promise<void> {
  const { output, signal } = context;
  const files = await findTranscripts(args);
  const client = await connect(context, "Importing …");
  const id = await resolveAgentId(client, agent, signal);
  const transcripts: (ImportedTranscript & { file: string })[] = [];
  const refused: { file: string; error: string }[] = [];
  for (const [index, file] of files.entries()) {
    output.progress(`Importing ${index + 1} of ${files.length}: ${file}`);
    try {
      transcripts.push({ ...(await importFile(client, { id, file, format, signal })), file });
    } catch (error) {
      const { code } = error as Partial<ServiceError>;
      const isOfFile = !(error instanceof ServiceError) || (code !== undefined && OF_ONE_FILE.includes(code));
      if (signal.aborted || !isOfFile) throw error;
      refused.push({ file, error: (error as Error).message });
      output.message(`refused: ${file}: ${(error as Error).message}`);
    }
  }
  output.value({ transcripts, refused }, (width) =>
    renderList(
      "transcripts",
      transcripts.map((each) => ({ ...each })),
      width,
    ),
  );
  if (refused.length > 0) throw new CliError(`${refused.length} of ${files.length} files were refused.`);
}

async function findTranscripts(args: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const arg of args) {
    const stats = await stat(arg).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`Cannot read ${arg}: ${error.code ?? error.message}.`);
    });
    if (!stats.isDirectory()) files.push(arg);
    else for await (const file of listFiles(arg)) if (isTranscript(file)) files.push(file);
  }
  if (files.length === 0)
    throw usageError("There is no transcript. In folders, their names end with .jsonl, or are session-….json.");
  return files;
}

/** Older versions of Gemini CLI write JSON documents, beside other ones. */
function isTranscript(file: string): boolean {
  return file.endsWith(".jsonl") || /^session-.*\.json$/.test(path.basename(file));
}

interface ImportFile {
  id: string;
  file: string;
  format: TranscriptFormat | undefined;
  signal: AbortSignal;
}

async function importFile(client: Client, { id, file, format, signal }: ImportFile): Promise<ImportedTranscript> {
  const { size } = await stat(file);
  if (size === 0) throw new CliError("The file is empty.");
  // A program that is still writing the file must not make the body endless.
  const open = () => Readable.toWeb(createReadStream(file, { end: size - 1 })) as ReadableStream<Uint8Array>;
  return client.importTranscript({ id, file: open, ...(format !== undefined && { format }) }, { signal });
}
