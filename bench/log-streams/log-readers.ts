import http from "node:http";
import type { RunningBuild } from "../support/start-build.ts";

/** Readers of the log of one build, whose lines are the times at which they were printed, in milliseconds. */
export class LogReaders implements Disposable {
  readonly #requests: http.ClientRequest[] = [];
  /** The time from the print of a line to its arrival at a reader, in milliseconds, of the lines printed after `since`. */
  readonly delaysMs: number[] = [];
  readonly #since = Date.now();

  /** Opens streams, and waits until each has its first bytes. */
  async open(build: RunningBuild, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#open(build)));
  }

  [Symbol.dispose](): void {
    for (const request of this.#requests) request.destroy();
  }

  #open({ appUrl, authorization }: RunningBuild): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = http.get(`${appUrl}/logs?follow`, { headers: { authorization }, agent: false });
      this.#requests.push(request);
      request.on("error", reject);
      request.on("response", (response) => {
        if (response.statusCode !== 200) reject(new Error(`The stream returned ${response.statusCode}.`));
        response.on("error", () => undefined);
        response.on("data", (bytes: Buffer) => {
          resolve();
          this.#read(bytes);
        });
      });
    });
  }

  /** The service sends whole events at once, and they arrive at once on this machine. */
  #read(bytes: Buffer): void {
    const now = Date.now();
    for (const [, printed] of bytes.toString().matchAll(/^data: (\d{13})$/gm))
      if (Number(printed) > this.#since) this.delaysMs.push(now - Number(printed));
  }
}
