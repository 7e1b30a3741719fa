import { access, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startScriptedService, startSilentService } from "../support/cli/scripted-service.ts";
import { type CliResult, createCli, type TestCli } from "../support/cli/run-cli.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { skillDocument, skillsOf } from "../support/service/skills.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;
let cli: TestCli;
let folder: string;
let agentId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key });
});
afterAll(() => cli[Symbol.asyncDispose]());
beforeEach(async () => {
  folder = await mkdtemp(path.join(cli.folder, "../agent-"));
  const { stdout } = await cli.run(["agents", "provision", path.basename(folder), "--json"]);
  agentId = (JSON.parse(stdout) as { agent: { agent_id: string } }).agent.agent_id;
});

const pull = (...options: string[]) => cli.run(["agents", "pull", agentId, folder, ...options]);
const push = (...options: string[]) => cli.run(["agents", "push", agentId, folder, ...options]);
const read = (file: string) => readFile(path.join(folder, file), "utf8");

async function write(file: string, content: string | Buffer): Promise<void> {
  await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
  await writeFile(path.join(folder, file), content);
}

async function changesOf(result: Promise<CliResult>): Promise<[string, string][]> {
  const { code, stdout, stderr } = await result;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("error:")]);
  const { changes } = JSON.parse(stdout) as { changes: { part: string; status: string }[] };
  return changes.map(({ part, status }) => [part, status]);
}

async function instructions(): Promise<string> {
  const { body } = await tenant.rest.get(`/v1/agents/${agentId}/instructions`);
  return String(body["content"]);
}

function setInstructions(content: string) {
  return skillsOf(tenant.rest).put(`/v1/agents/${agentId}/instructions`, { content });
}

/** Everything below the folder but its state. */
async function listFiles(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return files
    .map((file) => path.relative(folder, file))
    .filter((file) => file !== ".svc-agent.json")
    .toSorted();
}

/** A skill with a name that no other test uses. */
function givenSkill(): { name: string; document: string } {
  const name = `skill-${path
    .basename(folder)
    .slice(6)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "x")}`;
  return { name, document: skillDocument(name) };
}

verifies(
  "cli.agents.sync",
  "push stores AGENTS.md and skills, pull writes them into another folder, and a repetition does nothing",
  async () => {
    const { name, document } = givenSkill();
    const binary = Buffer.from([0x89, 0x50, 0, 0xff]);
    await write("AGENTS.md", "# Support\n\nAnswer in English.\n");
    await write(`skills/${name}/SKILL.md`, document);
    await write(`skills/${name}/scripts/run.sh`, "echo Zürich\n");
    await write(`skills/${name}/icon.png`, binary);
    await write("skills/notes.txt", "no skill");
    expect(await changesOf(push("--json"))).toEqual([
      ["AGENTS.md", "pushed"],
      [`skills/${name}`, "pushed"],
    ]);
    expect(await instructions()).toBe("# Support\n\nAnswer in English.\n");
    expect((await push()).stderr).toBe("The folder and the agent are the same.\n");
    const pushed = await listFiles();
    folder = `${folder}-copy/inner`;
    expect(await changesOf(pull("--json"))).toEqual([
      ["AGENTS.md", "pulled"],
      [`skills/${name}`, "pulled"],
    ]);
    expect(await listFiles()).toEqual(pushed.filter((file) => file !== "skills/notes.txt"));
    expect(await readFile(path.join(folder, `skills/${name}/icon.png`))).toEqual(binary);
    expect((await pull()).stderr).toBe("The folder and the agent are the same.\n");
  },
);

test("pull writes what only the service has changed, and keeps what only the folder has changed", async () => {
  const { name, document } = givenSkill();
  await setInstructions("one");
  await skillsOf(tenant.rest).upload(name, {
    files: [
      { path: "SKILL.md", content: document },
      { path: "run.sh", content: "1" },
    ],
    agent_ids: [agentId],
  });
  await pull();
  await chmod(path.join(folder, `skills/${name}/run.sh`), 0o755);
  await write("AGENTS.md", "two");
  await skillsOf(tenant.rest).upload(name, {
    files: [
      { path: "SKILL.md", content: document },
      { path: "run.sh", content: "2" },
    ],
  });
  const pulled = await pull();
  expect(pulled.stdout).toBe(`STATUS        PART\nchanged here  AGENTS.md\npulled        skills/${name}\n`);
  expect(pulled.stderr).toContain("svc agents push");
  expect([await read("AGENTS.md"), await read(`skills/${name}/run.sh`)]).toEqual(["two", "2"]);
  expect((await stat(path.join(folder, `skills/${name}/run.sh`))).mode & 0o777).toBe(0o755);
  expect(await changesOf(push("--json"))).toEqual([["AGENTS.md", "pushed"]]);
  // A skill that is disabled for the agent leaves the folder, and nothing hidden stays.
  await skillsOf(tenant.rest).put(`/v1/agents/${agentId}/skills/${name}`, { enabled: false });
  expect(await changesOf(pull("--json"))).toEqual([[`skills/${name}`, "removed"]]);
  expect(await listFiles()).toEqual(["AGENTS.md"]);
  expect(await readdir(path.join(folder, "skills"))).toEqual([]);
});

