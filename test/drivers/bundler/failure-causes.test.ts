import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { BuildFailure } from "../../../domain/shared/errors.ts";
import { OutputTail } from "../../../server/drivers/bundler/build-step.ts";
import {
  type BuildCircumstances,
  explainBuildFailure,
  explainCrash,
} from "../../../server/drivers/bundler/failures/explain-build.ts";
import { findUnreachableHosts } from "../../../server/drivers/bundler/failures/explain-network.ts";
import { explainBundleFailure } from "../../../server/drivers/bundler/failures/explain-bundle.ts";
import { explainInstallFailure } from "../../../server/drivers/bundler/failures/explain-install.ts";

/** The output of a tool that failed in a real build, without what only says that it failed. */
async function recordedOutput(name: string): Promise<string[]> {
  const tail = new OutputTail(["/build"]);
  tail.add(await readFile(path.join(import.meta.dirname, "recorded-output", `${name}.txt`)));
  return tail.lines();
}

const shown = ({ message, advice }: BuildFailure) => [message, advice];
const PUBLIC = { setting: "public", isPublic: true };
const OFFLINE: BuildCircumstances = { kind: "none", egress: null, failedHosts: [], nodeVersion: "20 (.nvmrc)" };
const NO_REPORT = { exceeded: null, unavailable: [], missing: [], failedUrls: [], blockedHosts: [] };

