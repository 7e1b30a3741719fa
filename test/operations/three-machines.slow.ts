import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { startDiskS3 } from "../support/object-store/disk-s3.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Machine, openNetwork } from "./machines.ts";
import { startServices } from "./services-machine.ts";

const PROJECT = path.resolve(import.meta.dirname, "../..");
const PAGE = path.join(PROJECT, "docs/three-machines.md");
/** Addresses of the page, and of the test, which must not be those of a real network. */
const [PAGE_NETWORK, NETWORK] = ["10.0.0", "10.213.40"];
const SECRETS_FILE = ".data/secrets/token-secret";

const HELLO = 'export default { fetch: () => new Response("Hello") };';

interface Step {
  section: string;
  addresses: string[];
  commands: string;
}

/** The code blocks of the page, each with the addresses of the machines that run it. */
async function readSteps(): Promise<Step[]> {
  const steps: Step[] = [];
  let section = "";
  for (const [, heading, addresses = "", commands = ""] of (await readFile(PAGE, "utf8")).matchAll(
    /^## (.+)$|^```sh(.*)\n([^]*?)^```$/gm,
  )) {
    if (heading === undefined) steps.push({ section, addresses: addresses.trim().split(" "), commands });
    else section = heading;
  }
  return steps;
}

/** Starts `npm start`, as the README says. */
async function startAlone(machine: Machine): Promise<{ key: string; stop: () => Promise<void> }> {
  await machine.run("setsid npm start >$MACHINE/alone.log 2>&1 & echo $! >$MACHINE/alone.pid");
  const ready = "until curl -fs http://127.0.0.1:3000/readyz >/dev/null; do sleep 1; done; cat .data/bootstrap.json";
  const { api_key: key } = JSON.parse(await machine.run(ready)) as { api_key: string };
  const stop = `kill -INT -- -$(cat $MACHINE/alone.pid); while kill -0 $(cat $MACHINE/alone.pid) 2>/dev/null; do sleep 0.2; done`;
  return { key, stop: async () => void (await machine.run(stop)) };
}

/** Deploys an app, and returns its slug. */
async function deployApp(machine: Machine, base: string, repo: string, key: string, env = {}): Promise<string> {
  const curl = `curl -fsS -H "Authorization: Bearer ${key}"`;
  const deployed = await machine.run(
    `${curl} -H "Content-Type: application/json" -d '{"repo":"${repo}"}' ${base}/v1/apps/deploy`,
    env,
  );
  const { app_id: id, slug } = JSON.parse(deployed) as { app_id: string; slug: string };
  const ended = `'"status":"(ready|failed)"'`;
  const status = await machine.run(`until ${curl} ${base}/v1/apps/${id} | grep -oE ${ended}; do sleep 1; done`, env);
  expect(status.trim()).toBe('"status":"ready"');
  return slug;
}

