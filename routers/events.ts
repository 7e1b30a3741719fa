import { listAppStates } from "../domain/events/list-app-states.ts";
import { procedure, router } from "./core/trpc.ts";
import { eventsRequest, eventsResponse } from "./events.schema.ts";

export const events = router({
  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/events",
        tags: ["Organization"],
        summary: "List or follow what changes in the organization",
        description: "The states of the 100 apps that changed last, latest first.",
        successDescription: "The states of apps",
      },
    })
    .input(eventsRequest)
    .output(eventsResponse)
    .query(({ ctx }) => listAppStates(ctx.service, ctx.caller)),
});
