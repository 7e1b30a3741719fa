import path from "node:path";
import type { ProgramFolders } from "./environment.ts";
import { JSONC } from "./settings-files/jsonc-settings.ts";
import type { Settings, SettingsFormat } from "./settings-files/settings-text.ts";
import { TOML } from "./settings-files/toml-settings.ts";

/** How an MCP client is configured. */
export interface McpClient {
  title: string;
  format: SettingsFormat;
  /** The settings file of the user. If several can exist, those that exist are used first. */
  userFiles(folders: ProgramFolders): readonly [string, ...string[]];
  /** The settings file in the folder of a project. Empty for a client without one. */
  projectFiles: readonly string[];
  /** The object with an entry for each MCP server. */
  section: readonly string[];
  /** The entry of a server that the client reaches over HTTP. `tokenVariable` is the environment variable with the token. */
  http(url: string, tokenVariable: string | undefined): Settings;
  /** Whether the client replaces variables in headers. */
  readsVariables: boolean;
  /** The entry of a server that the client starts. */
  stdio(command: string, args: readonly string[]): Settings;
  /** What the user does next, with the name of the entry. */
  signIn(name: string): string;
}

/** The `headers` of an entry, with a reference to an environment variable. */
function bearer(reference: (variable: string) => string) {
  return (variable: string | undefined) =>
    variable === undefined ? {} : { headers: { Authorization: `Bearer ${reference(variable)}` } };
}

const envReference = bearer((variable) => `\${env:${variable}}`);
const shellReference = bearer((variable) => `\${${variable}}`);
const opencodeReference = bearer((variable) => `{env:${variable}}`);
const program = (command: string, args: readonly string[]): Settings => ({ command, args });

/** The clients that `svc mcp install` configures. docs/cli.md lists them. */
export const MCP_CLIENTS = {
  vscode: {
    title: "VS Code",
    format: JSONC,
    userFiles: ({ vscode }) => [path.join(vscode, "mcp.json")],
    projectFiles: [".vscode/mcp.json"],
    section: ["servers"],
    http: (url, variable) => ({ type: "http", url, ...envReference(variable) }),
    readsVariables: true,
    stdio: (command, args) => ({ type: "stdio", command, args }),
    signIn: (name) => `In VS Code, run the command "MCP: List Servers" and start ${name}.`,
  },
  cursor: {
    title: "Cursor",
    format: JSONC,
    userFiles: ({ home }) => [path.join(home, ".cursor/mcp.json")],
    projectFiles: [".cursor/mcp.json"],
    section: ["mcpServers"],
    http: (url, variable) => ({ url, ...envReference(variable) }),
    readsVariables: true,
    stdio: program,
    signIn: (name) => `Restart Cursor, and sign in to ${name} in its MCP settings.`,
  },
  "claude-code": {
    title: "Claude Code",
    format: JSONC,
    userFiles: ({ claude }) => [path.join(claude, ".claude.json")],
    projectFiles: [".mcp.json"],
    section: ["mcpServers"],
    http: (url, variable) => ({ type: "http", url, ...shellReference(variable) }),
    readsVariables: true,
    stdio: (command, args) => ({ type: "stdio", command, args }),
    signIn: (name) => `Sign in with: claude mcp login ${name}`,
  },
  codex: {
    title: "Codex",
    format: TOML,
    userFiles: ({ codex }) => [path.join(codex, "config.toml")],
    projectFiles: [".codex/config.toml"],
    section: ["mcp_servers"],
    http: (url, variable) => ({ url, ...(variable !== undefined && { bearer_token_env_var: variable }) }),
    readsVariables: true,
    stdio: program,
    signIn: (name) => `Sign in with: codex mcp login ${name}`,
  },
  gemini: {
    title: "Gemini CLI",
    format: JSONC,
    userFiles: ({ gemini }) => [path.join(gemini, "settings.json")],
    projectFiles: [".gemini/settings.json"],
    section: ["mcpServers"],
    http: (url, variable) => ({ url, type: "http", ...shellReference(variable) }),
    readsVariables: true,
    stdio: program,
    signIn: (name) => `Sign in with this command in Gemini CLI: /mcp auth ${name}`,
  },
  windsurf: {
    title: "Windsurf",
    format: JSONC,
    userFiles: ({ home }) => [path.join(home, ".codeium/windsurf/mcp_config.json")],
    projectFiles: [],
    section: ["mcpServers"],
    http: (url, variable) => ({ serverUrl: url, ...envReference(variable) }),
    readsVariables: true,
    stdio: program,
    signIn: (name) => `Refresh the MCP servers of Cascade, and sign in to ${name} there.`,
  },
  devin: {
    title: "Devin",
    format: JSONC,
    userFiles: ({ devin }) => [path.join(devin, "mcp_config.json")],
    projectFiles: [".devin/mcp_config.json"],
    section: ["mcpServers"],
    http: (url) => ({ url }),
    // Its documentation names none for headers.
    readsVariables: false,
    stdio: program,
    signIn: (name) => `Sign in with: devin mcp login ${name}, or when Devin first uses ${name}.`,
  },
  zed: {
    title: "Zed",
    format: JSONC,
    userFiles: ({ zed }) => [path.join(zed, "settings.json")],
    projectFiles: [".zed/settings.json"],
    section: ["context_servers"],
    http: (url) => ({ url }),
    // It sends the header as it is in the file: https://github.com/zed-industries/zed/issues/60459
    readsVariables: false,
    stdio: program,
    signIn: (name) => `Sign in to ${name} in the MCP settings of Zed.`,
  },
  opencode: {
    title: "opencode",
    format: JSONC,
    userFiles: ({ config }) => [
      path.join(config, "opencode/opencode.json"),
      path.join(config, "opencode/opencode.jsonc"),
    ],
    projectFiles: ["opencode.json", "opencode.jsonc"],
    section: ["mcp"],
    http: (url, variable) => ({ type: "remote", url, enabled: true, ...opencodeReference(variable) }),
    readsVariables: true,
    stdio: (command, args) => ({ type: "local", command: [command, ...args], enabled: true }),
    signIn: (name) => `Sign in with: opencode mcp auth ${name}`,
  },
} as const satisfies Readonly<Record<string, McpClient>>;

export type McpClientName = keyof typeof MCP_CLIENTS;

/** The URL of the service in an entry of any client; `null` for another kind of entry. */
export function readServiceUrl(entry: Settings): string | null {
  const url = entry["url"] ?? entry["serverUrl"] ?? entry["httpUrl"];
  if (typeof url === "string") return url.replace(/\/+$/, "").replace(/\/mcp$/, "");
  const words = [entry["command"], entry["args"]].flat();
  const option = words.indexOf("--service");
  const service = words[option + 1];
  return option !== -1 && typeof service === "string" ? service.replace(/\/+$/, "") : null;
}
