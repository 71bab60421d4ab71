import { type AttackClass, type Attempt, told } from '../attack.ts';
import { transports } from '../transports.ts';

/** The ports of subgraphs, which answer the gateway alone; and what production tells strangers. */
export const ports: AttackClass = {
  name: 'ports of subgraphs',
  modes: ['split'],
  isQuick: false,
  async run({ ports: urls, attackers, ids }) {
    const attempts: Attempt[] = [];
    for (const url of urls) {
      const origin = new URL(url).origin;
      for (const [who, headers] of Object.entries({
        ...attackers,
        'a wrong bearer': { authorization: 'Bearer x' },
      })) {
        for (const query of [
          '{ __typename }',
          '{ _service { sdl } }',
          `{ _entities(representations: [{ __typename: "Task", id: "${ids['task']}" }]) { __typename } }`,
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
