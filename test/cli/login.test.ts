import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CliResult, createCli, type RunningCli, type TestCli } from "../support/cli/run-cli.ts";
import { joinOrganization, signUpOwner } from "../support/identity/organization-members.ts";
import type { TestUser } from "../support/identity/test-user.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ config: { signUp: "open" } });
let tenant: Tenant;
let user: TestUser;
let cli: TestCli;

beforeAll(async () => {
  tenant = await service().tenant();
  user = await signUpOwner(service(), tenant);
  cli = await createCli({ SVC_URL: service().service.publicUrl });
});
afterAll(() => cli[Symbol.asyncDispose]());
beforeEach(async () => {
  await cli.run(["logout"]);
});

const LIST_APPS = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "service_list_apps", arguments: {} },
});

interface StoredCredentials {
  kind: string;
  access_token: string;
  expires_at: number;
  refresh_token: string;
}

interface StoredConfig {
  services: Record<string, { credentials: StoredCredentials; organization?: string }>;
}

async function readStored(): Promise<StoredConfig> {
  return JSON.parse((await cli.readConfig()).text) as StoredConfig;
}

/** Waits for the code that the command prints, and returns it. */
async function readCode(login: RunningCli): Promise<string> {
  await expect.poll(() => login.stderr()).toMatch(/Your code: \S+\n.*\/device\?user_code=/);
  return (/Your code: (\S+)/.exec(login.stderr())?.[1] ?? "").replace("-", "");
}

async function decide(decision: "approve" | "deny", userCode: string): Promise<void> {
  await user.get(`/device?user_code=${userCode}`);
  expect((await user.post(`/device/${decision}`, { userCode })).status).toBe(200);
}

async function signIn(): Promise<CliResult> {
  const login = cli.start(["login"]);
  await decide("approve", await readCode(login));
  return login.ended;
}

verifies(
  "cli.whoami",
  "login with a token stores it for the owner of the file only, and whoami names the organization",
  async () => {
    const login = await cli.run(["login", "--token"], { input: `${tenant.api_key}\n` });
    expect([login.code, login.stdout, login.stderr]).toEqual([
      0,
      "",
      expect.stringMatching(/^Signed in to .* as an API key/),
    ]);
    expect((await cli.readConfig()).mode).toBe(0o600);
    const whoami = await cli.run(["whoami", "--json"]);
    expect([whoami.code, JSON.parse(whoami.stdout)]).toMatchObject([
      0,
      { user: null, organization: { id: tenant.org_id }, url: service().service.publicUrl },
    ]);
  },
);

test("4 is the exit code of a command without a sign-in, with a wrong token and after logout", async () => {
  const commands: [string[], Record<string, string>, RegExp][] = [
    [["apps", "list"], {}, /Run: svc login\n$/],
    [["whoami"], {}, /Run: svc login\n$/],
    [["apps", "list"], { SVC_TOKEN: "svk_x" }, /Set SVC_TOKEN to a valid API key\.\n$/],
  ];
  for (const [args, env, advice] of commands) {
    const { code, stdout, stderr } = await cli.run(args, { env });
    expect([args, code, stdout]).toEqual([args, 4, ""]);
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
    expect(stderr).toMatch(advice);
  }
  const wrong = await cli.run(["login", "--token"], { input: "svk_wrong" });
  expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringMatching(/^error: /)]);
  expect((await readStored()).services).toEqual({});
});

test("login explains that a token of an agent is the wrong one, and that standard input is empty", async () => {
  const gateway = await cli.run(["login", "--token"], { input: "svg_x" });
  expect([gateway.code, gateway.stderr]).toEqual([2, expect.stringContaining("only for an agent")]);
  const empty = await cli.run(["login", "--token"]);
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining("The token is missing")]);
});

