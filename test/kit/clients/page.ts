import { Window } from 'happy-dom';

/** A page as a browser has it, for what draws into one inside the test's process. */
export interface Page {
  readonly document: Window['document'];
  /** Takes it away again: other tests of this process run in Node, where libraries look for a window to know that. */
  close(): Promise<void>;
}

/** Opens an empty page, which is the `window` and `document` of this process until it is closed. */
export function openPage(): Page {
  const window = new Window();
  const { document } = window;
  Object.assign(globalThis, { window, document });
  return {
    document,
    async close() {
      await window.happyDOM.close();
      for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name);
    },
  };
}
