/**
 * Prints the elapsed time once per second until the returned function is called, so that a slow start is not silent. This
 * module imports nothing, because loading the other modules is a part of the start.
 */
export function showStartProgress(): () => void {
  let seconds = 0;
  const timer = setInterval(() => process.stdout.write(`Starting the service ... ${++seconds} s\n`), 1000);
  return () => clearInterval(timer);
}
