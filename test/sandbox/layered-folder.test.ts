import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { canLayerFolders } from "../../server/sandbox/layered-folder.ts";
import { runScript } from "../support/sandbox/sandbox-command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const sandbox = new BubblewrapSandbox();

/** Two layers with files that every user can change, as an archive has them, and the empty folders of a command. */
async function givenLayers() {
  const folder = await temporaryFolder();
  const [first = "", second = "", upper = "", work = "", merged = ""] = ["a", "b", "upper", "work", "merged"].map(
    (name) => path.join(folder.path, name),
  );
  for (const each of [first, second, upper, work, merged]) await mkdir(each, { mode: 0o755 });
  await mkdir(path.join(second, "sub"));
  await writeFile(path.join(first, "both.txt"), "of the first layer");
  for (const name of ["both.txt", "second.txt", "sub/deep.txt"])
    await writeFile(path.join(second, name), `${name} of the second`);
  for (const layer of [first, second])
    for (const name of ["", ...(await readdir(layer, { recursive: true }))]) await chmod(path.join(layer, name), 0o777);
  return {
    first,
    second,
    upper,
    layered: { layers: [first, second], upper, work, merged, to: "/build" },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

test("a command sees the files of all layers, those of the first one above the others", async () => {
  await using given = await givenLayers();
  const { output } = await runScript(sandbox, "cat both.txt; echo; cat second.txt sub/deep.txt", {
    cwd: "/build",
    layered: given.layered,
  });
  expect(output.toString()).toBe("of the first layer\nsecond.txt of the secondsub/deep.txt of the second");
});

test("what a command changes, adds and removes is not in the layers", async () => {
  await using given = await givenLayers();
  const script = "echo changed >both.txt && echo new >sub/new.txt && rm second.txt && rm -r sub/deep.txt && ls -R";
  const { outcome, output } = await runScript(sandbox, script, { cwd: "/build", layered: given.layered });
  expect([outcome, output.toString()]).toEqual([
    { reason: "exit", code: 0 },
    expect.not.stringContaining("second.txt"),
  ]);
  expect(await readFile(path.join(given.first, "both.txt"), "utf8")).toBe("of the first layer");
  expect(await readdir(given.second, { recursive: true })).toEqual(
    expect.arrayContaining(["both.txt", "second.txt", "sub", "sub/deep.txt"]),
  );
  expect(await readdir(path.join(given.second, "sub"))).toEqual(["deep.txt"]);
});

test("a command that writes more than its limit is ended", async () => {
  await using given = await givenLayers();
  const script = "for n in 1 2 3 4 5 6 7 8; do head -c 8388608 /dev/zero >file-$n; done; sleep 60";
  const { outcome } = await runScript(sandbox, script, {
    cwd: "/build",
    layered: given.layered,
    limits: { diskMb: 32 },
  });
  expect(outcome).toEqual({ reason: "disk" });
});

test("the mount exists only in the sandbox, and the folders that it uses cannot be entered from inside", async () => {
  await using given = await givenLayers();
  const script = `ls ${given.upper} ${given.first} 2>&1; umount /build 2>&1; mount -t overlay 2>&1 | head -c 0; true`;
  const { output } = await runScript(sandbox, script, { layered: given.layered });
  expect(output.toString()).toMatch(/No such file[^]*No such file/);
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(given.layered.merged);
  expect(await readdir(given.layered.merged)).toEqual([]);
});

test("a folder whose path separates the options of a mount cannot be layered", async () => {
  for (const name of ["a,b", "a:b", "a\\b", "a\nb"]) expect(await canLayerFolders(`/tmp/${name}`)).toBe(false);
});
