import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type CliResult, createCli, type TestCli } from "../support/cli/run-cli.ts";
import { verifies } from "../support/verifies.ts";

const URL = "https://apps.example.com/mcp";
let cli: TestCli;
let home: string;

beforeAll(async () => {
  cli = await createCli({ SVC_URL: "https://apps.example.com", XDG_CONFIG_HOME: "" });
  home = path.join(cli.folder, "../home");
});
afterAll(() => cli[Symbol.asyncDispose]());
beforeEach(() => rm(home, { recursive: true, force: true }));

function install(args: string[], env: Record<string, string> = {}): Promise<CliResult> {
  return cli.run(["mcp", "install", ...args], { env: { HOME: home, ...env } });
}

async function given(file: string, content: string, mode = 0o644): Promise<string> {
  const whole = path.join(home, file);
  await mkdir(path.dirname(whole), { recursive: true });
  await writeFile(whole, content, { mode });
  return whole;
}

const read = (file: string) => readFile(path.join(home, file), "utf8");

/** The names of all files below the home folder. */
async function listFiles(): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name);
}

const JSON_FILES: [string, string, unknown][] = [
  ["vscode", ".config/Code/User/mcp.json", { servers: { service: { type: "http", url: URL } } }],
  ["cursor", ".cursor/mcp.json", { mcpServers: { service: { url: URL } } }],
  ["claude-code", ".claude.json", { mcpServers: { service: { type: "http", url: URL } } }],
  ["gemini", ".gemini/settings.json", { mcpServers: { service: { url: URL, type: "http" } } }],
  ["windsurf", ".codeium/windsurf/mcp_config.json", { mcpServers: { service: { serverUrl: URL } } }],
  ["devin", ".config/devin/mcp_config.json", { mcpServers: { service: { url: URL } } }],
  ["zed", ".config/zed/settings.json", { context_servers: { service: { url: URL } } }],
  ["opencode", ".config/opencode/opencode.json", { mcp: { service: { type: "remote", url: URL, enabled: true } } }],
];

verifies(
  ["cli.mcp.install", "gateway.clients.editor"],
  "install writes the settings file of every client, and a second install changes nothing",
  async () => {
    for (const [client, file, settings] of JSON_FILES) {
      const added = await install([client]);
      expect([client, added.code, added.stdout]).toEqual([client, 0, ""]);
      expect(added.stderr).toContain(`Added service to ${path.join(home, file)}\n`);
      const text = await read(file);
      expect([client, JSON.parse(text)]).toEqual([client, settings]);
      const before = await stat(path.join(home, file));
      expect((await install([client])).stderr).toContain("has service already");
      expect([await read(file), (await stat(path.join(home, file))).ino]).toEqual([text, before.ino]);
    }
    expect((await install(["codex"])).code).toBe(0);
    expect(await read(".codex/config.toml")).toBe(`[mcp_servers.service]\nurl = "${URL}"\n`);
  },
);

test("comments, line breaks, indentation and a byte order mark of a JSON file are kept", async () => {
  const text = `\ufeff// mine\r\n{\r\n\t"servers": {\r\n\t\t// other\r\n\t\t"other": { "command": "x" }, // last\r\n\t},\r\n}\r\n`;
  await given(".config/Code/User/mcp.json", text);
  expect((await install(["vscode"])).code).toBe(0);
  const changed = await read(".config/Code/User/mcp.json");
  const added = [`\t\t"service": {`, `\t\t\t"type": "http",`, `\t\t\t"url": "${URL}"`, "\t\t},"];
  expect(changed.replace(`${added.join("\r\n")}\r\n`, "")).toBe(text);
  expect(changed).not.toBe(text);
});

