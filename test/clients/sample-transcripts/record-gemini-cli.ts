import path from "node:path";
import type { ClientRun } from "../client-run.ts";
import { checkScriptEnded, findTranscripts, type RecordedTranscript, sumUsage, usage } from "./recorded-transcript.ts";
import type { ScriptedResponse, ScriptServer } from "./script-server.ts";

type Run = ClientRun<ScriptServer>;

/** Records a session with a failed request and a failed tool call, which is resumed. */
export async function recordGeminiCli(run: Run): Promise<RecordedTranscript[]> {
  await configure(run);
  const counting = countLines();
  const resumed = countWords();
  await ask(run, ["--prompt", "How many lines does notes.txt have?"], counting);
  await ask(run, ["--resume", "latest", "--prompt", "Count the words."], resumed);
  const transcripts = await findTranscripts(path.join(run.home, ".gemini", "tmp"));
  const texts = transcripts.map(({ text }) => text).filter((text) => text.includes('"gemini"'));
  return texts.map((text) => ({ name: "session", text, tokens: sumUsage([...counting, ...resumed]) }));
}

function configure(run: Run): Promise<void> {
  const settings = {
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
  };
  return run.writeHomeFile(".gemini/settings.json", JSON.stringify(settings));
}

function countLines(): ScriptedResponse[] {
  const shell = (command: string, id: string) => ({ call: "run_shell_command", id, input: { command } });
  return [
    {
      blocks: [
        { thinking: "**Folder**\nI list the folder first." },
        { text: "I look at the folder." },
        { call: "list_directory", id: "call_0001", input: { dir_path: "." } },
        { call: "read_file", id: "call_0002", input: { file_path: "missing.txt" } },
      ],
      usage: usage(1200, 40),
    },
    { blocks: [shell("wc -l notes.txt; exit 3", "call_0003")], usage: usage(150, 24, 1200) },
    say("notes.txt has three lines.", usage(90, 12, 1350)),
  ];
}

function countWords(): ScriptedResponse[] {
  return [
    {
      blocks: [{ call: "run_shell_command", id: "call_0004", input: { command: "wc -w notes.txt" } }],
      usage: usage(100, 20, 1440),
    },
    say("There are 3 words.", usage(60, 8, 1540)),
  ];
}

function say(text: string, tokens: ReturnType<typeof usage>): ScriptedResponse {
  return { blocks: [{ text }], usage: tokens };
}

async function ask(run: Run, args: string[], script: ScriptedResponse[]): Promise<void> {
  run.model.expect(...script);
  const env = {
    GEMINI_API_KEY: "scripted",
    GOOGLE_GEMINI_BASE_URL: run.model.url,
    GEMINI_FORCE_FILE_STORAGE: "true",
  };
  await run.run("gemini", ["--yolo", "--model", "gemini-2.5-flash", ...args], { env });
  checkScriptEnded(run.model);
}
