import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { findPackageNames, readProjectTexts } from "../../../server/drivers/bundler/read-package-names.ts";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("the names in every manifest and lockfile are read, and those in installed packages and behind links are not", async () => {
  await using outside = await temporaryFolder();
  await writeFile(path.join(outside.path, "package.json"), `{"dependencies": {"outside-dep": "1.0.0"}}`);
  await using checkout = await createCheckout({
    "package.json": `{"dependencies": {"root-dep": "1.0.0", "@scope/root": "^1.0.0"}}`,
    "packages/a/package.json": `{"dependencies": {"nested-dep": "1.0.0"}}`,
    "node_modules/x/package.json": `{"dependencies": {"installed-dep": "1.0.0"}}`,
    "package-lock.json": `{"packages": {"node_modules/npm-dep": {}, "node_modules/npm-dep/node_modules/@npm/scoped": {}}}`,
    "pnpm-lock.yaml": `packages:\n  '@pnpm/scoped@1.0.0(react@19.0.0)':\n    resolution: {}\n  pnpm-dep@2.0.0:\n`,
    "yarn.lock": `"@yarn/scoped@^1.0.0", yarn-dep@~2.0.0:\n  version "1.0.0"\n`,
    "README.md": "prose-dep",
    linked: { link: outside.path },
    "packages/b/package.json": { link: path.join(outside.path, "package.json") },
  });
  const names = await findPackageNames(await readProjectTexts(checkout.sourceDirectory));
  const named = ["root-dep", "@scope/root", "nested-dep", "npm-dep", "@npm/scoped"];
  const locked = ["@pnpm/scoped", "react", "pnpm-dep", "@yarn/scoped", "yarn-dep"];
  expect([...named, ...locked].filter((name) => !names.has(name))).toEqual([]);
  expect(["installed-dep", "prose-dep", "outside-dep"].filter((name) => names.has(name))).toEqual([]);
});
