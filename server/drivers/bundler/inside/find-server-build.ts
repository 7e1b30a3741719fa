import { isFile } from "./package-json.ts";

/** A script with a fetch handler that the build of a framework wrote, and the folder of its static files. */
export interface ServerBuild {
  script: string;
  assets: string;
}

/** By the id of the framework detection. These servers use web standards, and modules of Node. */
const SERVER_BUILDS: Readonly<Record<string, ServerBuild>> = {
  "tanstack-start": { script: "dist/server/server.js", assets: "dist/client" },
};

/** Finds the server that the build of the framework wrote. `null` if it writes none that can be deployed. */
export function findServerBuild(framework: string | null): ServerBuild | null {
  const build = framework !== null && Object.hasOwn(SERVER_BUILDS, framework) ? SERVER_BUILDS[framework] : undefined;
  return build !== undefined && isFile(build.script) ? build : null;
}
