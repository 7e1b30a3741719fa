import { executeCode } from "../domain/execution/execute-code.ts";
import { executeRequest, executeResponse } from "./execution.schema.ts";
import { procedure, router } from "./core/trpc.ts";

export const execution = router({
  run: procedure
    .meta({
      tool: {
        name: "service_execute",
        title: "Run TypeScript",
        description:
          'Runs TypeScript and returns stdout, stderr and the exit code. The global `service` calls the organization\'s apps and this gateway\'s tools: `await service.apps["<slug>"].<procedure>(input)`, `await service.tools.<tool>(input)`; a call that fails rejects with an Error that has a code. Use it for several calls in a row, or to compute over results. Find procedures with service_docs_search first; `console.log(await service.types("<slug>"))` prints all of an app\'s with their types. Long output is cut: print what you need. No network, files, environment or npm; `import { z } from "zod"` works. Example: const apps = await service.tools.service_list_apps({}); console.log(apps.apps.length);',
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      },
    })
    .input(executeRequest)
    .output(executeResponse)
    .mutation(({ ctx, input, signal }) =>
      executeCode(
        ctx.execution,
        ctx.caller,
        { code: input.code, timeoutMs: input.timeout_ms, callTool: ctx.callTool },
        signal ?? new AbortController().signal,
      ),
    ),
});
