import type { IncomingMessage, ServerResponse } from "node:http";
import { basicAuthorization } from "../../domain/shared/basic-authorization.ts";
import { DEFAULT_LIMITS } from "../../server/drivers/git-source/checkout-limits.ts";
import { egressTo } from "../../server/drivers/git-source/run-git.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { EgressProxy } from "../../server/sandbox/egress-proxy.ts";
import { SANDBOX_NODE } from "../../server/sandbox/sandbox-environment.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { gitServer } from "../support/builds/git-server.ts";
import { runIn } from "../support/sandbox/sandbox-command.ts";
import type { Attack, AttackEnvironment, AttackResult } from "./attack.ts";

const TOKEN = "forwarder-token-7d1e";
const AUTHORIZATION = basicAuthorization("git", TOKEN);
const MEBIBYTE = 1024 * 1024;
/** What all responses of one checkout may have: the files, and 64 MiB for the rest. */
const MAX_BYTES = MEBIBYTE + 64 * MEBIBYTE;
/** What is on the way when the forwarder stops. */
const BUFFERED_BYTES = 16 * MEBIBYTE;

/** A request that the git host has received. */
interface Received {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
}

interface Target {
  /** `host:port` of the git host, as the sandbox names it. */
  authority: string;
  /** `host:port` of another host, to which nothing may be sent. */
  other: string;
  received: Received[];
  /** Runs JavaScript in the sandbox of a checkout of `acme/own`. Returns what it prints. */
  run(script: string): Promise<string>;
}

/** The only requests that a checkout of `acme/own` needs. */
const NEEDED =
  /^(GET [/]acme[/]own([.]git)?[/]info[/]refs[?]service=git-upload-pack|POST [/]acme[/]own([.]git)?[/](git-upload-pack|info[/]lfs[/]objects[/]batch))$/;

/** Sends raw text to the proxy of the sandbox, and returns what comes back. */
const SEND = `const net = require("node:net"), { execFileSync } = require("node:child_process"), fs = require("node:fs");
  const send = (text) => new Promise((resolve) => {
    let back = "", length = 0; const socket = net.connect(3128, "127.0.0.1", () => socket.write(text, "latin1"));
    socket.setTimeout(5000, () => socket.destroy());
    socket.on("data", (chunk) => { length += chunk.length; if (back.length < 65536) back += chunk.toString("latin1"); });
    socket.on("error", () => {}); socket.on("close", () => resolve({ back, length }));
  });
  const get = (target, more = "", host = AUTHORITY) => send("GET " + target + " HTTP/1.1\\r\\nHost: " + host + "\\r\\n" + more + "Connection: close\\r\\n\\r\\n");
  const post = (target, body) => send("POST " + target + " HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\nContent-Length: " + body.length + "\\r\\nConnection: close\\r\\n\\r\\n" + body);
  const tunnel = (target) => send("CONNECT " + AUTHORITY + " HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\n\\r\\nGET " + target + " HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\nConnection: close\\r\\n\\r\\n");
  const run = (file, ...args) => { try { return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 20000 }); } catch (error) { return String(error.stdout) + String(error.stderr); } };
  const BASE = "http://" + AUTHORITY, REFS = "/info/refs?service=git-upload-pack";`;

const OTHER_REPOSITORY = `(async () => {
  const paths = ["/acme/secret", "/acme/secret.git", "/acme/own/../secret", "/acme/own/%2e%2e/secret", "/acme/own%2f..%2fsecret", "//acme/secret",
    "/./acme/secret", "/acme/own\\\\..\\\\secret", "/acme/OWN", "/acme/own/..;/secret", "/acme/own?/../../secret", "/acme/own%00/secret", "/ACME/secret", "/api/v1/user#"];
  for (const path of paths) { await get(BASE + path + REFS); await tunnel(path + REFS); await post(BASE + path + "/git-upload-pack", "0000"); }
  await get(BASE + "/acme/own" + REFS + "&service=git-receive-pack"); await get(BASE + "/api/v1/user"); await get(BASE + "/acme/own/raw/main/index.html");
  await get("http://" + OTHER + "/acme/secret" + REFS); await get("http://user@" + AUTHORITY + "/acme/secret" + REFS);
  await get("/acme/secret" + REFS, "", AUTHORITY); await get("http://" + OTHER + "/acme/own" + REFS, "", AUTHORITY);
  console.log(run("git", "clone", "--quiet", BASE + "/acme/secret", "/tmp/secret"), fs.existsSync("/tmp/secret/index.html") ? "cloned" : "not cloned");
})();`;

