// Lets the clock of JavaScript advance in steps of TEST_CLOCK_MS milliseconds only. A test that needs two objects to have
// different times, without making sure of it, then always fails, and not once in a hundred runs.
const Clock = Date;
const step = Number(process.env["TEST_CLOCK_MS"]);

class CoarseDate extends Clock {
  constructor(...values: unknown[]) {
    if (values.length === 0) super(CoarseDate.now());
    else super(...(values as [number]));
  }

  static override now(): number {
    return Math.floor(Clock.now() / step) * step;
  }
}

// Test files of one worker share their globals, and each of them loads this file.
if (Clock.name === "Date") globalThis.Date = CoarseDate as DateConstructor;
