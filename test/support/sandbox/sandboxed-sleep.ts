// A process for tests that kill the service. It sleeps in a sandbox for the given number of seconds.
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { runIn } from "./sandbox-command.ts";

await runIn(new BubblewrapSandbox(), ["sleep", process.argv[2] ?? "1"], { limits: { wallTimeMs: 3_600_000 } });
