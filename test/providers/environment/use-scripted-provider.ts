import { afterAll, beforeAll, beforeEach } from 'vitest';

import { must, openScriptedProvider, type ScriptedProvider } from './environment.ts';

/**
 * A stage for the tests of the file or block that calls this: opened before the first, closed after the last. What one
 * test sent or planned, the next does not see.
 */
export function useScriptedProvider(name: string, basePath = ''): Omit<ScriptedProvider, 'close'> {
  let open: ScriptedProvider | undefined;
  beforeAll(async () => {
    open = await openScriptedProvider(name, basePath);
  });
  afterAll(() => open?.close());
  beforeEach(() => open?.proxy.reset());
  const stage = () => must(open, 'stage');
  return {
    get provider() {
      return stage().provider;
    },
    get proxy() {
      return stage().proxy;
    },
    get context() {
      return stage().context;
    },
  };
}
