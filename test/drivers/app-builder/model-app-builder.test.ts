import { link, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Customization, TrialResult } from "../../../domain/ports/app-builder-agent.ts";
import { type BuilderLimits, ModelAppBuilder } from "../../../server/drivers/app-builder/model-app-builder.ts";
import { openModel } from "../../../server/drivers/language-model/ai-sdk-model.ts";
import { createBoundedFetch } from "../../../server/http/bounded-fetch.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { givenCustomization, PASSED } from "../../support/builds/given-customization.ts";
import {
  openScriptedModel,
  type ScriptedModel,
  type ScriptedResponse,
  USAGE,
} from "../../support/documents/scripted-model.ts";

const EDIT = call("edit_file", { path: "src/index.ts", old_string: "Hello", new_string: "Hello Ada" });

function call(tool: string, input: object = {}): ScriptedResponse {
  return { tool, input };
}

let model: ScriptedModel;

beforeAll(async () => {
  model = await openScriptedModel();
});

afterAll(() => model[Symbol.asyncDispose]());

/** A project, and an agent with a scripted model that edits it. */
async function given({
  limits,
  ...settings
}: { limits?: Partial<BuilderLimits>; trials?: TrialResult[] } & Partial<Customization> = {}) {
  const project = await givenCustomization('export const greeting = "Hello";\n', settings);
  const provider = { provider: "openai-compatible", name: "m", baseUrl: model.url, apiKey: "key" } as const;
  const builder = new ModelAppBuilder({
    sandbox: new BubblewrapSandbox(),
    openModel: () => openModel(provider, createBoundedFetch(1024 * 1024, 2000)),
    limits: { retries: 0, ...limits },
  });
  return { ...project, customize: () => builder.customize(project.customization) };
}

/** What the model has got as the result of its last call. */
function lastResult(): unknown {
  const messages = model.calls.at(-1)?.body["messages"] as { role: string; content: unknown }[];
  const result = messages.findLast(({ role }) => role === "tool");
  return result === undefined ? undefined : JSON.parse(String(result.content));
}

test("the agent edits a file, tries the app out, and says what it did", async () => {
  const project = await given();
  model.respond(
    call("read_file", { path: "src/index.ts" }),
    EDIT,
    call("run_build"),
    "It says Hello Ada.\nNothing else.",
  );
  expect(await project.customize()).toEqual({ summary: "It says Hello Ada. Nothing else.", steps: 4 });
  expect(await project.read("src/index.ts")).toBe('export const greeting = "Hello Ada";\n');
  expect(project.lines).toEqual([
    "read src/index.ts",
    "edit src/index.ts",
    "the changed app builds and starts",
    "the model says: It says Hello Ada. Nothing else.",
  ]);
  expect(project.usage).toEqual(
    Array.from({ length: 4 }, () => ({ inputTokens: USAGE.input, outputTokens: USAGE.output })),
  );
});

test("an app that was not tried out is tried out, and the agent gets the error and corrects it", async () => {
  const project = await given({ trials: [{ passed: false, report: "Expected ; in line 1" }, PASSED] });
  model.respond(EDIT, "Done.", call("write_file", { path: "src/new.ts", content: "export {};\n" }), "Now it works.");
  expect(await project.customize()).toEqual({ summary: "Now it works.", steps: 4 });
  const messages = JSON.stringify(model.calls.at(-1)?.body["messages"]);
  expect(messages).toContain("Expected ; in line 1");
  expect(project.lines).toContain("failed: Expected ; in line 1; trying again");
});

test("the same error twice in a row ends the work, also with other numbers in it", async () => {
  const failed = (line: number): TrialResult => ({ passed: false, report: `Unexpected token in line ${line}` });
  const project = await given({ trials: [failed(1), failed(2)] });
  model.respond(EDIT, call("run_build"), call("run_build"), "Never said.");
  await expect(project.customize()).rejects.toMatchObject({
    kind: "user",
    message:
      "The app builder agent could not correct an error that occurred twice in a row: Unexpected token in line 2",
  });
});

test("a model that never finishes is ended after the steps, and the message has the steps and the tokens", async () => {
  const project = await given({ limits: { steps: 5 } });
  model.respond(call("list_files"));
  await expect(project.customize()).rejects.toMatchObject({
    kind: "user",
    message: "The app builder agent did not finish within 5 steps (5 steps, 600 tokens).",
  });
});

test("the tokens of the organization end the work", async () => {
  const project = await given({ maxTokens: 200 });
  model.respond(call("list_files"));
  await expect(project.customize()).rejects.toThrow("within its 200 tokens of this month (2 steps, 240 tokens)");
});

