import { expect, test } from "vitest";
import { toRuntime } from "../../../domain/agents/agent-runtime.ts";

const NOTHING = { platform: null, binaries: [], environment: [], configuration: [] };

test("an agent that declares nothing has an unknown platform and empty lists", () => {
  expect(toRuntime({})).toEqual(NOTHING);
});

test("the lists of a runtime are sorted and have no duplicates", () => {
  expect(
    toRuntime({
      platform: "linux",
      binaries: ["g++", "ffmpeg", "g++", "apt-get", "python3.12"],
      environment: ["_B", "A1", "_B"],
      configuration: ["channels.slack", "a/b:c@d-e", "channels.slack"],
    }),
  ).toEqual({
    platform: "linux",
    binaries: ["apt-get", "ffmpeg", "g++", "python3.12"],
    environment: ["A1", "_B"],
    configuration: ["a/b:c@d-e", "channels.slack"],
  });
});

test("the error of a name does not contain it, because it could be a value", () => {
  expect(() => toRuntime({ environment: ["KEY=hunter2"] })).toThrow(/^(?!.*hunter2)/);
});

test("a list has at most 1000 names of at most 128 characters", () => {
  const names = Array.from({ length: 1000 }, (_, number) => `name${number}`);
  for (const field of ["binaries", "environment", "configuration"] as const) {
    expect(toRuntime({ [field]: names })[field]).toHaveLength(1000);
    expect(toRuntime({ [field]: [...names, "name0"] })[field]).toHaveLength(1000);
    expect(() => toRuntime({ [field]: [...names, "name1000"] })).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining(`${field}: has 1001 names`) }),
    );
    expect(toRuntime({ [field]: ["x".repeat(128)] })[field]).toEqual(["x".repeat(128)]);
    expect(() => toRuntime({ [field]: ["x".repeat(129)] })).toThrow(expect.objectContaining({ code: "invalid" }));
  }
});

test.each([
  ["binaries", "/usr/bin/ffmpeg", "names of programs"],
  ["binaries", "secret value", "names of programs"],
  ["binaries", "", "names of programs"],
  ["environment", "1A", "names of environment variables"],
  ["environment", "KEY=value", "names of environment variables"],
  ["environment", " KEY", "names of environment variables"],
  ["configuration", "key=value", "configuration keys"],
  ["configuration", "", "configuration keys"],
  ["configuration", "=key", "configuration keys"],
])("of %s, %j is rejected with the rule", (field, name, rule) => {
  const message = expect.stringMatching(new RegExp(`^${field}: must be ${rule} .*, of at most 128 characters\\.$`));
  expect(() => toRuntime({ [field]: ["ok", name] })).toThrow(expect.objectContaining({ code: "invalid", message }));
});
