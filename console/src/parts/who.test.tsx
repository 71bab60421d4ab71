import { screen, waitFor } from '@testing-library/preact';
import { expect, it } from 'vitest';

import { caller, renderOverServer } from '../testing/over-server.tsx';
import { t } from '../text/text.ts';
import { nameIn, Who } from './who.tsx';

it('names a key, and a person by their name or else their address', () => {
  const person = (id: string, name: string | null, email: string | null) => ({ node: { id, name, email } });
  const names = {
    serviceKeys: [{ id: 'key_1', name: 'Build' }],
    users: { edges: [person('usr_1', 'Ada', 'ada@example.com'), person('usr_2', null, 'ben@example.com')] },
  };
  expect(
    ['key_1', 'key_ci', 'key_production-build', 'key_5g2-Xw_Qa09ZrTbK', 'usr_1', 'usr_2', 'usr_3'].map((id) =>
      nameIn(names, id),
    ),
  ).toEqual(['Build', 'ci', 'production-build', undefined, 'Ada', 'ben@example.com', undefined]);
});

const person = (id: string, name: string | null, email: string | null) => ({
  __typename: 'UserEdge',
  cursor: id,
  node: { __typename: 'User', id, name, email },
});
const open = (id: string, seesNames = true) =>
  renderOverServer(
    {
      Caller: () => caller({ mayIssueKeys: seesNames }),
      Names: () => ({
        serviceKeys: [{ __typename: 'ServiceKey', id: 'key_1', name: 'Build' }],
        users: { __typename: 'Users', edges: [person('usr_1', 'Ada', null)] },
      }),
      NameOf: ({ id: asked }) => ({
        users: {
          __typename: 'Users',
          edges: [
            person('usr_other', 'Other', null),
            ...(asked === 'usr_2' ? [person('usr_2', 'Ben', 'ben@example.org')] : []),
            ...(asked === 'usr_3' ? [person('usr_3', null, 'cid@example.org')] : []),
          ],
        },
      }),
    },
    <Who id={id} />,
  );

it.each([
  ['anon', t('who.visitor'), 0],
  ['key_1', 'Build', 0],
  ['key_5g2-Xw_Qa09ZrTbK', t('who.removedKey'), 0],
  ['usr_1', 'Ada', 0],
  ['usr_2', 'Ben', 1],
  ['usr_3', 'cid@example.org', 1],
  ['task_1', 'task_1', 0],
])('%s is told by name: %s', async (id, words, asks) => {
  const { askedFor } = open(id);
  const shown = await screen.findByText(words);
  expect(shown.closest('[title]')?.getAttribute('title')).toBe(id);
  await waitFor(() => expect(askedFor('NameOf')).toHaveLength(asks));
});

it('whoever is found nowhere is told by id, as to who may see no names', async () => {
  const { askedFor } = open('usr_9');
  await waitFor(() => expect(askedFor('NameOf')).toEqual([{ id: 'usr_9' }]));
  expect(await screen.findByText('usr_9')).toBeDefined();
  const other = open('usr_1', false);
  await waitFor(() => expect(other.askedFor('Caller')).toHaveLength(1));
  expect(await screen.findByText('usr_1')).toBeDefined();
  expect(other.askedFor('Names')).toEqual([]);
});
