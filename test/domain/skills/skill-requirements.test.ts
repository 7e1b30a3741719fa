import { describe, expect, test } from "vitest";
import { toRuntime } from "../../../domain/agents/agent-runtime.ts";
import { findMissing, readRequirements } from "../../../domain/skills/skill-requirements.ts";

const NONE = { binaries: [], any_binaries: [], environment: [], configuration: [], platforms: [] };
const NAMES = Array.from({ length: 50 }, (_, index) => `name-${index}`);

describe("the requirements of a skill", () => {
  test.each([
    ["no metadata", {}, NONE],
    ["metadata of another host", { version: "1.0", other: { requires: { bins: ["x"] } } }, NONE],
    [
      "all fields of OpenClaw",
      {
        openclaw: {
          emoji: "🧩",
          os: ["darwin", "Linux", "macos", "windows"],
          requires: { bins: ["op", "op"], anyBins: ["claude", "codex"], env: ["API_KEY"], config: ["channels.slack"] },
          install: [{ id: "brew", kind: "brew", bins: ["op"] }],
        },
      },
      {
        binaries: ["op"],
        any_binaries: ["claude", "codex"],
        environment: ["API_KEY"],
        configuration: ["channels.slack"],
        platforms: ["darwin", "linux", "win32"],
      },
    ],
    ["an earlier name of OpenClaw", { clawdbot: { requires: { bins: ["gh"] } } }, { ...NONE, binaries: ["gh"] }],
    [
      "texts with commas",
      { openclaw: { os: "darwin", requires: { bins: "gh, jq" } } },
      { ...NONE, binaries: ["gh", "jq"], platforms: ["darwin"] },
    ],
    ["metadata without a name", { "": { os: ["linux"] } }, NONE],
    [
      "two names of OpenClaw, of which the current one counts",
      { clawdbot: { os: ["linux"] }, openclaw: { os: ["darwin"] } },
      { ...NONE, platforms: ["darwin"] },
    ],
    ["another name of OpenClaw", { openclaw: "x", moltbot: { os: "Windows" } }, { ...NONE, platforms: ["win32"] }],
    ["names with spaces around them", { openclaw: { requires: { env: [" A "] } } }, { ...NONE, environment: ["A"] }],
    [
      "as many names as are allowed, and as long ones",
      { openclaw: { requires: { config: NAMES, anyBins: ["x".repeat(128)] } } },
      { ...NONE, configuration: NAMES, any_binaries: ["x".repeat(128)] },
    ],
    ["empty fields", { openclaw: { os: null, requires: null } }, NONE],
  ])("are read from %s", (_, metadata, requirements) => {
    expect(readRequirements(metadata)).toEqual(requirements);
  });

  test.each([
    [{ openclaw: { requires: "ffmpeg" } }, "metadata.openclaw.requires must be a map"],
    [{ openclaw: { os: [1] } }, "metadata.openclaw.os must be a list"],
    [{ openclaw: { requires: { env: ["A", "A B"] } } }, "requires.env must be a list"],
    [{ openclaw: { requires: { env: [""] } } }, "requires.env must be a list"],
    [{ openclaw: { requires: { env: ["éA"] } } }, "requires.env must be a list"],
    [{ openclaw: { requires: { env: ["Aé"] } } }, "requires.env must be a list"],
    [{ openclaw: { requires: { bins: 1 } } }, "requires.bins must be a list"],
    [{ openclaw: { requires: { config: [{ path: "a" }] } } }, "requires.config must be a list"],
    [{ clawdbot: { requires: { bins: ["x".repeat(129)] } } }, "metadata.clawdbot.requires.bins must be a list"],
    [
      { openclaw: { requires: { anyBins: Array(51).fill("x") } } },
      "requires.anyBins must be a list of at most 50 names",
    ],
  ])("are rejected in %j", (metadata, message) => {
    expect(() => readRequirements(metadata)).toThrow(message);
  });
});

test("one of any_binaries is enough, and one of the platforms", () => {
  const requirements = { ...NONE, any_binaries: ["claude", "codex"], platforms: ["darwin", "linux"] };
  expect(findMissing(requirements, toRuntime({ platform: "linux", binaries: ["codex"] }))).toEqual([]);
  expect(findMissing(requirements, toRuntime({ platform: "win32" }))).toEqual([
    "platform: needs darwin or linux, the agent runs win32",
    "binary: one of claude, codex",
  ]);
  expect(findMissing(NONE, null)).toEqual([]);
  expect(findMissing({ ...NONE, binaries: ["ffmpeg"], platforms: ["darwin"] }, null)).toEqual([
    "platform: needs darwin (unknown: no runtime declared)",
    "binary: ffmpeg (unknown: no runtime declared)",
  ]);
});

test("a declared runtime has sorted lists without duplicates", () => {
  expect(
    toRuntime({ binaries: ["b", "a", "b"], environment: ["_A", "A1"], configuration: ["channels.slack"] }),
  ).toEqual({
    platform: null,
    binaries: ["a", "b"],
    environment: ["A1", "_A"],
    configuration: ["channels.slack"],
  });
});

test.each([
  [{ environment: ["API_KEY=hunter2"] }, /^environment: must be names of environment variables without their values/],
  [{ environment: ["1A"] }, /^environment: /],
  [{ environment: ["A\0"] }, /^environment: /],
  [{ environment: ["A".repeat(129)] }, /of at most 128 characters/],
  [{ binaries: ["/usr/bin/ffmpeg"] }, /^binaries: must be names of programs without a path/],
  [{ binaries: [""] }, /^binaries: /],
  [{ configuration: ["a b"] }, /^configuration: must be configuration keys/],
  [{ binaries: Array.from({ length: 1001 }, (_, index) => `b${index}`) }, /has 1001 names, and at most 1000/],
])("a runtime with %j is rejected without showing the name", (declared, message) => {
  expect(() => toRuntime(declared)).toThrow(message);
  expect(() => toRuntime(declared)).not.toThrow("hunter2");
});
