import { installedProgramFolders } from "../../../sandbox/installed-programs.ts";
import { RUNTIME_FOLDER } from "../../../sandbox/tree-archive/tree-archive.ts";
import type { Preload } from "./write-preload.ts";

/** Paths inside the sandbox. */
export const SERVER_PATHS = {
  /** Where the files of the server are: where they were built, because builds write this path into files. */
  files: "/build",
  data: "/data",
  requests: "/run/app",
  egress: "/run/egress",
  /** The Node.js that the project names, if it is not that of the service. */
  runtime: `/build/${RUNTIME_FOLDER}`,
  preload: "/opt/node-server/preload.cjs",
  /** The certificate of its PostgreSQL database. */
  certificate: "/opt/node-server/postgresql.pem",
} as const;

/** The port that a server should listen on. It has a network of its own, so that all have the same one. */
export const SERVER_PORT = 3000;

/** In MiB. V8 collects garbage before the limit of the kernel ends the process. */
const HEAP_MB = 768;

type Variables = Readonly<Record<string, string>>;

interface EnvironmentOptions {
  directory: string;
  /** The public URL of the app. */
  url: string;
  env: Variables;
  database: Variables;
  preload?: Preload | undefined;
}

/** The environment of a server: the variables of its owner come before those of the service. */
export function serverEnvironment(
  { directory, url, env, database, preload: added }: EnvironmentOptions,
  tools: Variables,
): Record<string, string> {
  const programs = installedProgramFolders(SERVER_PATHS.files, directory).join(":");
  const { NODE_OPTIONS: options = "", PATH: ownPath, ...own } = env;
  const preloads = [SERVER_PATHS.preload, ...(added === undefined ? [] : [added.file])].map(
    (file) => `--require ${file}`,
  );
  return {
    NODE_ENV: "production",
    PORT: String(SERVER_PORT),
    HOST: "0.0.0.0",
    HOSTNAME: "0.0.0.0",
    HOME: "/tmp/home",
    LANG: "C.UTF-8",
    DATABASE_URL: `file:${SERVER_PATHS.data}/app.db`,
    SQLITE_PATH: `${SERVER_PATHS.data}/app.db`,
    ...urlVariables(url, env),
    ...tools,
    ...database,
    ...own,
    PATH: [ownPath, SERVER_PATHS.runtime, programs, tools["PATH"] ?? "/usr/bin:/bin"].filter(Boolean).join(":"),
    NODE_OPTIONS: [...preloads, `--max-old-space-size=${HEAP_MB}`, options].join(" ").trim(),
    // Without a sandbox, these paths are paths of the host.
    SERVICE_REQUESTS: SERVER_PATHS.requests,
    SERVICE_EGRESS: SERVER_PATHS.egress,
  };
}

/** Variables by which servers learn their public URL, and that they are behind a proxy which names the client. */
function urlVariables(url: string, own: Variables): Variables {
  return {
    APP_URL: url,
    BETTER_AUTH_URL: url,
    ...(own["NEXTAUTH_URL"] === undefined && own["AUTH_URL"] === undefined ? authVariables(url, own) : {}),
    // Without them, SvelteKit takes every request for one with https, so that it refuses forms over http.
    PROTOCOL_HEADER: "x-forwarded-proto",
    ADDRESS_HEADER: "x-forwarded-for",
  };
}

/** Without them, Auth.js refuses requests in production, and versions before 5 redirect to http://localhost:3000. */
function authVariables(url: string, { PORT = String(SERVER_PORT) }: Variables): Variables {
  return {
    AUTH_TRUST_HOST: "true",
    NEXTAUTH_URL: url,
    // The server requests its sessions itself. Over http, such a request stays in the sandbox anyway.
    ...(url.startsWith("https:") && { NEXTAUTH_URL_INTERNAL: `http://localhost:${PORT}` }),
  };
}
