import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { until } from '../../../test/kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../../test/kit/kiln.ts';
import { freePorts } from '../../../test/kit/processes/free-ports.ts';
import { startLoad, type Seen } from '../load.ts';
import type { Verified } from './verified.ts';
import { verify } from './verify.ts';

/** What a chaos run looks at, over a sound Kiln in which one thing after the other is made wrong: each is found, and named. */

let kiln: KilnUnderTest;
let verified: Verified;
let seen: Seen;
beforeAll(async () => {
  const [port] = await freePorts(1);
  // The payment provider tells this address what was paid.
  const kilnUrl = `http://127.0.0.1:${port}`;
  kiln = await startKiln({ settings: { PORT: String(port) }, sandbox: { kilnUrl } });
  const { pool } = kiln.runtime.database;
  verified = {
    rows: async <Row extends object>(query: string) => (await pool.query<Row>(query)).rows,
    sandboxUrl: kiln.sandboxUrl,
    gatewayUrl: kiln.url,
  };
  // Seldom enough that a busy machine keeps up with it.
  const load = await startLoad([kiln.url], 500);
  await until(
    async () => load.seen.paid.size,
    (count) => count >= 2,
  );
  await load.finish();
  ({ seen } = load);
});
afterAll(() => kiln.close());

/** What is wrong, by what was looked at. */
async function wrong(change: Partial<Seen> = {}): Promise<Readonly<Record<string, readonly string[]>>> {
  const findings = await verify(verified, { ...seen, ...change }, 0);
  return Object.fromEntries(
    findings.filter((one) => one.wrong.length > 0).map((one) => [one.what, one.wrong]),
  );
}

/** The only column of the only row. */
async function one(query: string): Promise<string> {
  const [row] = await verified.rows<Record<string, string>>(query);
  return Object.values(row ?? {})[0] ?? '';
}

it('nothing is wrong with a Kiln that nothing was done to', async () => {
  const findings = await verify(verified, seen);
  expect(findings.filter((finding) => finding.wrong.length > 0)).toEqual([]);
  expect(findings.filter(({ count }) => count === 0).map(({ what }) => what)).toEqual([
    'answers that may not be repeated',
  ]);
});

it('an event that was taken away', async () => {
  const task = await one(`with gone as (delete from media.task_events where seq = 2 and task_id =
    (select task_id from media.task_events where seq = 2 limit 1) returning task_id) select task_id::text from gone`);
  expect((await wrong())['logs without a gap']).toEqual([task]);
});

it('an entry that a follower did not see, saw twice, or was left without at the end', async () => {
  const [[id, events] = ['', []]] = [...seen.followed].filter(([, all]) => all.length > 2);
  const changed = { lost: events.toSpliced(1, 1), doubled: [...events.slice(0, 2), ...events.slice(1)] };
  for (const followed of [changed.lost, changed.doubled, events.slice(0, -1)]) {
    const found = await wrong({ followed: new Map([[id, followed]]) });
    expect(found['followers saw every entry once']).toEqual([expect.stringContaining(id)]);
  }
});

it('a task that is not there, and two keys with the same one', async () => {
  const [[key, id] = ['', '']] = seen.tasks;
  const found = await wrong({ tasks: new Map([...seen.tasks, ['again', id], [key, 'nobody']]) });
  expect(found['answered tasks are there, one per key']).toEqual([`${key} is lost`]);
  const twice = await wrong({ tasks: new Map([...seen.tasks, ['again', id]]) });
  expect(twice['answered tasks are there, one per key']).toEqual(['two keys have one task']);
});

it('a second task of a key, of which nobody was told', async () => {
  const prompt = await one(`with twice as (
    update media.tasks set input = jsonb_set(input, '{prompt}', (
      select input -> 'prompt' from media.tasks where not sold order by id desc limit 1))
    where id = (select id from media.tasks where not sold order by id limit 1) returning input ->> 'prompt' as prompt)
    select prompt from twice`);
  expect((await wrong())['answered tasks are there, one per key']).toEqual([`${prompt} has 2 tasks`]);
  await verified.rows(`update media.tasks set input = input || '{"prompt":"put right"}'
    where id = (select id from media.tasks where not sold order by id limit 1)`);
});

it('a file that was changed, and a task without one', async () => {
  const [file] = await verified.rows<{ id: string; objectKey: string; taskId: string }>(
    `select id::text, object_key as "objectKey", task_id::text as "taskId" from media.media where task_id is not null limit 1`,
  );
  const hash = createHash('sha256').update(String(file?.objectKey)).digest('hex');
  const where = path.join(kiln.dataDir, 'files', 'objects', hash.slice(0, 2), hash);
  const bytes = readFileSync(where);
  writeFileSync(where, Buffer.concat([Buffer.from([255 - (bytes[0] ?? 0)]), bytes.subarray(1)]));
  expect((await wrong())['files have their sha256']).toEqual([`${file?.id}: 200`]);
  writeFileSync(where, bytes);
  await verified.rows(`update media.media set state = 'DELETED' where task_id = '${file?.taskId}'`);
  expect((await wrong())['files have their sha256']).toEqual([`${file?.taskId} has no file`]);
});

it('a second start of a reference at the provider, and one that nobody asked for', async () => {
  const reference = await one('select reference from media.attempts limit 1');
  for (const state of [reference, 'nobody/1/1']) {
    const answer = await fetch(`${kiln.sandboxUrl}/midjourney/mj/submit/imagine`, {
      method: 'POST',
      body: JSON.stringify({ prompt: 'a fox', state }),
    });
    expect(answer.ok).toBe(true);
  }
  expect((await wrong())['starts at the provider']).toEqual([
    `${reference} twice`,
    'nobody/1/1 unasked',
    `${reference.split('/').slice(0, 2).join('/')} bought twice`,
  ]);
});

it('a payment that was neither delivered nor given back, and one that was both', async () => {
  const [first = '', second = ''] = seen.paid;
  const stripe = async (what: string, body?: string) => {
    const headers = { authorization: 'Bearer sk_test_kilnsandbox' };
    const answer = await fetch(`${kiln.sandboxUrl}/v1/${what}`, {
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    expect(answer.ok).toBe(true);
    return (await answer.json()) as { readonly payment_intent: string };
  };
  await verified.rows(`update workflow.executions set status = 'FAILED' where id =
    (select execution_id from workflow.payments where pp_session_id = '${first}')`);
  const { payment_intent } = await stripe(`checkout/sessions/${second}`);
  await stripe('refunds', `payment_intent=${payment_intent}`);
  expect((await wrong())['paid and delivered, or given back']).toEqual([
    expect.stringMatching(new RegExp(`^${first}: .*, FAILED, \\d+ taken, 0 given back`)),
    expect.stringMatching(new RegExp(`^${second}: .*, COMPLETED, (\\d+) taken, \\1 given back`)),
  ]);
});

it('work that goes on for ever, that failed, and an answer that may not be repeated', async () => {
  const [first, second] = [...seen.tasks.values()];
  await verified.rows(`update media.tasks set state = 'RUNNING' where id = '${first}'`);
  await verified.rows(`update media.tasks set state = 'FAILED' where id = '${second}'`);
  const found = await wrong({ refused: ['REST 500'] });
  expect(found['tasks and executions ended']).toEqual([first]);
  expect(found['none of them in vain']).toEqual([`${second} FAILED`]);
  expect(found['answers that may not be repeated']).toEqual(['REST 500']);
});
