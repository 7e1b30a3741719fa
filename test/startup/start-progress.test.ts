import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";
import { startupMessage } from "../../server/startup/startup-message.ts";

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

const config = readConfig({ DATA_DIR: "/var/lib/apps" });
const publicUrl = "http://127.0.0.1:3000";

test("the message of the first start says once where its tokens are stored, and until when they are valid", () => {
  const bootstrapped = { org_id: "o", user_id: "u", api_key: "svk_one", personal_access_token: "svp_two" };
  const message = startupMessage({ publicUrl, bootstrapped, isFirstRun: true, isRestoredCopy: false }, config);
  expect(message.split("/var/lib/apps/bootstrap.json")).toHaveLength(2);
  expect(message).not.toContain("only now");
  expect(message).toMatch(/API key +svk_one\n.*Personal access token +svp_two\n/);
  expect(message).toContain(`The first user who signs up at ${publicUrl} becomes its owner. These tokens are invalid`);
});

test("the message of each start names the tokens and the sign-up until someone has signed up", () => {
  const message = startupMessage({ publicUrl, bootstrapped: null, isFirstRun: true, isRestoredCopy: false }, config);
  expect(message).toContain(`The first user who signs up at ${publicUrl} becomes the owner`);
  expect(message).toContain("are in /var/lib/apps/bootstrap.json.");
});

test("the message of a later start mentions no token", () => {
  const message = startupMessage({ publicUrl, bootstrapped: null, isFirstRun: false, isRestoredCopy: false }, config);
  expect(message).toBe(`\nThe service is ready at ${publicUrl} (reference: ${publicUrl}/docs)\n\n`);
});
