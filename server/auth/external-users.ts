import { UniqueConstraintViolationException } from "@mikro-orm/core";
import {
  provisionExternalUser,
  findUserByEmail,
  type ExternalUser,
} from "../../domain/users/provision-external-user.ts";
import { queryBuilderOf } from "../../domain/database-types.ts";
import type { Orm } from "../database/orm.ts";
import type { AccessClaims } from "./access-token-verifier.ts";

const KEPT = 10_000;

/** People of an external identity provider: made at first sight, recognised by issuer and subject alone. */
export class ExternalUsers {
  readonly #orm: Orm;
  readonly #known = new Map<string, string>();

  constructor(orm: Orm) {
    this.#orm = orm;
  }

  /** The id of the person behind the claims. */
  async userIdOf(claims: AccessClaims): Promise<string> {
    const person = { issuer: String(claims.iss), subject: claims.sub, name: nameOf(claims) };
    const key = `${person.issuer}\n${person.subject}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const userId = await this.#findOrAdd(person);
    if (this.#known.size >= KEPT) this.#known.clear();
    this.#known.set(key, userId);
    return userId;
  }

  async #findOrAdd(person: ExternalUser): Promise<string> {
    const found = await findUserByEmail(queryBuilderOf(this.#orm.em.fork()), person);
    if (found !== null) return found;
    try {
      return await this.#orm.em.fork().transactional((em) => provisionExternalUser(queryBuilderOf(em), person));
    } catch (error) {
      // Two first calls at once: the other one has made the person.
      const other = isTaken(error) ? await findUserByEmail(queryBuilderOf(this.#orm.em.fork()), person) : null;
      if (other !== null) return other;
      throw error;
    }
  }
}

/** Plain queries fail with the driver's own error. */
function isTaken(error: unknown): boolean {
  return error instanceof UniqueConstraintViolationException || (error as { code?: unknown }).code === "23505";
}

function nameOf({ name }: AccessClaims): string {
  const given = typeof name === "string" ? name.trim().slice(0, 100) : "";
  return given === "" ? "Person" : given;
}
