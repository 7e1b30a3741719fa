import type { PackageSession } from "../../ports/package-registry.ts";
import type { Mount } from "../../ports/sandbox.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** Repositories of these hosts are fetched over https, which the package mirror serves, instead of ssh and git's own protocol. */
const GIT_HOSTS = ["github.com", "gitlab.com", "bitbucket.org"];

const REWRITTEN = GIT_HOSTS.flatMap((host) =>
  [`ssh://git@${host}/`, `git@${host}:`, `git://${host}/`, `git+ssh://git@${host}/`].map((from) => ({ host, from })),
);

const GIT_SETTINGS: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: String(REWRITTEN.length),
  ...Object.fromEntries(
    REWRITTEN.flatMap(({ host, from }, index) => [
      [`GIT_CONFIG_KEY_${index}`, `url.https://${host}/.insteadOf`],
      [`GIT_CONFIG_VALUE_${index}`, from],
    ]),
  ),
  GIT_SSL_CAINFO: SANDBOX_PATHS.certificate,
  GIT_TERMINAL_PROMPT: "0",
};

/** What makes install scripts trust the certificate of the package mirror for the host of Prisma's engines, if it has one. */
export function trustEngines({ certificateFile }: Pick<PackageSession, "certificateFile">): {
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
} {
  const { env, mounts } = trustCertificate({ certificateFile });
  const { NODE_EXTRA_CA_CERTS: file } = env;
  return { env: file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file }, mounts };
}

/** What makes the programs of an install trust the certificate of the package mirror, if it has one. */
export function trustCertificate({ certificateFile }: Pick<PackageSession, "certificateFile">): {
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
} {
  if (certificateFile === null) return { env: {}, mounts: [] };
  const { certificate } = SANDBOX_PATHS;
  return {
    env: {
      ...GIT_SETTINGS,
      NODE_EXTRA_CA_CERTS: certificate,
      npm_config_cafile: certificate,
      // Otherwise npm replaces the hosts of repositories too. inside/run-npm.ts replaces those of registries.
      npm_config_replace_registry_host: "never",
      YARN_HTTPS_CA_FILE_PATH: certificate,
    },
    mounts: [{ from: certificateFile, to: certificate, writable: false }],
  };
}
