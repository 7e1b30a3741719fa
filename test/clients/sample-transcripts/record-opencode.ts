import path from "node:path";
import type { ClientRun } from "../client-run.ts";
import { checkScriptEnded, type RecordedTranscript, sumUsage, usage } from "./recorded-transcript.ts";
import type { ScriptedResponse, ScriptServer } from "./script-server.ts";

type Run = ClientRun<ScriptServer>;

/** Records a session with failed tool calls and a failed request, which is resumed, as `opencode export` writes it. */
export async function recordOpencode(run: Run): Promise<RecordedTranscript[]> {
  await configure(run);
  const counting = countLines(run.workFolder);
  const resumed = countWords();
  await ask(run, ["How many lines does notes.txt have?"], counting);
  const id = await findSessionId(run);
  await ask(run, ["--session", id, "Count the words."], resumed);
  await askInVain(run, ["--session", id, "This request fails."]);
  const text = await run.run("opencode", ["export", id]);
  return [
    {
      name: "session",
      text: text.slice(text.indexOf("{")),
      isDocument: true,
      tokens: sumUsage([...counting, ...resumed]),
    },
  ];
}

function configure(run: Run): Promise<void> {
  const model = { name: "Scripted", tool_call: true, reasoning: true, limit: { context: 200_000, output: 8000 } };
  const options = { baseURL: `${run.model.url}/v1`, apiKey: "scripted" };
  const config = {
    autoupdate: false,
    share: "disabled",
    model: "anthropic/scripted",
    small_model: "anthropic/scripted",
    provider: { anthropic: { options, models: { scripted: model } } },
  };
  return run.writeHomeFile(".config/opencode/opencode.json", JSON.stringify(config));
}

async function findSessionId(run: Run): Promise<string> {
  const sessions = JSON.parse(await run.run("opencode", ["session", "list", "--format", "json"])) as { id: string }[];
  const [session] = sessions;
  if (session === undefined) throw new Error("opencode has no session");
  return session.id;
}

function countLines(workFolder: string): ScriptedResponse[] {
  const bash = (command: string, id: string) => ({ call: "bash", id, input: { command, description: "Count" } });
  const read = (name: string, id: string) => ({ call: "read", id, input: { filePath: path.join(workFolder, name) } });
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
    { blocks: [bash("wc -l notes.txt; exit 3", "toolu_0003")], usage: usage(20, 35, 4000, 210) },
    { blocks: [read("dot.png", "toolu_0004")], usage: usage(5, 15, 4210, 90) },
    say("notes.txt has three lines.", usage(9, 11, 4300, 60)),
  ];
}

function countWords(): ScriptedResponse[] {
  const input = { command: "wc -w notes.txt", description: "Count words" };
  return [
    { blocks: [{ call: "bash", id: "toolu_0005", input }], usage: usage(300, 20, 4360, 100) },
    say("There are 3 words.", usage(14, 8, 4460, 50)),
  ];
}

function say(text: string, tokens: ReturnType<typeof usage>): ScriptedResponse {
  return { blocks: [{ text }], usage: tokens };
}

async function ask(run: Run, args: string[], script: ScriptedResponse[]): Promise<void> {
  run.model.expect(...script);
  await run.run("opencode", ["run", ...args]);
  checkScriptEnded(run.model);
}

async function askInVain(run: Run, args: string[]): Promise<void> {
  const failure = { status: 400, error: "The scripted model refuses this request." };
  run.model.expect(...Array.from({ length: 20 }, () => failure));
  // It may end with an exit code that is not 0.
  await run.run("opencode", ["run", ...args]).catch(() => undefined);
  run.model.expect();
}
