import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type BenchContext, formatInteger, type Section } from "./support/bench-section.ts";
import { deployApp } from "./support/deploy-app.ts";
import { startService } from "./support/start-servers.ts";
import { median } from "./support/statistics.ts";

const ROUNDS = 5;
const STEPS = 10;
const TARGET_MS = 3000;

const READ = { name: "read_file", input: { path: "src/index.ts" } };
const EDIT = {
  name: "edit_file",
  input: { path: "src/index.ts", old_string: "Hello", new_string: "Hi", replace_all: true },
};
const TRY = { name: "run_build", input: {} };
/** What the model does. The last step is its summary. */
const CALLS = [...Array.from({ length: STEPS - 3 }, () => READ), EDIT, TRY];

export const customization: Section = {
  name: "customization",
  title: "Customizing an app",
  method: `The time in the status \`customizing\` of a deployment of \`examples/hello\`, in which the app builder agent takes ${STEPS} steps: ${STEPS - 3} files read, an edit, a trial, and a summary. The model is an endpoint on loopback that responds at once. The time in the status \`building\` of the same deployment, which is one build, is subtracted for the trial. ${ROUNDS} rounds after one without measurement.`,
  async measure(context) {
    const samples = await measureRounds(context);
    const overhead = median(samples);
    return {
      metrics: [
        {
          name: `Overhead of ${STEPS} steps`,
          result: `${formatInteger(overhead)} ms`,
          target: { bound: `≤ ${formatInteger(TARGET_MS)} ms`, met: overhead <= TARGET_MS },
          details: `slowest ${formatInteger(Math.max(...samples))} ms of ${samples.length}`,
        },
      ],
      notes: [],
    };
  },
};

async function measureRounds({ folder, signal, log }: BenchContext): Promise<number[]> {
  await using model = await openModel();
  const settings = { MODEL_PROVIDER: "openai-compatible", MODEL_NAME: "scripted", MODEL_BASE_URL: model.url };
  await using service = await startService({ dataDirectory: path.join(folder, "data"), settings }, signal);
  const samples: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const { statusMs, remove } = await deployApp(service, "hello", signal, { customization: "say Hi" });
    await remove();
    const { customizing = 0, building = 0 } = statusMs;
    log(`customizing ${formatInteger(customizing)} ms, building ${formatInteger(building)} ms`);
    if (round > 0) samples.push(customizing - building);
  }
  return samples;
}

/** An endpoint that makes the call after those that a request has the results of. */
async function openModel(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const { messages } = JSON.parse(body) as { messages: { role: string }[] };
      const call = CALLS[messages.filter(({ role }) => role === "tool").length];
      response.setHeader("content-type", "application/json").end(JSON.stringify(toCompletion(call)));
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function toCompletion(call: { name: string; input: object } | undefined): object {
  const calls = call && [
    { id: "call", type: "function", function: { name: call.name, arguments: JSON.stringify(call.input) } },
  ];
  const message = { role: "assistant", content: call === undefined ? "It says Hi." : null, tool_calls: calls };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return {
    id: "1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason: call ? "tool_calls" : "stop" }],
    usage,
  };
}
