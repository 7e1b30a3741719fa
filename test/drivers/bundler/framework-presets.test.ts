import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createRegistryBundler, publishProject } from "../../support/builds/publish-project.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const packageNamed = (name: string, version: string, files: Record<string, string> = {}): PublishedPackage => ({
  name,
  version,
  files: { "index.js": "", ...files },
});

/** The used part of a framework's server program: it serves static files and what a build exports. */
const SERVE = {
  "cli.js": `#!/usr/bin/env node
    const { existsSync, readFileSync } = require("fs");
    const build = require("path").resolve(process.argv[2]);
    import(build).then(({ assetsBuildDirectory, routes }) =>
      require("http").createServer(({ url }, response) => {
        const file = assetsBuildDirectory + url;
        response.end(existsSync(file) && url !== "/" ? readFileSync(file) : routes() + " at " + url);
      }).listen(process.env.PORT || 3000));`,
};

/** Packages with the names of frameworks, without their code: the build scripts of the tests take their place. */
const PACKAGES = [
  packageNamed("@sveltejs/kit", "2.0.0"),
  packageNamed("@sveltejs/adapter-auto", "7.0.1", {
    "adapters.js": `export const adapters = [{ module: '@sveltejs/adapter-cloudflare',\n\t\tversion: '7'\n\t}];`,
  }),
  packageNamed("@sveltejs/adapter-vercel", "6.3.0", { "index.js": `throw new Error("not for this host");` }),
  packageNamed("@sveltejs/adapter-cloudflare", "7.2.0", {
    "worker.js": "export default { fetch() {} };",
    "index.js": "exports.worker = require('node:fs').readFileSync(__dirname + '/worker.js');",
  }),
  packageNamed("wrangler", "4.0.0"),
  packageNamed("astro", "7.0.0"),
  packageNamed("@react-router/dev", "8.0.0"),
  packageNamed("@tanstack/react-start", "1.169.0"),
  packageNamed("@remix-run/dev", "8.0.0"),
  { ...packageNamed("@remix-run/serve", "2.0.0", SERVE), manifest: { bin: { "remix-serve": "cli.js" } } },
  { ...packageNamed("@react-router/serve", "8.0.0", SERVE), manifest: { bin: { "react-router-serve": "cli.js" } } },
  {
    ...packageNamed("@opennextjs/cloudflare", "1.20.0", {
      "cli.sh": `#!/bin/sh\n[ "$1" = build ] && npm run build && cp build.js .open-next/worker.js`,
    }),
    manifest: { bin: { "opennextjs-cloudflare": "cli.sh" } },
  },
];

const setUp = () => createRegistryBundler(PACKAGES);

const manifest = (build: string, dependencies: Record<string, string> = {}) =>
  JSON.stringify({ scripts: { build }, devDependencies: dependencies });

