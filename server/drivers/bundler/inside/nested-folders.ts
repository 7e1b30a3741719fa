import { existsSync } from "node:fs";
import path from "node:path";
import { type PackageJson, readManifest } from "./package-json.ts";

/** What a folder has that is built to pages. */
const PAGES = ["index.html", "public/index.html", "src/index.html"];
/** Packages of servers. */
const SERVERS = ["express", "fastify", "koa", "hono", "@nestjs/core", "@hapi/hapi", "restify", "socket.io", "ws"];

/**
 * The folders below the current one whose packages the service has installed, because scripts of the project name them.
 *
 * @param kind - `pages`: what is built to pages, such as `client`; `server`: the others
 * @returns paths relative to the current folder
 */
export function nestedFolders(kind: "pages" | "server"): string[] {
  const project = process.cwd();
  return (process.env["NESTED_FOLDERS"] ?? "")
    .split(":")
    .filter((folder) => folder.startsWith(`${project}/`))
    .filter((folder) => isOfPages(folder) === (kind === "pages"))
    .map((folder) => path.relative(project, folder));
}

/** Whether a folder contains pages, and its package uses no framework of servers. */
export function isOfPages(folder: string): boolean {
  return hasPage(folder) && !usesServerFramework(readManifest(folder));
}

export function hasPage(folder: string): boolean {
  return PAGES.some((page) => existsSync(path.join(folder, page)));
}

export function usesServerFramework({ dependencies = {} }: PackageJson): boolean {
  return SERVERS.some((name) => name in dependencies);
}
