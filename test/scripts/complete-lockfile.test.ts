import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { missingPackages } from "../../scripts/complete-lockfile.ts";

const tool = (optionalDependencies: Record<string, string>) => ({ version: "2.0.0", dev: true, optionalDependencies });

test("a missing package of another platform is added, with the platform derived from its name", () => {
  const packages = { "node_modules/tool": tool({ "@tool/binding-linux-arm64-musl": "2.0.0" }) };
  expect(missingPackages({ packages })).toEqual({
    "node_modules/@tool/binding-linux-arm64-musl": {
      version: "2.0.0",
      cpu: ["arm64"],
      dev: true,
      libc: ["musl"],
      optional: true,
      os: ["linux"],
    },
  });
});

test.each([
  ["@tool/darwin-x64", { os: ["darwin"], cpu: ["x64"] }],
  ["@tool/binding-win32-arm64-msvc", { os: ["win32"], cpu: ["arm64"] }],
  ["@tool/windows-64", { os: ["win32"], cpu: ["x64"] }],
  ["@tool/linux-x64-gnu", { os: ["linux"], cpu: ["x64"], libc: ["glibc"] }],
  ["@tool/linux-arm-gnueabihf", { os: ["linux"], cpu: ["arm"], libc: ["glibc"] }],
  ["@tool/android-arm-eabi", { os: ["android"], cpu: ["arm"] }],
  ["@tool/binding-wasm32-wasi", { cpu: ["wasm32"] }],
])("the platform is derived from the name %s", (name, platform) => {
  const missing = missingPackages({ packages: { "node_modules/tool": tool({ [name]: "2.0.0" }) } });
  expect(missing[`node_modules/${name}`]).toMatchObject(platform);
});

test("a package that is present is not added", () => {
  const packages = {
    "node_modules/tool": tool({ "@tool/linux-x64": "2.0.0", fsevents: "~2.3.0" }),
    "node_modules/@tool/linux-x64": { version: "2.0.0" },
    "node_modules/fsevents": { version: "2.3.3" },
  };
  expect(missingPackages({ packages })).toEqual({});
});

test("a missing package whose name contains no platform is an error, because npm ci refuses a lockfile without it", () => {
  const packages = { "node_modules/tool": tool({ fsevents: "2.3.3" }) };
  expect(() => missingPackages({ packages })).toThrow("package-lock.json lacks fsevents@2.3.3");
});

test("the lockfile of this repository lacks no package of any platform", () => {
  const lockfile = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")) as never;
  expect(missingPackages(lockfile)).toEqual({});
});

test("a platform package of a nested tool is added beside that tool", () => {
  const packages = {
    "node_modules/outer/node_modules/tool": tool({ "@tool/linux-x64": "2.0.0" }),
    "node_modules/@tool/linux-x64": { version: "1.0.0" },
  };
  expect(Object.keys(missingPackages({ packages }))).toEqual(["node_modules/outer/node_modules/@tool/linux-x64"]);
});

test("an alias is present when the lockfile has the version of the package that it names", () => {
  const alias = { "tool-linux-x64": "npm:@tool/linux-64@2.0.0" };
  const present = { "node_modules/tool-linux-x64": { version: "2.0.0" } };
  expect(missingPackages({ packages: { "node_modules/tool": tool(alias), ...present } })).toEqual({});
  expect(missingPackages({ packages: { "node_modules/tool": tool(alias) } })).toMatchObject({
    "node_modules/tool-linux-x64": { name: "@tool/linux-64", version: "2.0.0", os: ["linux"], cpu: ["x64"] },
  });
});
