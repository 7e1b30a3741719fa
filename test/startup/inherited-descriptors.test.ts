import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { hazard, verifies } from "../support/verifies.ts";

const MODULE = fileURLToPath(new URL("../../server/startup/inherited-descriptors.ts", import.meta.url));

/**
 * The number of the inherited descriptor. Node itself marks inherited descriptors as close-on-exec, but only up to the first
 * unused number above 15. The numbers between 3 and this one are unused.
 */
const INHERITED = 40;

/** Starts Node with the inherited descriptor, runs `statement` in it, and lists the descriptors that a child of it gets. */
async function listDescriptorsOfChild(statement: string): Promise<string[]> {
  const list = `(await import("node:child_process")).execFileSync("ls", ["/proc/self/fd"]).toString()`;
  const script = `const { closeInheritedDescriptors } = await import(${JSON.stringify(MODULE)}); ${statement}; process.stdout.write(${list});`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit", ...Array<"ignore">(INHERITED - 3).fill("ignore"), "pipe"],
  });
  const [output] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, "close")]);
  return output.trim().split("\n");
}

verifies(
  hazard(49),
  "a descriptor that was open when the service started is not inherited by the processes that the service starts",
  async () => {
    expect(await listDescriptorsOfChild("")).toContain(String(INHERITED));
    // Descriptor 3 is the folder that `ls` lists.
    expect(await listDescriptorsOfChild("closeInheritedDescriptors()")).toEqual(["0", "1", "2", "3"]);
  },
);
