import { timeOfDay } from "./clock.ts";

const clock = document.querySelector<HTMLTimeElement>("#clock");

function tick(now: Date): void {
  if (!clock) return;
  clock.dateTime = now.toISOString();
  clock.textContent = timeOfDay(now);
}

tick(new Date());
setInterval(() => tick(new Date()), 1000);
