import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readOlderNodes, readWantedNode } from "../../../server/drivers/bundler/node-version.ts";
import { createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const CURRENT = "24.21.0";
const WORKER = "export default { fetch: () => new Response() };";
const engines = (node: string) => ({ "package.json": JSON.stringify({ engines: { node } }) });

describe("the version of Node.js that a project names", () => {
  test.each([
    [{ ".nvmrc": "v20.11.1\n" }, ["20.11.1", "20"], ".nvmrc"],
    [{ ".nvmrc": "lts/iron" }, ["20"], ".nvmrc"],
    [{ ".node-version": "22" }, ["22"], ".node-version"],
    [
      { "package.json": JSON.stringify({ volta: { node: "18.20.0" } }), ".nvmrc": "20" },
      ["18.20.0", "18"],
      "volta of package.json",
    ],
    [engines("^20.0.0 || ^22.0.0"), ["22"], "engines of package.json"],
    [engines(">=18 <21"), ["20"], "engines of package.json"],
    [engines("16.x"), ["16"], "engines of package.json"],
    [engines(">=25"), ["26"], "engines of package.json"],
    [engines("18 - 20"), ["20"], "engines of package.json"],
  ])("%j is found", async (files, specs, source) => {
    await using checkout = await createCheckout(files);
    expect(await readWantedNode([checkout.sourceDirectory], CURRENT)).toMatchObject({ specs, source });
  });

  test.each([
    [{}],
    [{ ".nvmrc": "24" }],
    [{ ".nvmrc": "lts/*" }],
    [{ ".nvmrc": "$(id)" }],
    [engines(">=18")],
    [engines("*")],
    [engines("^24.0.0")],
    [engines(">=20.9.0 <=24")],
    [engines("no version")],
    [{ "package.json": "{" }],
  ])("%j is the one of the service", async (files) => {
    await using checkout = await createCheckout(files);
    expect(await readWantedNode([checkout.sourceDirectory], CURRENT)).toBeNull();
  });
});

describe("the older versions of Node.js in which a project may be compiled", () => {
  test.each([
    [{}, [22, 20, 18, 16]],
    [{ ".nvmrc": "lts/*" }, [22, 20, 18, 16]],
    [engines(">=18"), [22, 20, 18]],
    [engines(">=24"), []],
    [engines("18 || 20"), []],
    [{ ".nvmrc": "24" }, []],
    [{ ".nvmrc": "20" }, []],
  ])("of %j", async (files, majors) => {
    await using checkout = await createCheckout(files);
    expect(await readOlderNodes([checkout.sourceDirectory], CURRENT)).toEqual(majors);
  });
});

const NODE = {
  name: `node-linux-${process.arch}`,
  version: "20.5.0",
  files: { "bin/node": "#!/bin/sh\necho this is Node.js 20\n" },
  manifest: { bin: { node: "bin/node" } },
};

describe("the Node.js of a build", () => {
  async function build(nvmrc: string | null, script = "node --version") {
    await using registry = await startRegistry([NODE, { name: "any", version: "1.0.0" }]);
    await using cache = await temporaryFolder();
    const bundler = createTestBundler({ registry: registry.url }, cache.path);
    const scripts = { build: script };
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ scripts, dependencies: { any: "1.0.0" } }),
      ...(nvmrc !== null && { ".nvmrc": nvmrc }),
      "index.js": WORKER,
    });
    return await runBundler(bundler, checkout);
  }

  test("runs the scripts in the version that the project names, and one without security fixes is a warning", async () => {
    const { log, bundle } = await build("20");
    expect(log).toContain("Using Node.js 20 (.nvmrc), from the package registry.\n");
    expect(log).toContain("this is Node.js 20\n");
    expect(bundle.warnings).toEqual(["The build ran with Node.js 20 (.nvmrc), which gets no security fixes any more."]);
  });

  test("is that of the service if a tool refuses the older version, with a warning", async () => {
    const refusal = 'You are using Node.js 20.5.0. For Next.js, Node.js version ">=22" is required.';
    const { log, bundle } = await build("20", `node --version | grep ^v || { echo '${refusal}'; exit 1; }`);
    expect(log).toContain(`\n${process.version}\n`);
    expect(bundle.warnings).toEqual([
      `A tool refuses Node.js 20 (.nvmrc): ${refusal} The app was built with Node.js ${process.versions.node} and runs with it. Correct the version in .nvmrc.`,
    ]);
  });

  test("is an older one if the build uses what newer ones do not have, with a warning", async () => {
    const problem = "TypeError: Cannot set property navigator of #<Object> which has only a getter";
    const script = `test ! -e node_modules/built; touch node_modules/built; node --version | grep 20 || { echo '${problem}'; exit 1; }`;
    const { log, bundle } = await build(null, `set -e; ${script}`);
    expect(log).toContain("this is Node.js 20\n");
    expect(bundle.warnings).toEqual([
      `The build failed with Node.js ${process.versions.node}: ${problem} The app was built with Node.js 20 and runs with it. Node.js 20 was the last version with it. Update the code, or add "engines": { "node": "20" } to package.json, and deploy again.`,
      "The build ran with Node.js 20 (after the failure), which gets no security fixes any more.",
    ]);
  });

  test("is the one that the project names, also if the build uses what it does not have", async () => {
    const problem = "TypeError: util_1.isString is not a function";
    await expect(build("24", `echo '${problem}'; exit 1`)).rejects.toThrow(problem);
  });

  test("is that of the service if the registry does not have the version, with a warning", async () => {
    const { log, bundle } = await build("19.9.9");
    expect(log).toContain(`\n${process.version}\n`);
    expect(bundle.warnings).toEqual([
      `Node.js 19.9.9 (.nvmrc) is not in the package registry. The build ran with Node.js ${process.versions.node}.`,
    ]);
  });
});

describe("the environment of a build", () => {
  const scripts = {
    build: 'echo "CI=$CI CF_PAGES=$CF_PAGES WORKERS_CI=$WORKERS_CI"; mkdir -p out; echo >out/index.html',
  };
  const config = { name: "app", compatibility_date: "2026-01-01" };

  test.each([
    [{ ...config, pages_build_output_dir: "out" }, "CI=true CF_PAGES=1 WORKERS_CI=\n"],
    [{ ...config, main: "index.js" }, "CI=true CF_PAGES= WORKERS_CI=1\n"],
  ])("of %j has the variables of the platform", async (wrangler, line) => {
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ scripts }),
      "wrangler.json": JSON.stringify(wrangler),
      "index.js": WORKER,
    });
    expect((await runBundler(createTestBundler({}, tmpdir()), checkout)).log).toContain(line);
  });

  test("of a custom build of wrangler has the programs of installed packages", async () => {
    await using checkout = await createCheckout({
      "wrangler.json": JSON.stringify({ ...config, main: "index.js", build: { command: "generate" } }),
      "node_modules/.bin/generate": { link: "../../generate.sh" },
      "generate.sh": "#!/bin/sh\necho generated by a program\n",
      "index.js": WORKER,
    });
    await chmod(path.join(checkout.sourceDirectory, "generate.sh"), 0o755);
    expect((await runBundler(createTestBundler({}, tmpdir()), checkout)).log).toContain("generated by a program");
  });
});
