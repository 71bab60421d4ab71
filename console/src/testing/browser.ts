import { keepChats } from '../pages/studio/chat/kept-chats.ts';
import { setDraft } from '../work/keeper.ts';
import { TABS } from '../work/work.ts';

/** Forgets what this browser keeps: modules hold it beside the storage, and serve one test after the other. */
export function forgetBrowser(): void {
  for (const { tab } of TABS) setDraft(tab, { key: '', values: {} });
  keepChats({
    key: '',
    words: '',
    options: {},
    system: '',
    temperature: '',
    maxTokens: '',
    ids: [],
    pending: [],
  });
  localStorage.clear();
  // What it has made is read of the storage again, as when another tab writes.
  dispatchEvent(new StorageEvent('storage', { key: 'kiln.batches' }));
}
