import { expect, test } from "vitest";
import { createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createRegistryBundler } from "../../support/builds/publish-project.ts";
import { readUploadForm } from "../../../server/platforms/shared/upload-form.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const SCRIPT = { "index.js": "export default { fetch: () => new Response() };" };
const MAIN = { main: "index.js", compatibility_date: "2026-06-01", kv_namespaces: [{ binding: "CACHE" }] };

test.each([
  ["wrangler.json", JSON.stringify({ ...MAIN, secrets: { required: ["API_KEY", "DB_URL"] } })],
  ["wrangler.jsonc", `// comment\n${JSON.stringify({ ...MAIN, secrets: { required: ["API_KEY", "DB_URL"] } })}`],
  [
    "wrangler.toml",
    'main = "index.js"\ncompatibility_date = "2026-06-01"\n[secrets]\nrequired = ["API_KEY", "DB_URL"]\n[[kv_namespaces]]\nbinding = "CACHE"',
  ],
])("the required secrets of %s are bindings of a type of their own", async (file, config) => {
  await using setup = await createRegistryBundler([]);
  await using checkout = await createCheckout({ ...SCRIPT, [file]: config });
  const { bundle } = await runBundler(setup.bundler, checkout);
  expect((await readUploadForm(scriptPathOf(bundle))).metadata.bindings.toSorted(byName)).toEqual([
    { name: "API_KEY", type: "required_secret" },
    { name: "CACHE", type: "kv_namespace", namespace_id: "CACHE" },
    { name: "DB_URL", type: "required_secret" },
  ]);
});

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}
