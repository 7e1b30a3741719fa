import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const bundler = createTestBundler({}, tmpdir());
const WORKER = 'export default { fetch: () => new Response("of the script") };';
const scripts = (deploy: string) => ({ "package.json": JSON.stringify({ scripts: { deploy } }) });

async function bundleFiles(files: Record<string, Content>) {
  await using checkout = await createCheckout(files);
  const { bundle } = await runBundler(bundler, checkout);
  return { bundle, main: (await readUploadForm(scriptPathOf(bundle))).main };
}

test.each([
  "wrangler deploy lib/app.ts",
  "npm run check && npx wrangler deploy --name shop --minify ./lib/app.ts --env production",
  "wrangler publish 'lib/app.ts'",
])("a script without a configuration is the one that the deploy script names: %s", async (deploy) => {
  const { main, bundle } = await bundleFiles({ ...scripts(deploy), "lib/app.ts": WORKER, "index.html": "page" });
  expect([main.includes("of the script"), bundle.assets]).toEqual([true, null]);
});

test("the static files of a deploy script are deployed beside its script", async () => {
  const files = {
    ...scripts("wrangler deploy lib/app.ts --assets=site"),
    "lib/app.ts": WORKER,
    "site/index.html": "page",
  };
  expect((await bundleFiles(files)).bundle.assets?.directory).toMatch(/assets$/);
});

test("the folder of a Pages project is the one that the deploy script names", async () => {
  const files = { ...scripts("wrangler pages deploy pages --project-name shop"), "pages/index.html": "page" };
  const { bundle } = await bundleFiles(files);
  expect(bundle.assets?.rules.not_found_handling).toBe("single-page-application");
});

test("an empty folder of static files is a warning", async () => {
  const config = JSON.stringify({ main: "index.js", compatibility_date: "2026-06-01", assets: { directory: "site" } });
  const build = JSON.stringify({ scripts: { build: "mkdir site" } });
  const files = { "index.js": WORKER, "wrangler.json": config, "package.json": build };
  expect((await bundleFiles(files)).bundle.warnings).toEqual([
    "The folder of static files, site, is empty after the build.",
  ]);
});
