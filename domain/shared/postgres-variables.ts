/**
 * What an environment variable says about a database: `url` is the whole connection string, and the last three are spellings of
 * its kind.
 */
export const DATABASE_PARTS = [
  ...(["url", "host", "port", "user", "password", "database"] as const),
  ...(["postgres", "postgresql", "pg"] as const),
] as const;
export type DatabasePart = (typeof DATABASE_PARTS)[number];

/** The port of a database on the loopback interface of a sandbox. */
export const POSTGRES_PORT = 5432;

/** The variables that PostgreSQL's own programs and hosting platforms use. */
const USUAL_VARIABLES: Readonly<Record<string, DatabasePart>> = {
  DATABASE_URL: "url",
  POSTGRES_URL: "url",
  POSTGRES_PRISMA_URL: "url",
  POSTGRES_URL_NON_POOLING: "url",
  POSTGRES_HOST: "host",
  POSTGRES_PORT: "port",
  POSTGRES_USER: "user",
  POSTGRES_PASSWORD: "password",
  POSTGRES_DB: "database",
  POSTGRES_DATABASE: "database",
  PGHOST: "host",
  PGPORT: "port",
  PGUSER: "user",
  PGPASSWORD: "password",
  PGDATABASE: "database",
};

type DatabaseVariables = Readonly<Record<string, DatabasePart>>;

/**
 * Whether variables name a database other than that of the service.
 *
 * @param variables - those that the project reads beside the usual ones
 */
export function namesOwnDatabase(variables: DatabaseVariables, env: Readonly<Record<string, string>>): boolean {
  const all = Object.entries({ ...USUAL_VARIABLES, ...variables });
  return all.some(([name, part]) => (part === "url" || part === "host") && env[name] !== undefined);
}

/**
 * Returns variables without those that say which database a Node server uses, so that it uses that of the service.
 *
 * @param variables - those that the project reads beside the usual ones
 */
export function omitDatabase(
  variables: DatabaseVariables,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(["SQLITE_PATH", ...Object.keys(USUAL_VARIABLES), ...Object.keys(variables)]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

interface LoopbackDatabase {
  name: string;
  password: string;
  port: number;
  /** The file with the certificate of the database, where the project runs. */
  certificateFile: string;
}

/** The variables from which a project learns its database, on a port of its loopback interface, and the certificate to trust. */
export function postgresVariables(
  variables: DatabaseVariables,
  { name, password, port, certificateFile }: LoopbackDatabase,
): Record<string, string> {
  const parts: Record<DatabasePart, string> = {
    url: `postgresql://${name}:${password}@127.0.0.1:${port}/${name}`,
    host: "127.0.0.1",
    port: String(port),
    user: name,
    password,
    database: name,
    postgres: "postgres",
    postgresql: "postgresql",
    pg: "pg",
  };
  const all = Object.entries({ ...USUAL_VARIABLES, ...variables });
  const named = Object.fromEntries(all.map(([variable, part]) => [variable, parts[part]]));
  return { ...named, PGSSLROOTCERT: certificateFile, NODE_EXTRA_CA_CERTS: certificateFile };
}
