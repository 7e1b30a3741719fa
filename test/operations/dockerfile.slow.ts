import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { nullIfMissing } from "../../server/files/missing-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Instruction, readDockerfile, readPairs } from "./dockerfile.ts";

const PROJECT = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const LIMITS = { maxBuffer: 2 ** 26 };
const MOUNTS = `mount --bind "$ROOT" "$ROOT"; mount -t proc proc "$ROOT/proc"; mount --rbind /sys "$ROOT/sys"; mount --rbind /dev "$ROOT/dev"`;

/** The files of an image, and what its instructions have set. */
interface Image {
  root: string;
  folder: string;
  env: Record<string, string>;
  command: string[];
  healthcheck: string[];
}

test("the instructions of the Dockerfile build an image whose command serves, and whose health check passes", async () => {
  await using folder = await temporaryFolder();
  const image: Image = { root: path.join(folder.path, "root"), folder: "/", env: {}, command: [], healthcheck: [] };
  for (const instruction of await readDockerfile(path.join(PROJECT, "packaging/Dockerfile"))) {
    const startedAt = performance.now();
    await follow(image, instruction);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(`${instruction.keyword} ${instruction.text.slice(0, 100)}: ${seconds} s\n`);
  }
  expect(image.command).not.toEqual([]);
  const env = { ...image.env, TOKEN_SECRET: "t".repeat(32) };
  const container = spawn("unshare", enter(["--net", "--pid", "--kill-child", "--fork"]), {
    env: {
      ...process.env,
      ROOT: image.root,
      ALONE: "1",
      SCRIPT: script(image.folder, env, quote(image.command), "exec"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [container.stdout, container.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const ended = once(container, "exit");
  try {
    const service = await findService(container.pid ?? 0, () => output);
    const check = ["-t", service, "-n", "-m", "sh", "-c", script(image.folder, env, quote(image.healthcheck), "exec")];
    for (let attempt = 0; ; attempt++) {
      const failure = await run("nsenter", check).then(() => null, String);
      if (failure === null) break;
      if (attempt === 60) throw new Error(`${failure}\n${output}`);
      await delay(1000);
    }
    const readyz = `fetch("http://127.0.0.1:3000/readyz").then((response) => response.text()).then(console.log)`;
    const { stdout } = await run("nsenter", [
      "-t",
      service,
      "-n",
      path.join(PROJECT, "node_modules/.bin/node"),
      "-e",
      readyz,
    ]);
    process.stdout.write(`${stdout}\n`);
    expect(JSON.parse(stdout)).toMatchObject({ status: "ready" });
    process.kill(Number(service), "SIGTERM");
    await ended;
    expect(output).toContain('"msg":"stopping"');
  } finally {
    container.kill("SIGKILL");
  }
});

/** The process of the command. It is a child of `unshare`. */
async function findService(parent: number, output: () => string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const children = (await readFile(`/proc/${parent}/task/${parent}/children`, "utf8")).trim();
    if (children !== "" && output().includes("service")) return children;
    await delay(200);
  }
  throw new Error(`the service did not start:\n${output()}`);
}

async function follow(image: Image, { keyword, text }: Instruction): Promise<void> {
  if (keyword === "FROM") return await createRoot(image.root, text);
  if (keyword === "RUN") return await runInside(image, text);
  if (keyword === "COPY") return await copyContext(image, text);
  if (keyword === "WORKDIR") image.folder = text;
  if (keyword === "ENV") Object.assign(image.env, readPairs(text));
  if (keyword === "CMD") image.command = JSON.parse(text) as string[];
  if (keyword === "HEALTHCHECK") image.healthcheck = JSON.parse(text.replace(/^CMD /, "")) as string[];
  const folder = keyword === "WORKDIR" || keyword === "VOLUME" ? text : null;
  if (folder !== null) await mkdir(path.join(image.root, folder), { recursive: true });
  if (!["WORKDIR", "ENV", "CMD", "HEALTHCHECK", "VOLUME", "EXPOSE"].includes(keyword))
    throw new Error(`unknown instruction: ${keyword}`);
}

/** In place of the base image, which has the same packages. */
async function createRoot(root: string, image: string): Promise<void> {
  const [, suite = ""] = /^debian:(\w+)-slim$/.exec(image) ?? [];
  await run("debootstrap", ["--variant=minbase", suite, root], LIMITS);
  // What a build gets from Docker: the network of the machine, its certificates and its registry.
  await copyFile("/etc/resolv.conf", path.join(root, "etc/resolv.conf"));
  await cp("/usr/local/share/ca-certificates", path.join(root, "usr/local/share/ca-certificates"), { recursive: true });
  const settings = await readFile(path.join(process.env["HOME"] ?? "/root", ".npmrc"), "utf8").catch(nullIfMissing);
  if (settings !== null) await writeFile(path.join(root, "root/.npmrc"), settings);
}

async function runInside({ root, folder, env }: Image, command: string): Promise<void> {
  await run("unshare", enter(["--pid", "--kill-child", "--fork"]), {
    ...LIMITS,
    env: { ...process.env, ROOT: root, SCRIPT: script(folder, { ...ofBuild(), ...env }, command) },
  });
}

/** The authority of a proxy, if the machine has one (docs/operations.md). */
function ofBuild(): Record<string, string> {
  const authority = process.env["NODE_EXTRA_CA_CERTS"];
  return authority === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority };
}

/** The context of the build, without what the file for it excludes. */
async function copyContext({ root, folder }: Image, text: string): Promise<void> {
  expect(text).toBe(". .");
  const ignored = (await readFile(path.join(PROJECT, "packaging/Dockerfile.dockerignore"), "utf8")).trim().split("\n");
  const options = ignored.map((pattern) => `--exclude=./${pattern}`).join(" ");
  await run("sh", [
    "-c",
    `tar -C ${PROJECT} --anchored ${options} -cf - . | tar -C ${root}${folder} --no-same-owner -xf -`,
  ]);
}

/**
 * Arguments of `unshare` for a shell with `SCRIPT`, whose root is `ROOT`. The root of the mounts changes, because sandboxes cannot be created
 * in a mere chroot.
 */
function enter(namespaces: string[]): string[] {
  const inside = `${MOUNTS}
    if [ -n "\${ALONE:-}" ]; then ip link set lo up; fi
    cd "$ROOT"; mkdir -p .host; pivot_root . .host
    exec chroot . sh -euc 'umount -l /.host; exec sh -c "$SCRIPT"'`;
  return ["--mount", "--propagation", "private", ...namespaces, "sh", "-euc", inside];
}

function script(folder: string, env: Record<string, string>, command: string, exec = ""): string {
  const path_ = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root";
  const values = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const shell = exec === "" ? `sh -c ${quote([command])}` : command;
  return `cd ${folder} && exec env -i ${path_} ${values.join(" ")} ${shell}`;
}

function quote(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}
