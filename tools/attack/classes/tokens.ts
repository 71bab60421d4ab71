import { SignJWT, UnsecuredJWT } from 'jose';

import { graphql, type GraphqlAnswer, until } from '../../../test/kit/clients/requests.ts';
import { type AttackClass, type Attempt, modes, told, type World } from '../attack.ts';

const ADMIN_ONLY = '{ serviceKeys { id } }';

/** Forged, borrowed and malformed credentials, and fields that are Kiln's own. */
export const tokens: AttackClass = {
  name: 'credentials',
  modes,
  isQuick: true,
  async run(world) {
    return [...(await forged(world)), ...(await internals(world)), ...(await withoutRights(world))];
  },
};

async function forgeries(user: string): Promise<Readonly<Record<string, string>>> {
  const claims = {
    sub: user,
    scope: 'admin',
    sid: 'ses_x',
    scopes: ['admin'],
    kind: 'internal',
    trace: 't',
    address: null,
  };
  const signed = (header: object) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', ...header })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(Buffer.from('guessed-guessed-guessed-guessed-guessed'));
  const none = new UnsecuredJWT(claims).setExpirationTime('1h').encode();
  return {
    'a token without a signature': none,
    'a token signed with a guess': await signed({ typ: 'at+jwt' }),
    'a token with a key of its own': await signed({
      typ: 'at+jwt',
      kid: '../../dev/null',
      jku: 'http://127.0.0.1:1/',
    }),
    'an unknown key': `kiln_${'0'.repeat(64)}`,
    'an SQL key': "kiln_' or '1'='1",
    'a very long key': `kiln_${'a'.repeat(6_000)}`,
  };
}

async function forged({ url, owned }: World): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const [what, token] of Object.entries(await forgeries(owned['a user']?.['user'] ?? 'usr_x'))) {
    for (const [header, value] of [
      ['authorization', `Bearer ${token}`],
      ['x-kiln-caller', token],
    ] as const) {
      const answer = await graphql(url, ADMIN_ONLY, {}, { [header]: value });
      attempts.push({
        what: `${what} as ${header}`,
        answer: told(answer),
        succeeded: answer.data?.serviceKeys !== undefined && answer.data.serviceKeys !== null,
      });
    }
  }
  return attempts;
}

async function internals({ url, attackers }: World): Promise<Attempt[]> {
  const queries = [
    '{ callerOf(credential: "x") { kind } }',
    '{ _service { sdl } }',
    '{ _entities(representations: [{ __typename: "User", id: "usr_x" }]) { __typename } }',
    'mutation { startTask(id: "x", owner: "anon", start: {}) { id } }',
  ];
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    for (const query of queries) {
      const answer = await graphql(url, query, {}, headers);
      attempts.push({
        what: `${who}: ${query}`,
        answer: told(answer),
        succeeded: answer.errors === undefined,
      });
    }
  }
  return attempts;
}

/** What administrators and operators alone may do. In open mode everybody may change the catalog, nobody makes keys. */
async function withoutRights({ url, mode, attackers }: World): Promise<Attempt[]> {
  const operator = [
    'mutation { createServiceKey(name: "mine", scopes: ["admin"]) { secret } }',
    ADMIN_ONLY,
    '{ auditLog { id } }',
  ];
  const admin = [
    'mutation { deleteTemplate(code: "poster") }',
    'mutation { refundPayment(id: "x", reason: USER_REQUEST) { id } }',
    '{ diagnoseCatalog { environment } }',
  ];
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    for (const query of [...operator, ...(mode === 'open' ? [] : admin)]) {
      const readCode = (given: GraphqlAnswer) => given.errors?.[0]?.extensions['code'];
      // A busy machine that has no connection to its database in time has not looked.
      const answer = await until(
        () => graphql(url, query, {}, headers),
        (given) => readCode(given) !== 'UNAVAILABLE',
      );
      const code = readCode(answer);
      attempts.push({
        what: `${who}: ${query.slice(0, 60)}`,
        answer: told(answer),
        succeeded: code !== 'UNAUTHENTICATED' && code !== 'FORBIDDEN',
      });
    }
  }
  return attempts;
}
