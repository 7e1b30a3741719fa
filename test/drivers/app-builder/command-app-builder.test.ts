import { afterAll, beforeAll, expect, test } from "vitest";
import type { Customization, TrialResult } from "../../../domain/ports/app-builder-agent.ts";
import { CommandAppBuilder } from "../../../server/drivers/app-builder/command-app-builder.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { SANDBOX_NODE } from "../../../server/sandbox/sandbox-environment.ts";
import { givenCustomization, PASSED } from "../../support/builds/given-customization.ts";
import {
  openScriptedModel,
  type ScriptedModel,
  type ScriptedResponse,
  USAGE,
} from "../../support/documents/scripted-model.ts";

/** A coding agent of a few lines: it sends the request to the model, and writes what the model says to a file. */
const AGENT = `
  const fs = require("fs");
  const { MODEL_BASE_URL, MODEL_API_KEY } = process.env;
  const send = (path, body, headers = {}) => fetch(MODEL_BASE_URL + path, {
    method: "POST", headers: { authorization: "Bearer " + MODEL_API_KEY, ...headers }, body: JSON.stringify(body),
  }).then(async (response) => ({ status: response.status, body: await response.json().catch(() => null) }), (error) => ({ status: 0, body: String(error.cause) }));
  const ask = (extra = {}) => send("/chat/completions", { model: "another", max_tokens: 1e9, messages: [{ role: "user", content: fs.readFileSync(process.argv.at(-1), "utf8") }], ...extra });
`;

let model: ScriptedModel;

beforeAll(async () => {
  model = await openScriptedModel();
});

afterAll(() => model[Symbol.asyncDispose]());

async function given(code: string, settings: { trials?: TrialResult[] } & Partial<Customization> = {}) {
  const project = await givenCustomization("Hello\n", settings);
  const builder = new CommandAppBuilder({
    command: [SANDBOX_NODE, "-e", `${AGENT}(async () => { ${code} })()`, "{request_file}"],
    folder: null,
    endpoint: { provider: "openai-compatible", name: "the-model", baseUrl: model.url, apiKey: "key-of-the-operator" },
    sandbox: new BubblewrapSandbox(),
  });
  return { ...project, customize: () => builder.customize(project.customization) };
}

const WRITE = 'fs.writeFileSync("src/index.ts", (await ask()).body.choices[0].message.content);';

test("the command gets the request, edits the source with its model, and its last line is the summary", async () => {
  const project = await given(`${WRITE} console.log("working"); console.log("It says Hello Ada.");`);
  model.respond("Hello Ada\n");
  expect(await project.customize()).toEqual({ summary: "It says Hello Ada.", steps: 1 });
  expect(await project.read("src/index.ts")).toBe("Hello Ada\n");
  expect(project.usage).toEqual([{ inputTokens: USAGE.input, outputTokens: USAGE.output }]);
  const { headers, body } = model.calls.at(-1)!;
  expect([headers.authorization, body["model"], body["max_tokens"]]).toEqual([
    "Bearer key-of-the-operator",
    "the-model",
    32_000,
  ]);
  expect(JSON.stringify(body)).toContain("<request>\\nsay Hello Ada\\n</request>");
});

test("the command is started again with the error of the trial, and the same error twice ends the work", async () => {
  const failed: TrialResult = { passed: false, report: "Expected ; in line 1" };
  const project = await given(WRITE, { trials: [failed, PASSED] });
  model.respond("Hello Ada\n");
  expect(await project.customize()).toMatchObject({ steps: 2 });
  expect(JSON.stringify(model.calls.at(-1)?.body)).toContain("Expected ; in line 1");
  const repeating = await given(WRITE, { trials: [failed] });
  await expect(repeating.customize()).rejects.toThrow("twice in a row: Expected ; in line 1");
});