test("a conflict changes nothing, names the parts and the next step, and --force replaces one side", async () => {
  const { name, document } = givenSkill();
  await write("AGENTS.md", "one");
  await write(`skills/${name}/SKILL.md`, document);
  await push();
  await setInstructions("theirs");
  await write("AGENTS.md", "ours");
  await write(`skills/${name}/more.md`, "more");
  const refusedPush = await push();
  expect([refusedPush.code, refusedPush.stdout]).toEqual([1, ""]);
  expect(refusedPush.stderr).toMatch(
    /^error: The agent was not changed: .* both changed AGENTS\.md\. [^\n]*--force\.\n$/,
  );
  const refusedPull = await pull();
  expect([refusedPull.code, refusedPull.stderr]).toEqual([1, expect.stringContaining("The folder was not changed")]);
  expect([await instructions(), await read("AGENTS.md"), await read(`skills/${name}/more.md`)]).toEqual([
    "theirs",
    "ours",
    "more",
  ]);
  expect((await skillsOf(tenant.rest).get(name)).body["file_count"]).toBe(1);
  expect(await changesOf(push("--force", "--json"))).toEqual([
    ["AGENTS.md", "pushed"],
    [`skills/${name}`, "pushed"],
  ]);
  expect(await instructions()).toBe("ours");
  await setInstructions("theirs again");
  await write("AGENTS.md", "ours again");
  await rm(path.join(folder, `skills/${name}/more.md`));
  expect(await changesOf(pull("--force", "--json"))).toEqual([
    ["AGENTS.md", "pulled"],
    [`skills/${name}`, "pulled"],
  ]);
  expect([await read("AGENTS.md"), await read(`skills/${name}/more.md`)]).toEqual(["theirs again", "more"]);
});

test("a folder without a state is compared with the agent, and the same change on both sides is not a conflict", async () => {
  await setInstructions("same");
  await write("AGENTS.md", "same");
  expect((await pull()).stderr).toBe("The folder and the agent are the same.\n");
  await setInstructions("changed equally");
  await write("AGENTS.md", "changed equally");
  expect((await push()).stderr).toBe("The folder and the agent are the same.\n");
  await rm(path.join(folder, ".svc-agent.json"));
  await write("AGENTS.md", "other");
  expect((await pull()).code).toBe(1);
  expect((await push()).code).toBe(1);
  const { name, document } = givenSkill();
  await write(`skills/${name}/SKILL.md`, document);
  expect(await changesOf(pull("--force", "--json"))).toEqual([
    ["AGENTS.md", "pulled"],
    [`skills/${name}`, "changed here"],
  ]);
  expect(await listFiles()).toEqual(["AGENTS.md", `skills/${name}/SKILL.md`]);
});

test("a skill of the organization that the agent does not have is not replaced by a skill of the same name", async () => {
  const { name, document } = givenSkill();
  await skillsOf(tenant.rest).upload(name, { files: [{ path: "SKILL.md", content: `${document}\nOf others.` }] });
  await write(`skills/${name}/SKILL.md`, document);
  const refused = await push();
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`skills/${name}`)]);
  expect(await changesOf(pull("--json"))).toEqual([[`skills/${name}`, "changed here"]]);
  await write(`skills/${name}/SKILL.md`, `${document}\nOf others.`);
  // The same skill is enabled for the agent.
  expect(await changesOf(push("--json"))).toEqual([[`skills/${name}`, "pushed"]]);
});

