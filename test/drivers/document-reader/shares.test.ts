import { expect, test } from "vitest";
import type { Sandbox, SandboxOutcome, SandboxCommand } from "../../../server/ports/sandbox.ts";
import { sharedReader } from "../../support/documents/test-reader.ts";

/** The runs that have not ended, in their order. Each ends when it is aborted, or with a text. */
const runs: { request: SandboxCommand; end: () => void }[] = [];

const sandbox: Sandbox = {
  hasOwnNetwork: true,
  run: (request) =>
    new Promise<SandboxOutcome>((resolve) => {
      const end = (): void => {
        runs.splice(runs.indexOf(run), 1);
        request.onOutput(Buffer.from(JSON.stringify({ text: "Text", title: null })));
        resolve({ reason: "exit", code: 0 });
      };
      const run = { request, end };
      runs.push(run);
      request.signal.addEventListener("abort", end);
    }),
};

const reader = sharedReader({ sandbox });

const read = (orgId: string, signal?: AbortSignal) =>
  reader().read({ name: "a.html", content: Buffer.from("<p>Text") }, { orgId, signal });

test("files of one organization do not delay those of another", async () => {
  const own = [read("org-1"), read("org-1"), read("org-1")];
  await expect.poll(() => runs.length).toBe(1);
  const other = read("org-2");
  await expect.poll(() => runs.length).toBe(2);
  runs.at(-1)?.end();
  expect((await other).text).toBe("Text");
  for (const each of own) {
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.end();
    await each;
  }
});

test("an organization that sends too many files at once gets an error, and another one does not", async () => {
  const leaving = new AbortController();
  const own = Array.from({ length: 26 }, () => read("org-1", leaving.signal));
  for (const each of own) each.catch(() => undefined);
  await expect(read("org-1")).rejects.toMatchObject({ code: "unavailable" });
  await expect.poll(() => runs.length).toBe(1);
  const other = read("org-2");
  await expect.poll(() => runs.length).toBe(2);
  runs.at(-1)?.end();
  await other;
  leaving.abort(new Error("the caller has left"));
  const results = await Promise.allSettled(own);
  expect(results.every(({ status }) => status === "rejected")).toBe(true);
  expect(runs).toEqual([]);
});
