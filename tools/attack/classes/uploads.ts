import { graphql, rest } from '../../../test/kit/clients/requests.ts';
import { type AttackClass, type Attempt, modes, told, type World } from '../attack.ts';

/** Files of UPLOAD_QUOTAS in the worlds. */
const QUOTAS = { anonymous: 40, user: 10 };
const UPLOAD = 'mutation ($file: Upload!) { uploadFile(file: $file) { id url } }';

/** Files that reach out of their request, run in a browser, belong to others, or fill the store. */
export const uploads: AttackClass = {
  name: 'uploads',
  modes,
  isQuick: true,
  async run(world) {
    return [
      ...(await strangeMaps(world)),
      ...(await pages(world)),
      ...(await deletions(world)),
      ...(await quotas(world)),
    ];
  },
};

async function strangeMaps({ url, admin }: World): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const path of [
    '__proto__.polluted',
    'variables.__proto__.file',
    'variables.constructor.prototype.x',
    'toString.call',
  ]) {
    const form = new FormData();
    form.set('operations', JSON.stringify({ query: UPLOAD, variables: { file: null } }));
    form.set('map', JSON.stringify({ 0: [path] }));
    form.set('0', new Blob(['x']), 'x.txt');
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'apollo-require-preflight': 'true', ...admin },
      body: form,
    });
    const text = await answer.text();
    attempts.push({
      what: `the map leads to ${path}`,
      answer: told(text),
      succeeded: /"id":/.test(text) || (answer.status >= 500 && answer.status !== 503),
    });
  }
  const form = new FormData();
  form.set('operations', JSON.stringify({ query: UPLOAD, variables: { file: null } }));
  form.set('map', JSON.stringify({ 0: ['variables.file'] }));
  form.set('0', new Blob(['x']), 'x.txt');
  const foreign = await fetch(`${url}/graphql`, { method: 'POST', headers: admin, body: form });
  attempts.push({
    what: 'the form of another site',
    answer: String(foreign.status),
    succeeded: foreign.status < 400,
  });
  await foreign.text();
  return attempts;
}

async function pages({ url, admin }: World): Promise<Attempt[]> {
  const form = new FormData();
  form.set(
    'file',
    new Blob(['<html><script>alert(1)</script>'], { type: 'text/html' }),
    '../../../etc/page.html',
  );
  const { body } = await rest(url, 'POST', '/api/file/upload', form, admin);
  const served = await fetch(body.data);
  await served.body?.cancel();
  const isRun =
    !/attachment/.test(served.headers.get('content-disposition') ?? '') &&
    /html/.test(served.headers.get('content-type') ?? '');
  const climb = await fetch(`${url}/files/..%2f..%2f..%2fetc%2fpasswd`);
  await climb.text();
  return [
    {
      what: 'a page that runs here',
      answer: `${served.headers.get('content-type')} ${served.headers.get('content-disposition')}`,
      succeeded: isRun,
    },
    { what: 'a name that climbs', answer: told(body.data), succeeded: String(body.data).includes('..') },
    { what: 'a path that climbs', answer: String(climb.status), succeeded: climb.status === 200 },
  ];
}

/** The id stands in a public address: it must not delete. On loopback in open mode it does. */
async function deletions({ url, mode, attackers }: World): Promise<Attempt[]> {
  if (mode === 'open' || mode === 'required' || mode === 'production') return [];
  const form = new FormData();
  form.set('file', new Blob(['nobody’s']), 'x.txt');
  const { body } = await rest(url, 'POST', '/api/file/upload', form);
  const query = 'mutation ($id: ID!) { deleteMedia(id: $id) { id } }';
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    const answer = await graphql(url, query, { id: body.extra.key }, headers);
    attempts.push({
      what: `${who} deletes nobody's file by its address`,
      answer: told(answer),
      succeeded: answer.errors === undefined,
    });
  }
  return attempts;
}

const AT_ONCE = 60;

/** More than the quotas of the worlds hold, all at the same time: what is stored stays within them, others go on. */
async function quotas({ url, mode, attackers, admin }: World): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    const isRefusedAtTheDoor = who === 'anonymous' && (mode === 'required' || mode === 'production');
    const uploads = Array.from({ length: AT_ONCE }, async () => {
      const form = new FormData();
      form.set('file', new Blob(['x'.repeat(20)]), 'x.txt');
      return (await rest(url, 'POST', '/api/file/upload', form, headers)).status;
    });
    const other = await rest(url, 'POST', '/graphql', { query: '{ health { service } }' }, admin);
    const statuses = await Promise.all(uploads);
    const stored = statuses.filter((status) => status === 200).length;
    const most = isRefusedAtTheDoor ? 0 : QUOTAS[who === 'anonymous' ? 'anonymous' : 'user'];
    attempts.push({
      what: `${who} uploads ${AT_ONCE} files at once`,
      answer: `${stored} stored; ${[...new Set(statuses)].join(', ')}`,
      // 503: a busy machine has no connection to its database in time, and says so.
      succeeded: stored > most || statuses.some((status) => status >= 500 && status !== 503),
    });
    attempts.push({
      what: 'another caller meanwhile',
      answer: told(other.body),
      succeeded: other.body.data?.health === undefined,
    });
  }
  return attempts;
}