describe("frameworks that choose a preset or an adapter by the platform", () => {
  test("a build sees the variable by which Nitro recognizes the platform, and can choose any name", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest("sh build.sh"),
      "build.sh": `
        [ "$WORKERS_CI" = 1 ] && [ -z "$CF_PAGES" ] || exit 1
        mkdir -p .wrangler/deploy .output/server .output/public
        echo '{ "configPath": "../../.output/server/wrangler.json" }' >.wrangler/deploy/config.json
        echo '{ "name": "-acme-web", "main": "index.mjs", "compatibility_date": "2026-06-01", "assets": { "directory": "../public" } }' >.output/server/wrangler.json
        echo 'export default { fetch: () => new Response("rendered") };' >.output/server/index.mjs`,
    });
    await using setup = await setUp();
    const { bundle } = await runBundler(setup.bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("rendered");
  });

  test.each([
    ["Nitro", ".output/public"],
    ["Angular", "dist/app/browser"],
  ])("static pages that %s wrote to %s are found", async (_framework, folder) => {
    await using checkout = await createCheckout({
      "package.json": manifest(`mkdir -p ${folder} && echo page >${folder}/index.html`),
    });
    await using setup = await setUp();
    const { assets } = (await runBundler(setup.bundler, checkout)).bundle;
    expect(await readFile(`${assets?.directory}/index.html`, "utf8")).toBe("page\n");
  });

  test.each(["npm", "pnpm"])(
    "the adapter that SvelteKit's adapter-auto chooses is installed with %s",
    async (manager) => {
      const dependencies = { "@sveltejs/kit": "2.0.0", "@sveltejs/adapter-auto": "7.0.1" };
      await using checkout = await createCheckout({
        "package.json": JSON.stringify({
          packageManager: `${manager}@10.0.0`,
          scripts: { build: "sh build.sh" },
          devDependencies: dependencies,
        }),
        "build.sh": `
        [ "$CF_PAGES" = 1 ] || exit 1
        mkdir -p .svelte-kit/cloudflare
        cp node_modules/@sveltejs/adapter-cloudflare/worker.js .svelte-kit/cloudflare/_worker.js`,
      });
      await using setup = await setUp();
      const { bundle, log } = await runBundler(setup.bundler, checkout);
      expect(log).toContain("> installing @sveltejs/adapter-cloudflare@7 and wrangler@4 for SvelteKit");
      expect(log.split("\n").filter((line) => /Progress: .*\d$/.test(line))).toEqual([]);
      expect(bundle).toMatchObject({ framework: "svelte-kit", assets: { rules: { run_worker_first: true } } });
    },
  );

  test("a SvelteKit project with the adapter for another host is built with the Cloudflare adapter", async () => {
    await using checkout = await createCheckout({
      "package.json": manifest("node build.mjs", { "@sveltejs/kit": "2.0.0", "@sveltejs/adapter-vercel": "6.3.0" }),
      "svelte.config.js": `export { worker } from "@sveltejs/adapter-vercel";`,
      "build.mjs": `
        import { mkdirSync, writeFileSync } from "node:fs";
        const { worker } = await import("./svelte.config.js");
        if (!process.env.NODE_OPTIONS.startsWith("--max-old-space-size=500 ")) throw new Error("no NODE_OPTIONS");
        mkdirSync(".svelte-kit/cloudflare", { recursive: true });
        writeFileSync(".svelte-kit/cloudflare/_worker.js", worker);`,
    });
    await using setup = await setUp();
    const variables = { NODE_OPTIONS: "--max-old-space-size=500" };
    const { bundle, log } = await runBundler(setup.bundler, checkout, undefined, { variables });
    expect(log).toContain("> installing @sveltejs/adapter-cloudflare@7 and wrangler@4 for SvelteKit");
    expect(bundle).toMatchObject({ framework: "svelte-kit", assets: { rules: { run_worker_first: true } } });
  });
});

