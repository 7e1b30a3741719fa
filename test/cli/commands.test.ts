import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { completeWords } from "../../clients/cli/src/commands/completion.ts";
import { COMMANDS } from "../../clients/cli/src/generated/commands.ts";
import { createProgram } from "../../clients/cli/src/program.ts";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { startLoopbackServer } from "../support/loopback-server.ts";
import { installPackage } from "../support/sdk/build-sdk.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ worker: true, sharesBuilds: true });
let tenant: Tenant;
let cli: TestCli;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key });
});
afterAll(() => cli[Symbol.asyncDispose]());

function parse(program: ReturnType<typeof createProgram>): string[] {
  return program.commands.flatMap((group) => group.commands.map((command) => `${group.name()} ${command.name()}`));
}

/** Runs a command that must succeed, and returns its data. */
async function dataOf(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await cli.run([...args, "--json"]);
  expect([args, code, stderr]).toEqual([args, 0, expect.not.stringContaining("error:")]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

verifies("cli.derived", "every procedure has a command, except those with a command of another name", () => {
  const commands = parse(createProgram(() => ({}) as never));
  const derived = COMMANDS.map(({ words }) => words.join(" "));
  expect(derived.filter((name) => !commands.includes(name))).toEqual([
    "account get",
    "apps deploy",
    "knowledge add-archive",
  ]);
});

verifies(
  ["cli.deploy", "clients.cli.deploy"],
  "deploy prints the URL as data and the build as messages; logs, get, list and delete show the app",
  async () => {
    const deployed = await cli.run(["deploy", "examples/guestbook"]);
    const { stdout, stderr } = deployed;
    expect(deployed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^http:\/\/guestbook-[a-z0-9]{6}\.\S+\n$/),
    });
    const slug = new URL(stdout.trim()).hostname.split(".")[0] ?? "";
    expect(stderr).toMatch(new RegExp(`^Deploying examples/guestbook as ${slug}\\n[^]*\\[service\\] ready\\n$`));
    const logs = await cli.run(["apps", "logs", slug]);
    const followed = await cli.run(["apps", "logs", "-f", slug]);
    expect([logs.stdout, followed.stderr]).toEqual([followed.stdout, "The deployment is ready.\n"]);
    const events = (await cli.run(["apps", "logs", "-f", slug, "--json"])).stdout.trim().split("\n");
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "end", status: "ready" });
    expect(await dataOf("apps", "get", slug)).toMatchObject({ slug, status: "ready" });
    expect((await cli.run(["apps", "list"])).stdout).toMatch(new RegExp(`^SLUG .*\\n${slug} +ready `));
    expect(await dataOf("deployments", "list", slug)).toMatchObject({ deployments: [{ number: 1, is_live: true }] });
    const rollback = await cli.run(["deployments", "rollback", slug, "1"]);
    expect([rollback.code, rollback.stderr]).toEqual([1, expect.stringMatching(/^error: .*live/)]);
    const { slug: staging } = await dataOf("environments", "create", slug, "staging");
    expect((await cli.run(["apps", "logs", "-f", String(staging)])).stderr).toBe("The deployment is ready.\n");
    expect(await dataOf("environments", "promote", slug, "staging")).toMatchObject({ trigger: "promotion", number: 2 });
    expect((await cli.run(["environments", "list", slug])).stdout).toMatch(/^NAME .*\nproduction .*\nstaging .*ready/);
    expect((await cli.run(["apps", "delete", slug, "--yes"])).stderr).toContain("The app has environments: staging");
    expect((await cli.run(["apps", "delete", String(staging), "--yes"])).code).toBe(0);
    expect(await dataOf("apps", "logs", slug, "--runtime")).toEqual({ logs: [], next_cursor: null });
    expect(await dataOf("apps", "open", slug)).toEqual({ url: stdout.trim() });
    const unconfirmed = await cli.run(["apps", "delete", slug]);
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining("Add --yes")]);
    expect(await cli.run(["apps", "delete", slug, "--yes"])).toEqual({
      code: 0,
      stdout: "",
      stderr: `Deleted ${slug}.\n`,
    });
    const deleted = await cli.run(["apps", "get", slug]);
    expect(deleted).toMatchObject({
      code: 1,
      stderr: `error: There is no app "${slug}". List all apps with: svc apps list\n`,
    });
  },
);

