/** For each client the name and the content of its configuration file. It contains the token. */
export type ClientConfigurations = Record<"claude_code" | "codex" | "openclaw" | "generic", ClientConfiguration>;

export interface ClientConfiguration {
  /** Where the client reads it. `~` is the user's home folder; other paths are in the folder of the project. */
  file: string;
  content: string;
}

/**
 * Returns what connects a client of an agent to the tool gateway.
 *
 * @param url - of the gateway
 * @param token - the agent's gateway token
 */
export function clientConfigurations(url: string, token: string): ClientConfigurations {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    claude_code: json(".mcp.json", { mcpServers: { service: { type: "http", url, headers } } }),
    codex: {
      file: "~/.codex/config.toml",
      // A string of JSON is a basic string of TOML too.
      content: `[mcp_servers.service]\nurl = ${JSON.stringify(url)}\nhttp_headers = { Authorization = ${JSON.stringify(headers.Authorization)} }\n`,
    },
    // Without `transport`, OpenClaw uses the older transport with server-sent events.
    openclaw: json("~/.openclaw/openclaw.json", {
      mcp: { servers: { service: { url, transport: "streamable-http", headers } } },
    }),
    generic: json("mcp.json", { mcpServers: { service: { url, headers } } }),
  };
}

function json(file: string, content: object): ClientConfiguration {
  return { file, content: `${JSON.stringify(content, null, 2)}\n` };
}
