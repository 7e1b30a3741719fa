import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { buildSdk, installPackage } from "../support/sdk/build-sdk.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const BASE_URL = "http://127.0.0.1:3000";
const TOKEN = "svk_…";
const INSTALL = `npm install ${BASE_URL}/downloads/sdk.tgz`;
const GENERATE = `npx openapi-typescript ${BASE_URL}/v1/openapi.json --output schema.ts`;
const GENERATOR = path.join(PROJECT, "node_modules/openapi-typescript/bin/cli.js");
/** The generator uses the JavaScript API of TypeScript, which TypeScript 7 does not have. */
const WITH_TYPESCRIPT_6 = ["--import", pathToFileURL(path.join(PROJECT, "scripts/preload-typescript-6.ts")).href];

const service = sharedHarness({ worker: true, sharesBuilds: true });

/** The code blocks of a language in the page about clients. Of TypeScript, the complete programs. */
async function readCodeBlocks(language: "sh" | "ts"): Promise<string[]> {
  const page = await readFile(path.join(PROJECT, "docs/sdk.md"), "utf8");
  return [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter(([, name, code = ""]) => name === language && (name !== "ts" || code.includes("= createClient")))
    .map(([, , code = ""]) => code);
}

/** Creates a folder in which the SDK is installed. */
async function createClientFolder() {
  const parent = path.join(PROJECT, ".cache");
  await mkdir(parent, { recursive: true });
  // Inside the project, where Node finds openapi-fetch.
  const folder = await mkdtemp(path.join(parent, "documented-clients-"));
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await installPackage(folder, await buildSdk(folder));
  const tsconfig = { extends: path.join(PROJECT, "tsconfig.json"), include: ["*.ts"] };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function runNode(cwd: string, args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, args, { cwd })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${args.at(-1)}:\n${stdout}${stderr}`, { cause: error });
  }
}

test("the clients in the documentation compile as they are, and deploy an app", async () => {
  const { publicUrl } = service().service;
  const { api_key: apiKey } = await service().tenant();
  const commands = (await readCodeBlocks("sh")).join("").split("\n");
  expect(commands).toEqual(expect.arrayContaining([INSTALL, GENERATE]));
  const programs = await readCodeBlocks("ts");
  expect(programs.map((code) => [code.includes(BASE_URL), code.includes(TOKEN)])).toEqual([
    [true, true],
    [true, true],
  ]);
  await using client = await createClientFolder();
  const options = GENERATE.replace(BASE_URL, publicUrl).split(" ").slice(2);
  await runNode(client.folder, [...WITH_TYPESCRIPT_6, GENERATOR, ...options]);
  for (const [index, code] of programs.entries()) {
    const program = code.replaceAll(BASE_URL, publicUrl).replaceAll(TOKEN, apiKey);
    await writeFile(path.join(client.folder, `client-${index}.ts`), program);
  }
  await runNode(client.folder, [path.join(PROJECT, "node_modules/typescript/bin/tsc"), "-p", "."]);
  for (const index of programs.keys())
    expect(await runNode(client.folder, [`client-${index}.ts`])).toMatch(/^http:\/\/guestbook-[a-z0-9]{6}\.\S+\n$/);
});