describe("a failed build script", () => {
  test.each([
    [
      "typescript",
      "The build failed with exit code 1: src/index.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'. (and 1 more)",
      "npx tsc --noEmit",
    ],
    ["next-types", "The build failed with exit code 1: app/page.tsx(1,7): error TS2322:", "npx tsc --noEmit"],
    [
      "next-import",
      "The build failed with exit code 1: Module not found: Can't resolve './gone' (app/page.js:1:1)",
      "The file is not in the repository",
    ],
    [
      "vite-import",
      'exit code 1: Could not resolve "./gone.js" from "src/main.js"',
      "The file is not in the repository",
    ],
    [
      "vite-config",
      "exit code 1: Cannot find package '@vitejs/plugin-react'",
      "Add @vitejs/plugin-react to the dependencies",
    ],
    ["vite-syntax", "src/main.js (1:11): Unexpected token `;`", "Correct the syntax"],
    [
      "vitepress-plugin",
      "exit code 1: [copy-pinia] ENOENT: no such file or directory, access 'packages/pinia/dist/pinia.mjs'",
      "If a tool generates it, run the tool in the build script",
    ],
    ["astro-import", 'Could not resolve "../components/Gone.astro"', "upper and lower case"],
    [
      "webpack",
      "Module not found: Error: Can't resolve './gone.js' in 'src' (src/index.js)",
      "The file is not in the repository",
    ],
    ["esbuild", 'exit code 1: Could not resolve "./gone.js"', "The file is not in the repository"],
    ["eslint", "'unused' is assigned a value but never used  no-unused-vars (index.js)", "clean checkout"],
    ["vitest", "AssertionError: expected 1 to be 2", "clean checkout"],
    ["node-script", "exit code 1: Missing environment variable DATABASE_URL", "no variables of your machine"],
    ["bun-script", "exit code 1: Missing environment variable DATABASE_URL", "no variables of your machine"],
    ["node-require", "exit code 1: Cannot find module 'sharp'", "Add sharp to the dependencies"],
    [
      "react-router-import",
      "exit code 1: Could not resolve './gone' in app/home.tsx (app/home.tsx:2:22)",
      "The file is not in the repository",
    ],
    [
      "react-router-syntax",
      "exit code 1: Expected corresponding JSX closing tag for 'h1'. (app/home.tsx:1:49)",
      "Correct the syntax",
    ],
    [
      "react-router-route",
      "exit code 1: ENOENT: no such file or directory, open 'app/absent.tsx'",
      "The file is not in the repository",
    ],
    ["react-router-prerender", "exit code 1: DATABASE_URL is not set", "no variables of your machine"],
    [
      "nuxt-import",
      "exit code 1: Could not resolve './gone.vue' in app/app.vue (app/app.vue:3:18)",
      "The file is not in the repository",
    ],
    ["nuxt-syntax", "exit code 1: RolldownError: Invalid end tag. (app/app.vue:1:20)", "Correct the syntax"],
    [
      "nuxt-module",
      "exit code 1: The module `@nuxt/absent` could not be loaded. It may not be installed.",
      "Add @nuxt/absent to the dependencies",
    ],
    [
      "nuxt-server-import",
      'exit code 1: Cannot resolve "not-there" from "server/api/a.ts" and externals are not allowed!',
      "Add not-there to the dependencies",
    ],
    ["pnpm-command", 'The build script runs the command "vite", which is not installed.', "npm package vite"],
    ["node-memory", "The build reached the memory limit of Node.js", "--max-old-space-size"],
  ])("of %s is explained", async (name, message, advice) => {
    const failure = explainBuildFailure(1, await recordedOutput(name), OFFLINE);
    expect(shown(failure)).toEqual([expect.stringContaining(message), expect.stringContaining(advice)]);
  });

  test.each([
    ["npx-package", "pagefind"],
    ["npx-offline", "pagefind"],
    ["pnpm-dlx", "@scope/pagefind"],
    ["bunx-package", "pagefind"],
    ["yarn-dlx", "pagefind"],
  ])("of %s, which downloads a package, is explained with its name", async (name, packageName) => {
    const lines = await recordedOutput(name);
    expect(shown(explainBuildFailure(1, lines, OFFLINE))).toEqual([
      `The build script runs the package ${packageName}, which is not installed. Builds cannot download packages.`,
      expect.stringContaining(`npm install --save-dev ${packageName}`),
    ]);
  });

  test.each([
    ["next-font", "fonts.googleapis.com"],
    ["next-prerender", "api.example.com"],
    ["astro-fetch", "api.example.com"],
    ["node-fetch", "api.example.com"],
    ["curl", "api.example.com"],
  ])("of %s that needs the network is explained with the host and the setting", async (name, host) => {
    const lines = await recordedOutput(name);
    const message = (setting: string) =>
      `The build tried to reach ${host}, which BUILD_EGRESS=${setting} does not allow.`;
    expect(shown(explainBuildFailure(1, lines, { ...OFFLINE, egress: PUBLIC }))).toEqual([
      message("public"),
      expect.stringMatching(/^Set build_network to true/),
    ]);
    expect(shown(explainBuildFailure(1, lines, OFFLINE))).toEqual([
      message("none"),
      expect.stringContaining("ask the operator to add the host to BUILD_EGRESS"),
    ]);
    const failed = { ...OFFLINE, egress: PUBLIC, failedHosts: ["10.0.0.7"] };
    for (const kind of ["public", "hosts"] as const)
      expect(explainBuildFailure(1, lines, { ...failed, kind }).message).toContain("could not reach 10.0.0.7.");
  });

  test.each([
    "Error: Unsupported environment (bad node version?)",
    "You are using Node.js 16.20.2. For Next.js, Node.js version >= v18.17.0 is required.",
    "The Angular CLI requires a minimum Node.js version of v20.19.",
    "Node.js v16.20.2 is not supported by Astro! Please upgrade Node.js to a supported version.",
    "Vite requires Node.js version 20.19+ or 22.12+. Please upgrade your Node.js version.",
    'error tool@1.0.0: The engine "node" is incompatible with this module. Expected version ">=22".',
  ])("because of the version of Node.js names it, and how to choose another: %s", (line) => {
    expect(shown(explainBuildFailure(1, [line], OFFLINE))).toEqual([
      expect.stringContaining("The build failed with exit code 1: "),
      expect.stringMatching(
        /^The build ran with Node\.js 20 \(\.nvmrc\)\. Choose another version with "engines".*\.nvmrc/,
      ),
    ]);
  });

  test.each([
    [1, "sh: 1: tsc: not found", "tsc", "typescript"],
    [127, "/bin/sh: 1: esbuild: not found", "esbuild", "esbuild"],
    [127, "@acme/web:build: sh: 1: ng: not found", "ng", "@angular/cli"],
    [127, "bash: line 1: run-s: command not found", "run-s", "npm-run-all"],
    [1, "bun: command not found: vite", "vite", "vite"],
  ])("with status %d and %s names the command and its package", (code, line, command, name) => {
    const failure = explainBuildFailure(code, ["> build", line, "Error: exited"].slice(0, code === 1 ? 2 : 3), OFFLINE);
    expect(shown(failure)).toEqual([
      `The build script runs the command "${command}", which is not installed.`,
      expect.stringContaining(`usually in the npm package ${name}. Add it to devDependencies in package.json`),
    ]);
  });

  test("of a validator names all variables, also behind the part of the line that is quoted", () => {
    const issues = ["AUTH_SECRET", "POSTGRES_URL", "AUTH_DISCORD_ID"].map((name) => ({
      code: "invalid_type",
      expected: "string",
      path: [name],
      message: "Invalid input: expected string, received undefined",
    }));
    const tail = new OutputTail(["/build"]);
    tail.add(Buffer.from(`Error: Invalid environment variables: ${JSON.stringify({ issues })}\n`));
    const failure = explainBuildFailure(1, tail.lines(), { ...OFFLINE, longLines: tail.longLines() });
    expect(failure.message.length).toBeLessThan(400);
    expect(failure.advice).toContain("Set AUTH_SECRET, POSTGRES_URL and AUTH_DISCORD_ID: ");
  });

  test("with types that Prisma has not generated says from where Prisma downloads its engines", () => {
    const lines = ["./db.ts:1:10", `Type error: Module '"@prisma/client"' has no exported member 'Post'.`];
    expect(explainBuildFailure(1, lines, OFFLINE).advice).toContain("binaries.prisma.sh");
  });

  test("is not explained by requests that did not end the build", () => {
    const lines = ["telemetry: getaddrinfo ENOTFOUND t.example.com", "src/a.ts(1,1): error TS1005: ';' expected."];
    expect(explainBuildFailure(2, lines, OFFLINE).message).toContain("error TS1005");
    expect(findUnreachableHosts(["Error: failed to fetch. Read more: https://docs.example.com/errors"])).toEqual([]);
  });

  test("that a signal ended is explained if the memory limit of Node.js was the cause", async () => {
    expect(explainCrash(await recordedOutput("node-memory"))?.message).toContain("heap out of memory");
    expect(explainCrash(["Aborted"])).toBeNull();
  });
});

