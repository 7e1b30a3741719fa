import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { processTree } from "../../../server/sandbox/process-tree.ts";
import { eventually, openTestEdge, type TestEdge } from "../../support/edge/test-edge.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const HELLO = `export default { fetch: () => new Response("hello") }`;

/** An app that does on request what an app should not. */
const NAUGHTY = `const held = [];
export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/loop") for (;;);
  if (pathname === "/heap") for (;;) held.push(new Array(1e5).fill(held.length));
  if (pathname === "/buffers") {
    for (let n = 0; n < 40; n++) held.push(new Uint8Array(1e7).fill(1));
    await new Promise((done) => setTimeout(done, 20_000));
  }
  return new Response("fine");
} }`;

test("an app nobody asks for is stopped, and started again by the next request", async () => {
  await using t = await openTestEdge({ limits: { idleMs: 100 } });
  await t.publish("shop", HELLO);
  await t.logged("idle app stopped");
  const stopped = [t.edge.supervisor.active, await pids(t)];
  expect([stopped, (await t.visit("shop")).text]).toEqual([[[], []], "hello"]);
});

test("an app with a request in flight is not idle", async () => {
  await using t = await openTestEdge({ limits: { idleMs: 100 } });
  await t.publish(
    "shop",
    `export default { async fetch(request) {
    if (new URL(request.url).pathname === "/slow") await new Promise((done) => setTimeout(done, 2_500));
    return new Response("hello");
  } }`,
  );
  expect((await t.visit("shop", "/slow")).text).toBe("hello");
});

test("many first requests at once share one start", async () => {
  await using t = await openTestEdge({ limits: { idleMs: 100 } });
  await t.publish("shop", HELLO);
  await t.logged("idle app stopped");
  const answers = await Promise.all(Array.from({ length: 50 }, () => t.visit("shop")));
  expect([new Set(answers.map(({ text }) => text)), starts(t)]).toEqual([new Set(["hello"]), 2]);
});

test("the app that was idle for longest makes room for the next one", async () => {
  await using t = await openTestEdge({ limits: { maxActive: 2 } });
  for (const slug of ["one", "two"]) await t.publish(slug, HELLO);
  await t.visit("one");
  await t.publish("three", HELLO);
  expect(t.edge.supervisor.active.toSorted()).toEqual(["one", "three"]);
  expect([(await t.visit("two")).text, t.edge.supervisor.active.toSorted()]).toEqual(["hello", ["three", "two"]]);
});

test("503 tells a clientInfo when to come back if every process is busy", async () => {
  await using t = await openTestEdge({ limits: { maxActive: 1, idleMs: 0 } });
  const slow = `export default { async fetch(request) {
    if (new URL(request.url).pathname === "/slow") await new Promise((done) => setTimeout(done, 2_000));
    return new Response("hello");
  } }`;
  await t.publish("waiting", HELLO);
  await t.publish("busy", slow);
  const held = t.visit("busy", "/slow");
  await eventually(() => (t.edge.supervisor.active.includes("busy") ? true : undefined));
  const refused = await t.visit("waiting");
  expect([refused.status, Number(refused.headers["retry-after"]) > 0, (await held).text]).toEqual([503, true, "hello"]);
});

test("requests for slugs that do not exist stop nobody", async () => {
  await using t = await openTestEdge({ limits: { maxActive: 1 } });
  await t.publish("shop", HELLO);
  await Promise.all(Array.from({ length: 50 }, (_, n) => t.visit(`absent-${n}`)));
  expect(t.edge.supervisor.active).toEqual(["shop"]);
});

test("an app that hangs is killed and comes back, and its neighbours notice nothing", async () => {
  await using t = await openTestEdge({ limits: { hangMs: 1_500 } });
  await t.publish("naughty", NAUGHTY);
  await t.publish("neighbour", HELLO);
  const hanging = t.visit("naughty", "/loop");
  expect((await t.visit("neighbour")).text).toBe("hello");
  await t.logged("app process ended", { slug: "naughty", reason: "hang" });
  expect([(await hanging).status, (await t.visit("naughty")).text]).toEqual([502, "fine"]);
});

test("an app that runs out of heap ends alone and comes back", async () => {
  await using t = await openTestEdge();
  await t.publish("naughty", NAUGHTY);
  const answer = await t.visit("naughty", "/heap");
  const entry = await t.logged("app process ended", { slug: "naughty", reason: "crashed" });
  expect([answer.status, entry["lastError"], (await t.visit("naughty")).text]).toEqual([
    502,
    "The script ran out of memory.",
    "fine",
  ]);
});

test("an app that holds too much memory is killed and comes back", async () => {
  await using t = await openTestEdge({ limits: { residentMb: 300 } });
  await t.publish("naughty", NAUGHTY);
  const answer = await t.visit("naughty", "/buffers");
  await t.logged("app process ended", { slug: "naughty", reason: "memory" });
  expect([answer.status, (await t.visit("naughty")).text]).toEqual([502, "fine"]);
});

