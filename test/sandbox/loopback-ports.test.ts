import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const COMMAND = fileURLToPath(new URL("../support/sandbox/loopback-command.ts", import.meta.url));

/** A user that no file belongs to. */
const UID = 61_190;

test("a service that does not run as root opens ports of its sandboxes too", async () => {
  const uid = process.getuid?.() === 0 ? { uid: UID, gid: UID } : {};
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND], { ...uid, cwd: "/" });
  expect(stdout).toBe("from outside");
});
