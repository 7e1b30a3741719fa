import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type ServiceProcess, startService } from "../../bench/support/start-servers.ts";
import { type GivenEntry, tarOf } from "../support/archives.ts";
import { exportOf } from "../support/builds/given-export.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import type { Attack, AttackResult } from "./attack.ts";

const MEBIBYTE = 1024 * 1024;
const SECRET = "of the host";
const EMPTY_SHA256 = createHash("sha256").digest("hex");

interface Target {
  service: ServiceProcess;
  dataDirectory: string;
}

/** Attacks through exports of a stranger. Each is imported by an organization of its own, because attempts count against the deploy limit. */
export const IMPORT_ATTACKS: readonly Attack[] = [
  attack("Imports with links, devices and paths that lead out", leadOut),
  attack("Imports that name the data of another app", nameForeign),
  attack("Imports that unpack to more than they say", unpackMore),
  attack("Imports with a million entries, and with a manifest of 64 MiB", unpackMany),
];

function attack(name: string, run: (target: Target) => Promise<AttackResult>): Attack {
  return {
    name,
    through: "API",
    run: async ({ folder }) => {
      const dataDirectory = path.join(folder, "data");
      await using service = await startService({ dataDirectory }, new AbortController().signal);
      return await run({ service, dataDirectory });
    },
  };
}

/** Imports a file as a new organization. Returns the status and the error. */
async function importAs(
  { service }: Target,
  file: Buffer,
): Promise<{ status: number; error: string; rest: RestClient }> {
  const { api_key: key } = await service.call("createOrganization");
  const rest = new RestClient(await service.call("publicUrl"), key);
  const headers = { "content-type": "application/gzip" };
  const { status, body } = await rest.send("POST", "/v1/apps/import", { body: Buffer.from(file), headers });
  return { status, error: String(body["error"]), rest };
}

/** Judges files, each of which must be refused and leave no app. */
async function judgeRefused(target: Target, files: readonly Buffer[]): Promise<AttackResult> {
  const errors = new Set<string>();
  let accepted = 0;
  for (const file of files) {
    const { status, error, rest } = await importAs(target, file);
    const apps = (await rest.get("/v1/apps")).body["apps"] as unknown[];
    if (![400, 403].includes(status) || apps.length > 0) accepted++;
    errors.add(error.replace(/ This attempt counted.*/s, "").replaceAll("|", "/"));
  }
  const [first = ""] = errors;
  const text = `${files.length} files, ${accepted} accepted; ${errors.size} reasons, such as: ${first.slice(0, 160)}`;
  return { isContained: accepted === 0, text };
}

async function leadOut(target: Target): Promise<AttackResult> {
  const secret = path.join(target.dataDirectory, "../outside/secret.txt");
  await mkdir(path.dirname(secret), { recursive: true });
  await writeFile(secret, SECRET, { mode: 0o666 });
  const up = `data/storage/${"../".repeat(12)}${secret.slice(1)}`;
  const single: GivenEntry[] = [
    { name: "data/storage/l", type: "symlink", linkname: secret },
    { name: "data/storage/l", type: "link", linkname: secret },
    { name: "data/storage/l", type: "link", linkname: "manifest.json" },
    { name: "data/storage/d", type: "directory" },
    { name: "data/storage/sda", type: "block-device", devmajor: 8, devminor: 0 },
    { name: "data/storage/pipe", type: "fifo" },
    { name: secret, text: "changed" },
    { name: up, text: "changed" },
    { name: "data/storage/./x", text: "changed" },
    { name: "data/storage//x", text: "changed" },
    { name: "data/storage/a\\..\\x", text: "changed" },
    { name: "data/storage/x\u0000y", text: "changed" },
  ];
  const files = await Promise.all(single.map((entry) => listed(entry)));
  const { isContained, text } = await judgeRefused(target, files);
  const isIntact = (await readFile(secret, "utf8")) === SECRET;
  return { isContained: isContained && isIntact, text: isIntact ? text : `changed a file outside; ${text}` };
}