test("packages that the command writes into package.json are added with the package manager", async () => {
  const project = await given(
    `fs.writeFileSync("package.json", JSON.stringify({ name: "renamed", dependencies: { hono: "4.0.0", zod: "4.6.7" }, devDependencies: { vite: "8.3.8" } }));`,
  );
  await project.customize();
  expect(project.added).toEqual([
    { name: "zod", version: "4.6.7", isDevelopment: false },
    { name: "vite", version: "8.3.8", isDevelopment: true },
  ]);
  expect(JSON.parse(await project.read("package.json"))).toEqual({ name: "renamed", dependencies: { hono: "4.0.0" } });
});

test.each<[description: string, code: string, result: object]>([
  ["another path", 'return send("/files", {})', { status: 403 }],
  ["an administrative path", 'return send("/../admin", {})', { status: 403 }],
  ["web search", "return ask({ web_search_options: {} })", { status: 400 }],
  ["a tool of the endpoint", 'return ask({ tools: [{ type: "code_interpreter" }] })', { status: 400 }],
  [
    "a tool of the endpoint in a namespace",
    'return ask({ tools: [{ type: "namespace", tools: [{ type: "web_search" }] }] })',
    { status: 400 },
  ],
  ["a connector", 'return ask({ mcp_servers: [{ url: "https://evil.example" }] })', { status: 400 }],
  [
    "another host through the forwarder",
    'return fetch("http://127.0.0.1:3128/", { headers: { host: "evil.example" } }).then(({ status }) => ({ status }))',
    { status: 403 },
  ],
  [
    "another port of the host",
    `return fetch("MODEL").then(({ status }) => ({ status }), () => ({ status: 0 }))`,
    { status: 0 },
  ],
])("a command does not reach %s", async (_description, code, result) => {
  const project = await given(
    `const result = await (async () => { ${code.replace("MODEL", model.url)} })(); fs.writeFileSync("result.json", JSON.stringify({ status: result.status }));`,
  );
  model.respond("Hello");
  const calls = model.calls.length;
  await project.customize();
  expect(JSON.parse(await project.read("result.json"))).toEqual(result);
  expect(model.calls).toHaveLength(calls);
});

test("nothing in the sandbox has the key", async () => {
  const project = await given(
    'let seen = JSON.stringify(process.env); for (const pid of fs.readdirSync("/proc")) try { seen += fs.readFileSync("/proc/" + pid + "/environ", "utf8") + fs.readFileSync("/proc/" + pid + "/cmdline", "utf8"); } catch {} fs.writeFileSync("seen.txt", seen);',
  );
  await project.customize();
  expect(await project.read("seen.txt")).not.toContain("key-of-the-operator");
});

test.each<[description: string, response: ScriptedResponse, message: RegExp]>([
  ["a key that is rejected", 401, /rejects its key \(401\)/],
  ["an internal error", 500, /failed \(500\)/],
])("an endpoint with %s ends the work with an explanation", async (_description, response, message) => {
  const project = await given("if ((await ask()).status !== 200) process.exit(1);");
  model.respond(response);
  await expect(project.customize()).rejects.toMatchObject({ kind: "user", message: expect.stringMatching(message) });
});

test("a command that fails, and one that uses all tokens, end the work", async () => {
  const failing = await given("process.exit(3);");
  await expect(failing.customize()).rejects.toThrow("The command of the app builder agent failed (exit code 3)");
  const greedy = await given("for (let i = 0; i < 5; i++) await ask();", { maxTokens: 200 });
  model.respond("Hello");
  await expect(greedy.customize()).rejects.toThrow("within its 200 tokens of this month (2 steps, 240 tokens)");
});

test("a canceled deployment ends the command at once", async () => {
  const cancel = new AbortController();
  const project = await given("setInterval(() => {}, 1000); await new Promise(() => {});", { signal: cancel.signal });
  const ended = project.customize();
  setTimeout(() => cancel.abort(new Error("canceled")), 300);
  await expect(ended).rejects.toThrow("canceled");
});