verifies(
  ["gateway.auth.cli", "gateway.clients.bridge"],
  "svc mcp uses a personal access token that login has stored, until logout, and other commands keep their sign-in",
  async () => {
    const wrong = await cli.run(["login", "--token"], { input: "svp_wrong" });
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringMatching(/^error: .*pass it to svc login --token/)]);
    expect((await readStored()).services).toEqual({});
    await cli.run(["login", "--token"], { input: tenant.api_key });
    const unusable = await cli.run(["mcp"], { input: LIST_APPS });
    expect(unusable.stdout).toContain("This token is not for tools.");
    const stored = await cli.run(["login", "--token"], { input: `${tenant.personal_access_token}\n` });
    expect([stored.code, stored.stderr]).toEqual([0, expect.stringMatching(/^Stored the personal access token/)]);
    expect((await cli.readConfig()).mode).toBe(0o600);
    expect((await cli.run(["mcp"], { input: LIST_APPS })).stdout).toContain('"structuredContent"');
    expect((await cli.run(["apps", "list"])).code).toBe(0);
    await cli.run(["logout"]);
    expect((await readStored()).services).toEqual({});
    expect((await cli.run(["mcp"], { input: LIST_APPS })).stdout).toContain("Run: svc login");
  },
);

verifies(
  "cli.login",
  "login waits until the user has confirmed the code on the page, and logout ends the sign-in at the service",
  async () => {
    const login = await signIn();
    expect([login.code, login.stdout]).toEqual([0, ""]);
    expect(login.stderr).toContain(`as Ada (${user.email}), owner of`);
    expect((await cli.run(["apps", "list"])).code).toBe(0);
    const stored = await cli.readConfig();
    expect(stored.mode).toBe(0o600);
    expect((await cli.run(["logout"])).code).toBe(0);
    expect((await readStored()).services).toEqual({});
    // The refresh token is revoked, so a copy of the file is worthless.
    const copy = JSON.parse(stored.text) as StoredConfig;
    for (const { credentials } of Object.values(copy.services)) credentials.expires_at = 0;
    await cli.writeConfig(JSON.stringify(copy));
    expect(await cli.run(["apps", "list"])).toMatchObject({ code: 4, stderr: expect.stringContaining("has expired") });
  },
);

test("login and logout print JSON with --json", async () => {
  const url = service().service.publicUrl;
  const json = async (args: string[], input = "") =>
    JSON.parse((await cli.run([...args, "--json"], { input })).stdout) as object;
  expect(await json(["login", "--token"], tenant.personal_access_token)).toEqual({ url });
  expect(await json(["login", "--token"], tenant.api_key)).toMatchObject({ url, organization: { id: tenant.org_id } });
  expect(await json(["logout"])).toEqual({ url, was_signed_in: true });
  expect(await json(["logout"])).toEqual({ url, was_signed_in: false });
});

test("a denied sign-in has the exit code 4 and stores nothing", async () => {
  const login = cli.start(["login"]);
  await decide("deny", await readCode(login));
  expect(await login.ended).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("error: The sign-in was denied."),
  });
  expect((await readStored()).services).toEqual({});
});

test("an expired access token is replaced, also by two commands at once", async () => {
  await signIn();
  const stored = await readStored();
  const [[url, { credentials }] = ["", { credentials: {} as StoredCredentials }]] = Object.entries(stored.services);
  await cli.writeConfig(
    JSON.stringify({ ...stored, services: { [url]: { credentials: { ...credentials, expires_at: 0 } } } }),
  );
  const results = await Promise.all([cli.run(["apps", "list"]), cli.run(["apps", "list"])]);
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, "No apps.\n"],
    [0, "No apps.\n"],
  ]);
  const refreshed = Object.values((await readStored()).services)[0]?.credentials;
  expect(refreshed?.refresh_token).not.toBe(credentials.refresh_token);
});

test("an interrupted login has the exit code 130, a terminated one 143, and both store nothing", async () => {
  for (const [signal, code, message] of [
    ["SIGINT", 130, /error: Interrupted\.\n$/],
    ["SIGTERM", 143, /error: Terminated\.\n$/],
  ] as const) {
    const login = cli.start(["login"]);
    await readCode(login);
    login.child.kill(signal);
    expect(await login.ended).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect((await readStored()).services).toEqual({});
  }
});

