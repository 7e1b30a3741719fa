import { afterAll } from "vitest";
import { openDenoRuntime } from "../support/procedures/deno-runtime.ts";
import { testCodeRuntime } from "./code-runtime.ts";

const deno = await openDenoRuntime();
afterAll(() => deno[Symbol.asyncDispose]());

testCodeRuntime("Deno", deno.runtime);
