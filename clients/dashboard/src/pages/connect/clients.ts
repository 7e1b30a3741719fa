import { clientConfigurations } from "../../../../../domain/agents/client-configurations.ts";
import { installLinks } from "../../../../../domain/agents/install-links.ts";
import {
  DEFAULT_FOLDERS,
  MCP_CLIENTS,
  type McpClientName,
  type McpClientSettings,
  renderSettings,
} from "../../../../../domain/agents/mcp-clients.ts";

/** A step of the setup of a client: an action, a text to copy, or a sentence. */
export type SetupStep =
  | { kind: "link"; label: string; href: string; isDownload?: boolean }
  | { kind: "code"; intro: string; label: string; text: string }
  | { kind: "note"; text: string };

export interface Gateway {
  /** The origin of this installation, without a path. */
  origin: string;
  /** A personal access token; without one, the client signs in. */
  token: string | null;
}

export interface ConnectClient {
  id: string;
  title: string;
  summary: string;
  /** Whether the client cannot sign in without a token. */
  needsToken?: boolean;
  steps: (gateway: Gateway) => SetupStep[];
}

/** The name of the gateway in the settings of a client. */
const NAME = "service";

/** The clients of the page, in its order. */
export const CONNECT_CLIENTS: readonly ConnectClient[] = [
  { id: "claude-desktop", title: "Claude Desktop", summary: "Extension", needsToken: true, steps: claudeDesktop },
  settingsClient("claude-code", "Terminal"),
  settingsClient("cursor", "Editor"),
  settingsClient("vscode", "Editor"),
  settingsClient("codex", "Terminal"),
  settingsClient("gemini", "Terminal"),
  settingsClient("opencode", "Terminal"),
  settingsClient("windsurf", "Editor"),
  settingsClient("zed", "Editor"),
  { id: "other", title: "Other client", summary: "URL and OAuth", steps: anyClient },
  { id: "svc", title: "svc mcp", summary: "Standard input", steps: bridge },
];

/** What the user has to know about the settings file. */
const FILE_NOTES: Readonly<Partial<Record<McpClientName, string>>> = {
  vscode: "The command “MCP: Open User Configuration” of VS Code opens this file, also on macOS and Windows.",
  zed: "The command “zed: open settings file” of Zed opens this file, also on Windows.",
  gemini: "Gemini CLI connects only in folders that it trusts.",
  windsurf: "Since June 2026, its name is Devin Desktop. It reads this file until it has a file of its own.",
};

/** A client with a settings file. */
function settingsClient(id: McpClientName, summary: string): ConnectClient {
  const client: McpClientSettings = MCP_CLIENTS[id];
  const file = `${DEFAULT_FOLDERS[client.folder]}/${client.files[0]}`;
  return {
    id,
    title: client.title,
    summary,
    steps: ({ origin, token }) => {
      const url = `${origin}/mcp`;
      const entry = client.http(url, token === null ? undefined : { token });
      const settings = { label: `Settings of ${client.title}`, text: renderSettings(client, NAME, entry).trimEnd() };
      const fileNote = FILE_NOTES[id];
      const notes = fileNote === undefined ? [] : [note(fileNote)];
      // A command would leave the token in the history of the shell, and a link in that of the browser.
      if (token !== null)
        return [
          { kind: "code", intro: `Add this to ${file}. It contains the token.`, ...settings },
          ...notes,
          note(`Restart ${client.title}.`),
        ];
      const quick = quickSteps(id, client, url);
      const intro = quick.length === 0 ? `Add this to ${file}:` : `Or add this to ${file}:`;
      return [...quick, { kind: "code", intro, ...settings }, ...notes, nextStep(client)];
    },
  };
}

function nextStep({ title, signIn }: McpClientSettings): SetupStep {
  const { text, command } = signIn(NAME);
  if (command === undefined) return note(text);
  return { kind: "code", intro: `${text}:`, label: `Sign-in of ${title}`, text: command };
}

/** What adds the gateway with one click or one command. */
function quickSteps(id: McpClientName, { title, addCommand }: McpClientSettings, url: string): SetupStep[] {
  const links: Readonly<Record<string, string | undefined>> = { ...installLinks(url, NAME) };
  const href = links[id];
  if (href !== undefined) return [{ kind: "link", label: `Add to ${title}`, href }];
  if (addCommand === undefined) return [];
  return [{ kind: "code", intro: "Run:", label: `Command for ${title}`, text: addCommand(NAME, url) }];
}

function claudeDesktop({ origin }: Gateway): SetupStep[] {
  const extension: SetupStep[] = [
    { kind: "link", label: "Download the extension", href: "/downloads/service.mcpb", isDownload: true },
    note("Open the file. Claude Desktop asks for a personal access token: create one below."),
  ];
  // Claude connects to a custom connector from its own servers, which reach no private address.
  if (!origin.startsWith("https://")) return extension;
  const intro =
    "If this service is reachable from the Internet, add a custom connector in Settings, Connectors instead:";
  return [...extension, { kind: "code", intro, label: "URL", text: `${origin}/mcp` }];
}

function anyClient({ origin, token }: Gateway): SetupStep[] {
  const url = `${origin}/mcp`;
  if (token === null)
    return [
      {
        kind: "code",
        intro: "Add an MCP server with this URL. Its transport is Streamable HTTP:",
        label: "URL",
        text: url,
      },
      note("The client registers itself and opens a page of this service, on which you allow its access."),
    ];
  const settings = clientConfigurations(url, token).generic.content.trimEnd();
  return [
    {
      kind: "code",
      intro: "Add an MCP server with this URL. Its transport is Streamable HTTP:",
      label: "URL",
      text: url,
    },
    { kind: "code", intro: "It sends this header:", label: "Header", text: `Authorization: Bearer ${token}` },
    { kind: "code", intro: "Many clients read both from a file of this form:", label: "Settings", text: settings },
  ];
}

/** For clients that only start processes. */
function bridge({ origin, token }: Gateway): SetupStep[] {
  const env = token === null ? {} : { env: { SVC_TOKEN: token } };
  const entry = { ...MCP_CLIENTS.cursor.stdio("svc", ["mcp", "--service", origin]), ...env };
  const settings = renderSettings({ format: "json", section: ["mcpServers"] }, NAME, entry).trimEnd();
  const install = `npm install -g ${origin}/downloads/cli.tgz`;
  const signIn = `svc login --service ${origin}`;
  return [
    { kind: "code", intro: "Install the command line, with Node 20 or newer:", label: "Installation", text: install },
    ...(token === null ? [{ kind: "code" as const, intro: "Sign in:", label: "Sign-in", text: signIn }] : []),
    {
      kind: "code",
      intro: "The client starts svc mcp. Most clients have settings of this form:",
      label: "Settings",
      text: settings,
    },
    note("svc mcp install CLIENT --transport stdio changes the settings of the clients above for you."),
  ];
}

function note(text: string): SetupStep {
  return { kind: "note", text };
}
