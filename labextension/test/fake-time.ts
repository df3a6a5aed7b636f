import { vi } from 'vitest';

/** Have timers, frames and the clock of the page stand still, but for what the test lets pass. */
export function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'requestAnimationFrame', 'cancelAnimationFrame', 'performance'] });
}
