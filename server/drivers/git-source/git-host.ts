import { basicAuthorization } from "../../../domain/shared/basic-authorization.ts";

/** A host of git repositories. */
export interface GitHost {
  /** `owner/name` is appended to it. It contains no credentials. */
  base: URL;
  /** The header `Authorization` for the host; `null` when it needs none. It never enters the sandbox. */
  authorization: string | null;
  /** Which addresses the host may have. */
  isAllowedAddress: (address: string, host: string) => boolean;
}

/**
 * The origin of a host for programs in the sandbox. If the host needs a credential, they send plain HTTP to the proxy of the sandbox,
 * and the `GitForwarder` uses the protocol of the host.
 */
export function originInSandbox({ base, authorization }: Pick<GitHost, "base" | "authorization">): string {
  return authorization === null ? base.origin : `http://${base.host}`;
}

/** Returns the URL of a host without its user name and password, and the header that has them. */
export function splitCredentials(url: string): Pick<GitHost, "base" | "authorization"> {
  const base = new URL(url);
  const { username, password } = base;
  if (username === "" && password === "") return { base, authorization: null };
  [base.username, base.password] = ["", ""];
  return { base, authorization: basicAuthorization(decodeURIComponent(username), decodeURIComponent(password)) };
}
