import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { AddedModule } from "../../ports/isolated-runtime.ts";
import { DISCOVERY_CAPS } from "../../../domain/ports/procedure-discovery.ts";

/** The folder of the added modules, beside the modules of the app. */
const FOLDER = "/__service_introspection__";

/** The URL paths of the reports about the router that the app exports, and about the one that handled the last request. */
export const REPORT_PATHS = { exported: `${FOLDER}/exported`, used: `${FOLDER}/used` } as const;

const INSIDE = fileURLToPath(new URL("./inside/", import.meta.url));
const ZOD_CORE = path.dirname(fileURLToPath(import.meta.resolve("zod/v4/core")));
const ZOD_TO_JSON_SCHEMA = path.dirname(fileURLToPath(import.meta.resolve("zod-to-json-schema")));

/**
 * Loads the modules that are added to every app: our own, and the converters of zod 4 and zod 3 schemas for apps that
 * contain none.
 */
export async function loadIntrospectionModules(): Promise<(mainPath: string) => AddedModule[]> {
  const own = await readModules(INSIDE, ".mjs", FOLDER);
  const zod4 = await readModules(ZOD_CORE, ".js", `${FOLDER}/zod`);
  const zod3 = await readModules(ZOD_TO_JSON_SCHEMA, ".js", `${FOLDER}/zod-to-json-schema`);
  const modules = [...own, ...zod4, ...zod3.map(withoutZod3)];
  return (mainPath) => [{ path: `${FOLDER}/main.mjs`, contents: createMainModule(mainPath) }, ...modules];
}

async function readModules(folder: string, extension: string, target: string): Promise<AddedModule[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(extension));
  return Promise.all(
    names.map(async (name) => ({
      path: `${target}/${name}`,
      contents: await readFile(path.join(folder, name), "utf8"),
    })),
  );
}

/** Replaces the one import from zod 3, an enum, by our own module, so that zod 3 need not be added. */
function withoutZod3({ path: modulePath, contents }: AddedModule): AddedModule {
  return { path: modulePath, contents: contents.replace(`from "zod/v3"`, `from "${FOLDER}/zod-3-kinds.mjs"`) };
}

function createMainModule(mainPath: string): string {
  const options = [
    `paths: ${JSON.stringify(REPORT_PATHS)}`,
    `maxProcedures: ${DISCOVERY_CAPS.procedures}`,
    `loadZod4: () => import("./zod/json-schema-processors.js")`,
    `loadZod3: () => import("./zod-to-json-schema/index.js")`,
  ];
  return [
    `import "./created-routers.mjs";`,
    `import * as app from ${JSON.stringify(`..${mainPath}`)};`,
    // The classes of durable objects.
    `export * from ${JSON.stringify(`..${mainPath}`)};`,
    `import { createIntrospection } from "./introspect.mjs";`,
    `export default createIntrospection(app, { ${options.join(", ")} });`,
  ].join("\n");
}
