// The main module of the fork server. It starts the processes that the service requests, connects their pipes to the
// service, and reports when they end. It ends with the service.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Writable } from "node:stream";
import type { ProcessExit } from "../start-process.ts";
import { TOOL_ENVIRONMENT } from "../system-tools.ts";
import { encodeHeader, type ProcessMessage, type StartMessage } from "./messages.ts";

process.on("disconnect", () => process.exit());
process.on("message", (message: StartMessage) => void start(message));
// The service may have ended before this process could notice it.
if (!process.connected) process.exit();

function report(message: ProcessMessage): void {
  if (process.connected) process.send?.(message);
}

async function start({ id, argv, descriptors, inputs, socketPath }: StartMessage): Promise<void> {
  const sockets: Socket[] = [];
  const connectPipe = async (descriptor: number): Promise<"pipe" | Socket> => {
    if (descriptor in inputs) return "pipe";
    const socket = await connectToService(socketPath, encodeHeader(id, descriptor));
    sockets.push(socket);
    return socket;
  };
  try {
    const stdio = await Promise.all(Array.from({ length: descriptors }, (_, descriptor) => connectPipe(descriptor)));
    const [program, ...programArguments] = argv;
    const child = spawn(program, programArguments, { cwd: "/", env: TOOL_ENVIRONMENT, stdio });
    child.once("exit", (code, signal) => report({ id, exit: { code, signal } satisfies ProcessExit }));
    for (const [descriptor, input] of Object.entries(inputs)) {
      const pipe = child.stdio[Number(descriptor)] as Writable;
      // The process closes the pipe early if it fails; its exit then contains the reason.
      pipe.on("error", () => undefined).end(input);
    }
    await once(child, "spawn");
    report({ id, pid: child.pid! });
  } catch (error) {
    report({ id, error: (error as Error).message });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Opens a connection that the process will use as a pipe. */
async function connectToService(socketPath: string, header: Buffer): Promise<Socket> {
  const socket = connect(socketPath);
  // The data of the service is for the process.
  socket.pause();
  await once(socket, "connect");
  await new Promise<void>((resolve, reject) => socket.write(header, (error) => (error ? reject(error) : resolve())));
  // A process expects pipes on which a write waits. Node has no public function for that.
  (socket as unknown as { _handle: { setBlocking(isBlocking: boolean): void } })._handle.setBlocking(true);
  return socket;
}