test("a failed deployment has the exit code 1, and one line says why", async () => {
  const { code, stdout, stderr } = await cli.run(["deploy", "examples/hello", "--branch", "absent"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^error: .*absent/);
});

test("an interrupted deploy has the exit code 130, and says what continues and how to cancel it", async () => {
  const deploy = cli.start(["deploy", "examples/hello"]);
  await expect.poll(() => deploy.stderr()).toContain("Deploying examples/hello as");
  const slug = /as (\S+)/.exec(deploy.stderr())?.[1] ?? "";
  deploy.child.kill("SIGINT");
  expect(await deploy.ended).toMatchObject({ code: 130, stdout: "" });
  expect(deploy.stderr()).toMatch(/error: Interrupted\. The deployment continues\..*svc deployments cancel \S+ 1\n$/);
  const app = await dataOf("apps", "get", slug);
  await service().waitForStatus(tenant, String(app["id"]));
  expect((await cli.run(["apps", "delete", slug, "-y"])).code).toBe(0);
});

test("--no-wait returns when the deployment has started", async () => {
  const { code, stdout, stderr } = await cli.run(["deploy", "examples/hello", "--no-wait"]);
  expect([code, stdout, stderr]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/hello-\S+\n$/),
    expect.stringContaining("svc apps logs -f hello-"),
  ]);
});

test("values of options become fields of their types, and - reads a value from standard input", async () => {
  const app = await service().givenApp(tenant, { status: "ready", name: "settings" });
  const set = await cli.run(["variables", "set", app.slug, "API_KEY", "-", "--secret", "--json"], {
    input: "s3cret\n",
  });
  expect([set.code, JSON.parse(set.stdout)]).toMatchObject([0, { name: "API_KEY", secret: true, value: null }]);
  await dataOf("variables", "set", "settings", "COLOR", "blue");
  expect(await dataOf("variables", "list", app.id)).toMatchObject({
    variables: [{ name: "API_KEY" }, { name: "COLOR", value: "blue", secret: false }],
  });
  expect(await cli.run(["variables", "unset", app.slug, "COLOR", "--yes"])).toMatchObject({ code: 0 });
  expect(await dataOf("apps", "update", app.slug, "--root-directory", "web")).toMatchObject({ root_directory: "web" });
  expect(await dataOf("apps", "update", app.slug, "--no-root-directory")).toMatchObject({ root_directory: null });
  expect(await dataOf("apps", "update", app.slug, "--runtime", "node")).toMatchObject({ requested_runtime: "node" });
  expect(await dataOf("apps", "update", app.slug, "--no-runtime")).toMatchObject({ requested_runtime: null });
  const body = JSON.stringify({ name: "renamed", branch: "next" });
  const updated = await cli.run(["apps", "update", app.slug, "--body", "-", "--json"], { input: body });
  expect(JSON.parse(updated.stdout)).toMatchObject({ name: "renamed", branch: "next" });
  expect(await dataOf("deployments", "list", app.slug, "--limit", "1")).toMatchObject({ next_cursor: null });
});

verifies("cli.agents", "tokens, agents and usage have commands", async () => {
  const token = await dataOf("tokens", "create", "--kind", "api_key", "--name", "from the command line");
  expect(token).toMatchObject({ kind: "api_key", scope: "everything", token: expect.stringMatching(/^svk_/) });
  expect((await cli.run(["tokens", "list"])).stdout).toContain("from the command line");
  expect(await dataOf("tokens", "revoke", String(token["id"]), "--yes")).toEqual({ status: "revoked" });
  const provisioned = await dataOf("agents", "provision", "Support");
  expect(provisioned).toMatchObject({ name: "Support", agent: { gateway_token: expect.stringMatching(/^svg_/) } });
  expect((await cli.run(["agents", "list"])).stdout).toMatch(/^AGENT +SERVER +STATUS +AGENT ID\n/);
  expect(await dataOf("usage")).toMatchObject({ plan: "scale", quotas: expect.any(Array) });
  expect((await cli.run(["usage"])).stdout).toMatch(/METRIC +USED +LIMIT/);
  expect(await dataOf("usage", "daily", "--days", "7")).toMatchObject({ days: { length: 7 }, apps: [] });
});