describe("a failed install", () => {
  const NO_VERSION = "The package registry has no version of nanoid that matches ^99.0.0.";
  test.each([
    ["pnpm-version", "pnpm", NO_VERSION, "npm view nanoid versions"],
    ["yarn-1-version", "yarn", NO_VERSION, "npm view nanoid versions"],
    ["yarn-4-version", "yarn-berry", NO_VERSION, "npm view nanoid versions"],
    ["bun-version", "bun", NO_VERSION, "npm view nanoid versions"],
    [
      "npm-conflict",
      "npm",
      "react-dom@18.3.1 requires react@^18.3.1, but the project has react@19.2.0.",
      "legacy-peer-deps=true",
    ],
    [
      "npm-lockfile",
      "npm",
      "package-lock.json does not match package.json: Missing: nanoid@5.1.16 from lock file.",
      "Run `npm install`, commit package-lock.json",
    ],
    ["yarn-1-lockfile", "yarn", "yarn.lock does not match package.json.", "Run `yarn install`, commit yarn.lock"],
    ["npm-workspace-protocol", "npm", 'the version "workspace:", which npm does not support', "packageManager"],
  ] as const)("of %s is explained", async (name, packageManager, message, advice) => {
    const failure = explainInstallFailure(packageManager, NO_REPORT, await recordedOutput(name));
    expect(shown(failure)).toEqual([expect.stringContaining(message), expect.stringContaining(advice)]);
  });

  test("because a version of the lockfile does not exist names the version", () => {
    const missing = [{ name: "greeting", version: "1.0.7" }];
    const lines = ["npm error 404 Not Found - GET http://packages.invalid/greeting/-/greeting-1.0.7.tgz"];
    expect(explainInstallFailure("npm", { ...NO_REPORT, missing }, lines).message).toBe(
      "The package registry does not have version 1.0.7 of the package greeting.",
    );
  });
});

describe("a failed bundle", () => {
  test.each([
    ["wrangler-node-module", 'could not be bundled: Could not resolve "fs" (index.js:1:15)', '"nodejs_compat"'],
    [
      "wrangler-entry",
      'The entry-point file at "src/nothing.ts" was not found.',
      "Set main in the wrangler configuration",
    ],
    [
      "wrangler-custom-command",
      'The command build.command of the wrangler configuration runs the command "esbuild", which is not installed.',
      "usually in the npm package esbuild",
    ],
    ["wrangler-class", "not exported in your entrypoint file: Room.", "Export these classes"],
  ])("of %s is explained", async (name, message, advice) => {
    const failure = explainBundleFailure(await recordedOutput(name));
    expect(shown(failure)).toEqual([expect.stringContaining(message), expect.stringContaining(advice)]);
  });
});