test("comments and all other settings of a TOML file are kept", async () => {
  const text = `# mine\nmodel = "x" # which\n\n[mcp_servers.other]\nargs = [\n  "a", # first\n]\n\n[tui]\ntext = """\n[mcp_servers.service]\n"""\n`;
  await given(".codex/config.toml", text);
  expect((await install(["codex", "--token-env", "SERVICE_TOKEN"])).code).toBe(0);
  const table = `\n[mcp_servers.service]\nurl = "${URL}"\nbearer_token_env_var = "SERVICE_TOKEN"\n`;
  expect(await read(".codex/config.toml")).toBe(text + table);
  const rest = text.slice(text.indexOf("[mcp_servers.other]"));
  await given(".codex/config.toml", `[mcp_servers.service] # gateway\nurl = "https://old.example/mcp"\n\n${rest}`);
  expect((await install(["codex", "--force"])).code).toBe(0);
  expect(await read(".codex/config.toml")).toBe(`[mcp_servers.service] # gateway\nurl = "${URL}"\n\n${rest}`);
  const inline = `mcp_servers = { other = { command = "x" } } # one line\n`;
  await given(".codex/config.toml", inline);
  expect((await install(["codex"])).code).toBe(0);
  expect(await read(".codex/config.toml")).toMatch(/^mcp_servers = \{ other = .*service = .* # one line\n$/);
});

test("another server of the same name is replaced only with --force, and own fields of the same server stay", async () => {
  const other = `{"mcpServers": {"service": {"url": "https://elsewhere.example/mcp"}}}`;
  await given(".cursor/mcp.json", other);
  const refused = await install(["cursor"]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/another server "service".*--name.*--force/),
  ]);
  expect(await read(".cursor/mcp.json")).toBe(other);
  expect((await install(["cursor", "--name", "apps"])).code).toBe(0);
  expect((await install(["cursor", "--force"])).code).toBe(0);
  expect(JSON.parse(await read(".cursor/mcp.json"))).toEqual({
    mcpServers: { apps: { url: URL }, service: { url: URL } },
  });
  await given(".cursor/mcp.json", `{"mcpServers": {"service": {"url": "${URL}/", "disabled": true /* now */}}}`);
  expect((await install(["cursor"])).stderr).toContain("Updated service");
  expect(await read(".cursor/mcp.json")).toBe(
    `{"mcpServers": {"service": {"url": "${URL}", "disabled": true /* now */}}}`,
  );
});

test("a file that cannot be understood is left as it is, and the error names the file and the line", async () => {
  const broken: [string, string, string, RegExp][] = [
    ["cursor", ".cursor/mcp.json", `{\n  "mcpServers": {\n    oops\n  }\n}`, /line 3, column 5 is not valid JSON/],
    ["cursor", ".cursor/mcp.json", `[]`, /it is not a JSON object/],
    ["cursor", ".cursor/mcp.json", `{"mcpServers": 5}`, /"mcpServers" is not an object/],
    ["cursor", ".cursor/mcp.json", `{"mcpServers": {}, "mcpServers": {}}`, /"mcpServers" more than once/],
    ["codex", ".codex/config.toml", `a = 1\nb = s3cret\n`, /: line 2, column \d+ is not valid TOML\. Correct/],
    ["codex", ".codex/config.toml", `a = 1\na = 2\n`, /is not valid TOML/],
    ["codex", ".codex/config.toml", `mcp_servers = 5\n`, /"mcp_servers" is not/],
  ];
  for (const [client, file, content, message] of broken) {
    const whole = await given(file, content);
    const { code, stdout, stderr } = await install([client]);
    expect([content, code, stdout]).toEqual([content, 1, ""]);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect(stderr).toContain(`${whole} was not changed: `);
    expect(stderr).toMatch(message);
    expect(stderr).toContain("--print");
    expect(await read(file)).toBe(content);
  }
});

test("the mode of the file is kept, a symbolic link still names it, and no other file is left", async () => {
  const target = await given("dotfiles/claude.json", "{}\n");
  await chmod(target, 0o600);
  await symlink("dotfiles/claude.json", path.join(home, ".claude.json"));
  await symlink("dotfiles/new.json", path.join(home, "missing.json"));
  await mkdir(path.join(home, ".cursor"));
  await symlink("../missing.json", path.join(home, ".cursor/mcp.json"));
  for (const client of ["claude-code", "cursor"]) expect((await install([client])).code).toBe(0);
  expect((await lstat(path.join(home, ".claude.json"))).isSymbolicLink()).toBe(true);
  expect((await stat(target)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await read("dotfiles/claude.json"))).toHaveProperty("mcpServers.service");
  expect(JSON.parse(await read("dotfiles/new.json"))).toHaveProperty("mcpServers.service");
  expect((await listFiles()).toSorted()).toEqual([
    ".claude.json",
    "claude.json",
    "mcp.json",
    "missing.json",
    "new.json",
  ]);
});

