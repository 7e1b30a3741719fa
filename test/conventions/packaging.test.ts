import { execFile } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../server/config.ts";

const PROJECT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFile(path.join(PROJECT, file), "utf8");

/** Variables of Node.js itself. */
const OF_NODE = ["NODE_COMPILE_CACHE"];

async function readSettings(): Promise<Set<string>> {
  const example = await read(".env.example");
  return new Set(["NODE_ENV", ...OF_NODE, ...[...example.matchAll(/^#?([A-Z_\d]+)=/gm)].map(([, name = ""]) => name)]);
}

test("the Dockerfile is valid, and sets only settings of the service", async () => {
  const text = await read("packaging/Dockerfile");
  expect(validate(text)).toEqual([]);
  const [, block = ""] = /^ENV ((?:.*\\\n)*.*)$/m.exec(text) ?? [];
  const names = [...block.matchAll(/([A-Z_]+)=/g)].map(([, name = ""]) => name);
  expect(names).toContain("DATA_DIR");
  const settings = await readSettings();
  expect(names.filter((name) => !settings.has(name))).toEqual([]);
});

interface Compose {
  services: Record<
    string,
    { build?: { dockerfile: string }; environment?: Record<string, string>; volumes?: string[] }
  >;
  volumes: Record<string, null>;
}

test("the compose file configures the service, and names files and volumes that exist", async () => {
  const { services, volumes } = parse(await read("packaging/compose.yaml"), { merge: true }) as Compose;
  const { service, ...others } = services;
  await access(path.join(PROJECT, service?.build?.dockerfile ?? ""));
  const values = { TOKEN_SECRET: "t".repeat(32), POSTGRES_PASSWORD: "password" };
  expect(readConfig({ NODE_ENV: "production", ...replaceVariables(service?.environment ?? {}, values) })).toMatchObject(
    {
      databaseUrl: "postgres://postgres:password@postgres:5432/postgres",
      appsDatabaseUrl: "postgres://postgres:password@apps-postgres:5432/postgres",
      redisUrl: "redis://redis:6379",
      appsDomain: "localhost:3001",
    },
  );
  expect(Object.keys(others)).toEqual(["postgres", "apps-postgres", "redis"]);
  const used = Object.values(services).flatMap((each) => each.volumes ?? []);
  expect(used.map((volume) => volume.split(":")[0]).toSorted()).toEqual(Object.keys(volumes).toSorted());
});

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?error}` as Compose does. */
function replaceVariables(environment: Record<string, string>, values: Record<string, string>): Record<string, string> {
  const replace = (text: string) =>
    text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind?: string, rest?: string) =>
      String(values[name] ?? (kind === "-" ? rest : "")),
    );
  return Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, replace(text)]));
}

test("systemd accepts the unit, and the unit starts a program of the repository with its settings", async () => {
  const file = "packaging/app-provisioning-service.service";
  const text = await read(file);
  const [, folder = "", program = "", script = ""] = /^ExecStart=(\/opt\/[\w-]+)\/(\S+) (\S+)$/m.exec(text) ?? [];
  expect(text).toContain(`\nWorkingDirectory=${folder}\n`);
  await Promise.all([program, script].map((each) => access(path.join(PROJECT, each))));
  const names = [...text.matchAll(/^Environment=([A-Z_]+)=/gm)].map(([, name = ""]) => name);
  const settings = await readSettings();
  expect(names.filter((name) => !settings.has(name))).toEqual([]);
  const found = await verifyUnit(path.join(PROJECT, file));
  // The program is not installed here, and systemd before 254 ignores a key that it does not know.
  expect(found.filter((line) => !/is not executable|Unknown key 'DelegateSubgroup'/.test(line))).toEqual([]);
});

/** Returns what systemd reports; nothing on a system without it. */
async function verifyUnit(file: string): Promise<string[]> {
  const { stderr } = await promisify(execFile)("systemd-analyze", ["verify", file]).catch(
    (error: { code?: unknown; stderr?: string }) => {
      if (error.code === "ENOENT") return { stderr: "" };
      return { stderr: error.stderr ?? "" };
    },
  );
  return stderr.split("\n").filter((line) => line.includes(path.basename(file)));
}
