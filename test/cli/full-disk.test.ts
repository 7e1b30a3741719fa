import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { mountSmallDisk, type SmallDisk, smallDiskProblem } from "../support/cli/small-disk.ts";
import { startLoopbackServer } from "../support/loopback-server.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { skillDocument, skillsOf } from "../support/service/skills.ts";

const problem = await smallDiskProblem();
if (problem !== null) process.stderr.write(`SKIPPED: no disk of 64 KiB on this host, because ${problem}\n`);
const service = sharedHarness();
let tenant: Tenant;
let cli: TestCli;
let disk: SmallDisk;
let agentId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl });
});
afterAll(() => cli[Symbol.asyncDispose]());

const SETTINGS = {
  ".cursor/mcp.json": '{ /* mine */ "mcpServers": { "x": { "url": "http://x" } } }\n',
  ".codex/config.toml": '# mine\nmodel = "x"\n',
  ".claude/settings.json": '{ "hooks": {} }\n',
  ".claude.json": '{ "projects": {} }\n',
};

interface Failure {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command whose home folder is on the disk. */
function run(args: readonly string[], { input = "", env = {} }: { input?: string; env?: object } = {}) {
  return cli.run(args, { input, env: { HOME: disk.path, XDG_CONFIG_HOME: path.join(disk.path, ".config"), ...env } });
}

function failure(file: string, reason: string): Failure {
  const line = new RegExp(`^error: Cannot write ${path.join(disk.path, file)}: ${reason}[^\\n]*\\n$`);
  return { code: 1, stdout: "", stderr: expect.stringMatching(line) };
}

describe.skipIf(problem !== null)("on a disk of 64 KiB,", () => {
  beforeEach(async () => {
    disk = await mountSmallDisk();
    for (const [file, content] of Object.entries(SETTINGS)) {
      await mkdir(path.dirname(path.join(disk.path, file)), { recursive: true });
      await writeFile(path.join(disk.path, file), content);
    }
    await run(["login", "--token"], { input: tenant.api_key });
    const { stdout } = await run(["agents", "provision", path.basename(disk.path), "--json"]);
    agentId = (JSON.parse(stdout) as { agent: { agent_id: string } }).agent.agent_id;
  });
  afterEach(() => disk[Symbol.asyncDispose]());

  const setInstructions = (content: string) =>
    skillsOf(tenant.rest).put(`/v1/agents/${agentId}/instructions`, { content });

  /** The commands that write files, with the file of each. */
  const commands = (): [string[], string, string?][] => [
    [["login", "--token"], ".config/svc/config.json", tenant.api_key],
    [["login", "--token"], ".config/svc/config.json", tenant.personal_access_token],
    [["login"], ".config/svc/config.json"],
    [["logout"], ".config/svc/config.json"],
    [["orgs", "use", tenant.org_id], ".config/svc/config.json"],
    [["mcp", "install", "cursor"], ".cursor/mcp.json"],
    [["mcp", "install", "codex"], ".codex/config.toml"],
    [["mcp", "install", "claude-code"], ".claude.json"],
    [["mcp", "install", "gemini"], ".gemini/settings.json"],
    [["agents", "hook", "claude-code", agentId], ".claude/settings.json"],
    [["agents", "pull", agentId, path.join(disk.path, "agent")], "agent/AGENTS.md"],
    [["agents", "push", agentId, path.join(disk.path, "pushed")], "pushed/.svc-agent.json"],
  ];

  test("a command that cannot write says it in one line, and leaves every file as it was", async () => {
    await setInstructions("Instructions of the service.");
    await mkdir(path.join(disk.path, "pushed"));
    await writeFile(path.join(disk.path, "pushed/AGENTS.md"), "Instructions of the folder.");
    const before = await disk.hashes();
    await disk.fill();
    for (const [args, file, input = ""] of commands()) {
      const push = args[1] === "push" ? ["--force"] : [];
      expect([args, await run([...args, ...push], { input })]).toEqual([args, failure(file, "the disk is full. Free")]);
    }
    expect(await disk.hashes()).toEqual(before);
    const { body } = await tenant.rest.get(`/v1/agents/${agentId}/instructions`);
    expect(body["content"]).toBe("Instructions of the service.");
  });

  test("on a read-only file system the line has the reason, also for folders that do not exist", async () => {
    await setInstructions("Instructions of the service.");
    await mkdir(path.join(disk.path, "pushed"));
    await writeFile(path.join(disk.path, "pushed/AGENTS.md"), "Instructions of the folder.");
    await disk.makeReadOnly();
    for (const [args, file, input = ""] of commands()) {
      const push = args[1] === "push" ? ["--force"] : [];
      const expected = failure(file, "the file system is read-only\\.");
      expect([args, await run([...args, ...push], { input })]).toEqual([args, expected]);
    }
    const { body } = await tenant.rest.get(`/v1/agents/${agentId}/instructions`);
    expect(body["content"]).toBe("Instructions of the service.");
  });

  test("a skill that does not fit leaves the one in the folder, and the next pull gets it", async () => {
    const name = path
      .basename(disk.path)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(-60)
      .replace(/^-/, "");
    const upload = (size: number) => {
      const files = [
        { path: "SKILL.md", content: skillDocument(name) },
        { path: "data.txt", content: "x".repeat(size) },
      ];
      return skillsOf(tenant.rest).upload(name, { files, agent_ids: [agentId] });
    };
    expect((await upload(10)).status).toBeLessThan(300);
    const folder = path.join(disk.path, "agent");
    const pull = () => run(["agents", "pull", agentId, folder]);
    expect((await pull()).code).toBe(0);
    await upload(12_000);
    const before = await disk.hashes();
    await disk.fill(2);
    expect(await pull()).toEqual(failure(`agent/skills/${name}`, "the disk is full\\."));
    expect(await disk.hashes()).toEqual(before);
    await disk.free();
    expect((await pull()).code).toBe(0);
    expect(await readFile(path.join(folder, "skills", name, "data.txt"), "utf8")).toHaveLength(12_000);
  });

  test("a sign-in is not refreshed when its new tokens cannot be stored, because the old ones end then", async () => {
    const requests: string[] = [];
    await using server = await startLoopbackServer((request, response) => {
      requests.push(request.url ?? "");
      const issuer = `http://${request.headers.host ?? ""}`;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ issuer, token_endpoint: `${issuer}/token` }));
    });
    const credentials = { kind: "oauth", client_id: "c", access_token: "a", expires_at: 0, refresh_token: "r" };
    const config = path.join(disk.path, ".config/svc/config.json");
    await writeFile(config, JSON.stringify({ services: { [server.url]: { credentials } } }));
    await disk.fill();
    const expected = failure(".config/svc/config.json", "the disk is full\\.");
    expect([await run(["whoami"], { env: { SVC_URL: server.url } }), requests]).toEqual([expected, []]);
  });

  test("a sign-in that cannot be stored is ended at the service", async () => {
    const ended: string[] = [];
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const issuer = `http://${request.headers.host ?? ""}`;
      const { pathname } = new URL(request.url ?? "", issuer);
      const endpoint = (name: string) => `${issuer}/${name}`;
      const responses: Record<string, object> = {
        "/.well-known/oauth-authorization-server": {
          issuer,
          registration_endpoint: endpoint("register"),
          device_authorization_endpoint: endpoint("device"),
          token_endpoint: endpoint("token"),
          revocation_endpoint: endpoint("revoke"),
        },
        "/register": { client_id: "c" },
        "/device": {
          device_code: "d",
          user_code: "ABCDEFGH",
          verification_uri: issuer,
          expires_in: 60,
          interval: 0.01,
        },
        "/token": { access_token: "a", refresh_token: "refresh", expires_in: 3600 },
        "/trpc/account.get": { result: { data: {} } },
      };
      const body = await text(request);
      if (pathname === "/token") await disk.fill();
      if (pathname === "/revoke") ended.push(new URLSearchParams(body).get("token") ?? "");
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(responses[pathname] ?? {}));
    };
    await using server = await startLoopbackServer((request, response) => void respond(request, response));
    const { code, stderr } = await run(["login"], { env: { SVC_URL: server.url } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("the disk is full. Free")]);
    expect(ended).toEqual(["refresh"]);
  });

  test("the hook imports a transcript also without room for its log", async () => {
    const transcript = path.join(cli.folder, "session.jsonl");
    await writeFile(transcript, "not a transcript\n");
    await disk.fill();
    const { promise: requested, resolve } = Promise.withResolvers<string>();
    await using server = await startLoopbackServer((request, response) => {
      resolve(request.url ?? "");
      response.end();
    });
    const env = { SVC_URL: server.url, SVC_TOKEN: tenant.api_key };
    const input = JSON.stringify({ transcript_path: transcript });
    expect((await run(["agents", "hook", "run", agentId], { input, env })).code).toBe(0);
    expect(await requested).toContain(agentId);
  });
});