const PUSH = `(async () => {
  await get(BASE + "/acme/own/info/refs?service=git-receive-pack"); await post(BASE + "/acme/own/git-receive-pack", "0000");
  for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
    await send(method + " " + BASE + "/acme/own" + REFS + " HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\nX-HTTP-Method-Override: POST\\r\\nConnection: close\\r\\n\\r\\n");
  await post(BASE + "/acme/own/info/lfs/locks", "{}");
  console.log(run("git", "-c", "user.name=a", "-c", "user.email=a@b", "clone", "--quiet", BASE + "/acme/own", "/tmp/own"));
  console.log(run("git", "-C", "/tmp/own", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "evil"));
  console.log(run("git", "-C", "/tmp/own", "push", "origin", "HEAD:main", "HEAD:evil"));
})();`;

/** Prints everything that a process of the sandbox can read where a credential could be. */
const READ_CREDENTIAL = `(async () => {
  console.log(process.env, run("git", "clone", "--quiet", BASE + "/acme/own", "/tmp/own"), run("git", "-C", "/tmp/own", "config", "--list", "--show-origin"));
  for (const id of fs.readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)))
    for (const file of ["environ", "cmdline"]) try { console.log(fs.readFileSync("/proc/" + id + "/" + file, "latin1")); } catch {}
  console.log(run("sh", "-c", "find /tmp /home /root /run /etc /var /opt/checkout /repository /source -type f -size -64k 2>/dev/null | head -n 2000 | xargs cat 2>/dev/null | head -c 4000000"));
  console.log((await get(BASE + "/acme/own" + REFS)).back, (await get(BASE + "/acme/own" + REFS, "Expect: 100-continue\\r\\n")).back);
  console.log((await send("TRACE " + BASE + "/acme/own" + REFS + " HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\nConnection: close\\r\\n\\r\\n")).back);
  console.log((await post(BASE + "/acme/own/git-upload-pack", "hello")).back, (await get(BASE + "/nothing")).back);
  console.log(run("git", "-c", "http.proxy=http://127.0.0.1:3128", "ls-remote", BASE + "/acme/own"), run("sh", "-c", "GIT_CURL_VERBOSE=1 GIT_TRACE_CURL=1 git ls-remote " + BASE + "/acme/own 2>&1"));
})();`;

const REDIRECT = `(async () => {
  const { back } = await get(BASE + "/acme/own" + REFS);
  console.log(back.includes("302") || /location/i.test(back) ? "passed on" : "hidden", back.slice(0, 200));
  run("git", "-c", "http.followRedirects=true", "ls-remote", BASE + "/acme/own");
})();`;

const MANY_BYTES = `(async () => {
  let all = 0;
  for (let round = 0; round < 3; round++)
    for (const { length } of await Promise.all(Array.from({ length: 8 }, () => get(BASE + "/acme/own" + REFS)))) all += length;
  console.log("received " + all);
})();`;

const INJECT_HEADERS = `(async () => {
  const lines = ["%0d%0aX-Evil:%201", "\\r\\nX-Evil: 1", "%0aX-Evil:1", "\\nX-Evil: 1", "\\rX-Evil: 1", "%E5%98%8A%E5%98%8DX-Evil:1", "\\u0085X-Evil: 1"];
  for (const line of lines) { await get(BASE + "/acme/own" + line + REFS); await get(BASE + "/acme/own" + REFS + line); await get(BASE + "/acme/own" + REFS + " HTTP/1.1" + line); }
  for (const name of ["Git-Protocol", "User-Agent", "Accept", "Accept-Encoding"]) for (const line of lines) await get(BASE + "/acme/own" + REFS, name + ": version=2" + line + "\\r\\n");
  for (const header of ["Authorization: Basic ZXZpbDpldmls", "Cookie: session=evil", "X-Forwarded-For: 10.0.0.1", "X-Evil: 1", "Connection: authorization, host", "Proxy-Authorization: Basic ZXZpbDpldmls", "Host: other.example"])
    await get(BASE + "/acme/own" + REFS, header + "\\r\\n");
  const smuggled = "GET /acme/secret" + REFS + " HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\n\\r\\n";
  const start = "POST " + BASE + "/acme/own/git-upload-pack HTTP/1.1\\r\\nHost: " + AUTHORITY + "\\r\\n";
  await send(start + "Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n" + smuggled);
  await send(start + "Transfer-Encoding: xchunked\\r\\nContent-Length: 5\\r\\n\\r\\n0\\r\\n\\r\\n" + smuggled);
  await send(start + "Content-Length: 4\\r\\nContent-Length: 90\\r\\n\\r\\n0000" + smuggled);
  await send(start + "Content-Length: 4\\r\\n\\r\\n0000" + smuggled);
})();`;

