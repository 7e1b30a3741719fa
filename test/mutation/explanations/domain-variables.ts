import type { Explanation } from "./explanation.ts";

const ERROR_TEXT = "The text of an error.";

const PAUSE = "Equivalent: only the time between two checks differs.";
const OUTER_JOIN = "Equivalent: both columns of the outer join are null, or none.";
const NO_VARIABLE = "Never evaluated: the transaction fails, or there is a variable.";

export const DOMAIN_VARIABLES: Record<string, Explanation[]> = {
  "domain/variables/apply-status.ts": [
    { original: "Math.min(pauseMs * 2, 250)", reason: PAUSE },
    { original: "pauseMs * 2", reason: PAUSE },
    { original: "Date.now() >= deadline", reason: "Differs for one millisecond." },
  ],
  "domain/variables/set-variable.ts": [
    { original: 'throw new Error("the transaction has committed without a variable");', reason: NO_VARIABLE },
    { original: "stored === undefined", replacement: "false", reason: NO_VARIABLE },
  ],
  "domain/variables/stored-variables.ts": [
    { original: "name === null || sealedValue === null", reason: OUTER_JOIN },
    { original: "name === null", reason: OUTER_JOIN },
    { original: "sealedValue === null", reason: OUTER_JOIN },
  ],
  "domain/variables/variable-rules.ts": [
    { original: "prefix === undefined", reason: ERROR_TEXT },
    { original: '`"${name}" is`', reason: ERROR_TEXT },
    { original: '`names that start with "${prefix}" are`', reason: ERROR_TEXT },
  ],
};
