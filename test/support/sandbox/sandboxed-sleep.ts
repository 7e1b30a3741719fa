// A process for tests that kill the service. It sleeps in a sandbox for the given number of seconds: with its own mounts,
// or with prepared files if a folder of the host is given.
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { runIn } from "./sandbox-command.ts";

const [seconds = "1", folder] = process.argv.slice(2);
const sandbox = new BubblewrapSandbox({ prepareFiles: folder !== undefined });
const mounts = folder === undefined ? [] : [{ from: folder, to: "/own", writable: false }];
await runIn(sandbox, ["sleep", seconds], { mounts, limits: { wallTimeMs: 3_600_000 } });
