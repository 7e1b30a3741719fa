import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

const WORKER = `export default { fetch: () => new Response("hello") };`;

test.each([
  ["a script", { "index.js": WORKER }],
  ["pages", { "index.html": "<h1>hello</h1>" }],
  ["a script that cannot be bundled", { "index.js": `import "nowhere";\n${WORKER}` }],
])("the log says nothing of a dry run and of wrangler's own log file: %s", async (_case, files) => {
  await using checkout = await createCheckout(files);
  let log = "";
  const onOutput = (chunk: Uint8Array) => void (log += Buffer.from(chunk).toString());
  const { signal } = new AbortController();
  const bundler = createTestBundler({}, tmpdir());
  await bundler.bundle({ ...checkout, signal, onOutput }).catch((error: unknown) => {
    if (!(error instanceof BuildFailure)) throw error;
  });
  expect(log).toMatch(/Total Upload|Could not resolve/);
  expect(log).not.toMatch(/dry-run|Logs were written/);
});

/** The hash with which webpack 4 names files. */
const NAME_FILES = `node -e 'require("crypto").createHash("md4")'`;

test("a build with webpack 4 is repeated with the hashes that Node.js has removed", async () => {
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({
      scripts: { build: `${NAME_FILES} && mkdir dist && echo built >dist/index.html` },
    }),
  });
  const { bundle, log } = await runBundler(createTestBundler({}, tmpdir()), checkout);
  expect(log).toContain("Building again with --openssl-legacy-provider.\n");
  expect(bundle.assets).not.toBeNull();
});

test("a build of react-scripts that treats warnings as errors is repeated without CI", async () => {
  const build = `
    test "$CI" = false || { echo "Treating warnings as errors because process.env.CI = true."; exit 1; }
    mkdir dist && echo built >dist/index.html`;
  await using checkout = await createCheckout({ "package.json": JSON.stringify({ scripts: { build } }) });
  const { bundle, log } = await runBundler(createTestBundler({}, tmpdir()), checkout);
  expect(log).toContain("Building again with CI=false.\n");
  expect(bundle.assets).not.toBeNull();
});

test("a build that fails also with the removed hashes is repeated once", async () => {
  const files = { "package.json": JSON.stringify({ scripts: { build: `NODE_OPTIONS= ${NAME_FILES}` } }) };
  expect(await bundleFailure(createTestBundler({}, tmpdir()), files)).toMatchObject({
    kind: "user",
    message: expect.stringContaining("error:0308010C"),
  });
});
