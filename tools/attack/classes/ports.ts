import { SignJWT } from 'jose';

import { type AttackClass, type Attempt, told } from '../attack.ts';
import { transports } from '../transports.ts';

/** The ports of subgraphs, which answer the gateway alone; and what production tells strangers. */
export const ports: AttackClass = {
  name: 'ports of subgraphs',
  modes: ['split'],
  isQuick: false,
  async run({ ports: urls, attackers, owned }) {
    const attempts: Attempt[] = [];
    for (const url of urls) {
      const origin = new URL(url).origin;
      for (const [who, headers] of Object.entries({
        ...attackers,
        'a wrong bearer': { authorization: 'Bearer x' },
        'a forged assertion': { 'x-kiln-caller': await forgedAssertion() },
      })) {
        for (const query of [
          '{ __typename }',
          '{ _service { sdl } }',
          `{ _entities(representations: [{ __typename: "Task", id: "${owned['a user']?.['task']}" }]) { __typename } }`,
        ]) {
          for (const transport of ['HTTP', 'WebSocket']) {
            const answer = (await transports[transport]?.(origin, query, headers)) ?? '';
            attempts.push({
              what: `${who}, ${transport}: ${query.slice(0, 50)}`,
              answer: told(answer),
              succeeded: !/UNAUTHENTICATED|closed 4403/.test(answer),
            });
          }
        }
      }
      for (const path of ['/files/x/y.png', '/hooks/fal', '/metrics', '/anything']) {
        const { status } = await fetch(`${origin}${path}`);
        attempts.push({ what: `GET ${path}`, answer: String(status), succeeded: status !== 401 });
      }
    }
    return attempts;
  },
};

/** As the gateway says who asks, signed with a guess. */
function forgedAssertion(): Promise<string> {
  return new SignJWT({ kind: 'internal', sub: 'internal', scopes: ['admin'], trace: 't', address: null })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime('60s')
    .setAudience('media')
    .sign(Buffer.from('guessed-guessed-guessed-guessed-guessed'));
}

/** What production keeps to itself. */
export const disclosure: AttackClass = {
  name: 'disclosure',
  modes: ['production'],
  isQuick: false,
  async run({ url }) {
    const schema = (await transports['HTTP']?.(url, '{ __schema { types { name } } }', {})) ?? '';
    const typo = (await transports['HTTP']?.(url, '{ healt { service } }', {})) ?? '';
    const attempts = [
      { what: 'introspection', answer: told(schema), succeeded: schema.includes('"__schema"') },
      { what: 'a suggestion for a wrong name', answer: told(typo), succeeded: typo.includes('Did you mean') },
    ];
    for (const path of ['/explorer', '/sandbox', '/schema.graphql', '/.env', '/metrics']) {
      const { status } = await fetch(`${url}${path}`, { redirect: 'manual' });
      attempts.push({ what: `GET ${path}`, answer: String(status), succeeded: status < 400 });
    }
    return attempts;
  },
};
