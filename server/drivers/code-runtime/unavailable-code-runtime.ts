import { ServiceError } from "../../../domain/shared/errors.ts";
import type { CodeRuntime, RunResult } from "../../../domain/ports/code-runtime.ts";

/** For a service without a sandbox: whatever agents write would run with its rights. */
export class NoCodeRuntime implements CodeRuntime {
  run(): Promise<RunResult> {
    return Promise.reject(
      new ServiceError(
        "invalid",
        "Code is not run here: this service works without a sandbox (SANDBOX=none). Call the tools directly.",
      ),
    );
  }
}
