import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createHarness } from "../support/service/harness.ts";

const README = path.resolve(import.meta.dirname, "../../README.md");

/** The commands of the README for a service that runs, in their order. */
async function readCommands(): Promise<string[]> {
  const [, sections = ""] =
    /^## Deploy an app with REST\n([^]*?)^## Dashboard and command line$/m.exec(await readFile(README, "utf8")) ?? [];
  return [...sections.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = ""]) => commands);
}

test("the commands of the README work in their order, with the tokens of the first start", async () => {
  await using harness = await createHarness({ worker: true });
  const { publicUrl, bootstrapped } = harness.service;
  const values: Record<string, string> = {
    TOKEN: bootstrapped?.api_key ?? "",
    AGENT_TOKEN: bootstrapped?.personal_access_token ?? "",
  };
  const run = async (commands: string): Promise<Record<string, unknown>[]> => {
    const script = commands
      .replaceAll("http://127.0.0.1:3000", publicUrl)
      .replaceAll(/^(\w+)=.*$/gm, "")
      .replaceAll("curl ", "curl --silent --fail-with-body --write-out '\\n' ");
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
      env: { ...process.env, ...values },
    });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const commands = await readCommands();
  const [deploy = "", inspect = "", redeploy = "", push = "", create = "", promote = "", execute = ""] = commands;
  expect(commands).toHaveLength(7);
  const [deployed] = await run(deploy);
  values["APP"] = String(deployed?.["app_id"]);
  values["SLUG"] = String(deployed?.["slug"]);
  await expect.poll(async () => (await run(inspect))[0]?.["status"], { interval: 500 }).toBe("ready");
  expect(String((await run(inspect))[1]?.["logs"])).toContain("[service] ready");
  expect((await run(redeploy))[0]).toMatchObject({ number: 2 });
  const [pushed] = await run(push);
  expect(pushed).toMatchObject({ enabled: true, url: expect.stringContaining("/hooks/git/") });
  const [staging] = await run(create);
  const ofStaging = inspect.replaceAll("$APP", String(staging?.["app_id"]));
  await expect.poll(async () => (await run(ofStaging))[0]?.["status"], { interval: 500 }).toBe("ready");
  expect((await run(promote))[0]).toMatchObject({ number: 3, trigger: "promotion", promoted_from: "staging" });
  await expect.poll(async () => (await run(inspect))[0]?.["status"], { interval: 500 }).toBe("ready");
  const [executed] = await run(execute);
  expect(executed).toMatchObject({
    result: { structuredContent: { stdout: "{ count: 0, cents: 0 }\n", exit_code: 0 } },
  });
});
