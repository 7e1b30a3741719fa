import { randomUUID } from "node:crypto";
import path from "node:path";
import type { ClientRun } from "../client-run.ts";
import { checkScriptEnded, findTranscripts, type RecordedTranscript, sumUsage, usage } from "./recorded-transcript.ts";
import type { ScriptedResponse, ScriptServer } from "./script-server.ts";

type Run = ClientRun<ScriptServer>;

/** How the versions of Claude Code differ. */
export interface ClaudeCodeVersion {
  /** The tool that starts a subagent. */
  agentTool: "Agent" | "Task";
  /** Whether the transcript of a subagent is a file of its own. */
  hasSubagentFiles: boolean;
  /** Whether the request of a compaction looks like the other requests of the session. */
  hasScriptedCompaction: boolean;
  /** Whether a fork says which of its records are copies, so that their tokens are not counted again. */
  marksCopies: boolean;
}

const MODEL = "claude-sonnet-4-5";

/** Records a session with a subagent, failed requests and a compaction, and a fork of it. */
export async function recordClaudeCode(run: Run, version: ClaudeCodeVersion): Promise<RecordedTranscript[]> {
  const id = randomUUID();
  const counting = countLines(run.workFolder);
  const [delegation, report] = delegate(version.agentTool);
  const subagent = countWords();
  const afterCompaction = [say("After the summary.", usage(900, 6, 0, 700))];
  const fork = [say("This is the fork.", usage(33, 7, 1600, 20))];

  await ask(run, ["How many lines does notes.txt have?", "--session-id", id], counting);
  await ask(run, ["Ask a subagent to count the words.", "--resume", id], [delegation, ...subagent, report]);
  await askInVain(run, ["This request fails.", "--resume", id]);
  const summary = say("<summary>The user counted lines and words.</summary>", usage(25, 30, 4530));
  await ask(run, ["/compact", "--resume", id], version.hasScriptedCompaction ? [summary] : []);
  await ask(run, ["Go on.", "--resume", id], afterCompaction);
  await ask(run, ["Continue in a fork.", "--resume", id, "--fork-session"], fork);

  const session = [...counting, delegation, report, ...afterCompaction];
  if (!version.hasSubagentFiles) session.push(...subagent);
  const counted = version.marksCopies ? fork : [...afterCompaction, ...fork];
  return collect(run, id, { session, subagent, fork: counted });
}

function countLines(workFolder: string): ScriptedResponse[] {
  const read = (name: string, id: string) => ({ call: "Read", id, input: { file_path: path.join(workFolder, name) } });
  const bash = (command: string, id: string) => ({ call: "Bash", id, input: { command, description: "Count" } });
  return [
    {
      blocks: [
        { thinking: "I list the folder first." },
        { text: "I look at the folder." },
        bash("ls", "toolu_0001"),
        read("missing.txt", "toolu_0002"),
      ],
      usage: usage(12, 91, 0, 4000),
    },
    { status: 529, error: "Overloaded" },
    { blocks: [bash("wc -l notes.txt; exit 3", "toolu_0003")], usage: usage(20, 35, 4000, 210) },
    { blocks: [read("dot.png", "toolu_0004")], usage: usage(5, 15, 4210, 90) },
    say("notes.txt has three lines.", usage(9, 11, 4300, 60)),
  ];
}

/** The responses of the session before and after the subagent. */
function delegate(tool: string): [ScriptedResponse, ScriptedResponse] {
  const input = {
    description: "Count words",
    prompt: "Count the words of notes.txt.",
    subagent_type: "general-purpose",
    ...(tool === "Agent" && { run_in_background: false }),
  };
  return [
    {
      blocks: [{ text: "I ask a subagent." }, { call: tool, id: "toolu_0005", input }],
      usage: usage(30, 44, 4360, 100),
    },
    say("The subagent counted 3 words.", usage(21, 10, 4460, 70)),
  ];
}

function countWords(): ScriptedResponse[] {
  const input = { command: "wc -w notes.txt", description: "Count words" };
  return [
    { blocks: [{ call: "Bash", id: "toolu_0006", input }], usage: usage(300, 20, 0, 1500) },
    say("There are 3 words.", usage(14, 8, 1500, 50)),
  ];
}

function say(text: string, tokens: ReturnType<typeof usage>): ScriptedResponse {
  return { blocks: [{ text }], usage: tokens };
}

async function ask(run: Run, args: string[], script: ScriptedResponse[]): Promise<void> {
  run.model.expect(...script);
  await start(run, args);
  checkScriptEnded(run.model);
}

/** Every request of the prompt fails, however often it is repeated. */
async function askInVain(run: Run, args: string[]): Promise<void> {
  const failure = { status: 400, error: "The scripted model refuses this request." };
  run.model.expect(...Array.from({ length: 20 }, () => failure));
  // It ends with an exit code that is not 0.
  await start(run, args).catch(() => undefined);
  run.model.expect();
}

function start(run: Run, args: string[]): Promise<string> {
  const env = {
    ANTHROPIC_BASE_URL: run.model.url,
    ANTHROPIC_API_KEY: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "2",
  };
  return run.run("claude", ["--model", MODEL, "--allowedTools", "Bash,Read,Agent,Task", "-p", ...args], { env });
}

/** Finds the files by their names: those of a session have its id, and those of a subagent begin with `agent-`. */
async function collect(
  run: Run,
  id: string,
  responses: { session: ScriptedResponse[]; subagent: ScriptedResponse[]; fork: ScriptedResponse[] },
): Promise<RecordedTranscript[]> {
  const files = await findTranscripts(path.join(run.home, ".claude", "projects"));
  // Old versions also write files with nothing but the summary of another session.
  const transcripts = files.filter(({ text }) => text.includes('"assistant"'));
  return transcripts.map(({ file, text }) => {
    const isSubagent = path.basename(file).startsWith("agent-");
    const name = isSubagent ? "subagent" : path.basename(file, ".jsonl") === id ? "session" : "fork";
    return { name, text, tokens: sumUsage(responses[name]) };
  });
}
