/** One clause of the interface specification, reworded. */
export interface Requirement {
  /** The section of the specification. */
  section: string;
  clause: string;
  /** `covered`: a test cites it, which `requirements-coverage.test.ts` enforces. `planned`: not implemented, so no test may cite it. */
  state: "covered" | "planned";
}

export function covered(section: string, clause: string): Requirement {
  return { section, clause, state: "covered" };
}

export function planned(section: string, clause: string): Requirement {
  return { section, clause, state: "planned" };
}
