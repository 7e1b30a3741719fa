import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import type { GitSource, GitTips } from "../../../domain/ports/git-source.ts";
import { ExamplesSource } from "../../../server/drivers/git-source/examples-source.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { checkOut, checkOutFailure } from "../../support/builds/git-checkout.ts";

const others: GitSource & GitTips = {
  checkOut: ({ repo }) => Promise.reject(new BuildFailure("user", `${repo} was requested from the other source`, "")),
  readTip: ({ repo }) => Promise.reject(new BuildFailure("user", `${repo} was requested from the other source`, "")),
};

async function withExample(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder();
  const [examplesFolder, dataFolder] = [join(folder.path, "examples"), join(folder.path, "data")];
  const write = async (changed: Readonly<Record<string, string>>) => {
    for (const [file, content] of Object.entries(changed)) {
      const path = join(examplesFolder, "hello", file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    }
  };
  await write(files);
  const source = new ExamplesSource({
    examplesFolder,
    dataFolder,
    sandbox: new BubblewrapSandbox(),
    others,
  });
  return { source, write, examplesFolder, dataFolder, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("the checkout of an example contains the files of its folder, without generated folders", async () => {
  await using example = await withExample({
    "package.json": "{}",
    "src/index.ts": "export {};",
    "node_modules/a/index.js": "",
    "dist/index.js": "",
    "web/.wrangler/state": "",
    "web/index.html": "<p>",
  });
  await using checkout = await checkOut(example.source, "examples/hello");
  expect((await readdir(checkout.directory)).toSorted()).toEqual(["package.json", "src", "web"]);
  expect(await readdir(join(checkout.directory, "web"))).toEqual(["index.html"]);
  expect(await readFile(join(checkout.directory, "src/index.ts"), "utf8")).toBe("export {};");
});

test("the checkout of a changed example contains the new files", async () => {
  await using example = await withExample({ "index.ts": "old" });
  await using before = await checkOut(example.source, "examples/hello");
  await example.write({ "index.ts": "new" });
  await using after = await checkOut(example.source, "examples/hello");
  expect(await readFile(join(after.directory, "index.ts"), "utf8")).toBe("new");
  expect(after.commit).not.toBe(before.commit);
});

test("a file in the folder of the examples is not an example", async () => {
  await using example = await withExample({ "index.ts": "export {};" });
  await writeFile(join(example.examplesFolder, "README.md"), "# Examples");
  const { message } = await checkOutFailure(example.source, "examples/README.md");
  expect(message).toBe("examples/README.md was requested from the other source");
});

test("concurrent checkouts of one example share one repository", async () => {
  await using example = await withExample({ "index.ts": "export {};" });
  const checkouts = await Promise.all(Array.from({ length: 5 }, () => checkOut(example.source, "examples/hello")));
  expect(new Set(checkouts.map(({ commit }) => commit)).size).toBe(1);
  expect((await readdir(join(example.dataFolder, "examples"))).length).toBe(1);
  for (const checkout of checkouts) await checkout[Symbol.asyncDispose]();
});

test("the same example has the same commit id in every installation", async () => {
  await using one = await withExample({ "index.ts": "export {};" });
  await using other = await withExample({ "index.ts": "export {};" });
  await using first = await checkOut(one.source, "examples/hello");
  await using second = await checkOut(other.source, "examples/hello");
  expect(first.commit).toBe(second.commit);
});

test("an example has only the branch main", async () => {
  await using example = await withExample({ "index.ts": "export {};" });
  expect((await checkOutFailure(example.source, "examples/hello", "nope")).message).toBe(
    'The repository has no branch "nope".',
  );
});

test("an example is served from folders that only the service's user can enter", async () => {
  await using example = await withExample({ "index.ts": "export {};" });
  await mkdir(example.dataFolder, { mode: 0o700 });
  await chmod(example.examplesFolder, 0o700);
  await using checkout = await checkOut(example.source, "examples/hello");
  expect(await readdir(checkout.directory)).toEqual(["index.ts"]);
});

test("a repository that is not an example is requested from the other source", async () => {
  await using example = await withExample({ "index.ts": "export {};" });
  for (const repo of ["examples/absent", "acme/hello"]) {
    expect((await checkOutFailure(example.source, repo)).message).toBe(`${repo} was requested from the other source`);
  }
});
