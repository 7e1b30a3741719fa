import { homedir } from "node:os";
import path from "node:path";

/** What the command line reads from its environment. No other file reads `process.env`. */
export interface Environment {
  /** The folder of the configuration file. */
  configFolder: string;
  url: string | undefined;
  token: string | undefined;
  organization: string | undefined;
  /** Whether a browser can probably be opened here. */
  hasBrowser: boolean;
  /** Where other programs have their configuration. */
  folders: ProgramFolders;
  /** Folders in which a shell finds programs. */
  programPath: readonly string[];
  /** Whether colors are not wanted (https://no-color.org). */
  noColor: boolean;
  /** Whether the terminal cannot move its cursor, as the shell in Emacs. */
  isDumbTerminal: boolean;
  /** Returns a variable whose name the user has given; `undefined` for one without a value. */
  variable(name: string): string | undefined;
}

export interface ProgramFolders {
  home: string;
  /** Of programs that follow the XDG Base Directory Specification. */
  config: string;
  /** The user's settings of VS Code. */
  vscode: string;
  zed: string;
  devin: string;
  /** The folder of `.claude.json`. */
  claude: string;
  /** The folder of the `settings.json` of Claude Code. */
  claudeSettings: string;
  codex: string;
  gemini: string;
}

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  // An empty variable counts as none.
  const read = (name: string) => (env[name] === "" ? undefined : env[name]);
  const hasDisplay = process.platform !== "linux" || (read("DISPLAY") ?? read("WAYLAND_DISPLAY")) !== undefined;
  return {
    configFolder: path.join(configHome(read("XDG_CONFIG_HOME")), "svc"),
    url: readSetting(env["SVC_URL"]),
    token: readSetting(env["SVC_TOKEN"]),
    organization: readSetting(env["SVC_ORG"]),
    folders: findProgramFolders(read),
    programPath: (read("PATH") ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder)),
    hasBrowser: hasDisplay && read("SSH_CONNECTION") === undefined && read("CI") === undefined,
    noColor: read("NO_COLOR") !== undefined || read("TERM") === "dumb",
    isDumbTerminal: read("TERM") === "dumb",
    variable: read,
  };
}

/**
 * A pasted value can have a line break. The placeholder of a setting that the user of the desktop extension omits counts as
 * none.
 */
function readSetting(value = ""): string | undefined {
  const trimmed = value.trim();
  return trimmed === "" || /^\$\{user_config\.\w+\}$/.test(trimmed) ? undefined : trimmed;
}

function findProgramFolders(read: (name: string) => string | undefined): ProgramFolders {
  const home = homedir();
  const config = configHome(read("XDG_CONFIG_HOME"));
  const appData = read("APPDATA") ?? path.join(home, "AppData/Roaming");
  // Devin ignores XDG_CONFIG_HOME.
  const devin = path.join(process.platform === "win32" ? appData : path.join(home, ".config"), "devin");
  const byPlatform: Readonly<Record<string, Pick<ProgramFolders, "vscode" | "zed">>> = {
    darwin: { vscode: path.join(home, "Library/Application Support/Code/User"), zed: path.join(home, ".config/zed") },
    win32: { vscode: path.join(appData, "Code/User"), zed: path.join(appData, "Zed") },
  };
  return {
    home,
    config,
    devin,
    ...(byPlatform[process.platform] ?? { vscode: path.join(config, "Code/User"), zed: path.join(config, "zed") }),
    claude: read("CLAUDE_CONFIG_DIR") ?? home,
    claudeSettings: read("CLAUDE_CONFIG_DIR") ?? path.join(home, ".claude"),
    codex: read("CODEX_HOME") ?? path.join(home, ".codex"),
    gemini: path.join(read("GEMINI_CLI_HOME") ?? home, ".gemini"),
  };
}

/** XDG Base Directory Specification 0.8: a relative path is invalid and must be ignored. */
function configHome(value: string | undefined): string {
  return value !== undefined && path.isAbsolute(value) ? value : path.join(homedir(), ".config");
}
