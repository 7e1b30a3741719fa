import { afterAll } from "vitest";
import { hasVolumesInMemory, openDenoRuntime } from "../support/procedures/deno-runtime.ts";
import { testProgramWorkspaces } from "./code-runtime-workspaces.ts";

const onDisk = await openDenoRuntime({ hasVolumesInMemory: false });
afterAll(() => onDisk[Symbol.asyncDispose]());
testProgramWorkspaces("Deno, with folders on the disk", onDisk.runtime, onDisk.workspaces);

if (hasVolumesInMemory) {
  const inMemory = await openDenoRuntime();
  afterAll(() => inMemory[Symbol.asyncDispose]());
  testProgramWorkspaces("Deno, with file systems in memory", inMemory.runtime, inMemory.workspaces);
}
