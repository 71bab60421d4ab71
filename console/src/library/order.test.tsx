import { ApolloProvider } from '@apollo/client/react';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, waitFor } from '@testing-library/preact';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useCaller } from '../api/caller.ts';
import { client } from '../api/client.ts';
import { find } from '../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../testing/whole-console.tsx';
import { buyerText, findBuyer, listedFor, priceText, useOrder, useParameters } from './order.ts';

afterEach(async () => {
  sessionStorage.clear();
  vi.restoreAllMocks();
  await closeConsole();
});

it('calls a buyer by name, by address, as a visitor, else by id', () => {
  const user = { name: 'Ada', email: 'ada@example.org' };
  expect(buyerText({ userId: 'usr_a', user })).toBe('Ada');
  expect(buyerText({ userId: 'usr_a', user: { ...user, name: null } })).toBe('ada@example.org');
  expect(buyerText({ userId: 'usr_a', user: { name: null, email: null } })).toBe('usr_a');
  expect(buyerText({ userId: 'visitor-12345678-90ab', user: null })).toMatch(/12345678$/);
  expect(buyerText({ userId: 'a-visitor-12345678-90ab', user: null })).toBe('a-visitor-12345678-90ab');
});

it('buys for a user by id, for a visitor by a name that this browser keeps, for no key', () => {
  const caller = (kind: string) => ({ id: 'usr_a', kind }) as never;
  expect([findBuyer(caller('USER')), findBuyer(caller('KEY')), findBuyer(undefined)]).toEqual([
    'usr_a',
    null,
    null,
  ]);
  const visitor = findBuyer(caller('ANONYMOUS'));
  expect(visitor).toMatch(/^visitor-[0-9a-f-]{36}$/);
  expect(localStorage.getItem('kiln.buyer')).toBe(visitor);
  expect([findBuyer(caller('ANONYMOUS')), listedFor(caller('ANONYMOUS'))]).toEqual([visitor, visitor]);
  expect([listedFor(caller('USER')), listedFor(undefined)]).toEqual([null, null]);
});

it('says what a template costs', () => {
  const price = (amount: number | null) =>
    priceText({ creditCost: 3, salePrice: amount === null ? null : { amount, currency: 'usd' } });
  expect([price(null), price(0), price(250)]).toEqual(['3 credits', 'free', '$2.50']);
});

/** What an order is made with, over a server. */
async function order(root: Fields) {
  const opened = await openConsole('/tasks', { ...root });
  function Order() {
    const { run, buy, error, isBusy } = useOrder('poster');
    return (
      <>
        <button type="button" onClick={() => run({ prompt: 'a lake', empty: '' })}>
          run
        </button>
        <button type="button" onClick={() => buy({ prompt: 'a lake' })}>
          buy
        </button>
        <output>{useCaller()?.kind}</output>
        <p data-order>{`${isBusy ? 'busy' : 'idle'} ${error === undefined ? 'well' : 'failed'}`}</p>
      </>
    );
  }
  const routeTree = createRootRoute({ component: Order });
  const router = createRouter({ routeTree, history: createMemoryHistory({ initialEntries: ['/'] }) });
  render(
    <ApolloProvider client={client}>
      <RouterProvider router={router as never} />
    </ApolloProvider>,
  );
  const press = async (name: string) => fireEvent.click(await find('button', name));
  const is = (words: string) =>
    waitFor(() => expect(document.querySelector('[data-order]')?.textContent).toBe(words));
  return { ...opened, press, is, at: () => router.state.location.pathname };
}
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

describe('an order', () => {
  it('runs at once for who need not pay, and shows the execution', async () => {
    const { press, askedFor, at, is } = await order({ executeTemplate: { taskId: 't1' } });
    await press('run');
    await is('busy well');
    await waitFor(() => expect(at()).toBe('/shop/executions/t1'));
    expect(askedFor('ExecuteTemplate')).toEqual([
      { code: 'poster', parameters: { prompt: 'a lake' }, key: UUID, onBehalfOf: null },
    ]);
  });

  it.each([
    ['run', 'ExecuteTemplate'],
    ['buy', 'Checkout'],
  ])(
    'is the same order where its answer was lost, and another one where it was refused: %s',
    async (name, operation) => {
      const codes = ['INTERNAL', 'RATE_LIMITED', 'CONFLICT', 'CONFLICT'];
      const refuse = () => refusal(codes.shift() ?? '');
      const { press, askedFor, hasAsked, is } = await order({ executeTemplate: refuse, checkout: refuse });
      // Who buys is known by then.
      await find('output', 'USER');
      const reach = fetch;
      let isLost = true;
      vi.stubGlobal('fetch', async (...asked: Parameters<typeof fetch>) => {
        const answered = await reach(...asked);
        if (isLost && askedFor(operation).length === 1) throw new TypeError('failed to fetch');
        return answered;
      });
      for (const times of [1, 2, 3, 4]) {
        await press(name);
        await hasAsked(operation, times);
        await is('idle failed');
        isLost = false;
      }
      const [first, ...others] = askedFor(operation).map(({ key }) => key);
      expect(others.map((key) => key === first)).toEqual([true, true, false]);
    },
  );

  it('buys nothing for a key', async () => {
    const { press, askedFor, is } = await order({ caller: { id: 'key_1', kind: 'KEY' }, viewer: null });
    await press('buy');
    await is('idle well');
    expect(askedFor('Checkout')).toEqual([]);
  });
});

it.each([
  ['what it declares', { workflow: 'comfy:lake', parameters: { prompt: {} } }, { prompt: {} }, 0],
  ['nothing where it runs no graph', { workflow: 'image', parameters: {} }, {}, 0],
  ['the inputs of its graph', { workflow: 'comfy:lake', parameters: {} }, { seed: 1 }, 1],
  ['nothing of a graph that is gone', { workflow: 'comfy:gone', parameters: {} }, {}, 1],
])('a template takes %s', async (_, template, takes, asked) => {
  const { askedFor } = await openConsole('/tasks', {
    comfyWorkflows: [{ name: 'lake', inputs: { seed: 1 } }],
  });
  function Parameters() {
    return <output>{JSON.stringify(useParameters(template))}</output>;
  }
  render(
    <ApolloProvider client={client}>
      <Parameters />
    </ApolloProvider>,
  );
  await waitFor(() => expect(askedFor('ComfyWorkflows')).toHaveLength(asked));
  await waitFor(() => expect(document.querySelector('output')?.textContent).toBe(JSON.stringify(takes)));
});
