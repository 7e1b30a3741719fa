import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ClientRun } from "../client-run.ts";
import { checkScriptEnded, findTranscripts, type RecordedTranscript, sumUsage, usage } from "./recorded-transcript.ts";
import type { ScriptedResponse, ScriptServer } from "./script-server.ts";

type Run = ClientRun<ScriptServer>;

/** How the versions of Codex differ. */
export interface CodexVersion {
  /** Whether `codex exec` can fork a session. Before, only the app server could. */
  hasForkCommand: boolean;
  /** Whether it records how many tokens were written to the cache. */
  recordsCacheWrites: boolean;
}

/** Records a session with failed requests and a compaction, and a fork of it. */
export async function recordCodex(run: Run, version: CodexVersion): Promise<RecordedTranscript[]> {
  await configure(run);
  const written = version.recordsCacheWrites ? 300 : 0;
  const counting = countLines(run.workFolder, written);
  const resumed = countWords();
  const compaction = [
    say("The user counted lines and words.", usage(70, 30, 1600)),
    say("After the summary.", usage(500, 6)),
  ];
  const fork = [say("This is the fork.", usage(33, 7, 600))];

  await ask(run, ["How many lines does notes.txt have?"], counting);
  const id = await findSessionId(run);
  await ask(run, ["resume", id, "Count the words."], resumed);
  await askInVain(run, ["resume", id, "This request fails."]);
  await ask(run, ["-c", "model_auto_compact_token_limit=1000", "resume", id, "Go on."], compaction);
  run.model.expect(...fork);
  if (version.hasForkCommand) await start(run, ["fork", id, "Continue in a fork."]);
  else await forkThread(run, id, "Continue in a fork.");
  checkScriptEnded(run.model);

  const responses = { session: [...counting, ...resumed, ...compaction], fork };
  const transcripts = await findTranscripts(path.join(run.home, ".codex", "sessions"));
  return transcripts.map(({ file, text }) => {
    const name = file.endsWith(`${id}.jsonl`) ? "session" : "fork";
    return { name, text, tokens: sumUsage(responses[name]) };
  });
}

function configure(run: Run): Promise<void> {
  return run.writeHomeFile(
    ".codex/config.toml",
    `model = "gpt-5.1-codex"
model_provider = "scripted"

[model_providers.scripted]
name = "Scripted"
base_url = "${run.model.url}/v1"
wire_api = "responses"
request_max_retries = 1
`,
  );
}

function countLines(workFolder: string, cacheWrite: number): ScriptedResponse[] {
  return [
    {
      blocks: [
        { thinking: "I list the folder first." },
        { text: "I look at the folder." },
        { call: "exec_command", id: "call_0001", input: { cmd: "ls" } },
      ],
      usage: usage(1200, 40, 0, cacheWrite),
    },
    { status: 503, error: "Overloaded" },
    {
      blocks: [
        { call: "exec_command", id: "call_0002", input: { cmd: "wc -l notes.txt; exit 3" } },
        { call: "view_image", id: "call_0003", input: { path: path.join(workFolder, "dot.png") } },
      ],
      usage: usage(150, 24, 1200),
    },
    say("notes.txt has three lines.", usage(90, 12, 1350)),
  ];
}

function countWords(): ScriptedResponse[] {
  return [
    {
      blocks: [{ call: "exec_command", id: "call_0004", input: { cmd: "wc -w notes.txt" } }],
      usage: usage(100, 20, 1440),
    },
    say("There are 3 words.", usage(60, 8, 1540)),
  ];
}

function say(text: string, tokens: ReturnType<typeof usage>): ScriptedResponse {
  return { blocks: [{ text }], usage: tokens };
}

async function findSessionId(run: Run): Promise<string> {
  const [transcript] = await findTranscripts(path.join(run.home, ".codex", "sessions"));
  const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl$)/.exec(transcript?.file ?? "")?.[0];
  if (id === undefined) throw new Error("Codex wrote no transcript");
  return id;
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
  return run.run("codex", ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", ...args]);
}

interface Message {
  id?: number;
  method?: string;
  result?: { thread: { id: string } };
  error?: unknown;
}

/** Forks a session with the app server of Codex, which speaks JSON-RPC on stdin and stdout, and sends a prompt to the fork. */
async function forkThread(run: ClientRun<ScriptServer>, threadId: string, prompt: string): Promise<void> {
  const child = spawn(run.program("codex"), ["app-server"], {
    cwd: run.workFolder,
    env: run.env,
    stdio: ["pipe", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object): boolean => child.stdin.write(`${JSON.stringify(message)}\n`);
  const until = async (isWanted: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done === true) throw new Error("the app server of Codex ended early");
      const message = JSON.parse(value) as Message;
      if (message.error !== undefined) throw new Error(`the app server responded: ${value}`);
      if (isWanted(message)) return message;
    }
  };
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "recorder", title: null, version: "1.0.0" } } });
  await until(({ id }) => id === 1);
  send({ method: "initialized" });
  send({ id: 2, method: "thread/fork", params: { threadId, sandbox: "danger-full-access", approvalPolicy: "never" } });
  const forked = await until(({ id }) => id === 2);
  const input = [{ type: "text", text: prompt, text_elements: [] }];
  send({ id: 3, method: "turn/start", params: { threadId: forked.result?.thread.id, input } });
  await until(({ method }) => method === "turn/completed");
  const ended = once(child, "close");
  child.kill();
  await ended;
}

const TIMEOUT_MS = 60_000;
