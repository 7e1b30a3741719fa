import type { Command } from "commander";
import type { Context } from "../context.ts";

/** The command without a verb. `program.ts` adds the others to the same group. */
export function defineMcpCommand(mcp: Command, context: () => Context): void {
  mcp
    .summary("Connect an MCP client to the tool gateway")
    .description("Speaks MCP on standard input and output, and relays all messages to the tool gateway of the service.")
    .action(() => runBridge(context()));
}

async function runBridge({ session, output, stdin, signal }: Context): Promise<void> {
  // Loaded here, because only this command needs them.
  const [{ Bridge }, { GatewayConnection }] = await Promise.all([
    import("../mcp/bridge.ts"),
    import("../mcp/gateway-connection.ts"),
  ]);
  if (stdin.isTTY === true)
    output.message("This command is for MCP clients, which start it. Press Ctrl-D to end it. See svc mcp --help.");
  const connection = new GatewayConnection({
    target: () => session.gatewayTarget(),
    tokenAdvice: "set SVC_TOKEN to it, or run: svc login",
  });
  const log = (message: string): void => output.message(message);
  await new Bridge({ connection, stdin, stdout: process.stdout, log, signal }).run();
}
