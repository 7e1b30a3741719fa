import { listOAuthConnections } from "../domain/users/list-oauth-connections.ts";
import { revokeOAuthConnection } from "../domain/users/revoke-oauth-connection.ts";
import { connectionId, listConnectionsResponse, revokeConnectionResponse } from "./oauth-connections.schema.ts";
import { procedure, router } from "./core/trpc.ts";

/** For the account page of the dashboard, over RPC only. */
export const oauthConnections = router({
  list: procedure
    .meta({ access: { scope: "everything" }, summary: "List the programs that have access to your account" })
    .output(listConnectionsResponse)
    .query(({ ctx }) => listOAuthConnections(ctx.service, ctx.caller)),

  revoke: procedure
    .meta({ access: { scope: "everything" }, summary: "Revoke the access of a program to your account" })
    .input(connectionId)
    .output(revokeConnectionResponse)
    .mutation(({ ctx, input }) => revokeOAuthConnection(ctx.service, ctx.caller, input.id)),
});
