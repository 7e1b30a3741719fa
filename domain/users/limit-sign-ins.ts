import { RateLimited } from "../shared/errors.ts";
import { sha256Hex } from "../shared/sha256.ts";
import type { Counter, Quota } from "../ports/counter.ts";
import type { Db } from "../database-types.ts";

export interface SignInAttempt {
  /** The client network, in the form that is stored with sessions. */
  network: string;
  email: string;
}

/** Failed sign-ins from one network. */
const NETWORK_LIMIT = { limit: 50, windowSeconds: 900 } as const;
/** Failed sign-ins to one account from one network. */
const PAIR_LIMIT = { limit: 10, windowSeconds: 900 } as const;
/** Failed sign-ins to one account from any network. It does not apply to a network that the user has a session from. */
const ACCOUNT_LIMIT = { limit: 100, windowSeconds: 3600 } as const;

/**
 * Checks that a sign-in may be attempted. Only failed attempts count, so waiting always helps. An attacker cannot lock a
 * user out of a network that the user has signed in from before.
 *
 * @throws {RateLimited} after too many wrong passwords
 */
export async function limitSignIns(
  { counter, db }: { counter: Counter; db: Db },
  attempt: SignInAttempt,
): Promise<void> {
  const quotas = quotasFor(attempt);
  const [network, pair, account] = await Promise.all([
    counter.peek(quotas.network),
    counter.peek(quotas.pair),
    counter.peek(quotas.account),
  ]);
  const applicable =
    account.allowed || (await isKnownNetwork(db, attempt)) ? [network, pair] : [network, pair, account];
  const waits = applicable.filter(({ allowed }) => !allowed).map(({ resetSeconds }) => resetSeconds);
  if (waits.length > 0) throw new RateLimited("Too many wrong passwords. Wait, then try again.", Math.max(...waits));
}

/** Counts a failed sign-in. */
export async function countFailedSignIn(counter: Counter, attempt: SignInAttempt): Promise<void> {
  await Promise.all(Object.values(quotasFor(attempt)).map((quota) => counter.consume(quota)));
}

/** Account names are hashed, so that the counters contain no email addresses. */
function quotasFor({ network, email }: SignInAttempt): Record<"network" | "pair" | "account", Quota> {
  const account = sha256Hex(email.toLowerCase()).slice(0, 32);
  return {
    network: { key: `sign-in:address:${network}`, ...NETWORK_LIMIT },
    pair: { key: `sign-in:pair:${network}:${account}`, ...PAIR_LIMIT },
    account: { key: `sign-in:account:${account}`, ...ACCOUNT_LIMIT },
  };
}

/** Whether the account has a session from this network. */
async function isKnownNetwork(db: Db, { network, email }: SignInAttempt): Promise<boolean> {
  const row = await db
    .selectFrom("auth.session as session")
    .innerJoin("auth.user as user", "user.id", "session.userId")
    .select("session.id")
    .where("user.email", "=", email.toLowerCase())
    .where("session.ipAddress", "=", network)
    .executeTakeFirst();
  return row !== undefined;
}
