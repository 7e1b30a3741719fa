import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";
import type { AddedModule } from "../../../domain/ports/isolated-runtime.ts";

/** Where our modules lie among those of the app, and where they answer. */
const FOLDER = "/__service_introspection__";
export const REPORT_PATH = `${FOLDER}/report`;

const INSIDE = fileURLToPath(new URL("./inside", import.meta.url));
const ZOD_CORE = path.dirname(fileURLToPath(import.meta.resolve("zod/v4/core")));

/** What is added to every app: our own modules, and zod's converter for apps whose zod 4 has none within reach. */
export async function introspectionModules(): Promise<(main: string) => AddedModule[]> {
  const own = await modulesOf(INSIDE, ".mjs", FOLDER);
  const zod = await modulesOf(ZOD_CORE, ".js", `${FOLDER}/zod`);
  return (main) => [{ path: `${FOLDER}/main.mjs`, contents: mainModule(main) }, ...own, ...zod];
}

async function modulesOf(folder: string, extension: string, target: string): Promise<AddedModule[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension));
  return Promise.all(
    names.map(async (name) => ({
      path: `${target}/${name}`,
      contents: await readFile(path.join(folder, name), "utf8"),
    })),
  );
}

function mainModule(main: string): string {
  const options = `{ path: ${JSON.stringify(REPORT_PATH)}, most: ${DISCOVERY_CAPS.procedures}, loadZod4: () => import("./zod/json-schema-processors.js") }`;
  return [
    `import * as app from ${JSON.stringify(`..${main}`)};`,
    `import { introspecting } from "./introspect.mjs";`,
    `export default introspecting(app, ${options});`,
  ].join("\n");
}