test("the time ends the work, and a canceled deployment ends it at once", async () => {
  const slow = await given({ limits: { wallTimeMs: 500 } });
  model.respond(null);
  await expect(slow.customize()).rejects.toThrow("did not finish within 0 minutes");
  const cancel = new AbortController();
  const canceled = await given({ signal: cancel.signal });
  const ended = canceled.customize();
  cancel.abort(new Error("canceled"));
  await expect(ended).rejects.toThrow("canceled");
});

test.each<[description: string, response: ScriptedResponse, message: RegExp, advice: RegExp]>([
  ["a key that is rejected", 401, /rejects its key \(401\)/, /operator.*MODEL_API_KEY/],
  ["no credit", 402, /no credit \(402\)/, /operator/],
  ["an unknown model", 404, /no such model \(404\)/, /BUILDER_MODEL/],
  ["too many requests", 429, /limits its requests/, /in a few minutes/],
  ["an internal error", 500, /failed \(500\)/, /in a few minutes/],
  ["a request that is rejected", 400, /rejects the request \(400\)/, /can call tools/],
  ["no response", null, /did not respond in time/, /in a few minutes/],
  ["a response that ends early", { cut: true }, /no valid response/, /in a few minutes/],
])(
  "an endpoint with %s is explained to the one who can correct it",
  async (_description, response, message, advice) => {
    const project = await given();
    model.respond(response);
    const error = await project.customize().catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      kind: "user",
      message: expect.stringMatching(message),
      advice: expect.stringMatching(advice),
    });
  },
);

test("a model that only talks ends the work without a trial", async () => {
  const project = await given({ tryOut: () => expect.unreachable() });
  model.respond("lorem ipsum");
  expect(await project.customize()).toEqual({ summary: "lorem ipsum", steps: 1 });
});

test.each<[description: string, tool: string, input: Record<string, unknown>, message: RegExp]>([
  ["an absolute path", "read_file", { path: "/etc/passwd" }, /relative/],
  ["a path with ..", "read_file", { path: "src/../../secret.txt" }, /inside the project/],
  ["a link to a file", "read_file", { path: "link.txt" }, /is a link/],
  ["a folder that is a link", "read_file", { path: "linked/secret.txt" }, /does not exist/],
  ["a link as target of a change", "write_file", { path: "link.txt", content: "x" }, /is a link/],
  ["a folder that is a link as target", "write_file", { path: "linked/new.txt", content: "x" }, /does not exist/],
  ["a hard link", "edit_file", { path: "hard.txt", old_string: "secret", new_string: "x" }, /is a link/],
  ["the folder of git", "write_file", { path: ".git/hooks/pre-commit", content: "x" }, /not available/],
  ["the folder of git in other letters", "write_file", { path: ".GIT/config", content: "x" }, /not available/],
  ["installed packages", "read_file", { path: "node_modules/a/index.js" }, /not available/],
  ["a lockfile", "write_file", { path: "package-lock.json", content: "{}" }, /only through add_dependency/],
  [
    "dependencies in package.json",
    "edit_file",
    { path: "package.json", old_string: '"4.0.0"', new_string: '"https://evil.example/a.tgz"' },
    /only through add_dependency/,
  ],
  [
    "a text that is not in the file",
    "edit_file",
    { path: "src/index.ts", old_string: "Bye", new_string: "x" },
    /not found/,
  ],
  [
    "a text that occurs twice",
    "edit_file",
    { path: "src/index.ts", old_string: "e", new_string: "x" },
    /occurs \d times/,
  ],
])(
  "%s is refused as the result of the call, and nothing outside of the project changes",
  async (_what, tool, input, message) => {
    const project = await given();
    const secret = path.join(project.folder, "secret.txt");
    await writeFile(secret, "secret");
    await symlink(secret, path.join(project.sourceDirectory, "link.txt"));
    await symlink(project.folder, path.join(project.sourceDirectory, "linked"));
    await link(secret, path.join(project.sourceDirectory, "hard.txt"));
    model.respond(call(tool, input), "Stopped.");
    expect(await project.customize()).toEqual({ summary: "Stopped.", steps: 2 });
    expect(lastResult()).toEqual({ error: expect.stringMatching(message) });
    expect(await readFile(secret, "utf8")).toBe("secret");
  },
);

test("an error of the platform during a trial ends the work with that error, which the model does not get", async () => {
  const project = await given({ tryOut: () => Promise.reject(new Error("no sandbox")) });
  model.respond(EDIT, call("run_build"), "Never said.");
  await expect(project.customize()).rejects.toThrow("no sandbox");
  expect(JSON.stringify(model.calls.at(-1)?.body)).not.toContain("no sandbox");
});
