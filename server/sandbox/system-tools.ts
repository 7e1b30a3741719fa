import { existsSync } from "node:fs";
import path from "node:path";

const FOLDERS = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** The environment of the tools that create a sandbox. It contains no variable of the service. */
export const TOOL_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: FOLDERS.join(":") };

/** The path of a system tool, such as `setpriv`; `null` if it is not installed. */
export function findTool(name: string): string | null {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null;
}
