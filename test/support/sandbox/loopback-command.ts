/** Runs a command in a sandbox that reads from port 5432 of its loopback interface, and prints what it read. For a test that runs it as another user. */
import { once } from "node:events";
import { createServer } from "node:net";
import path from "node:path";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { runIn } from "./sandbox-command.ts";
import { temporaryFolder } from "../temporary-folder.ts";

await using folder = await temporaryFolder();
const socketPath = path.join(folder.path, "server.sock");
const server = createServer((socket) => socket.end("from outside"));
await once(server.listen(socketPath), "listening");
const client = `require("node:net").connect(5432, "127.0.0.1").pipe(process.stdout)`;
const loopbackPorts = [{ port: 5432, target: { socketPath } }];
const { output } = await runIn(new BubblewrapSandbox(), ["/opt/node/bin/node", "--eval", client], { loopbackPorts });
process.stdout.write(output);
server.close();
