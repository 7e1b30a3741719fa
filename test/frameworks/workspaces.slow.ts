import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createCheckout, runBundler } from "../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../support/builds/create-bundler.ts";
import { GREETING_PACKAGES } from "../support/builds/greeting-packages.ts";
import { readUploadForm } from "../support/builds/read-upload-form.ts";
import { startRegistry } from "../support/builds/test-registry.ts";
import { workspaceFiles, WORKSPACES } from "../support/builds/workspace-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scriptPathOf } from "../support/builds/script-path.ts";

test.each([
  ["Yarn 1", { packageManager: "yarn@1.22.22", workspaces: { packages: WORKSPACES } }, "1.0.0"],
  ["Yarn 2 and later", { packageManager: "yarn@4.18.1", workspaces: WORKSPACES }, "workspace:*"],
  ["Bun", { packageManager: "bun@1.3.0", workspaces: ["{apps,packages}/*"] }, "workspace:*"],
])(
  "a workspace of %s is installed at its root, and its only app is built after its libraries",
  async (_case, root, own) => {
    await using registry = await startRegistry(GREETING_PACKAGES);
    await using cache = await temporaryFolder();
    await using checkout = await createCheckout(workspaceFiles(root, own));
    const { bundle } = await runBundler(createTestBundler({ registry: registry.url }, cache.path), checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
    expect(await readFile(`${bundle.assets?.directory}/index.html`, "utf8")).toBe("<h1>built</h1>\n");
  },
);