test("the commands of docs/three-machines.md move a running service with its apps to three machines", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  await (await Repository.create(folder, "acme/hello")).commitFiles({ "index.js": HELLO });
  const network = stack.use(await openNetwork(folder, NETWORK));
  const s3 = stack.use(await startDiskS3(path.join(folder, "objects"))).settings;
  const forwarder = createServer((socket) => {
    const upstream = connect(Number(new URL(s3.endpoint).port), "127.0.0.1");
    socket.pipe(upstream).pipe(socket);
    for (const each of [socket, upstream]) each.on("error", () => (socket.destroy(), upstream.destroy()));
  }).listen(0, network.gateway);
  await once(forwarder, "listening");
  stack.defer(() => void forwarder.close());
  const endpoint = `http://${network.gateway}:${(forwarder.address() as { port: number }).port}`;
  const machines = new Map<string, Machine>();
  for (const number of [1, 2, 3, 10])
    machines.set(`${PAGE_NETWORK}.${number}`, await network.start(`${NETWORK}.${number}`));
  const [first, services] = [machines.get("10.0.0.1")!, machines.get("10.0.0.10")!];
  const { restartAppsServer, env } = await startServices(services, ["service.example.com", "apps.example.net"]);
  const alone = await startAlone(first);
  const slug = await deployApp(first, "http://127.0.0.1:3000", "examples/guestbook", alone.key);
  const app = `-H "Host: ${slug}.localhost:3001" http://127.0.0.1:3001`;
  await first.run(`curl -fsS -d name=Ada -d message=Hello ${app}/`);
  const entries = await first.run(`curl -fsS ${app}/api/entries`);
  expect(JSON.parse(entries)).toMatchObject([{ name: "Ada" }]);
  await alone.stop();
  const secret = (await first.run(`cat ${SECRETS_FILE}`)).trim();
  const values: [string, string][] = [
    [`${PAGE_NETWORK}.`, `${NETWORK}.`],
    ["the-present-secret-of-the-installation", secret],
    ["https://s3.example.com", endpoint],
    ["key-id", s3.accessKeyId],
    ["key-secret", s3.secretAccessKey],
    // Examples can be deployed outside production only.
    ["HOST=0.0.0.0", `HOST=0.0.0.0\nGIT_BASE_URL=${pathToFileURL(folder).href}`],
    ["S3_BUCKET=objects", `S3_BUCKET=${s3.bucket}`],
  ];
  await followOrigin([...machines.values()].slice(0, 3), path.join(folder, "origin.git"));
  const traffic = new Traffic(services, env);
  for (const { section, addresses, commands } of await readSteps()) {
    const script = values.reduce((text, [from, to]) => text.replaceAll(from, to), commands);
    for (const address of addresses) {
      const machine = machines.get(address)!;
      const startedAt = performance.now();
      const output = await machine.run(script, machine === services ? env : {}).catch(async (error: unknown) => {
        const log = await machine.run("tail -c 4000 $MACHINE/*.log");
        throw new Error(`${section}, on ${address}: ${(error as Error).message}\n${log}`);
      });
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      process.stdout.write(`${section}, on ${address}: ${seconds} s\n${output.trim().slice(-400)}\n\n`);
    }
    if (section.startsWith("1.")) await restartAppsServer();
    if (!section.startsWith("5.")) continue;
    const base = "https://service.example.com";
    expect(await services.run(`curl -fsS https://${slug}.apps.example.net/api/entries`, env)).toBe(entries);
    await traffic.start(`${base}/v1/apps`, alone.key);
    await traffic.start(`https://${slug}.apps.example.net/api/entries`, "");
  }
  for (const [url, statuses] of await traffic.stop()) {
    process.stdout.write(`${url}: ${statuses.length} requests during the update and the removal of a machine\n`);
    const failed = statuses.filter((status) => status !== "200");
    if (failed.length > 0) process.stdout.write(await services.run(`grep -h '"level":"error"' $MACHINE/caddy.log`));
    expect(failed).toEqual([]);
  }
  const further = await deployApp(services, "https://service.example.com", "acme/hello", alone.key, env);
  expect(await services.run(`curl -fsS https://${further}.apps.example.net/`, env)).toBe("Hello");
  expect(await services.run("ls -s service.dump apps.sql", env)).toMatch(/apps.sql/);
});

/** `git pull` of the machines has something to pull from: the same commit. */
async function followOrigin(machines: readonly Machine[], origin: string): Promise<void> {
  await promisify(execFile)("git", ["clone", "--quiet", "--bare", PROJECT, origin]);
  for (const machine of machines)
    await machine.run(`
      git checkout --quiet -B operations
      git config remote.origin.url ${origin}
      git config branch.operations.remote origin
      git config branch.operations.merge HEAD`);
}

/** Requests one after the other, to several URLs, while machines are changed. */
class Traffic {
  readonly #machine: Machine;
  readonly #env: Record<string, string>;
  readonly #urls: string[] = [];

  constructor(machine: Machine, env: Record<string, string>) {
    this.#machine = machine;
    this.#env = env;
  }

  async start(url: string, key: string): Promise<void> {
    const log = `$MACHINE/traffic-${this.#urls.push(url)}.log`;
    const request = `curl -s -o /dev/null -w '%{http_code}\\n' -H "Authorization: Bearer ${key}" ${url}`;
    const loop = `while [ ! -e $MACHINE/stop ]; do ${request} || true; sleep 0.1; done; touch ${log}.end`;
    await this.#machine.run(`(${loop}) >${log} 2>&1 </dev/null &`, this.#env);
  }

  /** The statuses of all responses by URL; 000 if there was none. */
  async stop(): Promise<[string, string[]][]> {
    await this.#machine.run("touch $MACHINE/stop");
    return await Promise.all(
      this.#urls.map(async (url, at): Promise<[string, string[]]> => {
        const log = `$MACHINE/traffic-${at + 1}.log`;
        const text = await this.#machine.run(`until [ -e ${log}.end ]; do sleep 0.2; done; cat ${log}`);
        return [url, text.trim().split("\n")];
      }),
    );
  }
}
