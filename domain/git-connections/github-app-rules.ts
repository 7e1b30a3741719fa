import { createPrivateKey, type KeyObject } from "node:crypto";
import { type GitHosts, type GitHubApp, GitHostError, type Installation } from "../ports/git-hosts.ts";
import { ServiceError } from "../shared/errors.ts";

const MAX_KEY_LENGTH = 16_384;
const MIN_KEY_BITS = 2048;
/** How many accounts an error names. */
const MAX_NAMED = 10;

/**
 * Checks the id of an app, or its client id, which GitHub accepts too.
 *
 * @throws {ServiceError} `invalid`
 */
export function checkAppId(appId: string | undefined): string {
  if (appId !== undefined && /^[\w.-]{1,64}$/.test(appId)) return appId;
  throw new ServiceError(
    "invalid",
    `github_app_id: must be the id of a GitHub App, or its client id. Example: "123456".`,
  );
}

/**
 * Reads the private key of an app, in PKCS#1, as GitHub generates it, or in PKCS#8. Line breaks may be written as `\n`, as in the
 * value of an environment variable.
 *
 * @returns the key in PKCS#8
 * @throws {ServiceError} `invalid`, without the key
 */
export function normalizePrivateKey(text: string | undefined): string {
  const key = readPrivateKey((text ?? "").slice(0, MAX_KEY_LENGTH).replaceAll("\\n", "\n"));
  const isStrong = key?.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_KEY_BITS;
  if (key !== null && isStrong) return key.export({ type: "pkcs8", format: "pem" }).toString();
  throw new ServiceError(
    "invalid",
    "private_key: must be the text of the .pem file that GitHub generates for the app, an RSA key without a passphrase.",
  );
}

function readPrivateKey(text: string): KeyObject | null {
  try {
    return createPrivateKey(text);
  } catch {
    return null;
  }
}

/**
 * Finds the installation of an app: the one with the id, that of the repositories, or the only one.
 *
 * @throws {ServiceError} `invalid` when there is none, or more than one
 * @throws {GitHostError} when GitHub does not accept the key, or cannot be reached
 */
export async function findInstallation(
  { gitHosts }: { gitHosts: Pick<GitHosts, "findInstallations"> },
  app: GitHubApp,
  wanted: { installationId: number | null; repositories: string | null },
): Promise<Installation> {
  const found = await gitHosts.findInstallations(app, wanted).catch((error: unknown) => {
    if (error instanceof GitHostError && error.problem === "not_found") return [];
    throw error;
  });
  const [installation] = found;
  if (installation === undefined)
    throw invalid(`the app ${app.appId} is not installed ${describeWanted(wanted)}. Install it first.`);
  if (found.length > 1) {
    const named = found.slice(0, MAX_NAMED).map(({ id, account }) => `${id} (${account})`);
    throw invalid(`is required, because the app has several installations: ${named.join(", ")}.`);
  }
  if (installation.isSuspended)
    throw invalid(`${installation.account} has suspended the app. Unsuspend it in the settings of the account first.`);
  return installation;
}

function describeWanted({
  installationId,
  repositories,
}: {
  installationId: number | null;
  repositories: string | null;
}) {
  if (installationId !== null) return `with the id ${installationId}`;
  return repositories === null ? "for any account" : `for ${repositories}`;
}

function invalid(problem: string): ServiceError {
  return new ServiceError("invalid", `installation_id: ${problem}`);
}
