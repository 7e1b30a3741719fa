import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { checkHost } from "../../server/startup/check-host.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ANY_PORTS = { host: "127.0.0.1", port: 0, edgePort: 0 };
const MAIN = path.resolve(import.meta.dirname, "../../server/main.ts");

async function start(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { PATH } = process.env;
  const run = promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH, ...env }, timeout: 60_000 });
  return run.then(
    (output) => ({ code: 0, ...output }),
    (error: { code: unknown; stdout: string; stderr: string }) => error,
  );
}

test("a data folder is created with its parents, and may exist", async () => {
  await using folder = await temporaryFolder();
  const dataDirectory = path.join(folder.path, "a", "b");
  await checkHost({ ...ANY_PORTS, dataDirectory });
  await checkHost({ ...ANY_PORTS, dataDirectory });
  expect(existsSync(dataDirectory)).toBe(true);
});

test("a data folder that cannot be used is one line that says why", async () => {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "file");
  await writeFile(file, "");
  for (const dataDirectory of [file, path.join(file, "x"), "/dev/null/x", "/proc/x", "/proc/x/y"]) {
    const problem = expect.stringMatching(/^DATA_DIR: the folder \S+ cannot be used \(.+\)\. Set DATA_DIR to a folder/);
    await expect(checkHost({ ...ANY_PORTS, dataDirectory })).rejects.toMatchObject({
      name: "ConfigError",
      message: problem,
    });
  }
  const { code, stderr } = await start({ DATA_DIR: "/proc/x", PORT: "0", EDGE_PORT: "0" });
  expect([code, stderr.trim().split("\n")]).toEqual([1, [expect.stringMatching(/^DATA_DIR: /)]]);
});

test("a port that is taken is reported before anything is created", async () => {
  await using folder = await temporaryFolder();
  await mkdir(folder.path, { recursive: true });
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dataDirectory = path.join(folder.path, "data");
  for (const taken of [{ port }, { edgePort: port }])
    await expect(checkHost({ ...ANY_PORTS, ...taken, dataDirectory })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(existsSync(dataDirectory)).toBe(false);
});

test("--help explains the start, and starts nothing", async () => {
  const { code, stdout, stderr } = await start({ DATA_DIR: "/proc/x" }, "--help");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^Starts the service: npm start\n/);
});
