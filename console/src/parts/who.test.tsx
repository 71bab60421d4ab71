import { expect, it } from 'vitest';

import { nameIn } from './who.tsx';

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
