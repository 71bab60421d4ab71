import { cleanup, configure } from '@testing-library/preact';
import { afterEach } from 'vitest';

import { setCredential } from '../api/caller.ts';
import { loadLaterTexts, loadTexts } from '../text/text.ts';

await loadTexts();
await loadLaterTexts();

// Only what never comes fails: on a busy machine a page is drawn after seconds.
configure({ asyncUtilTimeout: 100_000 });

// Each test begins with an empty page, an empty storage and signed out.
afterEach(() => {
  cleanup();
  document.title = 'Kiln';
  localStorage.clear();
  setCredential(null);
});
