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
  /** Whether colors are not wanted (https://no-color.org). */
  noColor: boolean;
}

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  // An empty variable counts as none.
  const read = (name: string) => (env[name] === "" ? undefined : env[name]);
  const hasDisplay = process.platform !== "linux" || (read("DISPLAY") ?? read("WAYLAND_DISPLAY")) !== undefined;
  return {
    configFolder: path.join(configHome(read("XDG_CONFIG_HOME")), "svc"),
    url: read("SVC_URL"),
    token: read("SVC_TOKEN"),
    organization: read("SVC_ORG"),
    hasBrowser: hasDisplay && read("SSH_CONNECTION") === undefined && read("CI") === undefined,
    noColor: read("NO_COLOR") !== undefined || read("TERM") === "dumb",
  };
}

/** XDG Base Directory Specification 0.8: a relative path is invalid and must be ignored. */
function configHome(value: string | undefined): string {
  return value !== undefined && path.isAbsolute(value) ? value : path.join(homedir(), ".config");
}
