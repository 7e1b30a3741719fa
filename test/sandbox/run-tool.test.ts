import { describe, expect, test } from "vitest";
import { ForkServer } from "../../server/sandbox/fork-server/fork-server.ts";
import { runTool } from "../../server/sandbox/run-tool.ts";
import { startChild } from "../../server/sandbox/start-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { existsSync } from "node:fs";
import path from "node:path";

await using forkServer = new ForkServer();

describe.each([
  { starter: "the service", startProcess: startChild },
  { starter: "the fork server", startProcess: forkServer.start },
])("a tool started by $starter", ({ startProcess }) => {
  test("has ended when the call returns", async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "file");
    await runTool(startProcess, ["sh", "-c", 'sleep 0.1; touch "$0"', file]);
    expect(existsSync(file)).toBe(true);
  });

  test("reads an empty standard input", async () => {
    await runTool(startProcess, ["cat"]);
  });

  test("fails with its exit code and its error output", async () => {
    const failing = runTool(startProcess, ["sh", "-c", "echo output; echo reason >&2; exit 3"]);
    await expect(failing).rejects.toThrow("sh ended with 3: reason");
  });

  test("fails with the signal that killed it", async () => {
    await expect(runTool(startProcess, ["sh", "-c", "kill -KILL $$"])).rejects.toThrow("sh ended with SIGKILL");
  });

  test("fails when it does not exist", async () => {
    await expect(runTool(startProcess, ["no-such-tool"])).rejects.toThrow("ENOENT");
  });
});
