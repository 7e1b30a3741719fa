/** The environment of a section. */
export interface BenchContext {
  /** Aborted when the run is interrupted. Pending work must then stop and remove its resources. */
  signal: AbortSignal;
  /** An empty folder that is removed after the section. */
  folder: string;
  /** Prints one line of progress. */
  log(line: string): void;
}

/** One measured value and its target. */
export interface Metric {
  name: string;
  result: string;
  /** `null` for a metric without a target. */
  target: { bound: string; met: boolean } | null;
  /** The absolute values from which the result was calculated. */
  details: string;
}

export interface SectionResult {
  metrics: Metric[];
  /** Paragraphs that explain the metrics. */
  notes: string[];
}

/** A part of the benchmarks that can be run on its own. */
export interface Section {
  /** The name on the command line. */
  name: string;
  title: string;
  /** A paragraph that describes how it is measured. */
  method: string;
  measure(context: BenchContext): Promise<SectionResult>;
}

/** Formats a number as an integer with thousands separators. */
export function formatInteger(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
