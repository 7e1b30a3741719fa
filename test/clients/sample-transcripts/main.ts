import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ClientRun } from "../client-run.ts";
import { claudeCode } from "../drivers/claude-code.ts";
import { codex } from "../drivers/codex.ts";
import { installClient } from "../install-client.ts";
import type { RealClient } from "../real-client.ts";
import { anthropicScript } from "./anthropic-script.ts";
import { openAIScript } from "./openai-script.ts";
import { recordClaudeCode } from "./record-claude-code.ts";
import { recordCodex } from "./record-codex.ts";
import type { RecordedTranscript } from "./recorded-transcript.ts";
import { sanitizeTranscript } from "./sanitize-transcript.ts";
import { openScriptServer, type ScriptedApi, type ScriptServer } from "./script-server.ts";
import { writeWorkFiles } from "./work-files.ts";

/** A version of a program whose transcripts are recorded. */
interface RecordedProgram {
  client: RealClient;
  api: ScriptedApi;
  /** Between the parts of a response. */
  pauseMs: number;
  record(run: ClientRun<ScriptServer>): Promise<RecordedTranscript[]>;
}

/** The newest versions, and ones that write other records than these. */
const PROGRAMS: Record<string, RecordedProgram> = {
  "claude-code": {
    client: claudeCode,
    api: anthropicScript,
    pauseMs: 100,
    record: (run) =>
      recordClaudeCode(run, {
        agentTool: "Agent",
        hasSubagentFiles: true,
        hasScriptedCompaction: true,
        marksCopies: true,
      }),
  },
  "claude-code-1.0": {
    client: { ...claudeCode, version: "1.0.128", installScript: undefined },
    api: anthropicScript,
    // It records the output tokens that are known when a part arrives, and never the total.
    pauseMs: 0,
    record: (run) =>
      recordClaudeCode(run, {
        agentTool: "Task",
        hasSubagentFiles: false,
        hasScriptedCompaction: false,
        marksCopies: false,
      }),
  },
  codex: {
    client: codex,
    api: openAIScript,
    pauseMs: 100,
    record: (run) => recordCodex(run, { hasForkCommand: true, recordsCacheWrites: true }),
  },
  "codex-0.104": {
    client: { ...codex, version: "0.104.0" },
    api: openAIScript,
    pauseMs: 100,
    record: (run) => recordCodex(run, { hasForkCommand: false, recordsCacheWrites: false }),
  },
};

const SAMPLES = path.join(import.meta.dirname, "..", "..", "domain", "sessions", "import", "samples");
const signal = AbortSignal.timeout(20 * 60_000);

/** Records the sample transcripts again: all, or those of the programs that the arguments name. */
const requested = process.argv.slice(2);
for (const [name, program] of Object.entries(PROGRAMS))
  if (requested.length === 0 || requested.includes(name)) await recordSamples(path.join(SAMPLES, name), program);

async function recordSamples(folder: string, { client, api, pauseMs, record }: RecordedProgram): Promise<void> {
  await using installed = await temporaryFolder();
  const programs = await installClient(client, installed.path, signal);
  await using model = await openScriptServer(api, { pauseMs });
  await using home = await temporaryFolder();
  const options = { folder: home.path, programs, model, signal, gatewayUrl: "", authorize: async () => undefined };
  await using run = await ClientRun.create(options);
  await writeWorkFiles(run.workFolder);
  const transcripts = await record(run);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const tokens: Record<string, EntryUsage> = {};
  for (const transcript of transcripts) {
    tokens[transcript.name] = transcript.tokens;
    await writeFile(path.join(folder, `${transcript.name}.jsonl`), sanitizeTranscript(transcript, run));
  }
  await writeFile(
    path.join(folder, "expected.json"),
    `${JSON.stringify({ version: client.version, tokens }, null, 2)}\n`,
  );
}