verifies("cli.orgs", "orgs use selects the organization of the next commands, also of followed logs", async () => {
  const other = await service().tenant();
  const owner = await signUpOwner(service(), other);
  await joinOrganization(owner, user, { organizationId: other.org_id, role: "member" });
  const app = await service().givenApp(other, { name: "elsewhere", status: "ready" });
  await signIn();
  expect((await cli.run(["apps", "list", "--json"])).stdout).not.toContain(app.id);
  const used = await cli.run(["orgs", "use", other.org_id]);
  expect(used.code).toBe(0);
  const listed = JSON.parse((await cli.run(["orgs", "list", "--json"])).stdout) as {
    organizations: { id: string; is_selected: boolean }[];
  };
  expect(listed.organizations.filter((each) => each.is_selected).map(({ id }) => id)).toEqual([other.org_id]);
  expect((await cli.run(["apps", "list", "--json"])).stdout).toContain(app.id);
  expect((await cli.run(["apps", "logs", "-f", app.slug])).code).toBe(0);
  const back = await cli.run(["apps", "list", "--json"], { env: { SVC_ORG: tenant.org_id } });
  expect([back.code, back.stdout]).toEqual([0, expect.not.stringContaining(app.id)]);
  const unknown = await cli.run(["orgs", "use", "nowhere"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("svc orgs list")]);
});

test("a user who has left the selected organization is told so, and can select another one", async () => {
  await signIn();
  const stored = await readStored();
  for (const settings of Object.values(stored.services)) settings.organization = crypto.randomUUID();
  await cli.writeConfig(JSON.stringify(stored));
  const apps = await cli.run(["apps", "list"]);
  expect([apps.code, apps.stdout]).toEqual([1, ""]);
  expect(apps.stderr).toMatch(/^error: You are not a member of the selected organization.*: svc orgs list\n$/);
  const listed = await cli.run(["orgs", "list"]);
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(tenant.org_id)]);
  expect(listed.stderr).toContain("Select one with: svc orgs use");
  expect((await cli.run(["orgs", "use", tenant.org_id])).code).toBe(0);
  expect((await cli.run(["apps", "list"])).code).toBe(0);
});

verifies(
  "gateway.clients.bridge",
  "svc mcp uses the sign-in and the selected organization, and refreshes an expired access token",
  async () => {
    const app = await service().givenApp(tenant, { name: "mine", status: "ready" });
    await signIn();
    await cli.run(["orgs", "use", tenant.org_id]);
    const stored = await readStored();
    for (const settings of Object.values(stored.services)) settings.credentials.expires_at = 0;
    await cli.writeConfig(JSON.stringify(stored));
    const listed = await cli.run(["mcp"], { input: LIST_APPS });
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(app.id)]);
    await cli.run(["logout"]);
    const signedOut = await cli.run(["mcp"], { input: LIST_APPS });
    expect([signedOut.code, signedOut.stdout]).toEqual([0, expect.stringContaining("Run: svc login")]);
  },
);

test("a command that runs for long uses the tokens that another command has stored meanwhile", async () => {
  await signIn();
  const bridge = cli.start(["mcp"], { keepsInputOpen: true });
  const call = async (count: number): Promise<void> => {
    bridge.child.stdin?.write(`${LIST_APPS}\n`);
    await expect.poll(() => bridge.stdout().split("structuredContent").length).toBe(count + 1);
  };
  await call(1);
  const stored = await readStored();
  for (const settings of Object.values(stored.services)) settings.credentials.expires_at = 0;
  await cli.writeConfig(JSON.stringify(stored));
  expect((await cli.run(["apps", "list"])).code).toBe(0);
  const refreshed = (await cli.readConfig()).text;
  await call(2);
  expect((await cli.readConfig()).text).toBe(refreshed);
  bridge.child.stdin?.end();
  expect(await bridge.ended).toMatchObject({ code: 0, stderr: "" });
});
