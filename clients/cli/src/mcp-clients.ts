import path from "node:path";
import { MCP_CLIENTS, type McpClientName, type McpClientSettings } from "../../../domain/agents/mcp-clients.ts";
import type { ProgramFolders } from "./environment.ts";
import { JSONC } from "./settings-files/jsonc-settings.ts";
import type { Settings, SettingsFormat } from "./settings-files/settings-text.ts";
import { TOML } from "./settings-files/toml-settings.ts";

const FORMATS = { json: JSONC, toml: TOML } as const satisfies Record<string, SettingsFormat>;

/** How the settings of an MCP client are changed. */
export interface McpClient extends Omit<McpClientSettings, "format"> {
  format: SettingsFormat;
  /** The settings file of the user. If several can exist, those that exist are used first. */
  userFiles: readonly string[];
}

export function findMcpClient(name: McpClientName, folders: ProgramFolders): McpClient {
  const client: McpClientSettings = MCP_CLIENTS[name];
  const userFiles = client.files.map((file) => path.join(folders[client.folder], file));
  return { ...client, format: FORMATS[client.format], userFiles };
}

/** The URL of the service in an entry of any client; `null` for another kind of entry. */
export function readServiceUrl(entry: Settings): string | null {
  const url = entry["url"] ?? entry["serverUrl"] ?? entry["httpUrl"];
  if (typeof url === "string") return url.replace(/\/+$/, "").replace(/\/mcp$/, "");
  const words = [entry["command"], entry["args"]].flat();
  const option = words.indexOf("--service");
  const service = words[option + 1];
  return option !== -1 && typeof service === "string" ? service.replace(/\/+$/, "") : null;
}
