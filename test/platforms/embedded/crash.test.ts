import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { isRunning } from "../../../server/sandbox/process-tree.ts";
import { sandboxPids } from "../../support/edge/app-processes.ts";
import { eventually, openTestPlatform } from "../../support/edge/test-platform.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const PROCESS = fileURLToPath(import.meta.resolve("../../support/edge/platform-process.ts"));

test("apps end with a killed service, and the next service runs them with their data", async () => {
  await using folder = await temporaryFolder();
  const dataDirectory = folder.path;
  const service = spawn(process.execPath, [PROCESS, dataDirectory, "shop"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(service.stdout, "data");
  const pids = await sandboxPids(path.join(dataDirectory, "edge"));
  service.kill("SIGKILL");
  await once(service, "exit");
  await eventually(() => (pids.some(isRunning) ? undefined : true));
  await using t = await openTestPlatform({ dataDirectory });
  expect([pids.length > 0, (await t.request("shop")).text]).toEqual([true, "2"]);
});

test("a Node server has what it wrote beside its code after the service was killed", async () => {
  await using folder = await temporaryFolder();
  const service = spawn(process.execPath, [PROCESS, folder.path, "shop", "node"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(service.stdout, "data");
  service.kill("SIGKILL");
  await once(service, "exit");
  await using t = await openTestPlatform({ dataDirectory: folder.path });
  // The health check was its first request.
  expect((await t.request("shop")).text).toBe("2 ..");
});

test("a second service cannot use the same folder", async () => {
  await using t = await openTestPlatform();
  await expect(openTestPlatform({ dataDirectory: t.dataDirectory })).rejects.toThrow(/in use/);
});
