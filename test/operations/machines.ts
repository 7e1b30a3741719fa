import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const PROJECT = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Where the repository is on each machine. */
const FOLDER = "/opt/app-provisioning-service";
/** Folders of a machine that hide nothing, and whose changes other machines do not see. */
const OWN_FOLDERS = ["/etc", "/var/lib", "/var/backups"];

/** A machine of a test: namespaces of the kernel, with a network address and files of its own. It needs root. */
export interface Machine {
  address: string;
  /** For files of the test, such as logs of the services. */
  folder: string;
  /** Runs commands in the folder of the repository. @throws with the output, when one fails */
  run(commands: string, env?: Record<string, string>): Promise<string>;
}

/** A network of machines. Its gateway is an address of this process. */
export interface Network extends AsyncDisposable {
  gateway: string;
  start(address: string): Promise<Machine>;
}

/** @param prefix - the first three numbers of the addresses */
export async function openNetwork(folder: string, prefix: string): Promise<Network> {
  await using opening = new AsyncDisposableStack();
  const bridge = `ops${process.pid % 100_000}`;
  const gateway = `${prefix}.254`;
  await run("ip", ["link", "add", bridge, "type", "bridge"]);
  opening.defer(async () => void (await run("ip", ["link", "del", bridge])));
  await run("ip", ["addr", "add", `${gateway}/24`, "dev", bridge]);
  await run("ip", ["link", "set", bridge, "up"]);
  const machines = opening.use(new AsyncDisposableStack());
  const opened = opening.move();
  return {
    gateway,
    start: (address) => startMachine({ folder, bridge, address, machines }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface StartOptions {
  folder: string;
  bridge: string;
  address: string;
  machines: AsyncDisposableStack;
}

async function startMachine({ folder: parent, bridge, address, machines }: StartOptions): Promise<Machine> {
  const number = address.split(".")[3] ?? "";
  const [name, link] = [`${bridge}-${number}`, `${bridge}v${number}`];
  const folder = path.join(parent, `machine-${number}`);
  const programs = path.join(folder, "programs");
  await mkdir(programs, { recursive: true });
  await copyFile(path.join(import.meta.dirname, "systemctl.sh"), path.join(programs, "systemctl"));
  await chmod(path.join(programs, "systemctl"), 0o755);
  await run("ip", ["netns", "add", name]);
  machines.defer(async () => void (await run("ip", ["netns", "del", name])));
  await run("ip", ["link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name]);
  machines.defer(async () => void (await run("ip", ["link", "del", link])));
  await run("ip", ["link", "set", link, "master", bridge, "up"]);
  const inside = (...args: string[]) => run("ip", ["-n", name, ...args]);
  await inside("addr", "add", `${address}/24`, "dev", "eth0");
  for (const each of ["lo", "eth0"]) await inside("link", "set", each, "up");
  const pid = await holdMounts(name, folder, machines);
  return {
    address,
    folder,
    async run(commands, env = {}) {
      const entered = ["-t", String(pid), "-m", "-n", "--wd=/", "bash", "--norc", "-euo", "pipefail", "-c"];
      const { stdout } = await run("nsenter", [...entered, `cd ${FOLDER}\n${commands}`], {
        env: { ...environment(), PATH: `${programs}:${process.env["PATH"]}`, MACHINE: folder, ...env },
        maxBuffer: 2 ** 26,
      });
      return stdout;
    },
  };
}

/** Starts a process with mounts of its own, which exist while it runs. */
async function holdMounts(name: string, folder: string, machines: AsyncDisposableStack): Promise<number> {
  const overlays = [...OWN_FOLDERS.map((each) => [each, each]), [PROJECT, FOLDER]];
  const commands = [`mkdir -p ${FOLDER}`];
  for (const [at, [lower = "", target = ""]] of overlays.entries()) {
    const [upper, work] = [path.join(folder, `files-${at}`), path.join(folder, `work-${at}`)];
    await mkdir(upper, { recursive: true });
    await mkdir(work);
    commands.push(`mount -t overlay overlay -o lowerdir=${lower},upperdir=${upper},workdir=${work} ${target}`);
  }
  const script = [...commands, "echo ready", "exec sleep infinity"].join("\n");
  const holder = spawn(
    "nsenter",
    [`--net=/run/netns/${name}`, "unshare", "--mount", "--propagation", "private", "sh", "-euc", script],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  machines.defer(async () => {
    const ended = once(holder, "exit");
    await endProcesses(name);
    holder.kill("SIGKILL");
    await ended;
  });
  await once(holder.stdout, "data");
  return holder.pid ?? 0;
}

/** Ends what the services of a machine have started. */
async function endProcesses(name: string): Promise<void> {
  const { stdout } = await run("ip", ["netns", "pids", name]);
  for (const pid of stdout.trim().split("\n").filter(Boolean).map(Number)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

/** What the commands of an operator see, without the settings of tests. */
function environment(): Record<string, string> {
  return { HOME: process.env["HOME"] ?? "/root", LANG: "C.UTF-8" };
}
