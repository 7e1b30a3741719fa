import { DEFAULT_FOLDERS, MCP_CLIENTS, renderSettings } from "./mcp-clients.ts";

/** For each client the name and the content of its configuration file. It contains the token. */
export type ClientConfigurations = Record<"claude_code" | "codex" | "openclaw" | "generic", ClientConfiguration>;

export interface ClientConfiguration {
  /** Where the client reads it. `~` is the user's home folder; other paths are in the folder of the project. */
  file: string;
  content: string;
}

/** The name of the gateway in the settings of a client. */
const NAME = "service";

/**
 * Returns what connects a client of an agent to the tool gateway.
 *
 * @param url - of the gateway
 * @param token - the agent's gateway token
 */
export function clientConfigurations(url: string, token: string): ClientConfigurations {
  const headers = { Authorization: `Bearer ${token}` };
  const { codex, "claude-code": claudeCode } = MCP_CLIENTS;
  const json = (section: readonly string[], entry: Readonly<Record<string, unknown>>) =>
    renderSettings({ format: "json", section }, NAME, entry);
  return {
    claude_code: {
      file: claudeCode.projectFiles[0],
      content: renderSettings(claudeCode, NAME, claudeCode.http(url, { token })),
    },
    codex: {
      file: `${DEFAULT_FOLDERS[codex.folder]}/${codex.files[0]}`,
      content: renderSettings(codex, NAME, codex.http(url, { token })),
    },
    openclaw: {
      file: "~/.openclaw/openclaw.json",
      // Without `transport`, OpenClaw uses the older transport with server-sent events.
      content: json(["mcp", "servers"], { url, transport: "streamable-http", headers }),
    },
    generic: { file: "mcp.json", content: json(["mcpServers"], { url, headers }) },
  };
}
