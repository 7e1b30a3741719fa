import path from "node:path";

/** Where the modules of the platform are written during the build, relative to the folder of the app. */
export const NODE_SERVER_FOLDER = ".wrangler/node-server";

/** The folder of the app's files at run time. */
const RUNTIME_ROOT = "/bundle";

/** The path of a file below that folder. The files above the app, which are those of a workspace, are moved into it. */
export function runtimeName(file: string): string {
  return path.relative(process.cwd(), file).replace(/^(\.\.\/)+/, "");
}

/** The path of a file at run time. */
export function runtimePath(file: string): string {
  return path.join(RUNTIME_ROOT, runtimeName(file));
}
