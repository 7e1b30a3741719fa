/** The commands of a child process. Arguments and results are copied with the structured clone algorithm. */
export type Commands = Record<string, (...args: never[]) => unknown>;

interface CommandServer {
  commands: Commands;
  close(): Promise<void>;
}

/** A command call. The reply has the same number. */
export interface Call {
  number: number;
  name: string;
  args: unknown[];
}

export type Reply = { number: number } & ({ value: unknown } | { error: string });

/**
 * Serves commands to the parent process, which started this one with `startProcess`. Closes when the parent disconnects,
 * also when the parent dies. The reply with the number 0 says that the commands are ready.
 */
export async function serveCommands(open: (options: never) => Promise<CommandServer>): Promise<void> {
  // Ctrl-C reaches the whole process group. The parent gets it too and closes its children in the right order.
  process.on("SIGINT", () => undefined);
  const disconnected = new Promise((resolve) => process.once("disconnect", resolve));
  const { commands, close } = await open(JSON.parse(process.argv[2] ?? "{}") as never);
  process.on("message", (call: Call) => void run(commands, call).then(send));
  send({ number: 0, value: null });
  await disconnected;
  await close();
  process.exit();
}

function send(reply: Reply): void {
  if (process.connected) process.send?.(reply);
}

async function run(commands: Commands, { number, name, args }: Call): Promise<Reply> {
  try {
    return { number, value: await commands[name]?.(...(args as never[])) };
  } catch (error) {
    return { number, error: String((error as Error).stack) };
  }
}
