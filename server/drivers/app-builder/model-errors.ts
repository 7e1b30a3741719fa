import { BuildFailure } from "../../../domain/shared/errors.ts";

interface Explanation {
  problem: string;
  advice: string;
}

const LATER = "Nothing is changed. Deploy again in a few minutes.";

/**
 * Explains to the owner of the app why the model's endpoint cannot be used, and who can correct it. What the endpoint returned
 * is left out, because it can contain a part of the key.
 *
 * @param status - the HTTP status; `null` without a response. A response that is cut off has a status of success.
 */
export function explainModelError(status: number | null, error: unknown): BuildFailure {
  const { problem, advice } = explain(status !== null && status >= 400 ? status : null, error);
  return new BuildFailure("user", `The app builder agent cannot use its language model: ${problem}`, advice, {
    cause: error,
  });
}

function explain(status: number | null, error: unknown): Explanation {
  if (status === 401 || status === 403)
    return { problem: `the endpoint rejects its key (${status}).`, advice: askOperator("MODEL_API_KEY") };
  if (status === 402)
    return { problem: "its account has no credit (402).", advice: askOperator("the account of the model") };
  if (status === 404)
    return {
      problem: "the endpoint has no such model (404).",
      advice: askOperator("BUILDER_MODEL, MODEL_NAME and MODEL_BASE_URL"),
    };
  if (status === 429)
    return { problem: "the endpoint limits its requests or has no credit left (429).", advice: LATER };
  if (status !== null && status >= 500) return { problem: `the endpoint failed (${status}).`, advice: LATER };
  if (status !== null)
    return {
      problem: `the endpoint rejects the request (${status}).`,
      advice: askOperator("whether the model can call tools"),
    };
  if (isTimeout(error)) return { problem: "it did not respond in time.", advice: LATER };
  return { problem: "there was no valid response.", advice: LATER };
}

function askOperator(what: string): string {
  return `Ask the operator of the service to check ${what}. Nothing is changed. Deploy without customization until then.`;
}

function isTimeout(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause.name === "TimeoutError") return true;
  return false;
}
