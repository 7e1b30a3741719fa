/** What a process of a benchmark can be asked to do; everything passes through a structured clone. */
export type Commands = Record<string, (...input: never[]) => unknown>;

interface Served {
  commands: Commands;
  close(): Promise<void>;
}

/** A request, and the answer to the one with the same number. */
export interface Call {
  number: number;
  name: string;
  input: unknown[];
}
export type Reply = { number: number } & ({ value: unknown } | { error: string });

/**
 * Makes this process one that `startProcess` can start: opens what it is about, does what it is asked, and closes it
 * when the one who started it lets go, also by dying.
 */
export async function serve(open: (options: never) => Promise<Served>): Promise<void> {
  // A Ctrl-C reaches the whole process group. The benchmark gets it too, and lets go of us in its own order.
  process.on("SIGINT", () => undefined);
  const released = new Promise((resolve) => process.once("disconnect", resolve));
  const { commands, close } = await open(JSON.parse(process.argv[2] ?? "{}") as never);
  process.on("message", (call: Call) => void answer(commands, call).then(send));
  send({ number: 0, value: null });
  await released;
  await close();
  process.exit();
}

function send(reply: Reply): void {
  if (process.connected) process.send?.(reply);
}

async function answer(commands: Commands, { number, name, input }: Call): Promise<Reply> {
  try {
    return { number, value: await commands[name]?.(...(input as never[])) };
  } catch (error) {
    return { number, error: String((error as Error).stack) };
  }
}
