import { fireEvent, screen } from '@testing-library/preact';
import { parse } from 'graphql';
import { expect, it } from 'vitest';

import { renderOverServer } from '../testing/over-server.tsx';
import { formatTotal, type Pages, usePages, useTotal } from './use-pages.ts';

const LIST = parse(
  'query List($first: Int, $after: String) { list(first: $first, after: $after) { total edges { id } pageInfo { hasNextPage endCursor } } }',
);

/** A page of a list of five, two at a time unless it is asked for more. */
function answer({ after, first }: Readonly<Record<string, unknown>>) {
  const from = Number(after ?? 0);
  const to = from + Number(first ?? 2);
  return {
    list: {
      __typename: 'List',
      total: 5 + from,
      edges: [0, 1, 2, 3, 4].slice(from, to).map((id) => ({ __typename: 'Edge', id })),
      pageInfo: { __typename: 'PageInfo', hasNextPage: to < 5, endCursor: String(to) },
    },
  };
}

function List({ next }: { readonly next?: number }) {
  const { edges, more, error, list }: Pages = usePages(LIST, 'list' as never, {
    variables: { first: 2 },
    ...(next !== undefined && { next }),
  });
  return (
    <>
      <p>{`${edges.map((edge) => (edge as { readonly id: number }).id).join('')} of ${String((list as { total?: number } | undefined)?.total)}`}</p>
      {error !== undefined && <p>failed</p>}
      {more !== null && (
        <button type="button" onClick={more}>
          more
        </button>
      )}
    </>
  );
}

it('a list grows page by page to its end, with the newest total', async () => {
  const { askedFor } = renderOverServer({ List: answer }, <List />);
  expect(await screen.findByText('01 of 5')).toBeTruthy();
  fireEvent.click(screen.getByRole('button'));
  expect(await screen.findByText('0123 of 7')).toBeTruthy();
  fireEvent.click(screen.getByRole('button'));
  expect(await screen.findByText('01234 of 9')).toBeTruthy();
  expect(screen.queryByRole('button')).toBeNull();
  expect(askedFor('List').map(({ first, after }) => [first, after])).toEqual([
    [2, undefined],
    [2, '2'],
    [2, '4'],
  ]);
});

it('further pages may be of another size, and one that fails leaves those before', async () => {
  let isAway = false;
  const { askedFor } = renderOverServer(
    { List: (variables) => (isAway ? { code: 'UNAVAILABLE' } : answer(variables)) },
    <List next={3} />,
  );
  await screen.findByText('01 of 5');
  isAway = true;
  fireEvent.click(screen.getByRole('button'));
  await screen.findByText('failed');
  isAway = false;
  fireEvent.click(screen.getByRole('button'));
  expect(await screen.findByText('01234 of 7')).toBeTruthy();
  expect(screen.queryByText('failed')).toBeNull();
  expect(askedFor('List').at(-1)).toMatchObject({ first: 3, after: '2' });
});

function Total({ total, added }: { readonly total: number | null; readonly added: number }) {
  return <p>{`total ${String(useTotal(total, added))}`}</p>;
}

it.each([
  [5, 2, 'total 7'],
  [null, 2, 'total null'],
  [0, 0, 'total 0'],
])('of %s and %i that came since: %s', async (total, added, text) => {
  renderOverServer({}, <Total total={total} added={added} />);
  expect(await screen.findByText(text)).toBeTruthy();
});

it('a total is counted to a bound', () => {
  expect([9, 10_000, 10_001].map(formatTotal)).toEqual(['9', '10,000', '10,000+']);
});
