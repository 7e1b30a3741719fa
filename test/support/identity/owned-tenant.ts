import type { Harness, Tenant } from "../service/harness.ts";
import { OAuthRequests } from "./oauth-requests.ts";
import { signUpOwner } from "./organization-members.ts";
import { TestUser } from "./test-user.ts";

/** An organization whose only member has signed in. */
export interface OwnedTenant {
  tenant: Tenant;
  owner: TestUser;
  oauth: OAuthRequests;
  url: string;
}

/** Creates an organization and its owner, who is a member of no other organization. `SIGN_UP` must be `open`. */
export async function createOwnedTenant(harness: Harness): Promise<OwnedTenant> {
  const { publicUrl: url } = harness.service;
  // The first user claims the organization of the first start.
  await new TestUser(url).signUp();
  const tenant = await harness.tenant();
  const owner = await signUpOwner(harness, tenant);
  return { tenant, owner, oauth: new OAuthRequests(url, owner), url };
}
