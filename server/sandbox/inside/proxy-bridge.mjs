// Runs inside the sandbox, as the parent of a command that may reach the network: whatever connects to
// 127.0.0.1:3128, where HTTP_PROXY points, is passed to the proxy of the host, whose unix socket is the only way out.
// It is JavaScript because stripping types would double the 25 ms it takes to start.
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
  // The sandbox reads how the command ended from our exit code, in the manner of a shell.
  command.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
