import { execFile } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CliResult, createCli, type TestCli } from "../support/cli/run-cli.ts";
import { startLoopbackServer } from "../support/loopback-server.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const SAMPLES = path.resolve(import.meta.dirname, "../domain/sessions/import/samples");

const service = sharedHarness();
let cli: TestCli;
let home: string;
let serverId: string;
let agentId: string;

beforeAll(async () => {
  const tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key, XDG_CONFIG_HOME: "" });
  home = path.join(cli.folder, "../home with a space");
  type Server = { server_id: string; agent: { agent_id: string } };
  const server = await dataOf<Server>("agents", "provision", "Recorder");
  serverId = server.server_id;
  agentId = server.agent.agent_id;
});
afterAll(() => cli[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(home, { recursive: true, force: true });
  await mkdir(home);
});

function run(args: string[], input = "", env: Record<string, string> = {}): Promise<CliResult> {
  return cli.run(args, { cwd: home, input, env: { HOME: home, ...env } });
}

async function dataOf<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await cli.run([...args, "--json"]);
  expect([args, code, stderr]).toEqual([args, 0, expect.not.stringContaining("error:")]);
  return JSON.parse(stdout) as T;
}

interface Imported {
  transcripts: { file: string; session_id: string; format: string; added: number; existing: number }[];
  refused: { file: string; error: string }[];
}

verifies(
  "sessions.import",
  "transcripts of Claude Code, Codex and Gemini CLI in a folder become sessions of the agent, and a repetition adds nothing",
  async () => {
    await cp(SAMPLES, path.join(home, "samples"), { recursive: true });
    const first = JSON.parse((await run(["sessions", "import", agentId, "samples", "--json"])).stdout) as Imported;
    expect(first.refused).toEqual([]);
    expect(new Set(first.transcripts.map(({ format }) => format))).toEqual(
      new Set(["claude-code", "codex", "gemini-cli"]),
    );
    const added = first.transcripts.reduce((sum, each) => sum + each.added, 0);
    expect(added).toBeGreaterThan(first.transcripts.length);
    const again = JSON.parse((await run(["sessions", "import", "Recorder", "samples", "--json"])).stdout) as Imported;
    expect(again.transcripts.map((each) => each.added)).toEqual(first.transcripts.map(() => 0));
    const list = ["sessions", "list", "--server-id", serverId, "--limit", "100"];
    const { sessions } = await dataOf<{ sessions: { session_id: string }[] }>(...list);
    const imported = first.transcripts.map(({ session_id: id }) => id);
    expect(sessions.map(({ session_id: id }) => id)).toEqual(expect.arrayContaining(imported));
  },
);

test("a file that is not a transcript is refused with its line, the others are imported, and the exit code is 1", async () => {
  await cp(SAMPLES, path.join(home, "samples"), { recursive: true });
  await writeFile(path.join(home, "samples/broken.jsonl"), '{"type":"user"}\nnot JSON\n{}\n');
  await writeFile(path.join(home, "samples/empty.jsonl"), "");
  const { code, stdout, stderr } = await run(["sessions", "import", agentId, "samples", "--json"]);
  const { transcripts, refused } = JSON.parse(stdout) as Imported;
  expect([code, transcripts.length > 0]).toEqual([1, true]);
  expect(refused).toEqual([
    { file: "samples/broken.jsonl", error: expect.stringMatching(/line 2/i) },
    { file: "samples/empty.jsonl", error: "The file is empty." },
  ]);
  expect(stderr).toMatch(/error: 2 of \d+ files were refused\.\n$/);
});

interface Listed {
  sessions: { session_id: string; server_id: string; updated_at: string }[];
  next_cursor: string | null;
}

