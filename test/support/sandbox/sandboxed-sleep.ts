// A program of its own, for the tests that kill the service: sleeps in the sandbox for as many seconds as it is told.
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { runIn } from "./sandbox-command.ts";

await runIn(new BubblewrapSandbox(), ["sleep", process.argv[2] ?? "1"], { limits: { wallTimeMs: 3_600_000 } });
