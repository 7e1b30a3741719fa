import type { EntityManager } from "@mikro-orm/core";
import { randomUUID } from "node:crypto";
import { Refusal } from "../errors.ts";
import { mintToken } from "../tokens/mint-token.ts";
import { Organization } from "./organization.entity.ts";

export interface Founding {
  name: string;
  email: string;
  plan: string;
}

/** What the founder gets to see once. */
export interface Founded {
  org_id: string;
  user_id: string;
  api_key: string;
  personal_access_token: string;
}

/**
 * Creates an organization with its owner and the first tokens, in the transaction of `em`.
 *
 * @throws {Refusal} `invalid` for a name or address that is not one
 */
export async function foundOrganization(em: EntityManager, { name, email, plan }: Founding): Promise<Founded> {
  if (name.trim() === "" || name.length > 100)
    throw new Refusal("invalid", "The name of an organization has 1 to 100 characters.");
  if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email))
    throw new Refusal("invalid", "The owner needs an e-mail address, such as ada@example.com.");
  const ownerId = randomUUID();
  const organization = em.create(Organization, { name: name.trim(), plan, ownerId, ownerEmail: email });
  const shared = { orgId: organization.id, userId: ownerId };
  const apiKey = mintToken(em, { ...shared, kind: "api_key", name: "First API key" });
  const personal = mintToken(em, { ...shared, kind: "personal_access_token", name: "First personal access token" });
  await em.flush();
  return {
    org_id: organization.id,
    user_id: ownerId,
    api_key: apiKey.token,
    personal_access_token: personal.token,
  };
}
