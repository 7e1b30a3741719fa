import { expect, test } from "vitest";
import { clientConfigurations } from "../../../domain/agents/client-configurations.ts";

const URL = "https://service.example/mcp";
const headers = { Authorization: "Bearer svg_x" };

test("each client gets its configuration file with the gateway and the token", () => {
  const { codex, ...others } = clientConfigurations(URL, "svg_x");
  const parsed = Object.entries(others).map(([client, { file, content }]) => [client, file, JSON.parse(content)]);
  expect(parsed).toEqual([
    ["claude_code", ".mcp.json", { mcpServers: { service: { type: "http", url: URL, headers } } }],
    [
      "openclaw",
      "~/.openclaw/openclaw.json",
      { mcp: { servers: { service: { url: URL, transport: "streamable-http", headers } } } },
    ],
    ["generic", "mcp.json", { mcpServers: { service: { url: URL, headers } } }],
  ]);
  expect(codex).toEqual({
    file: "~/.codex/config.toml",
    content: `[mcp_servers.service]\nurl = "${URL}"\nhttp_headers = { Authorization = "Bearer svg_x" }\n`,
  });
});

test("a configuration file is indented and ends with a line break", () => {
  expect(clientConfigurations(URL, "svg_x").generic.content).toMatch(/^\{\n {2}"mcpServers": [^]*\n\}\n$/);
});
