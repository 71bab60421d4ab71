import { afterAll, vi } from 'vitest';

import { ownWhatStarts } from './owner.ts';

// What the tests of a file start ends with the file's process.
ownWhatStarts();

// Other files follow in this process: a page that one leaves behind makes libraries think that they run in a browser.
afterAll(() => {
  const left = ['window', 'document'].filter((name) => name in globalThis);
  for (const name of left) Reflect.deleteProperty(globalThis, name);
  if (left.length > 0) throw new Error(`left behind by this file: ${left.join(', ')}; close its page`);
});

// Code that is still being loaded when a file ends would be lost for every file that follows in this process.
afterAll(() => vi.dynamicImportSettled());
