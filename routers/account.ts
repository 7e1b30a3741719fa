import { getAccount } from "../domain/users/get-account.ts";
import { account as accountSchema } from "./account.schema.ts";
import { procedure, router } from "./core/trpc.ts";

/** For clients that show who is signed in, over RPC only. */
export const account = router({
  get: procedure.output(accountSchema).query(({ ctx }) => getAccount(ctx.service, ctx.caller)),
});