test("an app that fails again and again has to wait, and a new version does not", async () => {
  await using t = await openTestEdge();
  await t.publish("naughty", NAUGHTY, { generation: 1 });
  await crash(t, 3);
  const waiting = await t.visit("naughty");
  await t.publish("naughty", HELLO, { generation: 2 });
  expect([waiting.status, waiting.headers["retry-after"], (await t.visit("naughty")).text]).toEqual([
    503,
    "1",
    "hello",
  ]);
});

test("an app that waited after failing is started again", async () => {
  await using t = await openTestEdge();
  await t.publish("naughty", NAUGHTY);
  await crash(t, 3);
  const answer = await eventually(async () => ((await t.visit("naughty")).status === 200 ? true : undefined));
  expect(answer).toBe(true);
});

verifies(
  hazard(52),
  "a version whose top level never ends is refused while the old one answers without a pause",
  async () => {
    await using t = await openTestEdge({ limits: { startTimeoutMs: 2_000 } });
    await t.publish("shop", HELLO, { generation: 1 });
    const publication = t.publish("shop", "for (;;); export default {};", { generation: 2 });
    const visits = async () => {
      for (let n = 0; n < 10; n++) expect((await t.visit("shop")).text).toBe("hello");
    };
    await Promise.all([visits(), expect(publication).rejects.toThrow(/did not start within 2 s/)]);
  },
);

test(
  "every sandbox has a user of its own and sees no file but its app's",
  { skip: process.getuid?.() !== 0 },
  async () => {
    await using t = await openTestEdge();
    await t.publish("one", HELLO);
    await t.publish("two", HELLO);
    const sandboxes = await pids(t);
    const users = await Promise.all(
      sandboxes.map(async (pid) => /^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]),
    );
    const root = `/proc/${sandboxes[0]}/root`;
    const seen = await readdir(path.join(root, t.root, "scripts"));
    expect([new Set(users).size, users.includes("0"), seen.length, (await readdir(root)).includes("home")]).toEqual([
      2,
      false,
      1,
      false,
    ]);
  },
);

test("no secret of the service is in a sandbox's environment or arguments", async () => {
  process.env["TEST_SECRET"] = "hunter2";
  await using t = await openTestEdge();
  await t.publish("shop", HELLO);
  const tree = (await runs(t)).flatMap(processTree);
  const readable = await Promise.all(
    tree.flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`].map((file) => readFile(file, "utf8"))),
  );
  expect([tree.length > 0, readable.join().includes("hunter2")]).toEqual([true, false]);
});

const FLOOD = `for (;;) console.log("x".repeat(100_000));`;

test("a script that prints without end while it starts is refused", async () => {
  await using t = await openTestEdge();
  await expect(t.publish("shop", `${FLOOD} export default {};`)).rejects.toThrow(/prints without end/);
});

test("an app that prints without end costs the service no memory", async () => {
  await using t = await openTestEdge({ limits: { closeGraceMs: 100 } });
  await t.publish(
    "shop",
    `export default { fetch(request) {
    if (new URL(request.url).pathname === "/flood") ${FLOOD}
    return new Response("fine");
  } }`,
  );
  const bytes = () => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const before = bytes();
  const flooding = t.visit("shop", "/flood").catch(() => null);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(bytes() - before).toBeLessThan(100_000_000);
  await t.edge.close();
  await flooding;
});

test("without a sandbox apps run all the same", async () => {
  await using t = await openTestEdge({ sandbox: "none" });
  await t.publish("shop", HELLO);
  expect((await t.visit("shop")).text).toBe("hello");
});

test("closing leaves no process", async () => {
  const t = await openTestEdge();
  await t.publish("one", HELLO);
  await t.publish("two", HELLO);
  const before = await pids(t);
  await t.edge.close();
  const alive = before.filter((pid) => isAlive(pid));
  await t[Symbol.asyncDispose]();
  expect([before.length, alive]).toEqual([2, []]);
});

/** Makes the app crash so many times. */
async function crash(t: TestEdge, times: number): Promise<void> {
  const crashes = () => t.log.filter(({ reason }) => reason === "crashed").length;
  for (let n = 1; n <= times; n++) {
    await t.visit("naughty", "/heap");
    await eventually(() => (crashes() >= n ? true : undefined));
  }
}

/** The pids that the wrapper scripts noted. */
async function runs({ root }: TestEdge): Promise<number[]> {
  const names = await readdir(path.join(root, "run"));
  const noted = await Promise.all(names.map((name) => readFile(path.join(root, "run", name, "pid"), "utf8")));
  return noted.map(Number);
}

/** The pids of workerd itself. */
async function pids(t: TestEdge): Promise<number[]> {
  return (await runs(t)).map((pid) => processTree(pid).at(-1) ?? pid);
}

function starts(t: TestEdge): number {
  return t.log.filter(({ message }) => message === "app started").length;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
