import { cp, readdir } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import { createMachineBundler } from "../../support/builds/create-bundler.ts";
import { shareBuilds } from "../../support/builds/share-builds.ts";
import { runBundler, createEmptyCheckout } from "../../support/builds/bundle-checkout.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const EXAMPLES = path.resolve(import.meta.dirname, "../../../examples");

/** Bundles an example from its folder in this repository. */
async function bundleExample(name: string) {
  const checkout = await createEmptyCheckout();
  await cp(path.join(EXAMPLES, name), checkout.sourceDirectory, { recursive: true });
  const { bundle, log } = await runBundler(shareBuilds(createMachineBundler()), checkout);
  const form = await readUploadForm(scriptPathOf(bundle));
  return { bundle, form, log, [Symbol.asyncDispose]: () => checkout[Symbol.asyncDispose]() };
}

describe("the bundles of the examples", () => {
  test("examples/hello is bundled as a plain script", async () => {
    await using example = await bundleExample("hello");
    expect(example.bundle).toMatchObject({ framework: null, assets: null, migrations: [] });
    expect(example.form.main).toContain("Hello");
    expect(example.log).toContain("Total Upload");
    expect(example.log).not.toContain("dry-run");
  });

  test("examples/guestbook is bundled as a Hono app with a database and its migrations", async () => {
    await using example = await bundleExample("guestbook");
    expect(example.bundle).toMatchObject({ framework: "hono", assets: null });
    expect(example.bundle.migrations.map(({ name, statements }) => [name, statements.length])).toEqual([
      ["0001_entries.sql", 1],
      ["0002_no_empty_entries.sql", 1],
    ]);
    expect(example.form.metadata.bindings).toMatchObject([{ type: "d1", name: "DB" }]);
  });

  test("the main module of examples/invoices exports its tRPC router", async () => {
    await using example = await bundleExample("invoices");
    expect(example.form.main).toMatch(/export \{[^}]*\bappRouter\b/);
    expect(example.bundle.migrations.map(({ name }) => name)).toEqual(["0001_invoices.sql"]);
    expect(example.form.metadata.bindings).toMatchObject([{ type: "d1", name: "DB" }]);
  });

  test("examples/site is bundled as static files", async () => {
    await using example = await bundleExample("site");
    expect(example.bundle).toMatchObject({
      framework: "vite",
      assets: { rules: { not_found_handling: "single-page-application" } },
    });
    expect(await readdir(example.bundle.assets?.directory ?? "")).toEqual(["assets", "favicon.svg", "index.html"]);
  });
});
