import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { openScriptedModel, type ScriptedModel, type ScriptedResponse } from "../support/documents/scripted-model.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { verifies } from "../support/verifies.ts";

let model: ScriptedModel;
let harness: Harness;
let cli: TestCli;

beforeAll(async () => {
  model = await openScriptedModel();
  const builder = {
    model: { provider: "openai-compatible", name: "scripted", baseUrl: model.url, apiKey: null } as const,
    command: null,
    folder: null,
  };
  harness = await createHarness({ worker: true, sharesBuilds: true, config: { builder } });
  const { api_key: token } = await harness.tenant();
  cli = await createCli({ SVC_URL: harness.service.publicUrl, SVC_TOKEN: token });
});

afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await harness[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

const edit = (from: string, to: string): ScriptedResponse => ({
  tool: "edit_file",
  input: { path: "src/index.ts", old_string: from, new_string: to, replace_all: true },
});

verifies(
  "cli.customize",
  "deploy and customize let the agent change an app, apps diff shows the changes, and a redeployment without them removes them",
  async () => {
    model.respond(edit("Hello", "Hi"), "It says Hi.");
    const deployed = await cli.run(["deploy", "examples/hello", "--customize", "say Hi"]);
    expect([deployed.code, deployed.stderr]).toEqual([0, expect.stringContaining("[service] edit src/index.ts\n")]);
    const slug = new URL(deployed.stdout.trim()).hostname.split(".")[0] ?? "";
    model.respond(edit("Hi", "Good day"), "It says Good day.");
    const customized = await cli.run(["customize", slug, "say Good day"]);
    expect([customized.code, customized.stdout]).toEqual([0, "Deployment 2 is live.\n"]);
    const diff = await cli.run(["apps", "diff", slug]);
    expect(diff).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^diff --git a\/src\/index\.ts[^]*\n-.*Hello[^]*\n\+.*Good day/),
      stderr: "The app builder agent says: It says Good day.\n",
    });
    expect((await cli.run(["apps", "diff", slug, "--deployment", "1"])).stdout).toMatch(/\n\+.*Hi/);
    const reset = await cli.run(["deployments", "redeploy", slug, "--no-customization", "--json"]);
    expect([reset.code, JSON.parse(reset.stdout)]).toMatchObject([0, { number: 3, customization: null }]);
  },
);

verifies(
  ["cli.customize", "cli.deploy.folder"],
  "the agent changes an app from a folder, and its changes are applied to the next state of the folder",
  async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "index.ts");
    const page = (text: string) => `export default { fetch: () => new Response("Hello ${text}") };\n`;
    await writeFile(file, page("one"));
    const change = { path: "index.ts", old_string: "Hello", new_string: "Hi", replace_all: true };
    model.respond({ tool: "edit_file", input: change }, "It says Hi.");
    const deployed = await cli.run(["deploy", ".", "--customize", "say Hi"], { cwd: folder.path });
    expect([deployed.code, deployed.stderr]).toEqual([0, expect.stringContaining("[service] edit index.ts\n")]);
    expect((await appRequest(deployed.stdout.trim())).text).toBe("Hi one");
    await writeFile(path.join(folder.path, "notes.txt"), "A file that the changes do not touch.");
    const again = await cli.run(["deploy", "."], { cwd: folder.path });
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining("applied the changes of deployment 1")]);
    expect((await appRequest(deployed.stdout.trim())).text).toBe("Hi one");
  },
);

test("customize requires instructions, and apps diff a number", async () => {
  for (const args of [
    ["customize", "a"],
    ["apps", "diff", "a", "--deployment", "x"],
  ])
    expect((await cli.run(args)).code).toBe(2);
});
