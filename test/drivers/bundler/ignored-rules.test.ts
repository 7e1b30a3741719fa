import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Log, LogLevel, Miniflare } from "miniflare";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  describeIgnoredRules,
  findIgnoredHeaders,
  findIgnoredRedirects,
} from "../../../server/drivers/bundler/inside/ignored-rules.ts";

// A service of another test of this process makes Miniflare start workerd in the sandbox.
beforeEach(() => void vi.stubEnv("MINIFLARE_WORKERD_PATH", undefined));
afterEach(() => void vi.unstubAllEnvs());

const REDIRECTS = [
  "# comment",
  "/old /new",
  "/old /other",
  "/a /b 301",
  "/a2 /b 302 # note",
  "/p /q 200",
  "relative /x",
  "/bad /x 404",
  "/forced /x 301!",
  "/country /x 302 Country=us",
  "/one",
  "https://example.com/x /y",
  "/ext https://example.com:8080/x?y=1#z 308",
  "/proxy https://example.com/x 200",
  "/no-slash other",
  "/http http://example.com/",
  `/long /${"x".repeat(2000)}`,
  "/ /index.html",
  "/blog/* /news/:splat 303",
  "/u/:name /users/:name 307",
  "/app/* /app/index.html 200",
  "/* /index.html 200",
  "/* / 200",
  "/after /dynamic",
  "/zeros /x 0301",
];

const HEADERS = [
  "X-Early: 1",
  "no colon",
  "/a",
  "  X-A: 1",
  "  X-A: 2",
  "  ! X-B",
  "  X bad: 1",
  "  : no name",
  "  X-Empty:",
  "  only words",
  "/empty",
  "/two/*/stars/*",
  "  X-C: 1",
  "/splat/:splat/*",
  "  X-C: 1",
  "https://example.com:80/x",
  "  X-C: 1",
  "http://example.com/x",
  "  X-C: 1",
  "https://:project.pages.dev/*",
  "  X-C: 1",
  "# comment",
  `  X-Long: ${"x".repeat(2000)}`,
  "/last",
];

/** The numbers of the lines that the runtime ignores, as it logs them. */
async function linesThatTheRuntimeIgnores(file: string, lines: readonly string[]): Promise<number[]> {
  const directory = await mkdtemp(path.join(tmpdir(), "rules-"));
  await writeFile(path.join(directory, file), lines.join("\n"));
  const messages: string[] = [];
  class Recorder extends Log {
    protected override log(message: string): void {
      messages.push(message);
    }
  }
  const assets = { directory, routerConfig: { has_user_worker: false }, assetConfig: {} };
  const miniflare = new Miniflare({
    modules: true,
    script: "export default {}",
    log: new Recorder(LogLevel.WARN),
    cf: false,
    assets: { ...assets, workerName: "app" },
  });
  try {
    await miniflare.ready;
  } finally {
    await miniflare.dispose();
    await rm(directory, { recursive: true });
  }
  const text = messages.join("\n");
  const named = [...text.matchAll(/ at \S+?(?::\d+)? \| (.*)/g)].map(
    ([, line]) => lines.map((each) => each.trim()).lastIndexOf(`${line}`) + 1,
  );
  const tooLong = [...text.matchAll(/Ignoring line (\d+)/g)].map(([, line]) => Number(line));
  return [...named, ...tooLong].toSorted((one, other) => one - other);
}

test("the lines of _redirects that are named are those that the runtime ignores", async () => {
  const named = findIgnoredRedirects(REDIRECTS, {}).map(({ line }) => line);
  expect(named).toEqual(await linesThatTheRuntimeIgnores("_redirects", REDIRECTS));
});

test("the lines of _headers that are named are those that the runtime ignores", async () => {
  const named = findIgnoredHeaders(HEADERS.map((line) => line.trim())).map(({ line }) => line);
  expect(named).toEqual(await linesThatTheRuntimeIgnores("_headers", HEADERS));
});

test("more rules than the runtime accepts are named", async () => {
  const dynamic = Array.from({ length: 102 }, (_, index) => `/${index}/* /x`);
  expect(findIgnoredRedirects(dynamic, {}).map(({ line }) => line)).toEqual([101, 102]);
  const fixed = Array.from({ length: 2001 }, (_, index) => `/${index} /x`);
  expect(findIgnoredRedirects(fixed, {}).map(({ line }) => line)).toEqual([2001]);
  const headers = Array.from({ length: 101 }, (_, index) => [`/${index}`, "X-A: 1"]).flat();
  expect(findIgnoredHeaders(headers)).toMatchObject([{ line: 201, text: "/100" }]);
});

test("a warning names the file, the number of lines, and the first of them with their reasons", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "rules-"));
  await writeFile(path.join(directory, "_redirects"), "/ok /x\r\n/* /index.html 200\r\n");
  const [warning] = describeIgnoredRules(directory, { not_found_handling: "404-page" });
  expect(warning).toMatch(
    /^_redirects: 1 line of it is ignored\. Line 2 \(\/\* \/index\.html 200\): It would redirect/,
  );
  expect(describeIgnoredRules(directory, { not_found_handling: "single-page-application" })).toEqual([]);
  await rm(directory, { recursive: true });
});
