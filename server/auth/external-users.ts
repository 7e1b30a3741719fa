import { UniqueConstraintViolationException } from "@mikro-orm/core";
import { LRUCache } from "lru-cache";
import {
  type ExternalUser,
  findExternalUser,
  provisionExternalUser,
} from "../../domain/users/provision-external-user.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Orm } from "../database/orm.ts";
import { inTransaction } from "../../domain/shared/transaction.ts";
import type { AccessTokenClaims } from "./access-token-verifier.ts";

const MAX_CACHED_USERS = 10_000;
const MAX_NAME_LENGTH = 100;

/** The users of an external identity provider. They are provisioned just in time and identified by issuer and subject only. */
export class ExternalUsers {
  readonly #orm: Orm;
  readonly #userIdByIdentity = new LRUCache<string, string>({ max: MAX_CACHED_USERS });

  constructor(orm: Orm) {
    this.#orm = orm;
  }

  /** Returns the id of the user that the claims identify. Provisions the user at the first call. */
  async resolveUserId(claims: AccessTokenClaims): Promise<string> {
    const user = { issuer: String(claims.iss), subject: claims.sub, name: readName(claims) };
    const key = `${user.issuer}\n${user.subject}`;
    const cached = this.#userIdByIdentity.get(key);
    if (cached !== undefined) return cached;
    const userId = await this.#findOrProvision(user);
    this.#userIdByIdentity.set(key, userId);
    return userId;
  }

  async #findOrProvision(user: ExternalUser): Promise<string> {
    const found = await this.#find(user);
    if (found !== null) return found;
    try {
      return await inTransaction(this.#orm.em, (em) => provisionExternalUser(queryBuilderOf(em), user));
    } catch (error) {
      // Of two simultaneous first calls, one provisions the user and the other violates the unique constraint.
      const provisioned = isUniqueViolation(error) ? await this.#find(user) : null;
      if (provisioned !== null) return provisioned;
      throw error;
    }
  }

  #find(user: ExternalUser): Promise<string | null> {
    return findExternalUser(queryBuilderOf(this.#orm.em.fork()), user);
  }
}

/** Queries of the query builder fail with the driver's own error. */
function isUniqueViolation(error: unknown): boolean {
  return error instanceof UniqueConstraintViolationException || (error as { code?: unknown }).code === "23505";
}

function readName({ name }: AccessTokenClaims): string {
  const trimmed = typeof name === "string" ? name.trim().slice(0, MAX_NAME_LENGTH) : "";
  return trimmed === "" ? "User" : trimmed;
}
