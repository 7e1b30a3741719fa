import { expect, test } from "vitest";
import { RecordReader } from "../../../server/platforms/embedded/workerd/record-reader.ts";
import type { PrintedRecord } from "../../../server/platforms/embedded/runtime-logs/record-sink.ts";

/** A line of workerd's output. */
const line = (message: string) => Buffer.from(`${JSON.stringify({ timestamp: 1, level: "info", message })}\n`);

test("a record that workerd has cut off, or that is not a record, is skipped", () => {
  const printed: PrintedRecord[] = [];
  const sink = { print: (record: PrintedRecord) => void printed.push(record), isFull: () => false, drop: () => {} };
  const reader = new RecordReader("mark", sink);
  for (const cut of ['[1,"log",null,"too lo', "", "null", "{}", '[1,"log",null]', '["1","log",null,"text"]'])
    reader.read(line(`mark${cut}`));
  reader.read(line('mark[1,"log",null,"complete"]'));
  expect(printed).toEqual([[1, "log", null, "complete"]]);
});
