import { executeCode } from "../domain/execution/execute-code.ts";
import { executeRequest, executeResponse } from "./execution.schema.ts";
import { procedure, router } from "./core/trpc.ts";

export const execution = router({
  run: procedure
    .meta({
      // Each call of the program requires its own scope.
      access: { scope: "read" },
      withoutRest: { reason: "a program is written by an agent", isCommand: true },
      tool: {
        name: "service_execute",
        title: "Run TypeScript",
        description:
          'Runs TypeScript and returns stdout, stderr and the exit code. The global `service` calls the organization\'s apps and this gateway\'s tools: `await service.apps["<slug>"].<procedure>(input)`, `await service.tools.<tool>(input)`; a failed call rejects with an Error that has a code. Use it for several calls in a row, or to compute with results. Find procedures with service_docs_search first; `console.log(await service.types("<slug>"))` prints the types of all procedures of an app. Long output is truncated: print only what you need. Files in /workspace (write this path in the code) are kept for the next programs of your agent: 64 MiB, 2,000 files. Network, other files, environment variables and npm packages are not available; `import { z } from "zod"` works. Example: const apps = await service.tools.service_list_apps({}); console.log(apps.apps.length);',
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      },
    })
    .input(executeRequest)
    .output(executeResponse)
    .mutation(({ ctx, input, signal }) =>
      executeCode(
        ctx.service,
        ctx.caller,
        { code: input.code, timeoutMs: input.timeout_ms, agentId: input.agent_id, callTool: ctx.callTool },
        signal ?? new AbortController().signal,
      ),
    ),
});
