import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/** The part of an error's stack that is printed, in lines. */
const STACK_LINES = 8;

/** Repeats at the end of a run what has failed. The end of a long log is what continuous integration shows. */
export default class FailureReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const lines = [
      ...modules.flatMap(listFailures),
      ...unhandledErrors.map((error) => `Unhandled ${describeError(error)}`),
    ];
    if (lines.length > 0) console.error(`\n${lines.join("\n")}`);
  }
}

function listFailures(module: TestModule): string[] {
  const tests = [...module.children.allTests("failed")].map((test) => {
    const errors = (test.result().errors ?? []).map(describeError);
    return [`FAILED ${module.relativeModuleId} > ${test.fullName}`, ...errors].join("\n");
  });
  return [...module.errors().map((error) => `FAILED ${module.relativeModuleId}: ${describeError(error)}`), ...tests];
}

function describeError({ name, message, stack }: SerializedError): string {
  const text = stack?.includes(message) === true ? stack : `${name}: ${message}\n${stack ?? ""}`;
  return text.split("\n").slice(0, STACK_LINES).join("\n");
}
