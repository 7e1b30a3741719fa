import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Large libraries that only some requests or settings need, so a start must not load them. */
const LATER = [
  "@better-auth/oauth-provider",
  "better-auth",
  "cacache",
  "diff",
  "ioredis",
  "miniflare",
  "npm-registry-fetch",
  "trpc-to-openapi",
  "wrangler",
  "ws",
];

const SERVER = new URL("../../server/", import.meta.url).href;

/** The npm packages whose modules a start of the service loads. */
async function listLoadedPackages(): Promise<string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
        if (name !== undefined) packages.add(name);
        return next(url, context);
      },
    });
    await import("${SERVER}startup/run-service.ts");
    await import("${SERVER}composition/start-service.ts");
    console.log(JSON.stringify([...packages]));
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  return JSON.parse(stdout) as string[];
}

test("a start of the service loads no library that only some requests need", async () => {
  const packages = await listLoadedPackages();
  expect(packages).toEqual(expect.arrayContaining(["fastify", "kysely", "pg"]));
  expect(packages.filter((name) => LATER.includes(name))).toEqual([]);
});
