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
])("the platform is derived from the name %s", (name, platform) => {
  const missing = missingPackages({ packages: { "node_modules/tool": tool({ [name]: "2.0.0" }) } });
  expect(missing[`node_modules/${name}`]).toMatchObject(platform);
});

test("a package that is present, or whose name contains no platform, is not added", () => {
  const packages = {
    "node_modules/tool": tool({ "@tool/linux-x64": "2.0.0", fsevents: "2.3.3" }),
    "node_modules/@tool/linux-x64": { version: "2.0.0" },
  };
  expect(missingPackages({ packages })).toEqual({});
});

test("a platform package of a nested tool is added beside that tool", () => {
  const packages = {
    "node_modules/outer/node_modules/tool": tool({ "@tool/linux-x64": "2.0.0" }),
    "node_modules/@tool/linux-x64": { version: "1.0.0" },
  };
  expect(Object.keys(missingPackages({ packages }))).toEqual(["node_modules/outer/node_modules/@tool/linux-x64"]);
});
