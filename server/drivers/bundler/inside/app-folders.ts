import { globSync } from "node:fs";
import path from "node:path";
import { withoutSideFolders } from "./side-folders.ts";
import { WRANGLER_CONFIGS } from "./wrangler-api.ts";

/** Pages that a server or a generator fills in. */
const TEMPLATE = /(^|\/)(templates?|views?|layouts?|_\w+)\/index\.html$/;

/** Folders below the current one that may contain an app. */
export function findAppFolders(): string[] {
  const names = ["package.json", ...WRANGLER_CONFIGS, "index.html"];
  const files = globSync(
    ["*", "*/*"].map((folder) => `${folder}/{${names.join(",")}}`),
    { exclude: (name) => /(^|\/)(node_modules|vendor|themes|\..*)$/.test(name) },
  );
  const folders = [
    ...new Set(files.filter((file) => !TEMPLATE.test(file)).map((file) => path.dirname(file))),
  ].toSorted();
  return withoutSideFolders(folders, (folder) => folder);
}
