import http from "node:http";

const CONNECTIONS = 16;

export interface RequestsDuring {
  requests: number;
  /** A description of each failed request. */
  failures: string[];
}

/**
 * Requests `/` of an app over several connections, until the work is done and at least `count` requests have ended.
 */
export async function requestsDuring(work: Promise<unknown>, appUrl: string, count: number): Promise<RequestsDuring> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures: string[] = [];
  let requests = 0;
  const done = new AbortController();
  const request = async (): Promise<void> => {
    while (!done.signal.aborted || requests < count) {
      const failure = await requestOnce(agent, appUrl);
      requests++;
      if (failure !== null) failures.push(failure);
    }
  };
  const connections = Array.from({ length: CONNECTIONS }, request);
  await work.finally(() => done.abort());
  await Promise.all(connections);
  agent.destroy();
  return { requests, failures };
}

function requestOnce(agent: http.Agent, appUrl: string): Promise<string | null> {
  const { port, host } = new URL(appUrl);
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, headers: { host }, agent }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200 ? null : `status ${response.statusCode}`));
      response.on("error", (error) => resolve(error.message));
    });
    request.on("error", (error) => resolve(error.message));
  });
}
