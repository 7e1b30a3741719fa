import { createHash } from "node:crypto";
import { RateLimited } from "../shared/errors.ts";
import type { Counter, Quota } from "../ports/counter.ts";
import type { Db } from "../database-types.ts";

export interface SignInAttempt {
  /** The network it comes from, as sessions are kept with it. */
  address: string;
  email: string;
}

/** Refused sign-ins from one address, to one account from one address, and to one account from addresses it does not know. */
const FROM_ADDRESS = { limit: 50, windowSeconds: 900 } as const;
const TO_ACCOUNT_FROM_ADDRESS = { limit: 10, windowSeconds: 900 } as const;
const TO_ACCOUNT = { limit: 100, windowSeconds: 3600 } as const;

/**
 * Lets a sign-in be tried. Only refused ones count, so waiting always helps, and however many strangers guess, an owner
 * who signed in from an address before can do so again.
 *
 * @throws {RateLimited} when there were too many wrong passwords
 */
export async function limitSignIns(
  { counter, db }: { counter: Counter; db: Db },
  attempt: SignInAttempt,
): Promise<void> {
  const { address, pair, account } = quotasOf(attempt);
  const readings = await Promise.all([counter.peek(address), counter.peek(pair), counter.peek(account)]);
  const guessed = readings[2];
  const strict = readings.slice(0, guessed.allowed || (await isKnownAddress(db, attempt)) ? 2 : 3);
  const waits = strict.filter(({ allowed }) => !allowed).map(({ resetSeconds }) => resetSeconds);
  if (waits.length > 0) throw new RateLimited("Too many wrong passwords. Wait, then try again.", Math.max(...waits));
}

/** Counts a refused sign-in. */
export async function countRefusedSignIn(counter: Counter, attempt: SignInAttempt): Promise<void> {
  await Promise.all(Object.values(quotasOf(attempt)).map((quota) => counter.take(quota)));
}

function quotasOf({ address, email }: SignInAttempt): Record<"address" | "pair" | "account", Quota> {
  const name = createHash("sha256").update(email.toLowerCase()).digest("hex").slice(0, 32);
  return {
    address: { key: `sign-in:address:${address}`, ...FROM_ADDRESS },
    pair: { key: `sign-in:pair:${address}:${name}`, ...TO_ACCOUNT_FROM_ADDRESS },
    account: { key: `sign-in:account:${name}`, ...TO_ACCOUNT },
  };
}

async function isKnownAddress(db: Db, { address, email }: SignInAttempt): Promise<boolean> {
  const row = await db
    .selectFrom("auth.session as session")
    .innerJoin("auth.user as person", "person.id", "session.userId")
    .select("session.id")
    .where("person.email", "=", email.toLowerCase())
    .where("session.ipAddress", "=", address)
    .executeTakeFirst();
  return row !== undefined;
}
