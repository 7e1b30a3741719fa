/** A value of a settings file. */
type Settings = Readonly<Record<string, unknown>>;

/** The personal access token that a client sends, or the environment variable of the client that contains it. */
export type TokenSource = { token: string } | { variable: string };

/** A sentence, or the introduction of a command. */
export interface NextStep {
  text: string;
  command?: string;
}

/** How an MCP client is connected to the tool gateway. */
export interface McpClientSettings {
  title: string;
  format: "json" | "toml";
  /** The folder of the user's settings file. Without settings of the user, it is the one in `DEFAULT_FOLDERS`. */
  folder: keyof typeof DEFAULT_FOLDERS;
  /** The settings file of the user in this folder. If several can exist, those that exist are used first. */
  files: readonly [string, ...string[]];
  /** The settings file in the folder of a project. Empty for a client without one. */
  projectFiles: readonly string[];
  /** The object with an entry for each MCP server. */
  section: readonly string[];
  /** The entry of a server that the client reaches over HTTP. Without a token, the client signs in. */
  http(url: string, token?: TokenSource): Settings;
  /** Whether the client replaces variables in headers. */
  readsVariables: boolean;
  /** The entry of a server that the client starts. */
  stdio(command: string, args: readonly string[]): Settings;
  /** The command that adds a server without a token to the user's settings, for a client that has one. */
  addCommand?(name: string, url: string): string;
  /** What the user does next, with the name of the entry. */
  signIn(name: string): NextStep;
}

/** Where the settings of a user are, on Linux and unless an environment variable says otherwise. */
export const DEFAULT_FOLDERS = {
  home: "~",
  config: "~/.config",
  vscode: "~/.config/Code/User",
  zed: "~/.config/zed",
  devin: "~/.config/devin",
  claude: "~",
  codex: "~/.codex",
  gemini: "~/.gemini",
} as const;

/** The `headers` of an entry. */
function bearer(reference: (variable: string) => string) {
  return (source: TokenSource | undefined) => {
    if (source === undefined) return {};
    const token = "token" in source ? source.token : reference(source.variable);
    return { headers: { Authorization: `Bearer ${token}` } };
  };
}

const envReference = bearer((variable) => `\${env:${variable}}`);
const shellReference = bearer((variable) => `\${${variable}}`);
const opencodeReference = bearer((variable) => `{env:${variable}}`);
const noReference = bearer((variable) => variable);
const program = (command: string, args: readonly string[]): Settings => ({ command, args });

