import type { CodeRuntime, RunResult } from "../../../domain/ports/code-runtime.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

/** Used when the service has no sandbox, because programs would run with the rights of the service. */
export class UnavailableCodeRuntime implements CodeRuntime {
  run(): Promise<RunResult> {
    return Promise.reject(
      new ServiceError(
        "invalid",
        "Programs cannot run here, because the service has no sandbox (SANDBOX=none). Call the tools directly.",
      ),
    );
  }
}
