import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { pathToFileURL } from "node:url";
import { startService } from "../../bench/support/start-servers.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { givenDelivery, sign } from "../support/builds/push-deliveries.ts";
import type { Attack, AttackResult } from "./attack.ts";

const COMMIT = "a".repeat(40);
const MEBIBYTE = 1024 * 1024;
const OVERSIZED = 64 * MEBIBYTE;
const SLOW_CONNECTIONS = 200;
const FLOOD = 400;

interface Target {
  rest: RestClient;
  appId: string;
  hook: URL;
  secret: string;
}

/** Attacks through the webhook of an app, which anyone can reach who knows its URL. */
export const PUSH_ATTACKS: readonly Attack[] = [
  attack("Forged deliveries of pushes", forge),
  attack("Replayed deliveries of pushes, with other ids", replay),
  attack("Oversized deliveries of pushes", oversize),
  attack("Slow deliveries of pushes", slow),
  attack("A flood of deliveries of pushes", flood),
  attack("Malformed deliveries of pushes", malform),
];

function attack(name: string, run: (target: Target) => Promise<AttackResult>): Attack {
  return {
    name,
    through: "API",
    run: async ({ folder }) => {
      // There are no repositories: what is accepted is counted, and nothing is built.
      const options = { dataDirectory: folder, gitBaseUrl: pathToFileURL(folder).href };
      await using service = await startService(options, new AbortController().signal);
      const { api_key: key } = await service.call("createOrganization");
      const rest = new RestClient(await service.call("publicUrl"), key);
      const { body: app } = await rest.deploy({ repo: "acme/site" });
      const appId = String(app["app_id"]);
      const request = { headers: { "content-type": "application/json" }, body: JSON.stringify({ enabled: true }) };
      const { body } = await rest.send("PUT", `/v1/apps/${appId}/push-deploy`, request);
      return await run({ rest, appId, hook: new URL(String(body["url"])), secret: String(body["secret"]) });
    },
  };
}

async function countDeliveries({ rest, appId }: Target, results = ["queued", "deployed"]): Promise<number> {
  const { body } = await rest.get(`/v1/apps/${appId}/push-deliveries?limit=100`);
  return (body["deliveries"] as { result: string }[]).filter(({ result }) => results.includes(result)).length;
}

async function statusesOf(hook: URL, deliveries: readonly { headers: Record<string, string>; body: string }[]) {
  const statuses: number[] = [];
  for (const delivery of deliveries) {
    const response = await fetch(hook, { method: "POST", ...delivery }).catch(() => null);
    statuses.push(response?.status ?? 0);
    await response?.body?.cancel();
  }
  return statuses;
}

async function forge(target: Target): Promise<AttackResult> {
  const forged = (["github", "gitlab", "gitea", "bitbucket"] as const).flatMap((format) =>
    ["", "0", "undefined", "null", target.appId, `${target.secret}0`].map((secret) =>
      givenDelivery(format, secret, randomUUID(), { commit: COMMIT }),
    ),
  );
  const statuses = await statusesOf(target.hook, forged);
  const accepted = await countDeliveries(target);
  const isContained = accepted === 0 && statuses.every((status) => status === 404);
  return { isContained, text: `${forged.length} forged, ${accepted} accepted` };
}

async function replay(target: Target): Promise<AttackResult> {
  const captured = givenDelivery("github", target.secret, randomUUID(), { commit: COMMIT });
  const copies = Array.from({ length: 20 }, () => ({
    ...captured,
    headers: { ...captured.headers, "x-github-delivery": randomUUID() },
  }));
  await statusesOf(target.hook, [captured, ...copies]);
  const accepted = await countDeliveries(target, ["queued", "deployed", "skipped", "refused"]);
  return { isContained: accepted === 1, text: `sent ${copies.length + 1} times, recorded ${accepted} times` };
}

async function oversize(target: Target): Promise<AttackResult> {
  const body = "x".repeat(OVERSIZED);
  const headers = { "content-type": "application/json", ...sign("github", "", randomUUID(), "") };
  const unknown = new URL(`/hooks/git/${randomUUID()}`, target.hook);
  const statuses = [
    ...(await statusesOf(target.hook, [{ headers, body }])),
    ...(await statusesOf(unknown, [{ headers, body }])),
  ];
  // A connection that is closed while the client still sends has no response for it.
  const isContained = [413, 0].includes(statuses[0] ?? 0) && [404, 0].includes(statuses[1] ?? 0);
  return {
    isContained,
    text: `${OVERSIZED / MEBIBYTE} MiB, responses ${statuses.map((status) => status || "none").join(" and ")}`,
  };
}

async function slow(target: Target): Promise<AttackResult> {
  const { port, hostname, pathname } = target.hook;
  const sockets = Array.from({ length: SLOW_CONNECTIONS }, () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\nx-github-event: push\r\ncontent-type: application/json\r\ncontent-length: 5000000\r\n\r\n{`,
    );
    return socket;
  });
  const { status } = await target.rest.get(`/v1/apps/${target.appId}`);
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve).resume()));
  await Promise.all(closed);
  return { isContained: status === 200, text: `${SLOW_CONNECTIONS} connections ended; others are answered meanwhile` };
}

async function flood(target: Target): Promise<AttackResult> {
  const delivery = () => givenDelivery("github", "wrong", randomUUID(), { commit: COMMIT });
  const statuses = await statusesOf(target.hook, Array.from({ length: FLOOD }, delivery));
  const refused = statuses.filter((status) => status === 429).length;
  return { isContained: refused >= FLOOD / 2, text: `${refused} of ${FLOOD} refused before their body was read` };
}

/** With a valid signature: what the members of a repository can make their git host send is less than this. */
async function malform(target: Target): Promise<AttackResult> {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const texts = [
    "",
    "null",
    "[]",
    "{}",
    "{",
    deep,
    `{"__proto__":{"ref":"refs/heads/main"},"repository":null,"commits":{"length":1e9}}`,
    JSON.stringify({ ref: ["refs/heads/main"], after: {}, repository: { full_name: 7 }, commits: "x" }),
    JSON.stringify({ ref: "refs/heads/main", after: "--upload-pack=id", repository: { full_name: "acme/site" } }),
    JSON.stringify({ ref: "refs/heads/\u0000main", after: COMMIT, repository: { full_name: "acme/site\u0000" } }),
    JSON.stringify({
      ref: "refs/heads/x",
      after: "\ud800",
      repository: { full_name: "acme/site" },
      commits: [null, 1],
    }),
  ];
  const deliveries = texts.map((body) => ({
    body,
    headers: { "content-type": "application/json", ...sign("github", target.secret, randomUUID(), body) },
  }));
  const statuses = await statusesOf(target.hook, deliveries);
  const accepted = await countDeliveries(target);
  const isContained = accepted === 0 && statuses.every((status) => [202, 400, 404].includes(status));
  return { isContained, text: `${texts.length} payloads, responses ${[...new Set(statuses)].join(", ")}` };
}