test("the folders of a client are those of its environment variables, and --project writes into the current folder", async () => {
  const env = { CODEX_HOME: path.join(home, "codex"), CLAUDE_CONFIG_DIR: path.join(home, "claude") };
  for (const client of ["codex", "claude-code"]) expect((await install([client], env)).code).toBe(0);
  expect((await listFiles()).toSorted()).toEqual([".claude.json", "config.toml"]);
  await given("project/opencode.jsonc", "{} // mine\n");
  const project = path.join(home, "project");
  for (const client of ["opencode", "vscode"])
    expect(await cli.run(["mcp", "install", client, "--project"], { env: { HOME: home }, cwd: project })).toMatchObject(
      {
        code: 0,
      },
    );
  expect(await read("project/opencode.jsonc")).toMatch(/"service"[^]* \/\/ mine\n$/);
  expect(JSON.parse(await read("project/.vscode/mcp.json"))).toHaveProperty("servers.service.url", URL);
});

test("a folder that cannot be written is one line, and a folder in the place of the file too", async () => {
  const readOnly = await install(["cursor"], { HOME: "/sys" });
  expect([readOnly.code, readOnly.stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error: Cannot write \/sys\/.*: (permission denied|the file system is read-only)\. [^\n]*\n$/,
    ),
  ]);
  await mkdir(path.join(home, ".cursor/mcp.json"), { recursive: true });
  expect(await install(["cursor"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: Cannot read [^\n]*\n$/),
  });
});

test("--print shows what to add, and a link for Cursor and VS Code, and writes nothing", async () => {
  const printed = await install(["cursor", "--print", "--token-env", "SERVICE_TOKEN"]);
  const headers = { Authorization: "Bearer ${env:SERVICE_TOKEN}" };
  expect(JSON.parse(printed.stdout)).toEqual({ mcpServers: { service: { url: URL, headers } } });
  const config = new URLSearchParams(/install\?(\S+)/.exec(printed.stderr)?.[1]).get("config") ?? "";
  expect(JSON.parse(Buffer.from(config, "base64").toString())).toEqual({ url: URL });
  const link = String((JSON.parse((await install(["vscode", "--print", "--json"])).stdout) as Fields)["install_link"]);
  const [start, entry = ""] = link.split("?");
  expect([start, JSON.parse(decodeURIComponent(entry))]).toEqual([
    "vscode:mcp/install",
    { name: "service", type: "http", url: URL },
  ]);
  expect((await install(["codex", "--print"])).stdout).toBe(`[mcp_servers.service]\nurl = "${URL}"\n`);
  await expect(stat(home)).rejects.toThrow("ENOENT");
});

type Fields = Record<string, unknown>;

test("--transport stdio starts this program, or svc if it is installed", async () => {
  const args = ["mcp", "--service", "https://apps.example.com"];
  const { stdout } = await install(["cursor", "--print", "--transport", "stdio", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    entry: { command: process.execPath, args: [path.join(cli.folder, "svc.js"), ...args] },
    install_link: null,
  });
  const bin = path.dirname(await given("bin/svc", "#!/bin/sh\n", 0o755));
  expect((await install(["opencode", "--transport", "stdio"], { PATH: bin })).code).toBe(0);
  const entry = { type: "local", command: ["svc", ...args], enabled: true };
  expect(JSON.parse(await read(".config/opencode/opencode.json"))).toEqual({ mcp: { service: entry } });
  const organization = await install(["codex", "--print", "--transport", "stdio", "--org", "an-id"], { PATH: bin });
  expect(organization.stdout).toContain('"https://apps.example.com","--org","an-id"]');
  // The same service with another transport is the same server.
  expect((await install(["opencode"])).stderr).toContain("Updated service");
});

test("wrong usage of install has the exit code 2 and says what is right", async () => {
  const wrong: [string[], RegExp][] = [
    [["emacs"], /Allowed choices are vscode, cursor/],
    [["cursor", "--name", "a.b"], /--name: must have/],
    [["windsurf", "--project"], /Windsurf has no settings of a project/],
    [["zed", "--token-env", "T"], /Zed reads no environment variables/],
    [["cursor", "--token-env", "svp_secret-token"], /must be the name of an environment variable/],
    [["cursor", "--transport", "stdio", "--token-env", "T"], /SVC_TOKEN itself/],
    [["cursor", "--org", "x"], /selected at the sign-in.*--transport stdio/],
    [["cursor", "--service", "apps.example.com"], /is not the URL of a service/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await install(args);
    expect([args, code, stdout]).toEqual([args, 2, ""]);
    expect(stderr).toMatch(message);
  }
  await expect(stat(home)).rejects.toThrow("ENOENT");
});

test("a closed pipe ends --print without an error", async () => {
  const { child, stderr, ended } = cli.start(["mcp", "install", "codex", "--print"], { env: { HOME: home } });
  child.stdout?.destroy();
  expect([(await ended).code, stderr()]).toEqual([0, expect.not.stringContaining("error")]);
});
