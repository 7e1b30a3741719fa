import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { conformanceServer } from "../support/clients/conformance-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SUITE = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));

for (const revision of ["2025-11-25", "2026-07-28"]) {
  test(`the official conformance suite for MCP ${revision} passes, except for the checks that conformance-${revision}.yml lists with reasons`, async () => {
    await using server = await conformanceServer();
    await using folder = await temporaryFolder();
    const expected = path.join(import.meta.dirname, `conformance-${revision}.yml`);
    const options = [
      "--url",
      server.url,
      "--requirements",
      revision,
      "--expected-failures",
      expected,
      "-o",
      folder.path,
    ];
    const child = spawn(process.execPath, [SUITE, "server", ...options], { stdio: ["ignore", "pipe", "pipe"] });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    expect([child.exitCode, output.slice(output.indexOf("=== SUMMARY")), errors]).toEqual([
      0,
      expect.stringMatching(/tools-list: [1-9]/),
      "",
    ]);
  });
}
