import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

test.each(["bundler", "nodenext"] as const)(
  "clients of openapi-typescript and @hey-api/openapi-ts compile with moduleResolution %s, and deploy an app",
  async (moduleResolution) => {
    const { rest, api_key: apiKey } = await service().tenant();
    const { text: document } = await rest.get("/v1/openapi.json");
    await using clients = await generateClients(document, moduleResolution);
    for (const generator of ["openapi-typescript", "hey-api"] as const)
      expect([generator, await clients[generator](service().service.publicUrl, apiKey)]).toEqual([
        generator,
        { status: "queued", slug: expect.stringMatching(/^site-[a-z0-9]{6}$/), isSame: true },
      ]);
  },
);

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const GENERATE = path.join(import.meta.dirname, "../support/clients/generate-clients.mjs");

/** Both generators use the JavaScript API of TypeScript, which TypeScript 7 does not have. */
const WITH_TYPESCRIPT_6 = ["--import", pathToFileURL(path.join(PROJECT, "scripts/preload-typescript-6.ts")).href];

/** Deploys with a generated client, and returns the response. */
type Deploy = (baseUrl: string, token: string) => Promise<unknown>;

const COMPILER_OPTIONS = {
  target: "esnext",
  lib: ["esnext", "dom", "dom.iterable"],
  strict: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  types: [],
};

/** A program for each generator. It passes only the required field, and reads only documented ones. */
const programs = (extension: string) => ({
  "openapi-typescript": `
    import createClient from "openapi-fetch";
    import type { paths } from "./schema${extension}";
    export async function deploy(baseUrl: string, token: string) {
      const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
      const { data, error } = await client.POST("/v1/apps/deploy", { body: { repo: "acme/site" } });
      if (error !== undefined) throw new Error(error.error);
      const app = await client.GET("/v1/apps/{id}", { params: { path: { id: data.app_id } } });
      const url: string | undefined = app.data?.url;
      return { status: app.data?.status, slug: data.slug, isSame: url === data.url };
    }`,
  "hey-api": `
    import { createClient } from "./client/client/index${extension}";
    import { appsDeploy, appsGet } from "./client/sdk.gen${extension}";
    export async function deploy(baseUrl: string, token: string) {
      const client = createClient({ baseUrl, auth: token });
      const { data, error } = await appsDeploy({ client, body: { repo: "acme/site" } });
      if (data === undefined) throw new Error(error.error);
      const app = await appsGet({ client, path: { id: data.app_id } });
      const url: string | undefined = app.data?.url;
      return { status: app.data?.status, slug: data.slug, isSame: url === data.url };
    }`,
});

type Generator = keyof ReturnType<typeof programs>;

/**
 * Generates a client with each generator and its default settings, and compiles it with a program that uses it.
 *
 * @param document - the OpenAPI document
 * @throws when a generator or the compiler reports an error
 */
async function generateClients(
  document: string,
  moduleResolution: "bundler" | "nodenext",
): Promise<Record<Generator, Deploy> & AsyncDisposable> {
  const parent = path.join(PROJECT, ".cache");
  await mkdir(parent, { recursive: true });
  // Inside the project, where the compiler finds the packages that the generated code imports.
  const folder = await mkdtemp(path.join(parent, "generated-clients-"));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const module = moduleResolution === "bundler" ? "esnext" : "nodenext";
    const tsconfig = { compilerOptions: { ...COMPILER_OPTIONS, module, moduleResolution }, include: ["**/*.ts"] };
    const sources = programs(moduleResolution === "bundler" ? "" : ".js");
    await writeFile(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
    await writeFile(path.join(folder, "openapi.json"), document);
    for (const [name, text] of Object.entries(sources)) await writeFile(path.join(folder, `${name}.ts`), text);
    await run([...WITH_TYPESCRIPT_6, GENERATE, folder]);
    await run([path.join(PROJECT, "node_modules/typescript/bin/tsc"), "-p", folder]);
    const load = async (name: Generator) => (await bundle(folder, name)).deploy;
    return {
      "openapi-typescript": await load("openapi-typescript"),
      "hey-api": await load("hey-api"),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function run(args: string[]): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, args, { cwd: PROJECT });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${args.at(-1)}:\n${stdout}${stderr}`, { cause: error });
  }
}

async function bundle(folder: string, name: Generator): Promise<{ deploy: Deploy }> {
  const outfile = path.join(folder, `${name}.mjs`);
  await build({
    entryPoints: [path.join(folder, `${name}.ts`)],
    outfile,
    bundle: true,
    format: "esm",
    logLevel: "error",
  });
  return (await import(pathToFileURL(outfile).href)) as { deploy: Deploy };
}
