import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
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
