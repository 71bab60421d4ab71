import { vi } from 'vitest';

import { client } from '../api/client.ts';
import { endSharedQueries } from '../api/shared-queries.ts';
import { keepChats, NO_CHATS } from '../pages/studio/chat/kept-chats.ts';
import { setDraft } from '../work/keeper.ts';
import { TABS } from '../work/work.ts';

/** Forgets what this browser keeps: modules hold it beside the storage, and serve one test after the other. */
export function forgetBrowser(): void {
  // The newest counts: older than all that a test keeps.
  vi.useFakeTimers({ now: 0, toFake: ['Date'] });
  for (const { tab } of TABS) setDraft(tab, { key: '', values: {} });
  keepChats(NO_CHATS);
  vi.useRealTimers();
  localStorage.clear();
  // What it has made is read of the storage again, as when another tab writes.
  dispatchEvent(new StorageEvent('storage', { key: 'kiln.batches' }));
}

/** Ends what was shown: it would be asked for again, of the server of the next test, as soon as somebody else signs in. */
export function endQueries(): void {
  endSharedQueries(client);
  // A query whose component has gone ends in a turn of its own.
  for (const query of client.getObservableQueries('all')) query.stop();
}