/** The clients that `svc mcp install` configures. docs/cli.md lists them. */
export const MCP_CLIENTS = {
  vscode: {
    title: "VS Code",
    format: "json",
    folder: "vscode",
    files: ["mcp.json"],
    projectFiles: [".vscode/mcp.json"],
    section: ["servers"],
    http: (url, token) => ({ type: "http", url, ...envReference(token) }),
    readsVariables: true,
    stdio: (command, args) => ({ type: "stdio", command, args }),
    signIn: (name) => ({ text: `In VS Code, run the command "MCP: List Servers" and start ${name}.` }),
  },
  cursor: {
    title: "Cursor",
    format: "json",
    folder: "home",
    files: [".cursor/mcp.json"],
    projectFiles: [".cursor/mcp.json"],
    section: ["mcpServers"],
    http: (url, token) => ({ url, ...envReference(token) }),
    readsVariables: true,
    stdio: program,
    signIn: (name) => ({ text: `Restart Cursor, and sign in to ${name} in its MCP settings.` }),
  },
  "claude-code": {
    title: "Claude Code",
    format: "json",
    folder: "claude",
    files: [".claude.json"],
    projectFiles: [".mcp.json"],
    section: ["mcpServers"],
    http: (url, token) => ({ type: "http", url, ...shellReference(token) }),
    readsVariables: true,
    stdio: (command, args) => ({ type: "stdio", command, args }),
    addCommand: (name, url) => `claude mcp add --scope user --transport http ${name} ${url}`,
    signIn: (name) => ({ text: "Sign in with", command: `claude mcp login ${name}` }),
  },
  codex: {
    title: "Codex",
    format: "toml",
    folder: "codex",
    files: ["config.toml"],
    projectFiles: [".codex/config.toml"],
    section: ["mcp_servers"],
    http: (url, source) => {
      if (source === undefined) return { url };
      if ("variable" in source) return { url, bearer_token_env_var: source.variable };
      return { url, http_headers: { Authorization: `Bearer ${source.token}` } };
    },
    readsVariables: true,
    stdio: program,
    addCommand: (name, url) => `codex mcp add ${name} --url ${url}`,
    signIn: (name) => ({ text: "Sign in with", command: `codex mcp login ${name}` }),
  },
  gemini: {
    title: "Gemini CLI",
    format: "json",
    folder: "gemini",
    files: ["settings.json"],
    projectFiles: [".gemini/settings.json"],
    section: ["mcpServers"],
    http: (url, token) => ({ url, type: "http", ...shellReference(token) }),
    readsVariables: true,
    stdio: program,
    addCommand: (name, url) => `gemini mcp add --scope user --transport http ${name} ${url}`,
    signIn: (name) => ({ text: "Sign in with this command in Gemini CLI", command: `/mcp auth ${name}` }),
  },
  windsurf: {
    title: "Windsurf",
    format: "json",
    folder: "home",
    files: [".codeium/windsurf/mcp_config.json"],
    projectFiles: [],
    section: ["mcpServers"],
    http: (url, token) => ({ serverUrl: url, ...envReference(token) }),
    readsVariables: true,
    stdio: program,
    signIn: (name) => ({ text: `Refresh the MCP servers of Cascade, and sign in to ${name} there.` }),
  },
  devin: {
    title: "Devin",
    format: "json",
    folder: "devin",
    files: ["mcp_config.json"],
    projectFiles: [".devin/mcp_config.json"],
    section: ["mcpServers"],
    // Its documentation names no headers.
    http: (url) => ({ url }),
    readsVariables: false,
    stdio: program,
    signIn: (name) => ({ text: `Sign in with: devin mcp login ${name}, or when Devin first uses ${name}.` }),
  },
  zed: {
    title: "Zed",
    format: "json",
    folder: "zed",
    files: ["settings.json"],
    projectFiles: [".zed/settings.json"],
    section: ["context_servers"],
    http: (url, token) => ({ url, ...noReference(token) }),
    // It sends the header as it is in the file: https://github.com/zed-industries/zed/issues/60459
    readsVariables: false,
    stdio: program,
    signIn: (name) => ({ text: `Sign in to ${name} in the MCP settings of Zed.` }),
  },
  opencode: {
    title: "opencode",
    format: "json",
    folder: "config",
    files: ["opencode/opencode.json", "opencode/opencode.jsonc"],
    projectFiles: ["opencode.json", "opencode.jsonc"],
    section: ["mcp"],
    http: (url, token) => ({ type: "remote", url, enabled: true, ...opencodeReference(token) }),
    readsVariables: true,
    stdio: (command, args) => ({ type: "local", command: [command, ...args], enabled: true }),
    signIn: (name) => ({ text: "Sign in with", command: `opencode mcp auth ${name}` }),
  },
} as const satisfies Readonly<Record<string, McpClientSettings>>;

export type McpClientName = keyof typeof MCP_CLIENTS;

/** Returns a settings file with only this entry. The values of TOML are strings, numbers, lists and objects of strings. */
export function renderSettings(
  { format, section }: Pick<McpClientSettings, "format" | "section">,
  name: string,
  entry: Settings,
): string {
  const path = [...section, name];
  if (format === "toml") {
    const lines = Object.entries(entry).map(([key, value]) => `${key} = ${toToml(value)}\n`);
    return `[${path.join(".")}]\n${lines.join("")}`;
  }
  const settings = path.reduceRight<Settings>((inner, key) => ({ [key]: inner }), entry);
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/** A string, a number and a list of JSON are those of TOML too. */
function toToml(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, field]) => `${key} = ${toToml(field)}`);
  return `{ ${fields.join(", ")} }`;
}
