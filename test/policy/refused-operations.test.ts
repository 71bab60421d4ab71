import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { signedIn } from '../kit/clients/sign-in.ts';
import { type KilnUnderTest, startKiln } from '../kit/kiln.ts';

/** Operations of which the caller may use no root field are answered before they are planned, as the subgraphs answer. */

let kiln: KilnUnderTest;
let user: Record<string, string>;
beforeAll(async () => {
  kiln = await startKiln({ settings: { REST_AUTH: 'required' } });
  const { access_token } = await signedIn(kiln.url, 'sandbox-ada');
  user = { authorization: `Bearer ${access_token}` };
});
afterAll(() => kiln.close());

const ID = '0199aaaa-0000-7000-8000-000000000000';

it.each([
  [`{ task(id: "${ID}") { id } again: task(id: "${ID}") { id outputs { url } } }`, null],
  [`{ task(id: "${ID}") { id } task(id: "${ID}") { state } }`, null],
  [`mutation { cancelTask(id: "${ID}") { id } deleteMedia(id: "${ID}") { id } }`, null],
  ['mutation { pauseBinding(binding: "x") { binding } }', 'user'],
  ['{ auditLog(first: 1) { what } }', 'user'],
])('%s', async (query, who) => {
  const headers = who === 'user' ? user : {};
  const first = await graphql(kiln.url, query, {}, headers);
  // A directive is not looked into: this one is planned and refused by the subgraphs.
  const planned = await graphql(kiln.url, query.replace(/\) \{/, ') @include(if: true) {'), {}, headers);
  expect(first).toEqual(planned);
  expect(first.errors?.length).toBeGreaterThan(0);
});

it('of which some may be used are planned', async () => {
  const { data, errors } = await graphql(kiln.url, `{ health { service } task(id: "${ID}") { id } }`);
  expect(data).toEqual({ health: { service: 'media' }, task: null });
  expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['UNAUTHENTICATED']);
});
