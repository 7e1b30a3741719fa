import { expect, test } from "vitest";
import { locatePackage } from "../../../server/drivers/bundler/locate-package.ts";
import { choosePackage, type WorkspacePackage } from "../../../server/drivers/bundler/workspace-packages.ts";
import { type Content, createCheckout } from "../../support/builds/bundle-checkout.ts";

/** A package of a workspace: a library without a build script, unless `fields` say otherwise. */
function givenPackage(directory: string, fields: Partial<WorkspacePackage> = {}): WorkspacePackage {
  return {
    directory,
    dependsOn: [],
    hasBuildScript: false,
    hasConfig: false,
    isBuiltByRoot: false,
    startedByRoot: null,
    kind: "library",
    ...fields,
  };
}

async function locate(files: Record<string, Content>, rootDirectory: string | null, packages: WorkspacePackage[] = []) {
  await using checkout = await createCheckout(files);
  const roots: string[] = [];
  const location = await locatePackage({ ...checkout, rootDirectory, onOutput: () => {} }, (root) => {
    roots.push(root);
    return Promise.resolve(packages);
  });
  return { ...location, roots };
}

const MANIFEST = { "package.json": "{}" };
const WORKSPACE = { "package.json": `{"workspaces": ["*"]}` };

test.each([
  ["a folder with a package.json", { ...MANIFEST, "api/package.json": "{}" }, "api", "api"],
  ["a folder below one with a package.json", { ...MANIFEST, "a/package.json": "{}", "a/b/c/x.js": "" }, "a/b/c", "a"],
  ["a folder without any package.json above it", { "site/index.html": "" }, "site", "site"],
  ["the root", MANIFEST, ".", "."],
])(
  "packages of %s are installed in the nearest folder that has a package.json",
  async (_case, files, root, install) => {
    expect(await locate(files, root)).toMatchObject({
      packageDirectory: root,
      installDirectory: install,
      isMember: false,
      roots: [],
    });
  },
);

test("a package of a workspace in a folder is installed at the root of the workspace, after what it depends on", async () => {
  const files = { ...MANIFEST, "web/package.json": WORKSPACE["package.json"], "web/apps/api/package.json": "{}" };
  const packages = [
    givenPackage(".", { hasBuildScript: true, dependsOn: ["apps/api"] }),
    givenPackage("apps/api", { hasBuildScript: true, dependsOn: ["libs/a", "libs/b"] }),
    givenPackage("libs/a", { hasBuildScript: true, dependsOn: ["libs/b", "libs/c"] }),
    givenPackage("libs/b", { hasBuildScript: true, dependsOn: ["libs/a"] }),
    givenPackage("libs/c", { dependsOn: ["libs/d"] }),
    givenPackage("libs/d", { hasBuildScript: true }),
    givenPackage("libs/unused", { hasBuildScript: true }),
  ];
  expect(await locate(files, "web/apps/api", packages)).toEqual({
    packageDirectory: "web/apps/api",
    installDirectory: "web",
    isMember: true,
    buildFirst: ["web/libs/b", "web/libs/d", "web/libs/a"],
    roots: ["web"],
  });
});

test("a folder that the patterns of a workspace do not match is not a package of it", async () => {
  const location = await locate({ ...WORKSPACE, "docs/package.json": "{}" }, "docs", [givenPackage(".")]);
  expect(location).toMatchObject({ packageDirectory: "docs", installDirectory: "docs", isMember: false });
});

test("a requested root of a workspace is deployed itself", async () => {
  expect(await locate(WORKSPACE, ".")).toMatchObject({ packageDirectory: ".", roots: [] });
});

const app = (directory: string) => givenPackage(directory, { kind: "app" });
const builtRoot = givenPackage(".", { hasBuildScript: true });
const started = (directory: string): WorkspacePackage => ({ ...app(directory), startedByRoot: "file" });
const startedNext = (directory: string): WorkspacePackage => ({ ...app(directory), startedByRoot: "framework" });

test.each<[string, WorkspacePackage[], string]>([
  ["the root, if it is an app", [app("."), app("docs")], "."],
  ["the only app", [givenPackage("."), app("web"), givenPackage("ui", { kind: "script" })], "web"],
  ["an app on which no other depends", [givenPackage("."), { ...app("web"), dependsOn: ["ui"] }, app("ui")], "web"],
  [
    "the only script on which no package depends, without an app",
    [
      givenPackage("."),
      givenPackage("api", { kind: "script", dependsOn: ["ui"] }),
      givenPackage("ui", { kind: "script" }),
    ],
    "api",
  ],
  ["the root, without an app and a script", [givenPackage("."), givenPackage("ui")], "."],
  [
    "the root, if it builds the packages and starts a server beside the pages",
    [builtRoot, app("web"), started("api")],
    ".",
  ],
  [
    "the server that the root starts, if the root builds nothing",
    [givenPackage("."), app("web"), started("api")],
    "api",
  ],
  [
    "the app that the root starts with the program of a framework",
    [builtRoot, app("admin"), startedNext("web")],
    "web",
  ],
  ["the only app, also if the root starts it", [builtRoot, started("web")], "web"],
  ["an app beside an example that the root starts", [builtRoot, app("web"), started("examples/api")], "web"],
])("without a root directory, a workspace deploys %s", (_case, packages, chosen) => {
  expect(choosePackage(packages).directory).toBe(chosen);
});

test("a package with a wrangler configuration is an app, also if others depend on it", () => {
  const packages = [givenPackage("."), { ...app("web"), dependsOn: ["api"] }, { ...app("api"), hasConfig: true }];
  expect(() => choosePackage(packages)).toThrow("2 packages that can be deployed: web, api.");
});
