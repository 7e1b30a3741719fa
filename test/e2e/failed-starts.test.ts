import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { createInstallation, PROJECT } from "../support/service/service-process.ts";
import { TEST_TOKEN_SECRET } from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Returns the output of a service that fails to start. */
async function outputOfFailedStart(env: Record<string, string>): Promise<string> {
  await using installation = await createInstallation();
  const message = await installation.start(env).catch((error: Error) => error.message);
  if (typeof message !== "string") throw new Error("the service has started");
  return message;
}

test("a start with an unreachable database fails with one line that names the setting and contains no password", async () => {
  const output = await outputOfFailedStart({ DATABASE_URL: "postgres://ada:hunter2@127.0.0.1:1/apps" });
  expect(output).toMatch(/^the service ended with 1:\n(Starting.*\n)*DATABASE_URL .*ECONNREFUSED 127\.0\.0\.1:1\n$/);
  expect(output).not.toContain("hunter2");
});

test("a start on a port that is in use fails with one line that names the port", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  try {
    for (const setting of ["PORT", "EDGE_PORT"]) {
      const output = await outputOfFailedStart({ [setting]: String(port), LOG_LEVEL: "silent" });
      expect(output).toMatch(
        new RegExp(`^the service ended with 1:\\n(Starting.*\\n)*.*127\\.0\\.0\\.1:${port}\\. .*EDGE_PORT\\.\\n$`),
      );
    }
  } finally {
    taken.close();
  }
});

test("a start that waits for its database is not silent", async () => {
  const silentDatabase = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silentDatabase, "listening");
  const { port } = silentDatabase.address() as AddressInfo;
  await using folder = await temporaryFolder();
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, DATA_DIR: folder.path, PORT: "0", EDGE_PORT: "0" };
  const child = spawn(process.execPath, ["server/main.ts"], {
    cwd: PROJECT,
    env: { ...env, DATABASE_URL: `postgres://ada@127.0.0.1:${port}/apps`, TOKEN_SECRET: TEST_TOKEN_SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let output = "";
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.includes("3 s\n")) break;
    }
    expect(output).toMatch(/Starting the service \.\.\. 1 s\n[^]*2 s\n[^]*3 s\n/);
  } finally {
    child.kill("SIGKILL");
    silentDatabase.close();
  }
});
