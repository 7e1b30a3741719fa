import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MODULE = new URL("../../server/startup/start-progress.ts", import.meta.url).href;

test("progress is printed also while the start blocks the main thread, and no more after the start", async () => {
  const program = `
    import { showStartProgress } from ${JSON.stringify(MODULE)};
    const stop = showStartProgress();
    const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    block(5000);
    await stop();
    process.stdout.write("ready\\n");
    block(2500);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  expect(stdout).toMatch(/^(Starting the service \.\.\. \d+ s\n)+ready\n$/);
});
