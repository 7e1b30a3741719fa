/** One obligation of the interface specification, in our own words. */
export interface Requirement {
  /** The section of the specification that states it. */
  section: string;
  clause: string;
  /** `held`: a test cites it, and `coverage.test.ts` insists on that. `later`: not built yet, so no test may cite it. */
  state: "held" | "later";
}

export function held(section: string, clause: string): Requirement {
  return { section, clause, state: "held" };
}

export function later(section: string, clause: string): Requirement {
  return { section, clause, state: "later" };
}