test("push removes nothing, and says how to disable a skill whose folder is gone", async () => {
  const { name, document } = givenSkill();
  await write("AGENTS.md", "kept");
  await write(`skills/${name}/SKILL.md`, document);
  await push();
  await rm(path.join(folder, "AGENTS.md"));
  await rm(path.join(folder, "skills"), { recursive: true });
  const { code, stderr } = await push();
  expect([code, stderr]).toEqual([0, expect.stringContaining(`svc agent-skills set ${agentId} ${name} --no-enabled`)]);
  expect(await instructions()).toBe("kept");
  expect(await changesOf(pull("--force", "--json"))).toEqual([
    ["AGENTS.md", "pulled"],
    [`skills/${name}`, "pulled"],
  ]);
});

test("symbolic links that lead out of the folder are refused, and nothing outside is read or written", async () => {
  const outside = await mkdtemp(path.join(cli.folder, "../outside-"));
  const { name, document } = givenSkill();
  await setInstructions("new");
  await skillsOf(tenant.rest).upload(name, { files: [{ path: "SKILL.md", content: document }], agent_ids: [agentId] });
  await writeFile(path.join(outside, "AGENTS.md"), "secret");
  const links: [string, string][] = [
    ["AGENTS.md", path.join(outside, "AGENTS.md")],
    ["skills", outside],
    [`skills/${name}`, outside],
  ];
  for (const [link, target] of links) {
    await mkdir(path.dirname(path.join(folder, link)), { recursive: true });
    await symlink(target, path.join(folder, link));
    for (const command of [pull, push]) {
      const { code, stderr } = await command("--force");
      expect([link, code, stderr]).toEqual([link, 1, expect.stringContaining(`${link} is a symbolic link`)]);
    }
    await rm(path.join(folder, link));
  }
  expect(await readdir(outside)).toEqual(["AGENTS.md"]);
  expect([await readFile(path.join(outside, "AGENTS.md"), "utf8"), await instructions()]).toEqual(["secret", "new"]);
  await write(`skills/${name}/SKILL.md`, document);
  await symlink("/etc/hostname", path.join(folder, `skills/${name}/link`));
  expect((await push()).stderr).toMatch(/link cannot be a part of a skill/);
});

test("paths of the service that lead out of the folder are refused before anything is written", async () => {
  for (const bad of [
    "../../escape.md",
    "/tmp/escape.md",
    "a/../../../escape.md",
    "a\\..\\escape.md",
    "C:escape.md",
    ".git/config",
  ]) {
    await using server = await startScriptedService([{ name: "good", files: [bad, "SKILL.md"] }]);
    const { code, stderr } = await cli.run(["agents", "pull", agentId, folder], { env: { SVC_URL: server.url } });
    expect([bad, code, stderr]).toEqual([bad, 1, expect.stringContaining("which is not allowed")]);
    expect([bad, await listFiles()]).toEqual([bad, []]);
  }
  for (const name of ["..", "../x", "a/b", "UPPER"]) {
    await using server = await startScriptedService([{ name, files: ["SKILL.md"] }]);
    const { code } = await cli.run(["agents", "pull", agentId, folder], { env: { SVC_URL: server.url } });
    expect([name, code, await listFiles()]).toEqual([name, 0, []]);
  }
  await expect(access(path.join(folder, "../escape.md"))).rejects.toThrow("ENOENT");
});

test("the folder of another agent, a broken state and a folder that cannot be written are one line each", async () => {
  await write("AGENTS.md", "x");
  await push();
  const other = await cli.run(["agents", "provision", "Other", "--json"]);
  const otherId = (JSON.parse(other.stdout) as { agent: { agent_id: string } }).agent.agent_id;
  const wrong = await cli.run(["agents", "push", otherId, folder]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(`belongs to the agent ${agentId}`)]);
  for (const content of ["{", "[]", '{"parts": 1}']) {
    await write(".svc-agent.json", content);
    const { code, stderr } = await pull();
    expect([content, code, stderr]).toEqual([
      content,
      1,
      expect.stringMatching(/^error: .*is not valid\. Remove it[^\n]*\n$/),
    ]);
  }
  const readOnly = await cli.run(["agents", "pull", agentId, "/sys/agent"]);
  expect([readOnly.code, readOnly.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: Cannot write \/sys\/agent[^\n]*\n$/),
  ]);
});

test("an interrupted pull leaves the folder as it was", async () => {
  await write("AGENTS.md", "before");
  await using silent = await startSilentService();
  const running = cli.start(["agents", "pull", agentId, folder, "--force"], { env: { SVC_URL: silent.url } });
  await silent.requested;
  running.child.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, stdout: "", stderr: "error: Interrupted.\n" });
  expect([await readdir(folder), await read("AGENTS.md")]).toEqual([["AGENTS.md"], "before"]);
});
