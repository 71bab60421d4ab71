import { type AttackClass, modes, told } from '../attack.ts';
import { transports } from '../transports.ts';

const many = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => of(index)).join(' ');
const nested = (depth: number) => `${'events { task { '.repeat(depth)} id ${'} } '.repeat(depth)}`;

const HOSTILE: Readonly<Record<string, string>> = {
  'a depth of 50': `{ task(id: "x") { ${nested(25)} } }`,
  '1,000 aliases': `{ ${many(1_000, (index) => `a${index}: health { service }`)} }`,
  '100,000 tokens': `{ ${'health { service } '.repeat(25_000)} }`,
  'fragments in a circle':
    '{ task(id: "x") { ...a } } fragment a on Task { ...b } fragment b on Task { ...a }',
  'fragments that double 30 times': `{ task(id: "x") { ...f0 } } ${many(30, (index) => `fragment f${index} on Task { ...f${index + 1} ...f${index + 1} }`)} fragment f30 on Task { id }`,
  'a page of a million': '{ tasks(first: 1000000) { edges { node { events(first: 1000) { seq } } } } }',
  '4 kB of brackets': '['.repeat(4_096),
  'a value of 4 kB of brackets': `{ task(id: ${'['.repeat(4_096)}) { id } }`,
};

/** Operations that cost more than they should: refused before anything runs, and the server goes on. */
export const graphqlLimits: AttackClass = {
  name: 'GraphQL limits',
  modes,
  isQuick: true,
  async run({ url, admin }) {
    const attempts = [];
    for (const [what, query] of Object.entries(HOSTILE)) {
      for (const transport of ['HTTP', 'WebSocket']) {
        const answer = (await transports[transport]?.(url, query, admin)) ?? '';
        const isRefused =
          /QUERY_REFUSED|GRAPHQL_|PAYLOAD_TOO_LARGE|closed/.test(answer) && !/"data":\{/.test(answer);
        attempts.push({ what: `${what} over ${transport}`, answer: told(answer), succeeded: !isRefused });
      }
    }
    for (const body of [
      `{"query":"{ health { service } }","variables":{"a":${'['.repeat(4_096)}`,
      '[{"query":"{ health { service } }"}]',
      '{"query":',
    ]) {
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...admin },
        body,
      });
      attempts.push({
        what: `the body ${body.slice(0, 40)}`,
        answer: String(answer.status),
        succeeded: answer.status < 400 || answer.status >= 500,
      });
      await answer.text();
    }
    const alive = await transports['HTTP']?.(url, '{ health { service } }', admin);
    attempts.push({
      what: 'whether it still answers',
      answer: told(alive),
      succeeded: !String(alive).includes('"service"'),
    });
    return attempts;
  },
};
