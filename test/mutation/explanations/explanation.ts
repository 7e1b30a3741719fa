/** Why a survivor is acceptable: the mutant behaves like the original, or its effect is measured elsewhere. */
export interface Explanation {
  /** The mutated code, as the page shows it. */
  original: string;
  /** Without it, all mutations of this code. */
  replacement?: string;
  reason: string;
}
