import { existsSync } from "node:fs";
import path from "node:path";

/** What a folder has that is built to pages. */
const PAGES = ["index.html", "public/index.html", "src/index.html"];

/**
 * The folders below the current one whose packages the service has installed, because scripts of the project use them.
 *
 * @param kind - `pages`: what is built to pages, such as `client`; `server`: the others
 * @returns paths relative to the current folder
 */
export function nestedFolders(kind: "pages" | "server"): string[] {
  const project = process.cwd();
  return (process.env["INSTALLED_FOLDERS"] ?? "")
    .split(":")
    .filter((folder) => folder.startsWith(`${project}/`))
    .filter((folder) => PAGES.some((page) => existsSync(path.join(folder, page))) === (kind === "pages"))
    .map((folder) => path.relative(project, folder));
}