export const FORWARDER_ATTACKS: readonly Attack[] = [
  attack("Another repository through the git forwarder", async (target) => {
    const output = await target.run(OTHER_REPOSITORY);
    return judge(target, output.includes("not cloned"), "refused");
  }),
  attack("A push through the git forwarder", async (target, repository) => {
    const before = await repository.git(["for-each-ref"]);
    await target.run(PUSH);
    return judge(target, (await repository.git(["for-each-ref"])) === before, "refused; the branches are unchanged");
  }),
  attack("The credential of a git host", async (target) => {
    const output = await target.run(READ_CREDENTIAL);
    const isFound = [TOKEN, AUTHORIZATION.slice("Basic ".length)].some((secret) => output.includes(secret));
    return judge(target, !isFound && output.includes("refs/heads/main"), `not found in ${output.length} characters`);
  }),
  attack(
    "A redirect of a git host",
    async (target) => {
      const output = await target.run(REDIRECT);
      return judge(
        target,
        output.startsWith("hidden"),
        output.startsWith("hidden") ? "hidden, and not followed" : output,
      );
    },
    ({ other }, request, response) => {
      response.writeHead(302, { location: `http://${other}${request.url ?? ""}` }).end();
      return true;
    },
  ),
  attack(
    "More bytes of a git host than a checkout may read",
    async (target) => {
      const received = Number(/^received (\d+)$/m.exec(await target.run(MANY_BYTES))?.[1] ?? Infinity);
      const text = `${Math.round(received / MEBIBYTE)} MiB with a limit of ${MAX_BYTES / MEBIBYTE} MiB`;
      return judge(target, received > 0 && received < MAX_BYTES + BUFFERED_BYTES, text);
    },
    (_target, _request, response) => {
      sendForever(response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }));
      return true;
    },
  ),
  attack("Headers in requests through the git forwarder", async (target) => {
    await target.run(INJECT_HEADERS);
    return judge(target, target.received.length > 0, `${target.received.length} requests, with the same headers`);
  }),
];

/** Responds to a request in place of git. */
type Respond = (target: Target, request: IncomingMessage, response: ServerResponse) => boolean;

function attack(
  name: string,
  run: (target: Target, repository: Repository) => Promise<AttackResult>,
  respond: Respond = () => false,
): Attack {
  return { name, through: "build", run: (environment) => runAgainstHost(environment, run, respond) };
}

/** Starts a git host with two repositories, and the forwarder of a checkout of one of them. */
async function runAgainstHost(
  { groups, folder }: AttackEnvironment,
  run: (target: Target, repository: Repository) => Promise<AttackResult>,
  respond: Respond,
): Promise<AttackResult> {
  const received: Received[] = [];
  const leaked: string[] = [];
  await using other = await gitServer(folder, (request) => (leaked.push(request.url ?? ""), false));
  await using host = await gitServer(folder, (request, response) => {
    received.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers });
    return respond(target, request, response);
  });
  const [repository] = await Promise.all(["acme/own", "acme/secret"].map((repo) => createRepository(folder, repo)));
  const authority = new URL(host.url).host;
  const gitHost = { base: new URL(host.url), authorization: AUTHORIZATION, isAllowedAddress: () => true };
  const limits = { ...DEFAULT_LIMITS, totalBytes: MEBIBYTE };
  await using proxy = await EgressProxy.open(
    egressTo({ host: gitHost, limits, lookup: undefined }, { repos: ["acme/own"] }),
  );
  const target: Target = {
    authority,
    other: new URL(other.url).host,
    received,
    async run(script) {
      const names = `const AUTHORITY = ${JSON.stringify(authority)}, OTHER = ${JSON.stringify(target.other)};`;
      const { output } = await runIn(new BubblewrapSandbox({ groups }), [SANDBOX_NODE, "-e", names + SEND + script], {
        network: { kind: "proxy", socketPath: proxy.socketPath },
        limits: { outputBytes: 32 * MEBIBYTE },
      });
      return output.toString();
    },
  };
  const result = await run(target, repository as Repository);
  return leaked.length === 0 ? result : { isContained: false, text: `another host received ${leaked[0]}` };
}

async function createRepository(folder: string, repo: string): Promise<Repository> {
  const repository = await Repository.create(folder, repo);
  await repository.commitFiles({ "index.html": repo });
  return repository;
}

/** Whether the host has received only what a checkout needs, with the headers of the service. */
function judge({ received, authority }: Target, isContained: boolean, text: string): AttackResult {
  const foreign = received.find(
    ({ method, path, headers }) =>
      !NEEDED.test(`${method} ${path}`) ||
      headers.authorization !== AUTHORIZATION ||
      headers.host !== authority ||
      ["x-evil", "cookie", "x-forwarded-for", "proxy-authorization"].some((name) => name in headers),
  );
  if (foreign !== undefined)
    return { isContained: false, text: `the host received ${JSON.stringify(foreign).replaceAll("|", "/")}` };
  return { isContained, text };
}

function sendForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024, "0");
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", write);
  write();
}