verifies(
  "versions.tolerant_clients",
  "commands accept fields that a newer service has added to a response",
  async () => {
    const { publicUrl } = service().service;
    const respond = async (
      { url = "", headers: { authorization = "" } }: IncomingMessage,
      response: ServerResponse,
    ) => {
      const body = await (await fetch(new URL(url, publicUrl), { headers: { authorization } })).text();
      response
        .setHeader("content-type", "application/json")
        .end(body.replace(`"quotas":`, `"added":{"by":1},"quotas":`));
    };
    await using newer = await startLoopbackServer((request, response) => void respond(request, response));
    const { code, stdout } = await cli.run(["usage", "get", "--json"], { env: { SVC_URL: newer.url } });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { added: { by: 1 }, quotas: expect.any(Array) }]);
  },
);

test("texts of apps cannot control the terminal", async () => {
  const app = await service().givenApp(tenant, { name: "evil\u001b[2J\u009b31mname", status: "ready" });
  const { stdout } = await cli.run(["apps", "get", app.slug]);
  // oxlint-disable-next-line no-control-regex -- the output must have none
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(stdout).toContain("evil[2J31mname");
});

verifies("cli.completion", "completion offers the commands and options that can follow", async () => {
  const program = createProgram(() => ({}) as never);
  expect(completeWords(program, ["dep"])).toEqual(["deploy", "deployments"]);
  expect(completeWords(program, ["deployments", "r"])).toEqual(["redeploy", "rollback"]);
  expect(completeWords(program, ["apps", "logs", "--f"])).toEqual(["--follow"]);
  expect(completeWords(program, ["mcp", "install", "c"])).toEqual(["claude-code", "codex", "cursor"]);
  expect(completeWords(program, ["mcp", "install", "cursor", "c"])).toEqual([]);
  expect(completeWords(program, [""])).not.toContain("complete");
  const words = await cli.run(["complete", "--", "tokens", "cr"]);
  expect(words).toEqual({ code: 0, stdout: "create\n", stderr: "" });
  expect((await cli.run(["--help"])).stdout).toMatch(/^ +tokens +issue\|create, list, revoke, rotate$/m);
  for (const shell of ["bash", "zsh", "fish"])
    expect((await cli.run(["completion", shell])).stdout).toContain("svc complete --");
});

verifies("cli.completion", "the completion of bash completes a command", async () => {
  const { stdout: script } = await cli.run(["completion", "bash"]);
  const complete = `svc() { "${process.execPath}" "${path.join(cli.folder, "svc.js")}" "$@"; }
    ${script}
    COMP_WORDS=(svc deployments ro); COMP_CWORD=2; _svc; echo "$COMPREPLY"`;
  const { stdout } = await promisify(execFile)("bash", ["-c", complete], { env: cli.env });
  expect(stdout).toBe("rollback\n");
});

test("the package installs without other packages, and prints its version", async () => {
  const project = path.join(cli.folder, "../project");
  await mkdir(project);
  await writeFile(path.join(project, "package.json"), "{}");
  await installPackage(project, cli.tarball);
  const { version } = JSON.parse(await readFile(path.join(cli.folder, "package.json"), "utf8")) as { version: string };
  const command = path.join(project, "node_modules/.bin/svc");
  const { stdout } = await promisify(execFile)(process.execPath, [command, "--version"], { env: cli.env });
  expect(stdout).toBe(`${version}\n`);
  const manifest = await readFile(
    path.join(project, "node_modules/@app-provisioning-service/cli/package.json"),
    "utf8",
  );
  expect(JSON.parse(manifest)).not.toHaveProperty("dependencies");
});

test("memory is another name of the commands of memories", async () => {
  const { agent } = (await dataOf("agents", "provision", "Notes")) as { agent: { agent_id: string } };
  await dataOf("memory", "store", agent.agent_id, "--content", "Invoices are sent on Mondays.", "--kind", "fact");
  const listed = await cli.run(["memories", "list", agent.agent_id]);
  expect(listed.stdout).toMatch(/^CONTENT +KIND +CREATED AT +MEMORY ID\nInvoices are sent on Mondays\. +fact /);
});

test("orgs get shows the settings of the organization, and orgs update changes them", async () => {
  expect(await dataOf("orgs", "update", "--direct-tools", "none")).toMatchObject({ direct_tools: "none" });
  expect(await dataOf("orgs", "get")).toMatchObject({ org_id: tenant.org_id, direct_tools: "none" });
  const { code, stderr } = await cli.run(["orgs", "update", "--direct-tools", "some"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("Allowed choices are all, none.")]);
  expect(await dataOf("orgs", "update", "--direct-tools", "all")).toMatchObject({ direct_tools: "all" });
});
