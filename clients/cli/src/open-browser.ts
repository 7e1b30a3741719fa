import { spawn } from "node:child_process";
import type { Environment } from "./environment.ts";

const COMMANDS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a web page in a browser. Returns whether a program for that was started. */
export async function openBrowser(url: string, { hasBrowser }: Environment): Promise<boolean> {
  // Anything else than a web page could start another program.
  if (!hasBrowser || !/^https?:\/\//.test(url)) return false;
  const [command, ...args] = COMMANDS[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
