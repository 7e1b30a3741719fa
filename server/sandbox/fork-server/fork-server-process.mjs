// The main module of the fork server. It starts the processes that the service requests, connects their pipes to the
// service, and reports when they end. It ends with the service. It is JavaScript, because the compiler of TypeScript
// that Node would load takes 15 MB.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

process.on("disconnect", () => process.exit());
process.on("message", (message) => void start(message));
// The service may have ended before this process could notice it.
if (!process.connected) process.exit();

/** @param {import("./messages.ts").ProcessMessage} message */
function report(message) {
  if (process.connected) process.send(message);
}

/** @param {import("./messages.ts").StartMessage} message */
async function start({ id, argv: [program, ...programArguments], pipes, inputs, socketPath }) {
  const sockets = [];
  const connectPipe = async ({ descriptor, header }) => {
    const socket = await connectToService(socketPath, header);
    sockets.push(socket);
    return [descriptor, socket];
  };
  try {
    const connected = new Map(await Promise.all(pipes.map(connectPipe)));
    const stdio = Array.from({ length: connected.size + inputs.size }, (_, index) => connected.get(index) ?? "pipe");
    // The environment of this process is that of the tools which create sandboxes.
    const child = spawn(program, programArguments, { cwd: "/", stdio });
    child.once("exit", (code, signal) => report({ id, exit: { code, signal } }));
    // The process closes an input early if it fails. Its exit then contains the reason.
    for (const [descriptor, input] of inputs) child.stdio[descriptor].on("error", () => undefined).end(input);
    await once(child, "spawn");
    report({ id, pid: child.pid });
  } catch (error) {
    report({ id, error: error.message });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Opens a connection that the process will use as a pipe. */
async function connectToService(socketPath, header) {
  const socket = connect(socketPath);
  // The data of the service is for the process.
  socket.pause();
  await once(socket, "connect");
  await new Promise((resolve, reject) => socket.write(header, (error) => (error ? reject(error) : resolve())));
  // A process expects pipes on which a write waits. Node has no public function for that.
  socket._handle.setBlocking(true);
  return socket;
}
