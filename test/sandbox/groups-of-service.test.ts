import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { describeLimits, openSandboxGroups } from "../../server/composition/foundation.ts";
import { openControlGroups } from "../../server/sandbox/cgroups/open-control-groups.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { workerdPids } from "../support/edge/app-processes.ts";
import { givenLiveApp } from "../support/edge/live-app.ts";
import { processesRunning } from "../support/sandbox/sandbox-command.ts";
import { createHarness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { uniqueSleepSeconds } from "../contract/sandbox.ts";

/** What the kernel limits on this host. */
async function readHostLimits() {
  await using groups = await openControlGroups();
  const { version, controllers, problem } = groups;
  return { version, controllers, problem };
}

const host = await readHostLimits();

/** The group of a process below that of the service, such as `sandboxes-7-1-0/builds/ID`; empty for other processes. */
async function sandboxGroupOf(pid: number | string): Promise<string> {
  const groups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  return /\/(sandboxes-[^/]+\/[a-z]+\/[^/\n]+)/.exec(groups)?.[1] ?? "";
}

/** The sandbox groups of all processes of this machine. */
async function listSandboxGroups(): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return await Promise.all(pids.map(sandboxGroupOf));
}

test.skipIf(!host.controllers.includes("memory"))(
  "the service runs each build, app and program in a control group",
  async () => {
    await using repositories = await temporaryFolder();
    const gitBaseUrl = pathToFileURL(repositories.path).href;
    await using harness = await createHarness({ worker: true, config: { gitBaseUrl } });
    const { publicUrl } = harness.service;
    const tenant = await harness.tenant();
    const script = `export default { fetch: () => new Response("hello") };`;
    await givenLiveApp(harness, tenant, { script, procedures: [] });
    const [app = 0] = await workerdPids(path.join(harness.dataDirectory, "edge"));
    const groupOfApp = await sandboxGroupOf(app);
    expect(groupOfApp).toMatch(/^sandboxes-[^/]+\/apps\//);
    const root = path.dirname(path.dirname(groupOfApp));

    const gateway = new GatewayClient(publicUrl, tenant.personal_access_token);
    const program = await gateway.tool("service_execute", { code: "console.log(1);" });
    expect(program.structuredContent).toMatchObject({ exit_code: 0 });
    // The process of the next program has started already.
    const inGroupOfPrograms = expect.stringMatching(`^${root}/programs/`);
    await expect.poll(listSandboxGroups).toContainEqual(inGroupOfPrograms);

    const seconds = uniqueSleepSeconds();
    const repository = await Repository.create(repositories.path, "acme/slow");
    await repository.commitFiles({
      "package.json": JSON.stringify({ scripts: { build: `sleep ${seconds}` } }),
      "src/index.ts": `export default { fetch: () => new Response("built") };`,
    });
    expect((await tenant.rest.deploy({ repo: "acme/slow" })).status).toBe(201);
    const groupsOfBuild = async () => Promise.all((await processesRunning(["sleep", seconds])).map(sandboxGroupOf));
    await expect.poll(groupsOfBuild).toEqual([expect.stringMatching(`^${root}/builds/`)]);
  },
);

verifies(
  hazard(50),
  "the log at start and the readiness details say what the kernel limits, and why not more",
  async () => {
    await using harness = await createHarness();
    const response = await fetch(`${harness.service.publicUrl}/readyz`);
    const { details } = (await response.json()) as { details: { sandbox_limits: Record<string, unknown> } };
    const { cgroups, controllers, problem, disk, disk_problem: diskProblem } = details.sandbox_limits;
    expect({ version: cgroups, controllers, problem }).toEqual(host);
    expect(disk).toBe(diskProblem === null);
    const lines = harness.logged().trim().split("\n");
    const logged = lines.map((line) => JSON.parse(line) as { msg: string; problem?: string });
    const problems = logged
      .filter(({ msg }) => msg.startsWith("the kernel does not limit"))
      .map((line) => line.problem);
    expect(problems).toEqual([problem, diskProblem].filter((each) => each !== null));
    const complete = logged.filter(({ msg }) => msg === "the kernel limits sandboxes with control groups");
    expect(complete).toHaveLength(problem === null ? 1 : 0);
  },
);

test("without control groups, the log at start and the readiness details say why", async () => {
  const lines: [level: string, fields: object, message: string][] = [];
  const log = {
    info: (fields: object, message: string) => void lines.push(["info", fields, message]),
    warn: (fields: object, message: string) => void lines.push(["warn", fields, message]),
  };
  const none = { unified: null, legacy: { memory: null, pids: null, cpu: null } };
  await using groups = await openSandboxGroups(log, none);
  const limits = {
    version: null,
    controllers: [],
    problem: "version 2 is not mounted; version 1 has no memory controller",
  };
  expect(lines).toEqual([["warn", limits, expect.stringMatching(/^the kernel does not limit all resources/)]]);
  expect(describeLimits(groups, "only root can mount file systems")).toEqual({
    cgroups: null,
    controllers: [],
    problem: limits.problem,
    disk: false,
    disk_problem: "only root can mount file systems",
  });
});
