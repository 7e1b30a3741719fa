import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { bundleFailure, type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createRegistryBundler } from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

/** The names of frameworks, with a program that writes a page to the folder that it is told. */
const PACKAGES: PublishedPackage[] = ["vitepress", "@angular/cli", "solid-js", "left-alone"].map((name) => ({
  name,
  version: "1.0.0",
  files: {
    "index.js": "",
    "cli.js": `#!/usr/bin/env node
      const folder = require("path").join(process.argv.at(-1), ".vitepress/dist");
      require("fs").mkdirSync(folder, { recursive: true });
      require("fs").writeFileSync(folder + "/index.html", "built from " + process.argv.at(-1));`,
  },
  manifest: { bin: { [name]: "cli.js" } },
}));

const write = (folder: string) => `mkdir -p ${folder} && echo page >${folder}/index.html`;

async function bundleProject(files: Readonly<Record<string, Content>>) {
  await using setup = await createRegistryBundler(PACKAGES);
  await using checkout = await createCheckout(files);
  const { bundle } = await runBundler(setup.bundler, checkout);
  const { assets, framework } = bundle;
  const page = assets && (await readFile(path.join(assets.directory, "index.html"), "utf8"));
  return { framework, page, rules: assets?.rules };
}

const manifest = (name: string, build?: string) =>
  JSON.stringify({ dependencies: { [name]: "1.0.0" }, ...(build !== undefined && { scripts: { build } }) });

test.each([
  ["at the root", ".vitepress/config.js", "built from ."],
  ["in docs", "docs/.vitepress/config.js", "built from docs"],
  ["in another folder", "site/.vitepress/config.js", "built from site"],
])("the pages of VitePress are found %s, also without a build script", async (_case, config, page) => {
  expect(await bundleProject({ "package.json": manifest("vitepress"), [config]: "" })).toMatchObject({
    framework: "vitepress",
    page,
  });
});

test.each([
  ["dist/app of Angular 16 and earlier", "@angular/cli", "dist/app", "angular"],
  ["dist/app/browser of Angular", "@angular/cli", "dist/app/browser", "angular"],
  ["www of Ionic and Stencil", "left-alone", "www", null],
])("the pages in %s are deployed", async (_case, dependency, folder, framework) => {
  const files = {
    "package.json": manifest(dependency, write(folder)),
    "angular.json": `{ "projects": { "app": {} } }`,
  };
  const { page, ...found } = await bundleProject(
    framework === null ? { "package.json": files["package.json"] } : files,
  );
  expect([page, found.framework]).toEqual(["page\n", framework]);
});

test("a path without a file gets the page of a Solid app", async () => {
  expect(await bundleProject({ "package.json": manifest("solid-js", write("dist")) })).toMatchObject({
    rules: { not_found_handling: "single-page-application" },
  });
});

test.each(["app.json", "config.json", "_config.yml"])(
  "a project with %s is not taken for one of a framework that has such a file",
  async (name) => {
    const { framework, rules } = await bundleProject({
      "package.json": manifest("left-alone"),
      [name]: "{}",
      "index.js": "import 'left-alone';\nexport default { fetch: () => new Response() };",
    });
    expect([framework, rules]).toEqual([null, undefined]);
  },
);

test("a script of index.html that imports node:http is not a Node server, so a build to an unknown folder is an error", async () => {
  await using setup = await createRegistryBundler(PACKAGES);
  const files = {
    "package.json": manifest("solid-js", write("elsewhere")),
    "index.html": `<script type="module" src="/src/main.ts"></script>`,
    "src/main.ts": `import http from "node:http";\nhttp.createServer().listen(3000);`,
  };
  const failure = await bundleFailure(setup.bundler, files);
  expect(failure.message).toMatch(/^The build wrote no index\.html to /);
});
