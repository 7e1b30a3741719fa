import { explainOtherLanguage } from "./other-languages.ts";
import { findAppFolders } from "./app-folders.ts";
import { explainStart } from "./node-server/explain-start.ts";
import { readStartCommand, readStartFile, type StartCommand } from "./node-server/start-command.ts";
import { type PackageJson, STEMS } from "./package-json.ts";

/** The build of a framework wrote no page. */
export function noIndexPage(outputs: readonly string[]): { message: string; advice: string } {
  return {
    message: `The build wrote no index.html to ${formatList([...new Set(outputs)])}.`,
    advice:
      "Make the build write its pages to one of these folders, or set assets.directory in wrangler.jsonc to another folder.",
  };
}

export function unsupportedContainers(): { message: string; advice: string } {
  return {
    message: "The app uses containers, which the platform does not have. It runs Workers only.",
    advice: "Remove containers from the wrangler configuration, or call the container over HTTP, and deploy again.",
  };
}

/** The owner wants a Node server. */
export function noStartCommand(packageJson: PackageJson): { message: string; advice: string } {
  const command = readStartCommand(packageJson);
  const start = command === null ? null : explainStart(command, undefined);
  if (start !== null) return start;
  return {
    message: "No start command was found for a Node server.",
    advice:
      'Add a start script to package.json, such as "node server.js". A framework needs its adapter for Node.js, such as @sveltejs/adapter-node. Or set runtime to null in the settings of the app (PATCH /v1/apps/{id}) to detect how it runs.',
  };
}

/** The owner wants a Worker. */
export function noHandler(entry: string): { message: string; advice: string } {
  return {
    message: `${entry} exports no handler, which a Worker needs.`,
    advice:
      "Export a handler: export default { fetch(request) { … } }. Or set runtime to node or to null in the settings of the app (PATCH /v1/apps/{id}), and deploy again.",
  };
}

/** How many folders an advice names. The advice has 300 characters at most. */
const MAX_FOLDERS = 5;

export function nothingToDeploy(command: StartCommand | null): { message: string; advice: string } {
  const folders = readStartFile(command) === null ? findAppFolders() : [];
  const otherLanguage = explainOtherLanguage(folders.slice(0, MAX_FOLDERS));
  if (otherLanguage !== null && command === null) return otherLanguage;
  if (folders.length > 0)
    return {
      message: "There is nothing to deploy in this folder: no wrangler configuration, no script and no index.html.",
      advice: `Set root_directory to the folder of the app, such as ${folders.slice(0, MAX_FOLDERS).join(", ")}, when you deploy or in the settings of the app (PATCH /v1/apps/{id}), and deploy again.`,
    };
  const start = explainStart(command, undefined);
  if (start !== null) return start;
  const scripts = STEMS.map((stem) => `${stem}.ts`).join(", ");
  return {
    message: "There is nothing to deploy: no wrangler configuration, no script and no index.html was found.",
    advice: `Add one of these: wrangler.jsonc with main or assets; "main" in package.json; ${scripts} (or .tsx, .mts, .js, .jsx, .mjs); public/index.html; index.html.`,
  };
}

function formatList(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : `${names[0]}`;
}
