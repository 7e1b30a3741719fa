import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findTool } from "../../../server/sandbox/system-tools.ts";

const PREPARE = fileURLToPath(new URL("../../support/edge/https-process.sh", import.meta.url));
const PROCESS = fileURLToPath(new URL("../../support/edge/https-process.ts", import.meta.url));

/** Only root may create a network namespace with a public address. */
const skip = process.getuid?.() !== 0 || findTool("ip") === null;

test(
  "an app fetches by HTTPS from a public server whose certificate the host trusts, and from no other",
  { skip },
  async () => {
    const command = ["--net", "--mount", "--", "sh", PREPARE, process.execPath, PROCESS];
    const { stdout } = await promisify(execFile)("unshare", command);
    expect(JSON.parse(stdout)).toEqual(["fetched", "failed"]);
  },
);
