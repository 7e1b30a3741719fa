// Posts a body of 5 MB to a URL 20 times, and prints the statuses as JSON. A failed request is its error code.
const [url = "", headers = "{}"] = process.argv.slice(2);
const results: (number | string)[] = [];
for (let round = 0; round < 20; round++) {
  try {
    const init = { ...(JSON.parse(headers) as Record<string, string>), "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers: init, body: new Uint8Array(5_000_000) });
    await response.text();
    results.push(response.status);
  } catch (error) {
    results.push(((error as Error).cause as NodeJS.ErrnoException).code ?? "unknown");
  }
}
process.stdout.write(JSON.stringify(results));
