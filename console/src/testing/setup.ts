import { cleanup, configure, getConfig } from '@testing-library/preact';
import { afterAll, afterEach, vi } from 'vitest';

import { currentCredential, setCredential } from '../api/caller.ts';
import { loadLaterTexts, loadTexts } from '../text/text.ts';
import { StandInSocket } from './socket.ts';

// Before the client of the console takes the browser's.
Object.assign(globalThis, { WebSocket: StandInSocket });
// No test reaches a network; those that have a server say which.
globalThis.fetch = async () => {
  throw new TypeError('there is no server');
};
// Nothing has a size in a page without a layout, and lists draw what fits: here every element is as wide as a window.
Object.defineProperty(HTMLElement.prototype, 'clientWidth', { get: () => innerWidth, configurable: true });

// What listens to these is told by Preact to listen to events of their names, if the page knows such events.
for (const name of [
  'dragover',
  'dragleave',
  'drop',
  'toggle',
  'load',
  'ended',
  'timeupdate',
  'seeked',
  'close',
])
  Object.defineProperty(HTMLElement.prototype, `on${name}`, { value: null, writable: true });

await loadTexts();
await loadLaterTexts();
// Its modules take the socket from above.
const { endQueries, forgetBrowser } = await import('./browser.ts');

// Only what never comes fails: on a busy machine a page is drawn after seconds. Who makes a page wrong on purpose waits less
// for what does not come (tools/mutants).
configure({ asyncUtilTimeout: Number(import.meta.env['ASYNC_TIMEOUT_MS'] ?? 100_000) });

// The page is printed with the error that fails a test, not with each one that only means "not yet" to who waits.
const { getElementError } = getConfig();
configure({
  getElementError: (message, container) =>
    message !== null && isWaiting() ? new Error(message) : getElementError(message, container),
});

/** Testing Library's own mark while it asks again; where it is missing, the page is printed each time. */
function isWaiting(): boolean {
  const config: object = getConfig();
  return '_disableExpensiveErrorDiagnostics' in config && config._disableExpensiveErrorDiagnostics === true;
}

// Each test begins with an empty page, an empty storage and signed out.
afterEach(() => {
  cleanup();
  document.title = 'Kiln';
  endQueries();
  forgetBrowser();
  // Whoever is signed out asks the server again.
  if (currentCredential() !== null) setCredential(null);
});

// Code that is still being loaded when a file ends would be lost for every file that follows in this process.
afterAll(() => vi.dynamicImportSettled());