describe("a Next.js app with OpenNext", () => {
  const files = {
    "build.js": `export default { fetch: () => new Response("rendered") };`,
    "wrangler.jsonc": `{ "main": ".open-next/worker.js", "compatibility_date": "2026-06-01" }`,
  };
  const OPEN_NEXT = { "@opennextjs/cloudflare": "1.20.0" };

  test.each([
    ["is built by OpenNext, which runs its build script", "mkdir .open-next"],
    [
      "that runs OpenNext in its build script is built by this script",
      "mkdir .open-next && cp build.js .open-next/worker.js # opennext",
    ],
  ])("%s", async (_case, build) => {
    await using checkout = await createCheckout({
      ...files,
      "package.json": manifest(build, OPEN_NEXT),
      "open-next.config.ts": "export default {};",
    });
    await using setup = await setUp();
    const { bundle, log } = await runBundler(setup.bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("rendered");
    expect(log.includes("> opennextjs-cloudflare build\n")).toBe(!build.includes("opennext"));
  });
});

describe("a server for Node.js that exports its routes", () => {
  /** The form of the build of React Router and Remix. */
  const server = (assets: string) => `
    import { METHODS } from "node:http";
    export const assetsBuildDirectory = ${JSON.stringify(assets)};
    export const routes = () => "rendered with " + METHODS.includes("GET");`;

  test.each([
    ["React Router", "@react-router/dev", "react-router", "react-router-serve ./build/server/index.js", "build"],
    [
      "React Router in another folder",
      "@react-router/dev",
      "react-router",
      "NODE_ENV=production react-router-serve out/server/index.js",
      "out",
    ],
    ["React Router without a start script", "@react-router/dev", "react-router", "", "build"],
    ["Remix", "@remix-run/dev", "remix", "remix-serve build/server/index.js", "build"],
  ])("of %s is served by the program of the framework", async (_case, dependency, framework, start, folder) => {
    await using app = await publishProject(
      {
        "package.json": JSON.stringify({
          type: "module",
          scripts: { build: "sh build.sh", ...(start !== "" && { start }) },
          dependencies: { "@react-router/serve": "8.0.0", "@remix-run/serve": "2.0.0" },
          devDependencies: { [dependency]: "8.0.0" },
        }),
        "build.sh": `mkdir -p ${folder}/server ${folder}/client/assets && cp server.txt ${folder}/server/index.js
          echo style >${folder}/client/assets/style.css`,
        "server.txt": server(`${folder}/client`),
      },
      PACKAGES,
    );
    await app.published;
    expect(app.bundle).toMatchObject({ framework, assets: null, code: { runtime: "node" } });
    const paths = ["/a?b", "/assets/style.css"];
    expect(await Promise.all(paths.map(app.get))).toEqual(["rendered with true at /a?b", "style\n"]);
  });
});

test("the server that TanStack Start builds without a plugin is deployed with its static files", async () => {
  await using checkout = await createCheckout({
    "package.json": manifest("sh build.sh", { "@tanstack/react-start": "1.169.0" }),
    "build.sh": `
      mkdir -p dist/server dist/client/assets
      echo page >dist/client/assets/style.css
      echo 'import "node:async_hooks"; export default { fetch: () => new Response("rendered") };' >dist/server/server.js`,
  });
  await using setup = await setUp();
  const { bundle } = await runBundler(setup.bundler, checkout);
  expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("rendered");
  expect(bundle).toMatchObject({ framework: "tanstack-start", assets: { rules: { not_found_handling: "none" } } });
  expect(await readFile(`${bundle.assets?.directory}/assets/style.css`, "utf8")).toBe("page\n");
});

describe("frameworks that built a server for another platform", () => {
  test.each([
    ["Astro", { astro: "7.0.0" }, "It needs the adapter @astrojs/cloudflare."],
    ["React Router", { "@react-router/dev": "8.0.0" }, "It needs Cloudflare's Vite plugin, or ssr: false."],
  ])("a build of %s without pages fails with what it needs and the lines to add", async (name, dependencies, needs) => {
    await using setup = await setUp();
    const failure = await bundleFailure(setup.bundler, {
      "package.json": manifest("mkdir -p dist/server && echo >dist/server/chunk.mjs", dependencies),
    });
    expect(failure).toMatchObject({
      kind: "user",
      message: `The build of ${name} made no app for this platform. ${needs}`,
      advice: expect.stringContaining("two lines"),
    });
    expect(failure.advice).not.toContain("…");
  });

  test("a build that Astro stops because it has no adapter fails with the lines to add", async () => {
    await using setup = await setUp();
    const failure = await bundleFailure(setup.bundler, {
      "package.json": manifest("echo '[NoAdapterInstalled] Cannot use server-rendered pages' >&2; echo more; exit 1", {
        astro: "7.0.0",
      }),
    });
    expect(failure.advice).toContain(`import cloudflare from "@astrojs/cloudflare"`);
  });
});
