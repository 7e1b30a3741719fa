import { UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../domain/database-types.ts";
import { createOrganization } from "../../domain/organizations/create-organization.ts";
import { recordConnection } from "../../server/identity/side-effects.ts";
import { sharedDatabase } from "../support/database/shared-database.ts";
import { givenConsent, givenOAuthClient, givenUser } from "../support/identity/given-user.ts";

const orm = sharedDatabase();
const em = () => orm().em.fork();
/** In seconds since the epoch. */
const ISSUED_AT = 1_800_000_000;
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Records what the token endpoint has returned to a client. */
function record(grantType: string, accessToken: unknown): Promise<void> {
  const call = {
    path: "/oauth2/token",
    body: { grant_type: grantType },
    context: { returned: { access_token: accessToken } },
  };
  return recordConnection(queryBuilderOf(em()), call);
}

function connectionsOf(userId: string): Promise<unknown[]> {
  return em().execute(
    `select "clientId", scope, "organizationId", extract(epoch from "connectedAt")::int as at
     from auth."oauthConnection" where "userId" = ?`,
    [userId],
  );
}

async function givenGrant() {
  const [userId, clientId] = [await givenUser(em()), await givenOAuthClient(em())];
  const issue = (claims: object = {}) =>
    new UnsecuredJWT({ sub: userId, iat: ISSUED_AT, client_id: clientId, scope: "read", ...claims }).encode();
  return { userId, clientId, issue };
}

test("an authorization code connects a client only with the consent of the user, and a device code without", async () => {
  const { userId, clientId, issue } = await givenGrant();
  await record("authorization_code", issue());
  expect(await connectionsOf(userId)).toEqual([]);
  await givenConsent(em(), userId, clientId);
  await record("authorization_code", issue());
  const connection = { clientId, scope: "read", organizationId: null, at: ISSUED_AT };
  expect(await connectionsOf(userId)).toEqual([connection]);
  const onDevice = await givenGrant();
  await record(DEVICE_GRANT, onDevice.issue());
  expect(await connectionsOf(onDevice.userId)).toEqual([{ ...connection, clientId: onDevice.clientId }]);
});

test("a refresh updates the scope of a connection, and does not restore one that was revoked", async () => {
  const { userId, clientId, issue } = await givenGrant();
  await record("refresh_token", issue());
  expect(await connectionsOf(userId)).toEqual([]);
  await record(DEVICE_GRANT, issue());
  await record("refresh_token", issue({ scope: "read deploy", iat: ISSUED_AT + 60 }));
  expect(await connectionsOf(userId)).toEqual([
    { clientId, scope: "read deploy", organizationId: null, at: ISSUED_AT },
  ]);
});

test("a connection has the organization of the token, and no scope if the token has none", async () => {
  const { userId, clientId, issue } = await givenGrant();
  const settings = { name: "Acme", email: "owner@example.com", plan: "free" };
  const { org_id: organizationId } = await em().transactional((tx) => createOrganization(tx, settings));
  await record(DEVICE_GRANT, issue({ org_id: organizationId, scope: undefined }));
  expect(await connectionsOf(userId)).toEqual([{ clientId, scope: "", organizationId, at: ISSUED_AT }]);
  await record(DEVICE_GRANT, issue({ org_id: 7, scope: ["read"] }));
  expect(await connectionsOf(userId)).toEqual([{ clientId, scope: "", organizationId: null, at: ISSUED_AT }]);
});

test("a response without an access token of a user and a client records no connection", async () => {
  const { userId, issue } = await givenGrant();
  const incomplete = [{ sub: undefined }, { iat: undefined }, { client_id: undefined }, { client_id: 7 }];
  const tokens = [undefined, null, 7, "an opaque token", "two.parts", ...incomplete.map((claims) => issue(claims))];
  for (const token of tokens) await expect(record(DEVICE_GRANT, token)).resolves.toBeUndefined();
  expect(await connectionsOf(userId)).toEqual([]);
});
