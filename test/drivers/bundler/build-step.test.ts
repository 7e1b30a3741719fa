import { tmpdir } from "node:os";
import { describe, expect } from "vitest";
import { DEFAULT_LIMITS } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { hazard, verifies } from "../../support/verifies.ts";

/** A package.json with a build script. */
function withBuildScript(build: string): string {
  return JSON.stringify({ scripts: { build } });
}

describe("the isolation of build steps", () => {
  const bundler = createTestBundler({}, tmpdir());

  verifies(hazard(50), "a build cannot read what another build wrote", async () => {
    const mark = "left-by-a-build";
    const folders =
      "/tmp /scratch /scratch/home /scratch/npm-cache /opt/node_modules /opt/bundler /out /var/tmp /dev/shm";
    const write = `for folder in ${folders}; do mkdir -p $folder; echo >$folder/${mark}; done 2>/dev/null; true`;
    const list = `for folder in ${folders}; do ls -A $folder; done 2>/dev/null; true`;
    await using first = await createCheckout({
      "package.json": withBuildScript(write),
      "index.js": "export default {}",
    });
    await using second = await createCheckout({
      "package.json": withBuildScript(list),
      "index.js": "export default {}",
    });
    await runBundler(bundler, first);
    expect((await runBundler(bundler, second)).log).not.toContain(mark);
  });

  verifies(hazard(49), "a build script has no network", async () => {
    await using registry = await startRegistry([]);
    const probe = `for (const url of ["${registry.url}", "http://127.0.0.1:3128/greeting", "http://1.1.1.1/"])
      await fetch(url).then(() => console.log("REACHED", url), () => console.log("BLOCKED", url));`;
    await using checkout = await createCheckout({
      "package.json": withBuildScript("node probe.mjs"),
      "probe.mjs": probe,
      "index.js": "export default {}",
    });
    const { log } = await runBundler(bundler, checkout);
    expect([log.match(/BLOCKED/g)?.length, log.includes("REACHED")]).toEqual([3, false]);
  });

  verifies(hazard(47), "binary output of a failed build appears in the message as plain text", async () => {
    const build = String.raw`printf 'bad \033]0;title\007\377\000 thing \342\200\256txt'; exit 1`;
    const { message } = await bundleFailure(bundler, { "package.json": withBuildScript(build) });
    expect(message).toMatch(/^The build failed with exit code 1: bad [^\p{Cc}\p{Cf}]+$/u);
  });
});

describe("the limits of build steps", () => {
  verifies(hazard(46), "a build that takes too long is stopped, and the failure names the limit", async () => {
    const bundler = createTestBundler({}, tmpdir(), { build: { ...DEFAULT_LIMITS.build, wallTimeMs: 1000 } });
    const build = "trap '' TERM; sleep 300 & wait; sleep 300";
    expect(await bundleFailure(bundler, { "package.json": withBuildScript(build) })).toMatchObject({
      kind: "user",
      message: "The build step took longer than 1 second and was stopped.",
    });
  });

  verifies(hazard(51), "a build that uses too much memory is stopped, and the failure names the limit", async () => {
    const bundler = createTestBundler({}, tmpdir(), { build: { ...DEFAULT_LIMITS.build, memoryMb: 200 } });
    const build = `node -e "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))"`;
    expect(await bundleFailure(bundler, { "package.json": withBuildScript(build) })).toMatchObject({
      kind: "user",
      message: "The build step used more than 200 MB of memory and was stopped.",
    });
  });

  verifies(hazard(51), "a build that fills the disk is stopped, and the failure names the limit", async () => {
    const bundler = createTestBundler({}, tmpdir(), { build: { ...DEFAULT_LIMITS.build, diskMb: 50 } });
    const build = "for n in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero >$n; done; sleep 2";
    expect(await bundleFailure(bundler, { "package.json": withBuildScript(build) })).toMatchObject({
      kind: "user",
      message: "The build step wrote more than 50 MB to disk and was stopped.",
    });
  });

  verifies(hazard(18), "a slow .assetsignore pattern is stopped and does not block the service", async () => {
    const bundler = createTestBundler({}, tmpdir(), { bundle: { ...DEFAULT_LIMITS.bundle, wallTimeMs: 6000 } });
    // Counts how often the event loop of the service runs. A pattern that is matched in the service would stop the count.
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 20);
    const failure = await bundleFailure(bundler, {
      "wrangler.json": JSON.stringify({ compatibility_date: "2026-06-01", assets: { directory: "static" } }),
      "static/.assetsignore": `${"/**/a".repeat(12)}b`,
      [`static/${"a/".repeat(50)}page.html`]: "page",
    });
    clearInterval(timer);
    expect(failure).toMatchObject({
      kind: "user",
      message: expect.stringContaining("The bundle step took longer than"),
    });
    expect(ticks).toBeGreaterThan(50);
  });
});