/** An export whose manifest lists the entry as it is. */
async function listed(entry: GivenEntry): Promise<Buffer> {
  const text = Buffer.from(entry.text ?? "");
  const good = await exportOf({ data: { [entry.name]: text } });
  if (entry.type === undefined) return good;
  const source = await exportOf();
  // Everything but the end of the archive, then the entry.
  const tar = gunzipSync(source).subarray(0, -1024);
  return gzipSync(Buffer.concat([tar, await tarOf([entry])]));
}

async function nameForeign(target: Target): Promise<AttackResult> {
  const victim = await importAs(target, await exportOf());
  const [app] = (await victim.rest.get("/v1/apps")).body["apps"] as { id: string; slug: string }[];
  const id = app?.id ?? "";
  const names = [
    `data/storage/../../../${app?.slug}/${id}/storage/x`,
    `data/${id}/database.sqlite`,
    `data/database.sqlite/../../${id}.sqlite`,
    `data/database.sqlite-shm`,
    `data/storage`,
    `data/auth-entries/${id}`,
    `scripts/${app?.slug}/${id}/script.js`,
  ];
  const files = await Promise.all(names.map((name) => exportOf({ data: { [name]: "changed" } })));
  // Fields that the service gives to an app itself.
  const own = await exportOf({
    manifest: { id, app_id: id, org_id: id, import_key: `${id}/1-x`, slug: app?.slug, token: "x" },
  });
  const { isContained, text } = await judgeRefused(target, files);
  const taken = await importAs(target, own);
  const [other] = (await taken.rest.get("/v1/apps")).body["apps"] as { id: string; slug: string }[];
  const isOwn = taken.status === 201 && other?.id !== id && other?.slug !== app?.slug;
  return {
    isContained: isContained && isOwn,
    text: isOwn ? `ids in a manifest have no effect; ${text}` : `took over an id; ${text}`,
  };
}

async function unpackMore(target: Target): Promise<AttackResult> {
  const zeros = Buffer.alloc(1024 * MEBIBYTE);
  const member = { path: "data/storage/data/x", sha256: EMPTY_SHA256 };
  const source = { path: "source.archive", size: 1, sha256: createHash("sha256").update("x").digest("hex") };
  const [huge, small] = [2 ** 50, 1].map((size) => ({ members: [source, { ...member, size }] }));
  const entries = [{ name: "source.archive", text: "x" }];
  return await judgeRefused(target, [
    gzipSync(zeros, { level: 1 }),
    await exportOf({ manifest: huge ?? {}, entries }),
    await exportOf({
      manifest: small ?? {},
      entries: [...entries, { name: member.path, text: zeros.subarray(0, 200 * MEBIBYTE) }],
    }),
    await exportOf({ data: { "data/storage/data/x": zeros.subarray(0, 100 * MEBIBYTE) }, manifest: { app: null } }),
  ]);
}

async function unpackMany(target: Target): Promise<AttackResult> {
  const one = (await tarOf([{ name: "data/storage/x", text: "" }])).subarray(0, 512);
  const many = Buffer.alloc(512 * 1_000_000, one);
  const source = await exportOf();
  const tar = gunzipSync(source).subarray(0, -1024);
  const members = Array.from({ length: 200_000 }, (_, n) => ({
    path: `data/storage/${n}`,
    size: 0,
    sha256: EMPTY_SHA256,
  }));
  return await judgeRefused(target, [
    gzipSync(Buffer.concat([tar, many]), { level: 1 }),
    await exportOf({ manifest: { warnings: ["x".repeat(64 * MEBIBYTE)] } }),
    await exportOf({ manifest: { members: [{ path: "source.archive", size: 1, sha256: EMPTY_SHA256 }, ...members] } }),
  ]);
}
