// The thread of `start-progress.ts`. JavaScript, because loading the TypeScript support in a thread costs 70 ms of CPU time
// at each start. It writes to the descriptor, because its `process.stdout` would wait for the main thread.
import { writeSync } from "node:fs";

let seconds = 0;
setInterval(() => writeSync(1, `Starting the service ... ${++seconds} s\n`), 1000);
