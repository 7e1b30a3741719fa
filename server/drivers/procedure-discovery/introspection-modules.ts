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

/** The modules that are added to apps. The first one starts the introspection. */
export interface IntrospectionModules {
  /** For a Worker with this main module. */
  forWorker(mainPath: string): AddedModule[];
  /** For every process of a Node server. */
  forServer: AddedModule[];
}

/**
 * Loads the modules that are added to every app: our own, and the converters of zod 4 and zod 3 schemas for apps that
 * contain none.
 */
export async function loadIntrospectionModules(): Promise<IntrospectionModules> {
  const own = await readModules(INSIDE, /\.[cm]js$/, FOLDER);
  const zod4 = await readModules(ZOD_CORE, /\.js$/, `${FOLDER}/zod`);
  const zod3 = await readModules(ZOD_TO_JSON_SCHEMA, /\.js$/, `${FOLDER}/zod-to-json-schema`);
  const modules = [...own, ...zod4, ...zod3.map(withoutZod3)];
  // Without it, the converters would be CommonJS modules for Node.js.
  const manifest = { path: `${FOLDER}/package.json`, contents: JSON.stringify({ type: "module" }) };
  const main = { path: `${FOLDER}/main.cjs`, contents: createServerMain() };
  return {
    forWorker: (mainPath) => [{ path: `${FOLDER}/main.mjs`, contents: createWorkerMain(mainPath) }, ...modules],
    forServer: [main, manifest, ...modules],
  };
}

async function readModules(folder: string, name: RegExp, target: string): Promise<AddedModule[]> {
  const names = (await readdir(folder, { recursive: true })).filter((each) => name.test(each));
  return Promise.all(
    names.map(async (each) => ({
      path: `${target}/${each}`,
      contents: await readFile(path.join(folder, each), "utf8"),
    })),
  );
}

/** Replaces the one import from zod 3, an enum, by our own module, so that zod 3 need not be added. */
function withoutZod3({ path: modulePath, contents }: AddedModule): AddedModule {
  const kinds = path.posix.relative(path.posix.dirname(modulePath), `${FOLDER}/zod-3-kinds.mjs`);
  return { path: modulePath, contents: contents.replace(`from "zod/v3"`, `from "${kinds}"`) };
}

const OPTIONS = [
  `paths: ${JSON.stringify(REPORT_PATHS)}`,
  `maxProcedures: ${DISCOVERY_CAPS.procedures}`,
  `loadZod4: () => import("./zod/json-schema-processors.js")`,
  `loadZod3: () => import("./zod-to-json-schema/index.js")`,
].join(", ");

function createWorkerMain(mainPath: string): string {
  return [
    `import "./created-routers.cjs";`,
    `import * as app from ${JSON.stringify(`..${mainPath}`)};`,
    // The classes of durable objects.
    `export * from ${JSON.stringify(`..${mainPath}`)};`,
    `import { createIntrospection } from "./introspect-worker.mjs";`,
    `export default createIntrospection(app, { ${OPTIONS} });`,
  ].join("\n");
}

function createServerMain(): string {
  const edit = JSON.stringify({ pattern: CREATED.source, replacement: REPLACEMENT });
  return [
    `require("./created-routers.cjs");`,
    `require("./introspect-server.cjs")({ ${OPTIONS}, edit: ${edit} });`,
  ].join("\n");
}

/** The place where tRPC 11 creates a router, in a bundle with or without short names. */
const CREATED = /\bcreateCaller:\s*([\w$]+\(\))\(\{\s*(_def(?:\s*:\s*[\w$]+)?)\s*\}\)/g;
/** In another realm of the app the function does not exist. */
const REPLACEMENT = "createCaller: $1((globalThis.__serviceRouterCreated ?? Object)({ $2 }))";

/** Edits tRPC in a module of an app, so that `inside/created-routers.cjs` gets every router that the app creates. */
export function editTrpc(source: string): string {
  return source.replaceAll(CREATED, REPLACEMENT);
}
