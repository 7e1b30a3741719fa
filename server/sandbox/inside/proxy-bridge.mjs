// Runs inside the sandbox, as the parent of a command with access to the proxy. It forwards connections to
// 127.0.0.1:3128, which HTTP_PROXY names, to the unix socket of the host's proxy. The socket is the only way out.
// It is JavaScript because type stripping would double its start time of 25 ms.
//
// usage: node proxy-bridge.mjs <socket> <program> [argument...]
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [socketPath, program, ...programArguments] = process.argv.slice(2);

const server = createServer((inside) => {
  const outside = connect(socketPath);
  inside.pipe(outside).pipe(inside);
  inside.on("error", () => outside.destroy());
  outside.on("error", () => inside.destroy());
});

server.listen(3128, "127.0.0.1", () => {
  const command = spawn(program, programArguments, { stdio: "inherit" });
  command.on("error", () => process.exit(127));
  // The sandbox expects an exit code as a shell gives it: 128 plus the signal number for death by a signal.
  command.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
