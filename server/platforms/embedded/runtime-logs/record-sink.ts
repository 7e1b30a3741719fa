/** A message that an app printed. The level is a method of `console`, or `exception`. */
export type PrintedRecord = [time: number, level: string, requestId: unknown, message: string];

/** Receives what an app prints. */
export interface RecordSink {
  print(record: PrintedRecord): void;
  /** Whether the next record would be dropped. It then need not be parsed, so that an app that prints without end costs little. */
  isFull(): boolean;
  /** Counts a record that was dropped. */
  drop(): void;
}
