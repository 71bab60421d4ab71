import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the start: by then the first background rounds have run, and hardly a request is under way. */
const AFTER_MS = 10_000;

/**
 * Releases, once, what only the start needed, and writes the compiled code for the next start. V8 collects the old
 * space when it fills up, which a process at rest may not do for hours: without this it keeps a third more memory.
 */
export function releaseMemoryAfterStart(): void {
  setTimeout(() => {
    flushCompileCache();
    collectGarbage();
  }, AFTER_MS).unref();
}

interface Collector {
  (options: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }): void;
}

/** The flag shows `gc` to contexts made after it, not to the process itself. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collector;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
