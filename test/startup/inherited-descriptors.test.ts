import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { hazard, verifies } from "../support/verifies.ts";

const MODULE = fileURLToPath(new URL("../../server/startup/inherited-descriptors.ts", import.meta.url));

/** Past the first gap after 15, up to which Node itself takes its descriptors off what it hands on. */
const INHERITED = 40;

/** What a child of a process finds open that was started with one more descriptor than usual. */
async function openInChild(before: string): Promise<string[]> {
  const list = `(await import("node:child_process")).execFileSync("ls", ["/proc/self/fd"]).toString()`;
  const script = `const { closeInheritedDescriptors } = await import(${JSON.stringify(MODULE)}); ${before}; process.stdout.write(${list});`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit", ...Array<"ignore">(INHERITED - 3).fill("ignore"), "pipe"],
  });
  const [output] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, "close")]);
  return output.trim().split("\n");
}

verifies(hazard(49), "what was open when the service was started is not handed on to what it starts", async () => {
  expect(await openInChild("")).toContain(String(INHERITED));
  // The last one is the folder that is being listed.
  expect(await openInChild("closeInheritedDescriptors()")).toEqual(["0", "1", "2", "3"]);
});
