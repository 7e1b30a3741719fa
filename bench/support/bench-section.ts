/** What a section works with. */
export interface Bench {
  /** Aborted when somebody wants the run to end; whatever waits must then give up and clear away. */
  signal: AbortSignal;
  /** An empty folder that is removed when the section ends. */
  folder: string;
  /** Reports progress, a line at a time. */
  say(line: string): void;
}

/** One measured figure and what it is held to. */
export interface Figure {
  what: string;
  measured: string;
  /** `null` for a figure that only explains another one. */
  target: { bound: string; met: boolean } | null;
  /** The absolute values behind it. */
  detail: string;
}

export interface Findings {
  figures: Figure[];
  /** Sentences for the reader that the figures need. */
  notes: string[];
}

/** A part of the benchmarks that can be run by itself. */
export interface Section {
  /** What it is called on the command line. */
  name: string;
  title: string;
  /** How it is measured, in a paragraph. */
  method: string;
  measure(bench: Bench): Promise<Findings>;
}
