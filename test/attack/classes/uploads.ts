import { graphql, rest } from '../../kit/clients/requests.ts';
import { type AttackClass, type Attempt, told, type World } from '../attack.ts';

const UPLOAD = 'mutation ($file: Upload!) { uploadFile(file: $file) { id url } }';

/** Files that reach out of their request, run in a browser, belong to others, or fill the store. */
export const uploads: AttackClass = {
  name: 'uploads',
  modes: ['open', 'compat', 'required', 'split'],
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
      succeeded: /"id":/.test(text) || answer.status >= 500,
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
  if (mode === 'open' || mode === 'required') return [];
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

async function quotas({ url, mode, attackers }: World): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const [who, headers] of Object.entries(attackers)) {
    if (mode === 'required' && who === 'anonymous') continue;
    let stored = 0;
    let answer = '';
    for (let index = 0; index < 60; index += 1) {
      const form = new FormData();
      form.set('file', new Blob(['x'.repeat(20)]), 'x.txt');
      const { status, body } = await rest(url, 'POST', '/api/file/upload', form, headers);
      answer = `${status} ${told(body)}`;
      if (status !== 200) break;
      stored += 1;
    }
    attempts.push({
      what: `${who} uploads 60 files, ${stored} were stored`,
      answer,
      succeeded: stored >= 60,
    });
  }
  return attempts;
}
