import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { render, waitFor } from '@testing-library/preact';
import { useState } from 'react';
import { expect, it } from 'vitest';

import { key, shown } from '../testing/use.ts';
import { type Over, takeTyped, useShellKeys } from './use-shell-keys.ts';

it('leaves the keyboard to the page where the palette could not be loaded, until Escape', async () => {
  function Page() {
    const [over, show] = useState<Over>('palette');
    useShellKeys(over, show);
    return <output>{over}</output>;
  }
  const routeTree = createRootRoute({ component: Page });
  const history = createMemoryHistory({ initialEntries: ['/'] });
  render(<RouterProvider router={createRouter({ routeTree, history }) as never} />);
  const output = await shown('output');
  const is = (over: string) => waitFor(() => expect(output.textContent).toBe(over));
  // It listens.
  await waitFor(() => expect(key('g')).toBe(true));
  expect([key('k', { ctrlKey: true }), key('x')]).toEqual([false, false]);
  expect(key('Escape')).toBe(true);
  await is('');
  expect([key('k', { ctrlKey: true }), key('x')]).toEqual([true, true]);
  await is('palette');
  expect(takeTyped()).toBe('x');
});
