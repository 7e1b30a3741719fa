import { text } from "node:stream/consumers";
import type { ProcessRequest, StartProcess } from "./start-process.ts";

/**
 * Runs a tool of the system, such as `mount`, with the environment of the tools that create a sandbox.
 *
 * @throws {Error} with the tool's error output when it cannot be started, or does not exit with 0
 */
export async function runTool(startProcess: StartProcess, argv: ProcessRequest["argv"]): Promise<void> {
  const tool = await startProcess({ argv, descriptors: 3, inputs: new Map([[0, ""]]) });
  const [, output, errors] = tool.pipes;
  output?.resume();
  const [message, { code, signal }] = await Promise.all([errors ? text(errors) : "", tool.exit]);
  if (code !== 0) throw new Error(`${argv[0]} ended with ${code ?? signal}: ${message.trim()}`);
}