test("sessions list and search show those of all servers, page by page, and --server-id those of one", async () => {
  const other = await dataOf<{ server_id: string; agent: { agent_id: string } }>("agents", "provision", "Archive");
  const open = async (agent: string, externalId: string) => {
    const { session_id: id } = await dataOf<{ session_id: string }>("sessions", "open", agent, externalId);
    const entries = JSON.stringify([{ id: "1", role: "user", content: `needle ${externalId}` }]);
    await dataOf("sessions", "append", id, "--entries", entries);
    return id;
  };
  const opened = [await open(agentId, "all-1"), await open(other.agent.agent_id, "all-2")];
  opened.push(await open(agentId, "all-3"), await open(other.agent.agent_id, "all-4"));
  const found = new Set<string>();
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page: Listed = await dataOf<Listed>(
      "sessions",
      "list",
      "--limit",
      "1",
      ...(cursor ? ["--cursor", cursor] : []),
    );
    const times = page.sessions.map(({ updated_at: time }) => time);
    expect(times).toEqual(times.toSorted().toReversed());
    for (const { session_id: id } of page.sessions) found.add(id);
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== null);
  expect([pages > 1, [...found]]).toEqual([true, expect.arrayContaining(opened)]);
  const { sessions } = await dataOf<Listed>("sessions", "list", "--server-id", other.server_id);
  expect(new Set(sessions.map(({ server_id: id }) => id))).toEqual(new Set([other.server_id]));
  const { hits } = await dataOf<{ hits: { session_id: string }[] }>("sessions", "search", "needle");
  expect(hits.map(({ session_id: id }) => id).toSorted()).toEqual(opened.toSorted());
  expect((await cli.run(["sessions", "search", "needle"])).stdout).toMatch(/EXCERPT.*\n.*needle all-/);
  const nothing = await cli.run(["sessions", "search", "absent"]);
  expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([0, "", "No hits.\n"]);
  const wrong = await cli.run(["sessions", "list", "--cursor", "x"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Add the --server-id")]);
});

test("a server that does not respond is named, and the sessions of the others are shown", async () => {
  const server = (id: string, name: string) => ({
    server_id: id,
    name,
    status: "running",
    agent: { agent_id: id, name: `${name} agent`, specialized_agents: [] },
  });
  const pages = [[server("1", "First"), server("2", "Second")], [server("3", "Third")]];
  await using foreign = await startLoopbackServer((request, response) => {
    const url = new URL(request.url ?? "", "http://x");
    const input = JSON.parse(url.searchParams.get("input") ?? "{}") as { server_id?: string; cursor?: string };
    const page = Number(input.cursor ?? 0);
    const data = url.pathname.endsWith("/servers.list")
      ? { servers: pages[page], next_cursor: page + 1 < pages.length ? String(page + 1) : null }
      : { sessions: [{ session_id: `s${input.server_id ?? ""}`, updated_at: "2026" }], next_cursor: null };
    const isAvailable = input.server_id !== "2";
    const error = { message: "OpenClaw does not respond.", code: -32603, data: { code: "CONFLICT", httpStatus: 409 } };
    response.writeHead(isAvailable ? 200 : 409, { "content-type": "application/json" });
    response.end(JSON.stringify(isAvailable ? { result: { data } } : { error }));
  });
  const env = { SVC_URL: foreign.url };
  const { code, stdout, stderr } = await run(["sessions", "list", "--json"], "", env);
  const { sessions } = JSON.parse(stdout) as Listed;
  expect([code, sessions.map(({ session_id: id }) => id)]).toEqual([1, ["s1", "s3"]]);
  expect(stderr).toBe("Second: OpenClaw does not respond.\nerror: 1 of 3 servers could not be read.\n");
  const agents = await run(["agents", "list"], "", env);
  expect([agents.code, agents.stdout.match(/\w+ agent/g)]).toEqual([0, ["First agent", "Second agent", "Third agent"]]);
});

test("wrong usage of an import says what is right", async () => {
  const wrong: [string[], number, RegExp][] = [
    [[agentId], 2, /missing required argument 'file'/],
    [[agentId, "nowhere.jsonl"], 2, /Cannot read nowhere\.jsonl: ENOENT/],
    [[agentId, "."], 2, /There is no transcript/],
    [["Nobody", "a.jsonl"], 1, /There is no agent "Nobody"/],
    [[crypto.randomUUID(), "a.jsonl"], 1, /Agent not found/],
    [[agentId, "a.jsonl", "--format", "other"], 2, /Allowed choices are claude-code, codex/],
  ];
  for (const [args, code, message] of wrong) {
    if (code === 1) await writeFile(path.join(home, "a.jsonl"), "{}\n");
    const failed = await run(["sessions", "import", ...args]);
    expect([args, failed.code, failed.stdout]).toEqual([args, code, ""]);
    expect(failed.stderr).toMatch(message);
    await rm(path.join(home, "a.jsonl"), { force: true });
  }
});

interface ClaudeSettings {
  hooks: { SessionEnd: { hooks: { type: string; command: string }[] }[] };
}

const SETTINGS = ".claude/settings.json";

async function readSettings(): Promise<ClaudeSettings> {
  return JSON.parse(await readFile(path.join(home, SETTINGS), "utf8")) as ClaudeSettings;
}

verifies(
  "cli.agents.hook",
  "the hook of Claude Code is added beside other hooks, once, and imports the transcript of the event",
  async () => {
    const other = { hooks: [{ type: "command", command: "true" }] };
    await mkdir(path.join(home, ".claude"));
    await writeFile(
      path.join(home, SETTINGS),
      JSON.stringify({ model: "x", hooks: { SessionEnd: [other], Stop: [] } }),
    );
    const added = await run(["agents", "hook", "claude-code", "Recorder"]);
    expect([added.code, added.stdout]).toEqual([0, ""]);
    const settings = await readSettings();
    expect(settings).toMatchObject({
      model: "x",
      hooks: { Stop: [], SessionEnd: [other, { hooks: [{ type: "command" }] }] },
    });
    const again = await run(["agents", "hook", "claude-code", agentId]);
    expect([again.stderr, await readSettings()]).toEqual([expect.stringContaining("has the hook already"), settings]);

    const [sample = ""] = await findSamples();
    const transcript = path.join(home, "it's a session.jsonl");
    await cp(sample, transcript);
    // As Claude Code starts it: with a shell, and the event on standard input.
    const command = settings.hooks.SessionEnd[1]?.hooks[0]?.command ?? "";
    const env = { ...cli.env, HOME: home };
    const hook = promisify(execFile)("sh", ["-c", command], { env });
    hook.child.stdin?.end(JSON.stringify({ hook_event_name: "SessionEnd", transcript_path: transcript }));
    expect(await hook).toEqual({ stdout: "", stderr: "" });
    const log = () => readFile(path.join(home, ".config/svc/hook.log"), "utf8");
    await expect.poll(log).toMatch(/it's a session\.jsonl\nFILE +ADDED +EXISTING +SESSION ID\n/);
  },
);

async function findSamples(): Promise<string[]> {
  const { stdout } = await promisify(execFile)("find", [path.join(SAMPLES, "claude-code"), "-name", "*.jsonl"]);
  return stdout.trim().split("\n").toSorted();
}

test("the hook of an agent is replaced when the service has another URL, and --print changes nothing", async () => {
  expect((await run(["agents", "hook", "claude-code", agentId])).code).toBe(0);
  const before = await readSettings();
  const printed = await run(["agents", "hook", "claude-code", agentId, "--print"]);
  expect(JSON.parse(printed.stdout)).toEqual(before);
  const url = service().service.publicUrl.replace("127.0.0.1", "localhost");
  expect((await run(["agents", "hook", "claude-code", agentId], "", { SVC_URL: url })).code).toBe(0);
  const after = await readSettings();
  expect(after.hooks.SessionEnd.map(({ hooks }) => hooks.length)).toEqual([1]);
  expect(after.hooks.SessionEnd[0]?.hooks[0]?.command).toContain(`--service ${url}`);
  await run(["agents", "hook", "claude-code", agentId, "--project"]);
  expect(await readSettings()).toEqual(before);
});

test("settings of Claude Code that cannot be understood or written are left as they are", async () => {
  await mkdir(path.join(home, ".claude"));
  for (const [content, message] of [
    ["{\n  oops", /line 2, column 3 is not valid JSON/],
    ['{"hooks": {"SessionEnd": "x"}}', /"hooks\.SessionEnd" is not a list/],
    ['{"hooks": []}', /"hooks" is not an object/],
  ] as const) {
    await writeFile(path.join(home, SETTINGS), content);
    const { code, stderr } = await run(["agents", "hook", "claude-code", agentId]);
    expect([content, code, stderr]).toEqual([content, 1, expect.stringMatching(message)]);
    expect(await readFile(path.join(home, SETTINGS), "utf8")).toBe(content);
  }
  const readOnly = await run(["agents", "hook", "claude-code", agentId], "", { HOME: "/sys" });
  expect([readOnly.code, readOnly.stderr]).toEqual([1, expect.stringMatching(/^error: Cannot write \/sys\//)]);
  const event = await run(["agents", "hook", "run", agentId], '{"transcript_path": "relative.jsonl"}');
  expect([event.code, event.stderr]).toEqual([2, expect.stringContaining("must be an event of a hook")]);
});
